"""Forward kinematics by Levenberg-Marquardt (LM) in float64: one step, and whole solves.

A step solves the smaller of J J^T (cables) and J^T J (unknowns), damped in proportion to its mean
diagonal: delta = J^T (J J^T + lambda tr/n I)^-1 (-f) = (J^T J + lambda tr/n I)^-1 J^T (-f). Where a
rotation is measured too it has rows of its own, as in `solver_ref.attitude`.
"""

from dataclasses import dataclass

import numpy as np

from solver_ref import domain
from solver_ref.attitude import attitude_axes
from solver_ref.damping import POLICIES, Damping
from solver_ref.kinematics import joint_errors, scaling
from solver_ref.measured_system import Measured, damped_step, system_of
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import Robot
from solver_ref.status import Status, status_words

# The smallest pivot, relative to the mean diagonal, below which a pose counts as near singular:
# an elimination with 24 bits behind the leading one then leaves about 8 bits of the step.
PIVOT_BOUND = 2.0**-16

# Steps of a cold start with the attitude held. Without them many solves of four lengths end with
# the platform tilted out of its workspace; more than two cost a step each and gain nothing.
LEVEL_STEPS = 2


@dataclass(frozen=True, kw_only=True)
class Step:
    """One LM update. `poses`: the better estimates (N, coordinates); `delta`: the step in scaled
    coordinates (N, coordinates), m; `residual`: f_i / L_i at the pose it started from
    (N, cables), m; `pivot`: the smallest pivot over the mean diagonal of M (N,)."""

    poses: np.ndarray
    delta: np.ndarray
    residual: np.ndarray
    pivot: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What a solve found for each row.

    `poses` (N, coordinates): the best accepted pose; `iterations` (N,): steps taken, those undone
    too; `rollbacks` (N,): steps undone; `residual` (N,): the largest |length error| (m), from the
    pose as returned; `status` (N,): words of `Status`. A pipeline evaluates
    iterations + rollbacks + 1 poses.
    """

    poses: np.ndarray
    iterations: np.ndarray
    rollbacks: np.ndarray
    residual: np.ndarray
    status: np.ndarray


def lm_step(
    robot: Robot,
    poses: np.ndarray,
    lengths: np.ndarray,
    damping: float | np.ndarray,
    *,
    attitude: np.ndarray | None = None,
    hold_attitude: bool = False,
) -> Step:
    """One LM update of each row.

    Parameters
    ----------
    poses : estimates, shape (N, coordinates), m and rad
    lengths : measured lengths, shape (N, cables), m
    damping : lambda, relative to the mean diagonal of M; one number or shape (N,)
    attitude : measured angles, shape (N, axes), rad, see `solver_ref.attitude`; None: lengths alone
    hold_attitude : leave the rotation as it is and move the position alone
    """
    system = system_of(robot, poses, Measured(lengths, attitude), hold_attitude)
    delta, pivot = damped_step(system, damping)
    return Step(
        poses=_moved(robot, poses, delta),
        delta=_padded(robot, delta),
        residual=system.residual,
        pivot=pivot,
    )


def lm_solve(
    robot: Robot,
    starts: np.ndarray,
    lengths: np.ndarray,
    policy: str | Damping = "marquardt",
    *,
    attitude: np.ndarray | None = None,
    tolerance: float | None = None,
    limit: int = 50,
    hold_attitude: bool = False,
) -> Solution:
    """Steps until each row has converged, or `limit` steps were taken.

    Up to as many cables as unknowns: converged where the largest |f_i| / L_i is within the
    tolerance. More, or with an attitude: where the largest component of the scaled step is. A
    residual above the robot's limit, also a weighted one of the attitude, then says NO_SOLUTION.
    The cost that must not rise is the sum of the squares of f_i / L_i and of the attitude's.

    Parameters
    ----------
    starts : shape (N, coordinates), or (coordinates,) for all rows; m and rad
    lengths : shape (N, cables), m
    attitude : as in `lm_step`
    policy : a name of `POLICIES`, or a `Damping`
    tolerance : m; half the robot's accuracy where not given
    """
    rule = POLICIES[policy] if isinstance(policy, str) else policy
    lengths = np.atleast_2d(np.asarray(lengths, float))
    attitude = None if attitude is None else np.atleast_2d(np.asarray(attitude, float))
    starts = np.broadcast_to(np.asarray(starts, float), (len(lengths), len(robot.free)))
    tolerance = robot.accuracy.length / 2 if tolerance is None else tolerance
    search = _Search(robot, starts, Measured(lengths, attitude), rule, tolerance, hold_attitude)
    for _ in range(limit):
        if not search.advance():
            break
    return search.solution()


def solve_cold(
    robot: Robot,
    lengths: np.ndarray,
    policy: str | Damping = "marquardt",
    *,
    attitude: np.ndarray | None = None,
    tolerance: float | None = None,
    limit: int = 50,
) -> Solution:
    """A solve without a start: two steps from home with its attitude held, then all coordinates.

    The position found by the first part is brought back into the grown workspace; iterations and
    rollbacks are those of both. Where `levels_first` says no it is one solve from home, turned as
    measured.
    """
    home = cold_starts(robot, len(np.atleast_2d(lengths)), attitude)
    if not levels_first(robot):
        options = {"attitude": attitude, "tolerance": tolerance, "limit": limit}
        return lm_solve(robot, home, lengths, policy, **options)
    first = lm_solve(robot, home, lengths, policy, limit=LEVEL_STEPS, hold_attitude=True)
    starts = domain.clipped(robot, first.poses)
    second = lm_solve(robot, starts, lengths, policy, tolerance=tolerance, limit=limit)
    return Solution(
        poses=second.poses,
        iterations=first.iterations + second.iterations,
        rollbacks=first.rollbacks + second.rollbacks,
        residual=second.residual,
        status=second.status,
    )


def levels_first(robot: Robot) -> bool:
    """Whether a cold solve holds the attitude at first: where none is measured, and the mechanism
    is one of which more solves then converge."""
    return not attitude_axes(robot) and mechanism_of(robot).levels


def cold_starts(robot: Robot, count: int, attitude: np.ndarray | None = None) -> np.ndarray:
    """Where solves without a start begin: home, turned as measured; shape (count, coordinates)."""
    starts = np.tile(np.array(robot.workspace.home), (count, 1))
    if attitude is not None:
        starts[:, attitude_axes(robot)] = attitude
    return starts


class _Search:
    """The working memory of a solve: one row per pose, those that have converged left alone."""

    def __init__(
        self,
        robot: Robot,
        starts: np.ndarray,
        measured: Measured,
        rule: Damping,
        tolerance: float,
        hold_attitude: bool,
    ) -> None:
        self.robot, self.measured, self.rule = robot, measured, rule
        self.tolerance, self.hold_attitude = tolerance, hold_attitude
        self.poses, self.best = starts.copy(), starts.copy()
        self.system = system_of(robot, starts, measured, hold_attitude)
        self.best_cost = self.system.cost
        self.damping = np.full(len(starts), float(rule.initial))
        self.iterations = np.zeros(len(starts), int)
        self.rollbacks = np.zeros(len(starts), int)
        self.by_step = self.system.least
        self.converged = self._within(self.system.residual) & (not self.by_step)

    def _within(self, values: np.ndarray) -> np.ndarray:
        return np.abs(values).max(axis=-1) <= self.tolerance

    def advance(self) -> bool:
        """One step of every row that has not converged; False where there is none."""
        live = np.flatnonzero(~self.converged)
        if not live.size:
            return False
        here = self.system.take(live)
        # An undamped step at a singular pose is infinite: a failure, not a reason to stop.
        with np.errstate(over="ignore", invalid="ignore"):
            delta, _ = damped_step(here, self.damping[live])
            trial = _moved(self.robot, self.poses[live], delta)
            there = system_of(self.robot, trial, self.measured.take(live), self.hold_attitude)
            cost = there.cost
        better = cost <= here.cost
        # A step within the tolerance is the last one and part of the answer, rounding or not.
        done = self._within(delta if self.by_step else there.residual)
        accepted = better | done if self.rule.rolls_back else np.isfinite(cost)
        self.iterations[live] += 1
        self.rollbacks[live] += ~accepted
        factor = np.where(better, self.rule.on_success, self.rule.on_failure)
        changed = np.clip(self.damping[live] * factor, self.rule.lowest, self.rule.highest)
        self.damping[live] = changed
        self.system.put(live[accepted], there.take(accepted))
        self.poses[live[accepted]] = trial[accepted]
        improved = cost <= self.best_cost[live]
        self.best_cost[live[improved]] = cost[improved]
        self.best[live[improved]] = trial[improved]
        self.converged[live] = done & accepted
        return True

    def solution(self) -> Solution:
        poses = np.where(self.converged[:, None], self.poses, self.best)
        lengths, attitude = self.measured.lengths, self.measured.attitude
        residual = worst = np.abs(joint_errors(self.robot, poses, lengths)).max(axis=-1)
        system = system_of(self.robot, poses, self.measured, False)
        if attitude is not None:
            turned = np.abs(system.solved[:, lengths.shape[-1] :]).max(axis=-1)
            worst = np.maximum(residual, turned)
        pivot = damped_step(system, 0.0)[1]
        faults = {
            Status.ITERATION_LIMIT: ~self.converged,
            Status.OUT_OF_RANGE: ~domain.inside(self.robot, poses),
            # Least squares converge whatever the lengths are; the others do not.
            Status.NO_SOLUTION: (self.by_step | ~self.converged)
            & ~(worst <= self.robot.accuracy.residual_limit),
        }
        bad = np.any(list(faults.values()), axis=0)
        # A pivot that is NaN is no pivot above the bound.
        bits = faults | {
            Status.VALID: ~bad,
            Status.CONVERGED: self.converged,
            Status.NEAR_SINGULAR: ~(pivot > PIVOT_BOUND),
        }
        return Solution(
            poses=poses,
            iterations=self.iterations,
            rollbacks=self.rollbacks,
            residual=residual,
            status=status_words(bits),
        )


def _padded(robot: Robot, delta: np.ndarray) -> np.ndarray:
    """The step in all coordinates: zero in those that were held."""
    held = len(robot.free) - delta.shape[-1]
    return np.pad(delta, [(0, 0)] * (delta.ndim - 1) + [(0, held)])


def _moved(robot: Robot, poses: np.ndarray, delta: np.ndarray) -> np.ndarray:
    return poses + _padded(robot, delta) / scaling(robot)
