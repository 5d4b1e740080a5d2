"""Within which limits cables lie on their pulleys: sampled over the workspace, with a margin.

Intervals say too little about h, Lf and theta, which depend on the same coordinates. Whatever
passes the sampled limits in operation is held there and flagged.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from solver_ref.domain import corner_poses, sample_poses
from solver_ref.geometry import spread_cables
from solver_ref.kinematics import cable_ways
from solver_ref.pulley import Way, WrapLimits
from solver_ref.robot import Robot

SAMPLES = 4000
OVERSHOOT = 1.6
"""How far beyond the workspace samples are drawn before they are brought back to its faces."""

START_ERRORS = 2.25
"""How many of them poses are sampled beyond the declared workspace: estimates may go two out."""

DRAWS = 4
"""Geometries drawn for each pose, where it can be loaded."""

MARGIN = 0.01
"""The share of its size by which a sampled interval is grown on each side."""

NEAREST = 2.0**-6
"""Less than this share of the largest h or Lf is out of range: on its swivel axis a pulley has no
plane."""


@cache
def pulley_limits(robot: Robot, *, loaded: bool = False) -> tuple[WrapLimits | None, ...]:
    """The limits of every cable's way over its pulley; None for a cable without one.

    `loaded`: for any geometry that can be loaded. A cable that would lift off its pulley is beyond
    them (theta < 0). ValueError names a cable whose attachment can come inside its pulley, or that
    never touches it.
    """
    if not any(item.pulley for item in robot.cables):
        return (None,) * len(robot.cables)
    seen, poses = robot, _far_poses(robot)
    if loaded:
        poses = np.tile(poses, (DRAWS, 1))
        seen = replace(robot, cables=spread_cables(robot, len(poses), 23))
    with np.errstate(all="ignore"):
        ways = cable_ways(seen, poses)
    return tuple(
        None if way is None else _limits(robot, number, way) for number, way in enumerate(ways, 1)
    )


def _far_poses(robot: Robot) -> np.ndarray:
    """Corners of the grown workspace, and random poses of which many lie on its faces and edges."""
    distance, angle = (START_ERRORS * error for error in robot.workspace.start_error)
    margin = (distance, angle if robot.rotations else 0.0)
    poses = sample_poses(robot, SAMPLES, np.random.default_rng(21), margin=margin)
    low, high = np.array(robot.workspace.position).T
    low, high = low - distance, high + distance
    count = robot.translations
    far = (low + high) / 2 + OVERSHOOT * (poses[:, :count] - (low + high) / 2)
    poses[:, :count] = np.clip(far, low, high)
    if robot.rotations:
        turn = np.linalg.norm(poses[:, count:], axis=1, keepdims=True)
        poses[:, count:] *= np.minimum(OVERSHOOT, (robot.workspace.tilt + angle) / turn)
    return np.vstack([corner_poses(robot, margin=margin), poses])


def _limits(robot: Robot, number: int, way: Way) -> WrapLimits:
    if not np.isfinite(way.free).all():
        raise ValueError(
            f"cable {number} of {robot.name} has its attachment inside its pulley somewhere in the "
            "workspace grown by the start error"
        )
    low, high = _grown(way.angle)
    if high <= 0:
        raise ValueError(f"cable {number} of {robot.name} never touches its pulley")
    return WrapLimits(
        height=_positive(_grown(way.frame.height)),
        free=_positive(_grown(way.free)),
        angle=(max(low, 0.0), high),
    )


def _grown(values: np.ndarray) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    extra = MARGIN * (high - low)
    return low - extra, high + extra


def _positive(limits: tuple[float, float]) -> tuple[float, float]:
    return max(limits[0], NEAREST * limits[1]), limits[1]
