"""A measured rotation beside the lengths: the closure `attitude`, over the abstract scalar.

Each measured axis is one more row of the step: a residual w l (phi - measured) (m), l the
characteristic length, and in scaled coordinates w alone, in the place of its coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.curves import scaled
from solver_ref.domain import sample_poses
from solver_ref.fixed_arithmetic import FixedArithmetic
from solver_ref.loop_limits import joint_levers, within_reach
from solver_ref.measurement import ATTITUDE_WEIGHT, attitude_model, gain
from solver_ref.robot import Robot

Vector = Sequence[Scalar]

SAMPLES = 1000


def attitude_axes(robot: Robot) -> tuple[int, ...]:
    """The coordinates that the attitude's sensor measures, by their places in a pose."""
    if robot.closure != "attitude":
        return ()
    first, count = robot.translations, robot.rotations
    return tuple(range(first, first + (2 if "inclinometer" in robot.sensors else count)))


def attitude_names(robot: Robot) -> tuple[str, ...]:
    """The ports and columns of the measured rotation: `m` before the coordinate."""
    return tuple(f"m{robot.coordinates[place]}" for place in attitude_axes(robot))


def least_squares(robot: Robot) -> bool:
    """Whether a step is the least-squares one: with more lengths than unknowns, or an attitude."""
    return len(robot.joint_names) > len(robot.free) or bool(attitude_axes(robot))


def attitude_rows(
    m: Arithmetic, robot: Robot, pose: Vector, attitude: Vector
) -> tuple[list[Scalar], list[Vector]]:
    """Residuals (m) and rows of the measured axes.

    In hardware a residual is within a quarter of the pose's quantum of angle.
    """
    factor = ATTITUDE_WEIGHT * robot.characteristic_length
    quantum = 2.0**-m.profile.pose.bits if isinstance(m, FixedArithmetic) else 1.0
    residuals, rows = [], []
    for place, angle in zip(attitude_axes(robot), attitude, strict=True):
        residuals.append(scaled(m, pose[place] - angle, factor, factor * quantum / 4))
        row: list[Scalar] = [0] * len(robot.free)
        row[place] = m.constant(ATTITUDE_WEIGHT, "jacobian")
        rows.append(row)
    return residuals, rows


def length_gain(robot: Robot, samples: int = SAMPLES) -> float:
    """How far (m) the position moves at most, on poses of the grown workspace, where every link
    is off by a metre (to first order) and the attitude's rows hold what they can."""
    rng = np.random.default_rng(22)
    poses = sample_poses(robot, samples, rng, margin=robot.workspace.start_error)
    if not robot.cables:
        poses = poses[within_reach(robot, poses)]
    axes = [robot.coordinates[place] for place in attitude_axes(robot)]
    model = attitude_model(robot, axes=axes)
    columns = gain(model, model.rows(poses)[1])[:, : robot.translations, : model.lengths]
    return float((np.abs(columns) / joint_levers(robot)).sum(axis=-1).max())
