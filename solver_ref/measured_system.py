"""The linear system of an LM step in float64, row by row: residuals, rows, and the damped step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.attitude import attitude_rows
from solver_ref.elimination import gauss_jordan
from solver_ref.kinematics import by_pose, scaling, squared_system
from solver_ref.mechanisms import loops_of
from solver_ref.robot import Robot

FLOAT = FloatArithmetic()


@dataclass(frozen=True)
class Measured:
    """What joints measure (N, joints), m or rad, and perhaps angles (N, axes), rad."""

    lengths: np.ndarray
    attitude: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Measured:
        attitude = None if self.attitude is None else self.attitude[rows]
        return Measured(self.lengths[rows], attitude)


@dataclass(frozen=True)
class System:
    """Residuals and rows of one estimate; `solved` is what the step brings to zero: f, or with
    `least` (least squares) f/L and the residuals of the attitude."""

    solved: np.ndarray
    rows: np.ndarray
    residual: np.ndarray
    least: bool

    @property
    def cost(self) -> np.ndarray:
        return ((self.solved if self.least else self.residual) ** 2).sum(axis=-1)

    def take(self, rows: np.ndarray) -> System:
        """The rows at these places (indices or a mask)."""
        return System(self.solved[rows], self.rows[rows], self.residual[rows], self.least)

    def put(self, rows: np.ndarray, other: System) -> None:
        """Replace the rows at these places, in place."""
        self.solved[rows], self.rows[rows] = other.solved, other.rows
        self.residual[rows] = other.residual


def system_of(robot: Robot, poses: np.ndarray, measured: Measured, held: bool) -> System:
    """The system at poses (N, coordinates); `held`: of the positions alone."""
    lengths, attitude = measured.lengths, measured.attitude
    loops = loops_of(robot)
    if loops:
        f, twist, _ = loops.system(poses, lengths)
        rows, size = by_pose(robot, poses, twist) / scaling(robot), np.ones_like(f)
    else:
        f, rows = squared_system(robot, poses, lengths)
        size = lengths
    if held:
        rows = rows[..., : robot.translations]
    residual = f / size
    if attitude is None and rows.shape[-2] <= rows.shape[-1]:
        return System(f, rows, residual, False)
    # Least squares, no longer zeros: what counts is the true length, not its square.
    solved, rows = residual, rows / size[..., None]
    if attitude is not None and not held:
        turned, turns = attitude_rows(FLOAT, robot, list(poses.T), list(np.transpose(attitude)))
        solved = np.concatenate([solved, np.stack(turned, axis=-1)], axis=-1)
        spread = np.broadcast_to(np.array(turns, float), (len(poses), len(turns), rows.shape[-1]))
        rows = np.concatenate([rows, spread], axis=-2)
    return System(solved, rows, residual, True)


def damped_step(system: System, damping: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The damped step in scaled coordinates and the smallest pivot over the mean diagonal."""
    rows, target = system.rows, -system.solved[..., None]
    transposed = np.swapaxes(rows, -1, -2)
    wide = rows.shape[-2] <= rows.shape[-1]
    matrix = rows @ transposed if wide else transposed @ rows
    right = target if wide else transposed @ target
    mean = np.trace(matrix, axis1=-2, axis2=-1) / matrix.shape[-1]
    damped = matrix + (damping * mean)[..., None, None] * np.eye(matrix.shape[-1])
    x, pivot = gauss_jordan(damped, right[..., 0])
    if wide:
        with np.errstate(invalid="ignore", over="ignore"):
            x = (transposed @ x[..., None])[..., 0]
    return x, pivot / mean
