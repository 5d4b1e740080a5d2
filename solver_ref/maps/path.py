"""Does a path cross a bad region, where, and what margin is left?

The path goes straight, in the robot's own coordinates, from one row to the next. It is looked at in
small steps, with the equations themselves and not on a map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from solver_ref.kinematics import scaling
from solver_ref.maps.criteria import CRITERIA, CROSSING, judge
from solver_ref.maps.field import Values
from solver_ref.maps.probe import probed_clearance
from solver_ref.robot import Robot

Measure = Callable[[np.ndarray], Values]
"""From poses (N, coordinates) to their quantities."""

LARGEST = 200_000
"""Samples of one path."""


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """A stretch of the path that one criterion finds bad.

    `first`, `last`: where it begins and ends, in rows from 1 (2.5 is half way from row 2 to row 3);
    `pose`: the first bad one; `worst`: the quantity at its worst, None where it has none.
    """

    criterion: str
    first: float
    last: float
    pose: tuple[float, ...]
    worst: float | None


@dataclass(frozen=True, kw_only=True)
class Extreme:
    """The worst value of a criterion's quantity on the path, and the row where it is."""

    worst: float
    row: float


@dataclass(frozen=True, kw_only=True)
class PathReport:
    """What was found on a path.

    `samples`: poses looked at, `step` apart (scaled m) at most; `bad_rows`: rows of the path that
    are bad themselves, from 1; `crossings`: in the order of the path; `extremes`: by criterion, of
    the poses in reach; `margin`: what was asked; `clearance`: the least distance (scaled m) from
    the path to a bad pose, and `nearest` the row of the path there; `beyond`: nothing bad was found
    up to that distance.
    """

    samples: int
    step: float
    bad_rows: tuple[int, ...]
    crossings: tuple[Crossing, ...]
    extremes: dict[str, Extreme]
    margin: float
    clearance: float
    beyond: bool
    nearest: float

    @property
    def ok(self) -> bool:
        """Whether nothing is bad and the margin is kept."""
        return not self.crossings and self.clearance >= self.margin


def sampled(robot: Robot, rows: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Poses along the path at most `step` (scaled m) apart, and their places in rows from 1.

    Every row is among them. ValueError for more than `LARGEST` samples.
    """
    lengths = np.linalg.norm(np.diff(rows, axis=0) * scaling(robot), axis=-1)
    pieces = np.maximum(np.ceil(lengths / step), 1)
    if pieces.sum() + 1 > LARGEST:
        raise ValueError(f"a path of {lengths.sum():.4g} m has over {LARGEST} steps of {step:g} m")
    parts = [np.arange(n) / n + i for i, n in enumerate(pieces.astype(int))]
    places = np.concatenate([*parts, [len(rows) - 1.0]])
    known = np.arange(len(rows))
    poses = [np.interp(places, known, column) for column in rows.T]
    return np.stack(poses, axis=-1), places + 1


def check_path(
    robot: Robot,
    rows: np.ndarray,
    measure: Measure,
    limits: Mapping[str, float],
    *,
    step: float,
    margin: float = 0.0,
    reach: float,
    axes: tuple[int, ...] | None = None,
) -> PathReport:
    """Judge a path of poses (rows, coordinates).

    Parameters
    ----------
    measure, limits : what is judged, and by what
    step : how far samples are apart at most, scaled m
    margin : how far the path has to stay from what is bad, scaled m
    reach : how far around the path bad poses are looked for, scaled m; at least the margin
    axes : the coordinates in which they are looked for; all where not given
    """
    poses, places = sampled(robot, np.atleast_2d(rows), step)
    values = measure(poses)
    found = judge(values, limits)
    if "determinant_sign" in values:
        changed = values["determinant_sign"][1:] * values["determinant_sign"][:-1] < 0
        found[CROSSING] = np.append(False, changed)
    bad = np.any(list(found.values()), axis=0)
    own = places == np.round(places)
    if bad.any():
        clearance, beyond, nearest = 0.0, False, int(bad.argmax())
    else:
        clearance, beyond, nearest = probed_clearance(
            robot, poses, lambda at: judge(measure(at), limits), reach=reach, axes=axes
        )
    return PathReport(
        samples=len(poses),
        step=step,
        bad_rows=tuple(np.round(places[own & bad]).astype(int).tolist()),
        crossings=_crossings(poses, places, values, found),
        extremes=_extremes(places, values, limits),
        margin=margin,
        clearance=clearance,
        beyond=beyond,
        nearest=float(places[nearest]),
    )


def _crossings(
    poses: np.ndarray, places: np.ndarray, values: Values, found: Mapping[str, np.ndarray]
) -> tuple[Crossing, ...]:
    crossings = []
    for name, bad in found.items():
        edges = np.flatnonzero(np.diff(np.concatenate([[0], bad.astype(int), [0]])))
        for first, end in edges.reshape(-1, 2):
            crossings.append(
                Crossing(
                    criterion=name,
                    first=float(places[first]),
                    last=float(places[end - 1]),
                    pose=tuple(poses[first].tolist()),
                    worst=_worst(name, values, slice(first, end)),
                )
            )
    return tuple(sorted(crossings, key=lambda crossing: crossing.first))


def _worst(name: str, values: Values, where: slice) -> float | None:
    criterion = CRITERIA.get(name)
    if criterion is None or criterion.fixed:
        return None
    part = criterion.value(values[criterion.quantity][where])
    part = part[np.isfinite(part)]
    if not part.size:
        return None
    return float(part.max() if criterion.upper else part.min())


def _extremes(
    places: np.ndarray, values: Values, limits: Mapping[str, float]
) -> dict[str, Extreme]:
    found = {}
    for name in limits:
        criterion = CRITERIA[name]
        if criterion.fixed or criterion.quantity not in values:
            continue
        value = criterion.value(values[criterion.quantity])
        if np.isfinite(value).any():
            place = int(np.nanargmax(value) if criterion.upper else np.nanargmin(value))
            found[name] = Extreme(worst=float(value[place]), row=float(places[place]))
    return found
