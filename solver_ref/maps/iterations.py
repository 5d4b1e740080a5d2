"""Levenberg-Marquardt solves from a start beside each pose: steps taken, and those that failed."""

import numpy as np

from solver_ref.attitude import attitude_axes
from solver_ref.kinematics import scaling
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.maps.field import Field, Quantity, Values
from solver_ref.maps.poses import Poses
from solver_ref.status import Status

NEARER = 10


def _values(at: Poses) -> Values:
    """A solve failed that did not converge, or that found another pose though the measurements
    determine it: one that is not at least `NEARER` times nearer than its start was."""
    robot, known = at.robot, np.isfinite(at.joints).all(axis=-1)
    poses, starts = at.poses[known], at.starts[known]
    axes = list(attitude_axes(robot))
    attitude = poses[:, axes] if axes else None
    found = lm_solve(robot, starts, at.joints[known], attitude=attitude)
    failed = ~_has(found.status, Status.CONVERGED) | _has(found.status, Status.NO_SOLUTION)
    if robot.determined:
        off, allowed = (
            np.linalg.norm((where - poses) * scaling(robot), axis=-1)
            for where in (found.poses, starts)
        )
        failed |= off > np.maximum(allowed / NEARER, robot.accuracy.residual_limit)
    values = {name: np.full(len(at), np.nan) for name in ("iterations", "failed")}
    values["iterations"][known] = np.where(failed, np.nan, found.iterations)
    values["failed"][known] = failed
    return values


def _has(status: np.ndarray, bit: Status) -> np.ndarray:
    return (status & int(bit)) != 0


ITERATIONS = Field(
    name="iterations",
    quantities=(
        Quantity(name="iterations", title="Levenberg-Marquardt steps", scale="count"),
        Quantity(name="failed", title="failed solves", scale="truth", shown=False),
    ),
    values=_values,
)
