"""Rank, condition and null space of the scaled Jacobian: unit rows [u, (r x u) / l].

l is the characteristic length, so that the singular values have no unit and rotations count as the
displacements that they cause at the platform's rim.
"""

from dataclasses import dataclass

import numpy as np

from solver_ref.kinematics import length_rows, scaling
from solver_ref.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Conditioning:
    """The scaled Jacobian over a set of poses.

    `rank`: lowest and highest; `deficient`: the share of poses below min(cables, unknowns);
    `condition`: smallest, mean and largest ratio of singular values, the mean over the poses of
    full rank, infinite where there is none; `singular_value`: the smallest of all; `worst`: the
    pose that has it (m, rad).
    """

    poses: int
    rank: tuple[int, int]
    deficient: float
    condition: tuple[float, float, float]
    singular_value: float
    worst: tuple[float, ...]


def scaled_jacobian(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """`length_rows` in scaled coordinates, shape (..., joints, coordinates), no unit."""
    # A cable of length zero has no direction: it holds the platform in none.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(length_rows(robot, poses) / scaling(robot))


def rank_tolerance(robot: Robot) -> float:
    """The singular value at and below which a direction counts as lost.

    There, a length error of the asked accuracy moves the pose further than a start may be off; or,
    where no start error is declared, further than the workspace is wide.
    """
    widest = max(high - low for low, high in robot.workspace.position)
    return robot.accuracy.length / (robot.workspace.start_error[0] or widest)


def conditioning(robot: Robot, poses: np.ndarray) -> Conditioning:
    """Rank and condition over poses of shape (N, coordinates)."""
    values = np.linalg.svd(scaled_jacobian(robot, poses), compute_uv=False)
    ranks = (values > rank_tolerance(robot)).sum(axis=-1)
    full = ranks == values.shape[-1]
    with np.errstate(divide="ignore"):
        condition = np.where(full, values[:, 0] / values[:, -1], np.inf)
    worst = int(values[:, -1].argmin())
    return Conditioning(
        poses=len(poses),
        rank=(int(ranks.min()), int(ranks.max())),
        deficient=float(1 - full.mean()),
        condition=(
            float(condition.min()),
            float(condition[full].mean()) if full.any() else np.inf,
            float(condition.max()),
        ),
        singular_value=float(values[worst, -1]),
        worst=tuple(poses[worst].tolist()),
    )


def null_space(robot: Robot, pose: np.ndarray) -> np.ndarray:
    """The directions that no length at `pose` sees, in scaled coordinates: (k, coordinates).

    In echelon form with the largest entries as pivots: each direction has a 1 in its own
    coordinate, where the others have 0. Entries within the rank tolerance are 0.
    """
    _, values, directions = np.linalg.svd(scaled_jacobian(robot, pose))
    tolerance = rank_tolerance(robot)
    basis = directions[(values > tolerance).sum() :].copy()
    for i in range(len(basis)):
        row, column = np.unravel_index(np.abs(basis[i:]).argmax(), basis[i:].shape)
        basis[[i, i + row]] = basis[[i + row, i]]
        basis[i] /= basis[i, column]
        others = np.arange(len(basis)) != i
        basis[others] -= basis[others, column, None] * basis[i]
        # Later pivots come from other columns: this one is 0 in the rows below.
    return np.where(np.abs(basis) > tolerance, basis, 0.0)
