"""What `workspace` is asked for, checked against the robot: one error line for what cannot be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegate.designs import OptionError, unknown
from solver_ref.kinematics import scaling
from solver_ref.maps.criteria import CRITERIA, chosen_limits
from solver_ref.maps.fields import FIELDS, fields_of
from solver_ref.maps.section import Section, axis_range, section_of
from solver_ref.robot import Robot

USUAL_GRID = {2: 200, 3: 40}
"""Cells along each axis of a map of two and of three coordinates."""
MOST_CELLS = 4_000_000
MOST_DESIGNS = 100_000
MOST_SAMPLES = 1_000_000


def section_asked(
    name: str,
    robot: Robot,
    *,
    plane: str | None,
    at: Mapping[str, float],
    grid: Sequence[int] | None,
    ranges: Mapping[str, tuple[float, float]],
) -> Section:
    """The section that the options describe; `name` is what messages call the robot."""
    axes = _axes(name, robot, plane)
    for option, given in (("at", at), ("range", ranges)):
        for coordinate in given:
            if coordinate not in robot.coordinates:
                raise unknown(name, option, coordinate, robot.coordinates)
    for coordinate, value in at.items():
        if coordinate in axes:
            wrong, expected = "varies on this map", "a coordinate that the plane does not have"
            raise OptionError(name, "at", wrong=wrong, expected=expected, got=coordinate)
        if not math.isfinite(value):
            raise _refused(name, "at", "is not finite", "a finite number", f"{value}")
    for coordinate, (low, high) in ranges.items():
        if coordinate not in axes:
            expected = f"one of {', '.join(axes)}"
            raise _refused(name, "range", "does not vary on this map", expected, coordinate)
        if not (low < high and math.isfinite(high - low)):
            raise _refused(name, "range", "is no range", "LOW:HIGH", f"{low:g}:{high:g}")
    for coordinate in axes:
        low, high = ranges.get(coordinate) or axis_range(robot, coordinate)
        if not low < high:
            expected = f"--range {coordinate}=LOW:HIGH, as the robot's own has no width"
            raise _refused(name, "plane", "has no extent", expected, coordinate)
    return section_of(robot, axes, _counts(name, grid, len(axes)), held=at, ranges=ranges)


def _axes(name: str, robot: Robot, plane: str | None) -> tuple[str, ...]:
    """The coordinates of a plane such as `xy`, `xyz` or `x,theta`; the first two without one."""
    coordinates = robot.coordinates
    if plane is None:
        return coordinates[:2]
    axes = tuple(plane.split(",")) if "," in plane else _words(plane, coordinates)
    if len(axes) not in USUAL_GRID or len(set(axes)) < len(axes) or set(axes) - set(coordinates):
        expected = f"two or three of {', '.join(coordinates)}, such as {','.join(coordinates[:2])}"
        raise _refused(name, "plane", "cannot be mapped", expected, plane)
    return axes


def _words(text: str, coordinates: Sequence[str]) -> tuple[str, ...]:
    """The coordinates that a text without commas consists of; the text itself where it does not."""
    found, rest = [], text
    while rest:
        word = next((c for c in sorted(coordinates, key=len)[::-1] if rest.startswith(c)), None)
        if word is None:
            return (text,)
        found.append(word)
        rest = rest[len(word) :]
    return tuple(found)


def _counts(name: str, grid: Sequence[int] | None, axes: int) -> tuple[int, ...]:
    if grid is None:
        return (USUAL_GRID[axes],) * axes
    counts = tuple(grid) * axes if len(grid) == 1 else tuple(grid)
    got = "x".join(map(str, grid))
    if len(counts) != axes:
        raise _refused(name, "grid", "has the wrong size", f"{axes} numbers of cells", got)
    if min(counts) < 2 or math.prod(counts) > MOST_CELLS:
        expected = f"at least 2 cells along each axis and at most {MOST_CELLS:,} in all"
        raise _refused(name, "grid", "is out of range", expected, got)
    return counts


def fields_asked(name: str, robot: Robot, maps: Sequence[str] | None) -> tuple[str, ...]:
    """The fields to map: those named, or all that the robot has."""
    if not maps:
        return fields_of(robot)
    for word in maps:
        if word not in FIELDS:
            raise unknown(name, "map", word, FIELDS)
        if reason := FIELDS[word].missing(robot):
            expected = f"one of {', '.join(fields_of(robot))}, as {reason}"
            raise _refused(name, "map", "cannot be had", expected, word)
    return tuple(dict.fromkeys(("reach", *maps)))


def limits_asked(name: str, limits: Mapping[str, float | None]) -> dict[str, float]:
    """The limits in force, those given before the defaults; None switches one off."""
    free = [word for word, criterion in CRITERIA.items() if not criterion.fixed]
    for word, limit in limits.items():
        if word not in free:
            raise unknown(name, "limit", word, free)
        if limit is not None and not math.isfinite(limit):
            raise _refused(name, "limit", "is not finite", "a finite number or off", f"{limit}")
        if limit is not None and CRITERIA[word].logarithm and limit <= 0:
            raise _refused(name, "limit", "is not positive", "a number above 0", f"{limit:g}")
    return chosen_limits(limits)


@dataclass(frozen=True)
class SweepAsked:
    """One or two keys, the values of each, and how many poses of each design are looked at."""

    keys: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    samples: int


def sweep_asked(
    name: str, sweep: Mapping[str, tuple[float, float, int]], samples: int
) -> SweepAsked:
    """The designs of `{key: (first, last, count)}`."""
    if len(sweep) > 2:
        raise _refused(name, "sweep", "has too many keys", "one or two", str(len(sweep)))
    for key, (first, last, count) in sweep.items():
        if count < 2 or first == last or not math.isfinite(last - first):
            got = f"{key}={first:g}:{last:g}:{count}"
            expected = "KEY=FIRST:LAST:COUNT with two values or more"
            raise _refused(name, "sweep", "is no sweep", expected, got)
    designs = math.prod(count for *_, count in sweep.values())
    check_count(name, "sweep", designs, range(1, MOST_DESIGNS + 1))
    check_count(name, "samples", samples, range(1, MOST_SAMPLES + 1))
    values = [tuple(np.linspace(*ends).tolist()) for ends in sweep.values()]
    return SweepAsked(tuple(sweep), tuple(values), samples)


def check_alone(name: str, others: Sequence[str]) -> None:
    """Refuse options of a map beside a sweep."""
    for key in others:
        raise _refused(name, key, "has no meaning", "no map beside a sweep", "both")


def check_count(name: str, key: str, value: int, allowed: range) -> None:
    """Refuse a number that is not allowed."""
    if value not in allowed:
        expected = f"{allowed[0]} to {allowed[-1]:,}"
        raise _refused(name, key, "is out of range", expected, f"{value:,}")


def margin_asked(name: str, margin: float) -> float:
    """A margin in scaled metres."""
    if not (margin >= 0 and math.isfinite(margin)):
        raise _refused(name, "margin", "is out of range", "0 m or more", f"{margin:g} m")
    return margin


def plan_pose(name: str, robot: Robot, section: Section, numbers: Sequence[float]) -> np.ndarray:
    """A pose to plan from or to: a number for each axis of the map, or for every coordinate."""
    numbers = np.asarray(numbers, float)
    got = ",".join(f"{x:g}" for x in numbers)
    if numbers.shape == (len(section.axes),):
        pose = section.pose(numbers)
    elif numbers.shape == (len(robot.free),):
        pose = numbers
    else:
        expected = f"{','.join(section.axes)} or {','.join(robot.coordinates)}"
        raise _refused(name, "plan", "is no pose", expected, got)
    others = [i for i in range(len(pose)) if i not in section.places]
    if not np.allclose(pose[others], section.held[others]) or section.cell(pose) is None:
        raise _refused(name, "plan", "lies off the map", "a pose of the section", got)
    return pose


def box_size(robot: Robot) -> float:
    """The diagonal of the declared position box (m); where it has none, of the largest rotation."""
    widths = [high - low for low, high in robot.workspace.position]
    return math.hypot(*widths) or robot.workspace.tilt * float(scaling(robot)[-1]) or 1.0


def _refused(name: str, key: str, wrong: str, expected: str, got: str) -> OptionError:
    return OptionError(name, key, wrong=wrong, expected=expected, got=got)
