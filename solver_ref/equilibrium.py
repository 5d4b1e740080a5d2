"""The closure `equilibrium` in float64: the pose and the tensions that go with too few lengths.

L_i(x) = L_i + stretch_i(T) and J^T T = W together determine the pose x and the tensions T, where
the lengths alone do not determine the pose (`solver_ref.equilibrium_search`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from solver_ref import domain
from solver_ref.conditioning import rank_tolerance
from solver_ref.equilibrium_poses import hanging_robot
from solver_ref.equilibrium_search import Found, Problem, search
from solver_ref.kinematics import cable_lengths, rotation_exp, scaling, spatial_poses
from solver_ref.levenberg_marquardt import LEVEL_STEPS, lm_solve
from solver_ref.robot import Robot
from solver_ref.statics import weight_of
from solver_ref.status import Status, status_words
from solver_ref.stiffness import Sensitivity, pull, sensitivity

TOLERANCE = 1e-10
"""Where nothing is asked: the largest length error, and the distance that the unbalanced wrench
would move the platform (m)."""

LEAST_REACH = 2.0**-4
"""The first tensions are those of cables that are at least this steep, as a sine."""

SAME = 1e-5
"""Two solutions whose positions (m) and rotation matrices differ less are one."""


@dataclass(frozen=True, kw_only=True)
class Equilibrium:
    """What was found for each row.

    `poses` (N, free), m and rad; `tensions` (N, cables), N; `iterations` (N,), steps tried;
    `residual` (N,): the largest length error (m); `unbalanced` (N, free): W - J^T T, N and N m;
    `sensitivity`: what errors do there; `status` (N,): words of `Status`.
    """

    poses: np.ndarray
    tensions: np.ndarray
    iterations: np.ndarray
    residual: np.ndarray
    unbalanced: np.ndarray
    sensitivity: Sensitivity
    status: np.ndarray

    @property
    def stable(self) -> np.ndarray:
        """Whether the platform comes back to each pose by itself, (N,)."""
        return self.sensitivity.least_stiffness > 0


def equilibrium(
    robot: Robot,
    lengths: np.ndarray,
    starts: np.ndarray | None = None,
    *,
    wrenches: np.ndarray | None = None,
    elastic: bool = True,
    tolerance: float = TOLERANCE,
    limit: int = 50,
) -> Equilibrium:
    """The pose and tensions of each row of lengths, from its start.

    Parameters
    ----------
    lengths : (N, cables), m; with `elastic` those of the cables without tension, which stretch
        under the tensions found, by the integrated law of `solver_ref.elongation`
    starts : (N, free) or (free,), m and rad; without one, home, moved with its attitude held to
        where the lengths fit best. The tensions start in proportion to the lengths there.
    wrenches : applied to the platform, (N, free) or (free,), N and N m
    tolerance : the largest length error, and unbalanced wrench over the weight per length (m)

    Status: CONVERGED; ITERATION_LIMIT; SLACK where a tension is below its bound; NO_SOLUTION where
    one is negative or the equilibrium is unstable, so that the platform cannot hang there, or where
    a length is further off than the robot's residual limit; NEAR_SINGULAR where a length error of
    the asked accuracy may move the platform by a start error; OUT_OF_RANGE beyond the grown
    workspace of `hanging_robot`. ValueError without a mass or gravity, or where the lengths
    determine the pose.
    """
    lengths = np.atleast_2d(np.asarray(lengths, float))
    problem = _problem(robot, lengths, wrenches, elastic)
    poses = _starts(robot, lengths, starts)
    found = search(problem, poses, _first_tensions(robot, poses), tolerance, limit)
    compliance = problem.stretch(found.tensions)[1]
    answer = sensitivity(robot, found.poses, found.tensions, compliance)
    free = len(robot.free)
    return Equilibrium(
        poses=found.poses,
        tensions=found.tensions,
        iterations=found.iterations,
        residual=np.abs(found.residuals[:, free:]).max(axis=1),
        unbalanced=-found.residuals[:, :free] * scaling(robot) * problem.unit,
        sensitivity=answer,
        status=_status(robot, found, tolerance, answer),
    )


def equilibria(
    robot: Robot,
    lengths: np.ndarray,
    starts: np.ndarray,
    *,
    wrenches: np.ndarray | None = None,
    elastic: bool = True,
) -> Equilibrium:
    """The different equilibria that starts (M, free) lead to, for one row of lengths (cables,).

    Every one has converged; the stiffest first. `stable` and the status say which of them the
    platform can hang in: the others are unstable or would push with a cable.
    """
    lengths = np.broadcast_to(np.asarray(lengths, float), (len(starts), len(robot.cables)))
    found = equilibrium(robot, lengths, starts, wrenches=wrenches, elastic=elastic)
    places = _places(robot, found.poses)
    order = np.argsort(-found.sensitivity.least_stiffness)
    kept: list[int] = []
    for i in order[(found.status[order] & Status.CONVERGED) != 0].tolist():
        if all(np.abs(places[i] - places[j]).max() > SAME for j in kept):
            kept.append(i)
    return _rows(found, kept)


def _problem(
    robot: Robot, lengths: np.ndarray, wrenches: np.ndarray | None, elastic: bool
) -> Problem:
    if robot.determined:
        raise ValueError(
            f"{len(robot.cables)} lengths determine the pose of {robot.name} without equilibrium"
        )
    if robot.platform.mass is None or not any(robot.gravity):
        raise ValueError(f"{robot.name} needs a mass and gravity to hang in equilibrium")
    given = np.zeros(len(robot.free)) if wrenches is None else np.asarray(wrenches, float)
    applied = np.broadcast_to(given, (len(lengths), len(robot.free)))
    reach = float(cable_lengths(robot, np.array(robot.workspace.home)).mean())
    unit = weight_of(robot) / reach
    return Problem(robot, lengths, applied, elastic, unit)


def _starts(robot: Robot, lengths: np.ndarray, starts: np.ndarray | None) -> np.ndarray:
    if starts is not None:
        return np.broadcast_to(np.asarray(starts, float), (len(lengths), len(robot.free)))
    return cold_starts(robot, lengths)


def cold_starts(robot: Robot, lengths: np.ndarray) -> np.ndarray:
    """Home, moved with its attitude held to where the lengths (N, cables) fit best, (N, free)."""
    home = np.array(robot.workspace.home)
    level = lm_solve(robot, home, lengths, limit=LEVEL_STEPS, hold_attitude=True)
    return domain.clipped(robot, level.poses)


def _first_tensions(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Tensions in proportion to the lengths that hold the weight, (N, cables)."""
    cables = pull(robot, poses)
    unit = cables.rows[..., : robot.translations]
    down = np.array([robot.gravity[i] for i in robot.free if i < 3])
    size = math.hypot(*down)
    reach = (cables.lengths * (unit @ down)).sum(axis=1) / size
    least = LEAST_REACH * cables.lengths.sum(axis=1)
    density = robot.platform.mass * size / np.maximum(reach, least)
    return density[:, None] * cables.lengths


