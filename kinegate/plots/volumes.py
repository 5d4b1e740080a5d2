"""Maps of three coordinates: the three middle sections, flat and where they are in space."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kinegate.plots.colours import colour_bar, colours_of
from kinegate.plots.marks import (
    LINE_COLOURS,
    Lines,
    axis_label,
    draw_lines,
    dress,
    hatch_bad,
    held_text,
    legend,
    unit_of,
)
from kinegate.plots.sections import draw_cells
from kinegate.plots.style import WIDE, new_figure
from solver_ref.maps.field import Quantity
from solver_ref.maps.robot_map import RobotMap
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import Robot

LINKS, SURFACE = "0.35", "#21918c"


def quantity_figure(robot: Robot, found: RobotMap, quantity: Quantity, lines: Lines) -> Figure:
    """A quantity on the three sections through the middle of a volume."""
    figure = new_figure(WIDE)
    colours = colours_of(quantity, found.values[quantity.name])
    flat, entries = [], {}
    for number, axis in enumerate((2, 1, 0), 1):
        axes = figure.add_subplot(2, 2, number)
        part = found.middle(axis)
        image = draw_cells(axes, part, part.values[quantity.name], **colours)
        drawn = hatch_bad(axes, part) + draw_lines(axes, part, lines)
        entries |= {entry.get_label(): entry for entry in drawn}
        dress(axes, robot, part)
        name, place = found.section.axes[axis], found.section.places[axis]
        axes.set_title(f"{name} = {part.section.held[place]:.4g} {unit_of(robot, name)}")
        flat.append(axes)
    space = figure.add_subplot(2, 2, 4, projection="3d")
    _draw_sheets(space, found, found.values[quantity.name], colours)
    _label(space, robot, found)
    colour_bar(figure, image, quantity, ax=[*flat, space], shrink=0.8)
    _title(figure, robot, found, quantity.title)
    legend(figure, list(entries.values()))
    return figure


def safe_figure(robot: Robot, found: RobotMap, lines: Lines) -> Figure:
    """The surface of the safe region in space."""
    figure = new_figure(WIDE)
    space = figure.add_subplot(projection="3d")
    points = surface(found)
    entries = []
    if len(points):
        name = found.section.axes[2]
        dots = space.scatter(*points.T, c=points[:, 2], cmap="viridis", s=9, rasterized=True)
        figure.colorbar(dots, ax=space, label=axis_label(robot, name), shrink=0.6)
        share = f"surface of the safe region: {found.safe.mean():.1%} of the cells"
        entries = [Line2D([], [], linestyle="", marker="o", color=SURFACE, label=share)]
    entries += _draw_robot(space, robot, found) + _draw_paths(space, found, lines)
    _label(space, robot, found)
    _title(figure, robot, found, f"safe region, margin {found.margin:g} m")
    legend(figure, entries)
    return figure


def surface(found: RobotMap) -> np.ndarray:
    """The points (N, 3) of safe cells that have a neighbour along an axis that is not safe."""
    padded = np.pad(found.safe, 1)
    inner = np.ones(found.safe.shape, bool)
    for axis in range(3):
        for shift in (-1, 1):
            inner &= np.roll(padded, shift, axis)[1:-1, 1:-1, 1:-1]
    points = np.meshgrid(*found.section.values, indexing="ij")
    return np.stack(points, axis=-1)[found.safe & ~inner]


def _draw_sheets(space: Axes, found: RobotMap, values: np.ndarray, colours: dict[str, Any]) -> None:
    """The three middle sections as coloured sheets."""
    section = found.section
    for axis in range(3):
        middle, kept = section.shape[axis] // 2, [i for i in range(3) if i != axis]
        sheet = np.ma.masked_invalid(np.take(values, middle, axis))
        points: list[Any] = [np.full(sheet.shape, section.values[axis][middle])] * 3
        spread = np.meshgrid(*(section.values[i] for i in kept), indexing="ij")
        points[kept[0]], points[kept[1]] = spread
        faces = colours["cmap"](colours["norm"](sheet))
        space.plot_surface(
            *points, facecolors=faces, rcount=40, ccount=40, shade=False, rasterized=True
        )


def _draw_robot(space: Axes, robot: Robot, found: RobotMap) -> list[Artist]:
    """The robot at home, where the axes are positions; returns its legend entry."""
    entries: list[Artist] = []
    if found.section.axes == ("x", "y", "z"):
        for line in mechanism_of(robot).lines(robot, np.array(robot.workspace.home)):
            entries = space.plot(*line.T, color=LINKS, linewidth=0.9, label="the robot at home")
    return entries


def _draw_paths(space: Axes, found: RobotMap, lines: Lines) -> list[Artist]:
    entries = []
    for name, poses in lines.items():
        points = poses[:, list(found.section.places)].T
        entries += space.plot(*points, color=LINE_COLOURS[name], linewidth=2.5, label=name)
    return entries


def _label(space: Axes, robot: Robot, found: RobotMap) -> None:
    """Labels, and equal scales where all coordinates have one unit."""
    setters = (space.set_xlabel, space.set_ylabel, space.set_zlabel)
    for setter, name in zip(setters, found.section.axes, strict=True):
        setter(axis_label(robot, name))
    if len({unit_of(robot, name) for name in found.section.axes}) == 1:
        space.set_aspect("equal")


def _title(figure: Figure, robot: Robot, found: RobotMap, title: str) -> None:
    held = held_text(robot, found.section)
    figure.suptitle(f"{robot.name}: {title}" + (f"\n{held}" if held else ""))
