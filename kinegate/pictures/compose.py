"""Whole pictures: a robot at one pose with its figures, or along a trajectory with their curves."""

from __future__ import annotations

from collections import Counter

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from kinegate.pictures.panel import curves, length_bars, pose_text, tension_bars
from kinegate.pictures.readings import Readings
from kinegate.pictures.scene import Scene
from kinegate.pictures.style import BAD, INK, SETTINGS
from solver_ref.robot import Robot

VIEW = (22.0, -62.0)
"""Elevation and azimuth, degrees."""

GHOSTS = 6
"""How many further poses of a trajectory are hinted at."""


def draw_pose(
    figure: Figure,
    robot: Robot,
    scene: Scene,
    row: int,
    *,
    title: str,
    view: tuple[float, float] = VIEW,
    path: bool = False,
) -> None:
    """Draw one pose of the scene's readings into an empty figure; `path` adds the whole way."""
    readings = scene.readings
    with matplotlib.rc_context(SETTINGS):
        axes = _scene_axes(figure, scene, right=0.55)
        scene.prepare(axes, view)
        if path:
            scene.path(axes)
        scene.draw(axes, row)
        figure.text(0.03, 0.955, title, fontsize=14, weight="bold", color=INK, va="center")
        figure.text(0.655, 0.955, pose_text(robot, readings, row), va="top", linespacing=1.5)
        figure.text(0.03, 0.915, readings.note(row), color=BAD, va="center")
        grid = figure.add_gridspec(2, 1, left=0.655, right=0.98, bottom=0.06, top=0.79, hspace=0.32)
        length_bars(figure.add_subplot(grid[0]), readings, row)
        tension_bars(figure.add_subplot(grid[1]), robot, readings, row)


def draw_trajectory(
    figure: Figure,
    robot: Robot,
    scene: Scene,
    times: np.ndarray,
    *,
    title: str,
    time_name: str,
    view: tuple[float, float] = VIEW,
) -> None:
    """Draw a whole trajectory into an empty figure: its way, some poses, and curves over time."""
    readings = scene.readings
    with matplotlib.rc_context(SETTINGS):
        axes = _scene_axes(figure, scene, right=0.5)
        scene.prepare(axes, view)
        scene.path(axes)
        for row in np.unique(np.linspace(0, readings.count - 1, GHOSTS).astype(int))[:-1]:
            scene.ghost(axes, row)
        scene.draw(axes, readings.count - 1)
        figure.text(0.03, 0.955, title, fontsize=14, weight="bold", color=INK, va="center")
        figure.text(0.03, 0.915, _faults(readings), color=BAD, va="center")
        grid = figure.add_gridspec(3, 1, left=0.6, right=0.86, bottom=0.08, top=0.95, hspace=0.3)
        upper, middle, lower = (figure.add_subplot(grid[i]) for i in range(3))
        units = ", ".join(sorted(set(readings.units)))
        curves(upper, times, readings.lengths, readings.names)
        upper.set_title(f"{'joints' if 'rad' in units else 'lengths'} ({units})", loc="left")
        _condition(middle, times, readings.condition)
        _tension_curves(lower, times, readings)
        lower.set_xlabel(time_name)


def _scene_axes(figure: Figure, scene: Scene, *, right: float) -> matplotlib.axes.Axes:
    if scene.spatial:
        # A view in space has wide margins of its own.
        return figure.add_axes((0.0, 0.02, right, 0.88), projection="3d")
    return figure.add_axes((0.07, 0.09, right - 0.07, 0.79))


def _condition(axes: matplotlib.axes.Axes, times: np.ndarray, values: np.ndarray) -> None:
    axes.plot(times, np.where(np.isfinite(values), values, np.nan), color=INK, lw=1.3)
    if np.nanmax(np.where(np.isfinite(values), values, np.nan), initial=1.0) > 100:
        axes.set_yscale("log")
    for time in times[~np.isfinite(values)]:
        axes.axvline(time, color=BAD, lw=0.8)
    axes.set_title("condition number", loc="left")
    axes.grid(color="0.92")
    axes.margins(x=0)


def _tension_curves(axes: matplotlib.axes.Axes, times: np.ndarray, readings: Readings) -> None:
    axes.set_title("tensions (N)", loc="left")
    if readings.tensions is None:
        axes.set_yticks([])
        axes.set_xlim(times[0], times[-1])
        axes.text(
            0.02,
            0.9,
            f"not known: {readings.unknown}",
            va="top",
            wrap=True,
            transform=axes.transAxes,
        )
        return
    names = tuple(f"T{i}" for i in range(1, readings.tensions.shape[1] + 1))
    curves(axes, times, np.where(readings.held[:, None], readings.tensions, np.nan), names)
    for time in times[~readings.held]:
        axes.axvline(time, color=BAD, lw=0.8, alpha=0.5)


def _faults(readings: Readings) -> str:
    """How many of the poses have which faults."""
    kinds = Counter(fault for row in range(readings.count) for fault in readings.faults(row))
    return "; ".join(f"{fault} at {count} of {readings.count}" for fault, count in kinds.items())
