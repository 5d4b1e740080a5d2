"""What a tracked robot measures: predicted measurements, their rows, and the gain of a correction.

The closures differ here and nowhere else: lengths alone, lengths with a measured
attitude, or any other rows that a callable gives (such as a balance of forces).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.kinematics import cable_lengths, jacobian_phi, joint_values, scaling
from solver_ref.loop_limits import joint_levers
from solver_ref.robot import Robot

# How much a rotation counts (times the characteristic length) against a displacement of the same
# size. Lengths are a thousand times finer than an attitude sensor, so that it should only decide
# what they leave open; less than this costs pivots and gains nothing.
ATTITUDE_WEIGHT = 1 / 16
# One unit of a measured code, m or rad.
QUANTUM = 2.0**-20


@dataclass(frozen=True, kw_only=True)
class Model:
    """What is measured at a state x (..., n): a pose, then whatever else is solved for.

    `rows`: x to the predicted measurements (..., m) and their derivatives by x (..., m, n).
    `weights`: of the rows, shape (m,), as they multiply a residual; `quanta`: of the measurements,
    shape (m,); `scale`: what turns x into comparable units, shape (n,). The first `lengths` rows
    are cable lengths.
    """

    rows: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    weights: np.ndarray
    quanta: np.ndarray
    scale: np.ndarray
    lengths: int


def length_model(robot: Robot, *, quantum: float = QUANTUM) -> Model:
    """The lengths of a robot that they determine, all of one weight.

    Raises ValueError for a robot with fewer lengths than coordinates: nothing would hold the pose.
    """
    if not robot.determined:
        raise ValueError(
            f"{robot.name}: {len(robot.cables)} lengths do not determine {len(robot.free)} "
            "coordinates, so that a pose cannot be tracked by them alone"
        )
    cables = len(robot.cables)
    return Model(
        rows=lambda poses: (cable_lengths(robot, poses), jacobian_phi(robot, poses)),
        weights=np.ones(cables),
        quanta=np.full(cables, quantum),
        scale=scaling(robot),
        lengths=cables,
    )


def attitude_model(
    robot: Robot,
    *,
    weight: float = ATTITUDE_WEIGHT,
    axes: Sequence[str] | None = None,
    quantum: float = QUANTUM,
) -> Model:
    """The joints, then a measured rotation vector, or those of its components that `axes` names.

    An inclinometer measures ("rx", "ry"). A residual of the rotation counts as a displacement at
    the characteristic length, times `weight`.

    Raises ValueError for an axis that is not a rotation of the robot and a weight that is not
    above 0.
    """
    rotations = robot.coordinates[robot.translations :]
    axes = rotations if axes is None else axes
    if not axes or not set(axes) <= set(rotations):
        raise ValueError(
            f"the measured axes must be of {', '.join(rotations) or 'none'}, not "
            f"{', '.join(axes) or 'none'}"
        )
    if not weight > 0:
        raise ValueError(f"the weight of the attitude must be above 0, not {weight}")
    places = [robot.coordinates.index(axis) for axis in axes]
    unit = np.eye(len(robot.free))[places]

    def rows(poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_pose = jacobian_phi(robot, poses)
        spread = np.broadcast_to(unit, (*by_pose.shape[:-2], *unit.shape))
        measured = np.concatenate([joint_values(robot, poses), poses[..., places]], axis=-1)
        return measured, np.concatenate([by_pose, spread], axis=-2)

    levers = joint_levers(robot)  # 1 of lengths
    turns = np.full(len(axes), weight * robot.characteristic_length)
    return Model(
        rows=rows,
        weights=np.concatenate([levers, turns]),
        quanta=np.full(len(levers) + len(axes), quantum),
        scale=scaling(robot),
        lengths=len(levers),
    )


def gain(model: Model, derivatives: np.ndarray) -> np.ndarray:
    """K = (J^T W^2 J)^-1 J^T W^2, (..., m, n) to (..., n, m): the state's share of a residual.

    As the pseudo-inverse of the weighted rows in scaled coordinates: where the rows leave a
    direction open, the state does not move along it.
    """
    rows = model.weights[:, None] * derivatives / model.scale
    return np.linalg.pinv(rows) * model.weights / model.scale[:, None]
