"""Maps of two coordinates: one picture for each quantity, and one of the safe region."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kinegate.plots.colours import colour_bar, colours_of
from kinegate.plots.marks import (
    Lines,
    draw_lines,
    dress,
    extent,
    hatch_bad,
    held_text,
    legend,
    unit_of,
)
from kinegate.plots.style import SIZE, new_figure
from solver_ref.maps.criteria import CROSSING
from solver_ref.maps.field import Quantity
from solver_ref.maps.robot_map import UNKNOWN, RobotMap
from solver_ref.robot import Robot

# The name of a class of cells in a legend, and its colour.
GOOD = {"safe": "#a8d5a2", "within the margin": "#f3e2a0"}
BAD = {
    "reach": ("out of reach", "#8f8f8f"),
    "singular_value": ("near a singularity", "#7a5195"),
    CROSSING: ("det J changes its sign", "#3b1f5b"),
    "condition": ("condition above its limit", "#b07aa1"),
    "wrench_margin": ("no feasible tensions", "#c75d4d"),
    "unbalanced": ("not held by its cables", "#8c2d2d"),
    "failed": ("solve failed", "#b58900"),
    "iterations": ("too many steps", "#d9b44a"),
    UNKNOWN: ("not computed", "#ffffff"),
}


def quantity_figure(robot: Robot, found: RobotMap, quantity: Quantity, lines: Lines) -> Figure:
    """A quantity over the section, what is bad hatched."""
    figure = new_figure(_size(robot, found))
    axes = figure.add_subplot()
    values = found.values[quantity.name]
    image = draw_cells(axes, found, values, **colours_of(quantity, values))
    # In the axes' own measure, so that the bar is as high as the map.
    bar = axes.inset_axes((1.03, 0.0, 0.035, 1.0))
    colour_bar(figure, image, quantity, cax=bar)
    entries = hatch_bad(axes, found) + draw_lines(axes, found, lines)
    _finish(figure, axes, robot, found, quantity.title)
    legend(figure, entries)
    return figure


def safe_figure(robot: Robot, found: RobotMap, lines: Lines) -> Figure:
    """Safe cells, those within the margin, and the bad ones by what is wrong with them."""
    figure = new_figure(_size(robot, found))
    axes = figure.add_subplot()
    classes = classes_of(found)
    named = list(GOOD.items()) + [BAD[name] for name in found.bad_by]
    norm = BoundaryNorm(np.arange(len(named) + 1) - 0.5, len(named))
    colours = ListedColormap([colour for _, colour in named])
    draw_cells(axes, found, classes, cmap=colours, norm=norm)
    entries = [
        Patch(facecolor=colour, edgecolor="0.4", label=f"{name}: {share:.1%}")
        for number, (name, colour) in enumerate(named)
        if (share := (classes == number).mean())
    ]
    hatch_bad(axes, found)
    entries += draw_lines(axes, found, lines)
    _finish(figure, axes, robot, found, f"safe region, margin {found.margin:g} m")
    legend(figure, entries)
    return figure


def classes_of(found: RobotMap) -> np.ndarray:
    """Each cell's class: 0 safe, 1 within the margin, from 2 on the criteria of `bad_by`.

    A cell that several criteria find bad has the first of them.
    """
    classes = np.where(found.safe, 0, 1)
    for number, bad in reversed(list(enumerate(found.bad_by.values(), 2))):
        classes[bad] = number
    return classes


def draw_cells(axes: Axes, found: RobotMap, values: np.ndarray, **colours: Any) -> ScalarMappable:
    """Values in the shape of a section as coloured cells."""
    shown = np.ma.masked_invalid(np.asarray(values, float).T)
    return axes.imshow(shown, origin="lower", extent=extent(found), aspect="auto", **colours)


def _size(robot: Robot, found: RobotMap) -> tuple[float, float]:
    """A figure as high as the map needs, where both axes have one scale."""
    left, right, bottom, top = extent(found)
    same = len({unit_of(robot, name) for name in found.section.axes}) == 1
    shape = (top - bottom) / (right - left) if same else 0.8
    return SIZE[0], float(np.clip(5.4 * shape + 2.1, 3.8, 9.6))


def _finish(figure: Figure, axes: Axes, robot: Robot, found: RobotMap, title: str) -> None:
    dress(axes, robot, found)
    held = held_text(robot, found.section)
    axes.set_title(f"{robot.name}: {title}" + (f"\n{held}" if held else ""))
