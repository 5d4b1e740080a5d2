"""The figures beside a robot: bars of lengths and tensions for a pose, curves for a trajectory."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from kinegate.pictures.readings import Readings
from kinegate.pictures.style import BAD, INK, LINK, SLACK, significant
from solver_ref.robot import Robot


def pose_text(robot: Robot, readings: Readings, row: int) -> str:
    """The pose, its condition number and what is wrong with it, one a line."""
    pose, count = readings.poses[row], robot.translations
    lines = []
    for part, unit in ((slice(count), "m"), (slice(count, None), "rad")):
        names = ", ".join(robot.coordinates[part])
        numbers = ", ".join(significant(value) for value in pose[part])
        lines += [f"{names} = {numbers} {unit}"] if names else []
    condition = readings.condition[row]
    lines.append(
        f"condition number {significant(condition, 3)}"
        if np.isfinite(condition)
        else "condition number infinite"
    )
    return "\n".join(lines)


def length_bars(axes: Axes, readings: Readings, row: int) -> None:
    """A bar for each length (or angle) at one pose."""
    values = readings.lengths[row]
    colours = [LINK] * len(values)
    units = sorted(set(readings.units))
    title = "joints" if "rad" in units else "lengths"
    highest = np.nanmax(np.abs(readings.lengths), initial=0.0)
    lowest = min(np.nanmin(readings.lengths, initial=0.0), 0.0)
    _bars(axes, list(readings.names), values, colours, (lowest, highest or 1.0))
    axes.set_title(f"{title} ({', '.join(units)})", loc="left")


def tension_bars(axes: Axes, robot: Robot, readings: Readings, row: int) -> None:
    """A bar for each tension at one pose, with its bounds; or why they are not known."""
    bounded = any(cable.tension_max is not None for cable in robot.cables)
    title = "tensions (N), bounds as black lines" if bounded else "tensions (N)"
    axes.set_title(title, loc="left")
    if readings.tensions is None:
        axes.axis("off")
        axes.text(0, 0.9, f"not known: {readings.unknown}", va="top", wrap=True, color=INK)
        return
    values, held = readings.tensions[row], bool(readings.held[row])
    slack = readings.slack[row]
    colours = [BAD if not held else SLACK if loose else LINK for loose in slack]
    names = [f"T{i}" for i in range(1, len(values) + 1)]
    top = float(np.nanmax(readings.tensions, initial=0.0)) or 1.0
    _bars(axes, names, values, colours, (0.0, top))
    for place, cable in enumerate(robot.cables):
        for bound in (cable.tension_min, cable.tension_max):
            if bound is not None and 0 < bound <= axes.get_xlim()[1]:
                axes.plot([bound] * 2, [place - 0.4, place + 0.4], color=INK, lw=1.5)


def curves(axes: Axes, times: np.ndarray, values: np.ndarray, names: tuple[str, ...]) -> None:
    """One curve a column, with a legend beside it."""
    for name, column in zip(names, values.T, strict=True):
        axes.plot(times, column, lw=1.3, label=name)
    columns = 1 + (len(names) > 5)
    axes.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        ncols=columns,
        fontsize=9,
        frameon=False,
        handlelength=1.2,
        columnspacing=0.8,
    )
    axes.grid(color="0.92")
    axes.margins(x=0)


def _bars(
    axes: Axes,
    names: list[str],
    values: np.ndarray,
    colours: list[str],
    span: tuple[float, float],
) -> None:
    places = np.arange(len(values))
    axes.barh(places, np.nan_to_num(values), color=colours, height=0.62)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    low, high = span
    axes.set_xlim(low, high + 0.3 * (high - low))  # room for the numbers
    for place, value in zip(places, values, strict=True):
        start = max(float(np.nan_to_num(value)), 0.0) + 0.015 * (high - low)
        axes.text(start, place, significant(value), va="center", fontsize=10)
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
