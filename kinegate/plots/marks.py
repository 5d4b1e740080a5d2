"""What is drawn over a map: hatches where it is bad, paths, labels, and the legend."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kinegate.plots.style import BAD_HATCH, HATCH_COLOUR
from solver_ref.maps.robot_map import RobotMap
from solver_ref.maps.section import Section
from solver_ref.robot import Robot

LINE_COLOURS = {"path": "#d6336c", "plan": "#e8590c"}

Lines = Mapping[str, np.ndarray]
"""Paths to draw over a map: poses (N, coordinates) by `path` and `plan`."""


def unit_of(robot: Robot, name: str) -> str:
    """The unit of a coordinate."""
    return "m" if robot.coordinates.index(name) < robot.translations else "rad"


def axis_label(robot: Robot, name: str) -> str:
    """A coordinate with its unit."""
    return f"{name} ({unit_of(robot, name)})"


def held_text(robot: Robot, section: Section) -> str:
    """The coordinates that a section holds, with their values."""
    return ", ".join(
        f"{name} = {value:.4g} {unit_of(robot, name)}"
        for name, value in zip(robot.coordinates, section.held, strict=True)
        if name not in section.axes
    )


def hatch_bad(axes: Axes, found: RobotMap) -> list[Artist]:
    """Hatches what is bad; returns its entry in the legend, if there is any."""
    if not found.bad.any():
        return []
    across, up = found.section.values
    marks = found.bad.T.astype(float)
    filled = axes.contourf(across, up, marks, levels=[0.5, 1.5], colors="none", hatches=[BAD_HATCH])
    filled.set_edgecolor(HATCH_COLOUR)
    filled.set_linewidth(0)
    if not marks.all():
        axes.contour(across, up, marks, levels=[0.5], colors=HATCH_COLOUR, linewidths=0.8)
    return [
        Patch(facecolor="none", edgecolor=HATCH_COLOUR, hatch=BAD_HATCH, linewidth=0.5, label="bad")
    ]


def draw_lines(axes: Axes, found: RobotMap, lines: Lines) -> list[Artist]:
    """Draws paths, from a dot to a square, dashed where they are not in the section; returns their
    legend entries."""
    section, entries = found.section, []
    others = [i for i in range(len(section.held)) if i not in section.places]
    for name, poses in lines.items():
        inside = np.allclose(poses[:, others], section.held[others])
        style = {"color": LINE_COLOURS[name], "label": name if inside else f"{name} (projected)"}
        across, up = poses[:, list(section.places)].T
        entries += axes.plot(across, up, "-" if inside else "--", linewidth=2, **style)
        axes.plot(across[:1], up[:1], "o", across[-1:], up[-1:], "s", color=style["color"])
    return entries


def dress(axes: Axes, robot: Robot, found: RobotMap) -> None:
    """Labels, limits, and equal scales where both coordinates have one unit."""
    names = found.section.axes
    axes.set_xlabel(axis_label(robot, names[0]))
    axes.set_ylabel(axis_label(robot, names[1]))
    if len({unit_of(robot, name) for name in names}) == 1:
        axes.set_aspect("equal")
    axes.axis(extent(found))


def extent(found: RobotMap) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a map: its cells go half a cell beyond their centres."""
    ends = []
    for values in found.section.values:
        half = (values[1] - values[0]) / 2
        ends += [values[0] - half, values[-1] + half]
    return tuple(ends)


def legend(figure: Figure, entries: list[Artist]) -> None:
    """One legend for the whole figure, below it."""
    if entries:
        columns = min(len(entries), 3)
        figure.legend(handles=entries, loc="outside lower center", ncols=columns, frameon=False)
