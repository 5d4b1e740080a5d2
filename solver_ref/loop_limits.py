"""What the joints of loop equations do over the workspace: their spans, and what they are worth.

Sampled on poses of the grown workspace, as intervals say nothing useful of angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from solver_ref.domain import corner_poses, sample_poses
from solver_ref.mechanisms import loops_of
from solver_ref.robot import Robot

SAMPLES = 2000
NEAR = 2.0**-4
"""Where a loop opens by a smaller share of the largest for a unit of its joint, the pose is near
the boundary of the reach."""
ROOM = 0.02
"""What a joint's span has beyond the sampled ends on each side, as a share of it."""


@dataclass(frozen=True)
class LoopLimits:
    """`spans` of the joints (rad, m); `levers`: how far (m) a loop opens at most for a unit of its
    joint; `rates`: the largest entry of the Jacobian."""

    spans: tuple[tuple[float, float], ...]
    levers: tuple[float, ...]
    rates: float


@cache
def loop_limits(robot: Robot) -> LoopLimits:
    """The limits of a robot with loop equations.

    ValueError where less than half of the grown workspace is within reach.
    """
    loops = loops_of(robot)
    poses = reachable_poses(robot, SAMPLES, np.random.default_rng(26))
    joints = loops.joint_values(poses)
    spans = []
    for joint, column in zip(robot.joints, joints.T, strict=True):
        low, high = float(column.min()), float(column.max())
        room = ROOM * (high - low)
        spans.append((max(low - room, joint.limits[0]), min(high + room, joint.limits[1])))
    by_joint = np.abs(loops.system(poses, joints)[2])
    rates = np.abs(loops.jacobian(poses))
    return LoopLimits(
        spans=tuple(spans),
        levers=tuple(by_joint.max(axis=(0, 1)).tolist()),
        rates=float(np.nanmax(rates)),
    )


def joint_levers(robot: Robot) -> np.ndarray:
    """How far (m) a link moves at most for a unit of its joint, (joints,): 1 for lengths."""
    if loops_of(robot) is None:
        return np.ones(len(robot.joint_names))
    return np.array(loop_limits(robot).levers)


def near_boundary(robot: Robot, poses: np.ndarray, share: float = NEAR) -> np.ndarray:
    """Whether a loop of each pose (N, coordinates) opens by a smaller share of the largest for a
    unit of its joint, or is out of reach; (N, joints)."""
    loops, levers = loops_of(robot), np.array(loop_limits(robot).levers)
    by_joint = np.abs(loops.system(poses, loops.joint_values(poses))[2])
    return ~(by_joint.max(axis=-2) >= share * levers)


def reachable_poses(robot: Robot, count: int, rng: np.random.Generator) -> np.ndarray:
    """Corners and `count` random poses of the grown workspace, those within reach and the joints'
    limits; shape (N, coordinates)."""
    margin = robot.workspace.start_error
    poses = np.vstack(
        [corner_poses(robot, margin=margin), sample_poses(robot, count, rng, margin=margin)]
    )
    found = poses[within_reach(robot, poses)]
    if 2 * len(found) < len(poses):
        raise ValueError(
            f"{len(found)} of {len(poses)} poses of the grown workspace of {robot.name} are within "
            "reach: it must be at least half of them"
        )
    return found


def within_reach(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Whether the joints of each pose (N, coordinates) exist and are within their limits."""
    joints = loops_of(robot).joint_values(poses)
    low, high = np.array([joint.limits for joint in robot.joints]).T
    return ((joints >= low) & (joints <= high)).all(axis=-1)
