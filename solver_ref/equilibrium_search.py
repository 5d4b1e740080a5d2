"""The equations of the closure `equilibrium` in float64, and a damped Newton search for their zero.

L_i(x) = L_i + stretch_i(T) and J^T T = W, everything in metres: moments and rotations scaled by the
characteristic length, forces divided by a stiffness (N/m) of the size of the weight over a length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from solver_ref.elongation import elongation
from solver_ref.kinematics import FLOAT, rotation_exp, rotation_log, scaling
from solver_ref.robot import Robot
from solver_ref.statics import carried_wrenches
from solver_ref.stiffness import equilibrium_system, loaded_stiffness, pull

# Damping: the first, what a step taken and one refused multiply it with, and its bounds.
FIRST, SHRINK, GROW, LOWEST, HIGHEST = 1e-3, 0.03, 10.0, 1e-18, 1e6
# A step may let the sum of squares grow by this before it is refused: on the way to an equilibrium
# whose tensions hardly show in the lengths, it has to.
RISE = 1e4


@dataclass(frozen=True)
class Problem:
    """Rows of lengths (N, cables), m, and applied wrenches (N, free). `elastic`: the lengths are
    those without tension. `unit` (N/m) turns forces into metres."""

    robot: Robot
    lengths: np.ndarray
    wrenches: np.ndarray
    elastic: bool
    unit: float

    def take(self, rows: np.ndarray) -> Problem:
        """The rows at these places (indices or a mask)."""
        return replace(self, lengths=self.lengths[rows], wrenches=self.wrenches[rows])

    def evaluate(self, poses: np.ndarray, pulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The residuals (N, free + cables), m, at poses and tensions; and their derivatives by
        (dt, l dtheta, dT / unit)."""
        robot, scale, unit = self.robot, scaling(self.robot), self.unit
        cables = pull(robot, poses)
        carried = carried_wrenches(robot, poses, wrenches=self.wrenches)
        left = ((pulls[:, None, :] @ cables.rows)[:, 0] - carried) / scale / unit
        stretch, compliance = self.stretch(pulls)
        hessian = loaded_stiffness(robot, poses, cables, pulls) / scale[:, None] / scale / unit
        system = equilibrium_system(hessian, cables.rows / scale, compliance * unit)
        return np.hstack([left, cables.lengths - self.lengths - stretch]), system

    def stretch(self, pulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How much longer the cables are under these tensions (m), and the slopes (m/N)."""
        longer, slope = np.zeros(pulls.shape), np.zeros(pulls.shape)
        for i, cable in enumerate(self.robot.cables):
            law, pulled = cable.stiffness, pulls[:, i]
            if law is None or not self.elastic:
                continue
            longer[:, i] = elongation(FLOAT, law, pulled)
            slips = pulled > (math.inf if law.slip is None else law.slip)
            slope[:, i] = 1 / np.where(slips, law.k_max or math.inf, law.k0 + law.alpha * pulled)
            slope[pulled <= law.static_friction, i] = 0.0
        return longer, slope


def moved(robot: Robot, poses: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The poses after scaled steps (dt, l dtheta), (N, free) in m; no turn is beyond pi."""
    step = step / scaling(robot)
    if robot.rotations < 3:
        after, turns = poses + step, slice(robot.translations, None)
        after[:, turns] -= 2 * np.pi * np.round(after[:, turns] / (2 * np.pi))
        return after
    turned = rotation_exp(step[:, 3:]) @ rotation_exp(poses[:, 3:])
    return np.hstack([poses[:, :3] + step[:, :3], rotation_log(turned)])


@dataclass(frozen=True)
class Found:
    """Poses (N, free), tensions (N, cables), steps tried (N,) and residuals (N, free + cables)."""

    poses: np.ndarray
    tensions: np.ndarray
    iterations: np.ndarray
    residuals: np.ndarray


def search(
    problem: Problem, poses: np.ndarray, pulls: np.ndarray, tolerance: float, limit: int
) -> Found:
    """Damped Newton steps from these poses and tensions, until no residual is above `tolerance`.

    Each row by itself; a step that makes the sum of squares far larger is not taken.
    """
    poses, pulls = poses.copy(), pulls.copy()
    residuals, system = problem.evaluate(poses, pulls)
    damping, count = np.full(len(poses), FIRST), np.zeros(len(poses), int)
    free = len(problem.robot.free)
    for _ in range(limit):
        live = np.flatnonzero(~(np.abs(residuals).max(axis=1) <= tolerance))
        if not live.size:
            break
        part, here = problem.take(live), residuals[live]
        densities = np.maximum(pulls[live], 0.0) / part.lengths / problem.unit
        step = _damped(system[live], here, damping[live], densities)
        trial = moved(part.robot, poses[live], step[:, :free])
        pulled = pulls[live] + step[:, free:] * problem.unit
        there, slopes = part.evaluate(trial, pulled)
        better = (there**2).sum(axis=1) < RISE * (here**2).sum(axis=1)
        count[live] += 1
        damping[live] = np.clip(damping[live] * np.where(better, SHRINK, GROW), LOWEST, HIGHEST)
        new = live[better]
        poses[new], pulls[new] = trial[better], pulled[better]
        residuals[new], system[new] = there[better], slopes[better]
    return Found(poses, pulls, count, residuals)


def _damped(
    system: np.ndarray, residuals: np.ndarray, damping: np.ndarray, densities: np.ndarray
) -> np.ndarray:
    """Newton's step, undamped the same whether tensions T or force densities p = T / L are the
    unknowns. It is taken in densities, as at fixed densities hanging is (nearly always) stable:
    H + J^T p J is positive definite, and damping the densities alone keeps the step within reach.
    """
    cables = densities.shape[1]
    free = system.shape[1] - cables
    rows, damped = system[:, free:, :free], system.copy()
    damped[:, :free, :free] += np.swapaxes(rows, -1, -2) @ (densities[..., None] * rows)
    damped[:, range(free, free + cables), range(free, free + cables)] -= damping[:, None]
    step = -np.linalg.solve(damped, residuals[..., None])[..., 0]
    step[:, free:] += densities * (rows @ step[:, :free, None])[..., 0]
    return step