def _status(robot: Robot, found: Found, tolerance: float, answer: Sensitivity) -> np.ndarray:
    free = len(robot.free)
    lowest = np.array([cable.tension_min or 0.0 for cable in robot.cables])
    converged = np.abs(found.residuals).max(axis=1) <= tolerance
    far = np.abs(found.residuals[:, free:]).max(axis=1) > robot.accuracy.residual_limit
    pushes = (found.tensions < 0).any(axis=1)
    faults = {
        Status.ITERATION_LIMIT: ~converged,
        Status.OUT_OF_RANGE: ~domain.inside(hanging_robot(robot), found.poses),
        Status.NO_SOLUTION: far | pushes | ~(answer.least_stiffness > 0),
    }
    bad = np.any(list(faults.values()), axis=0)
    bits = faults | {
        Status.VALID: ~bad,
        Status.CONVERGED: converged,
        Status.SLACK: (found.tensions < lowest).any(axis=1),
        Status.NEAR_SINGULAR: ~(answer.amplification * rank_tolerance(robot) < 1),
    }
    return status_words(bits)


def _places(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Position and rotation matrix: the same for rotations that differ by whole turns."""
    full = spatial_poses(robot, poses)
    return np.hstack([full[:, :3], rotation_exp(full[:, 3:]).reshape(len(full), 9)])


def _rows(found: Equilibrium, rows: list[int]) -> Equilibrium:
    place = np.array(rows, int)
    inner = {name: array[place] for name, array in vars(found.sensitivity).items()}
    outer = {n: array[place] for n, array in vars(found).items() if n != "sensitivity"}
    return Equilibrium(**outer, sensitivity=Sensitivity(**inner))
