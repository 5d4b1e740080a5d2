"""Cable tensions in float64: what the cables pull with at a pose, in motion and under a load.

They balance the wrench W that has to be carried (`solver_ref.statics`): J^T T = W, moments divided
by the characteristic length. Up to as many cables as unknowns: the least-squares T, where a cable
below its bound is dropped (it is slack) and the others solved for again. More cables: T inside its
bounds, nearest to their middles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solver_ref.conditioning import scaled_jacobian
from solver_ref.distribution import Distribution, closed_form, nearest_to_middle
from solver_ref.kinematics import scaling
from solver_ref.logic import LogicArithmetic
from solver_ref.robot import Robot
from solver_ref.statics import carried_wrenches
from solver_ref.status import Status, status_words
from solver_ref.step import SolveBounds
from solver_ref.tension_pass import (
    PIVOT_FLOOR,
    TensionLimits,
    TensionPass,
    TensionState,
    tension_pass,
)

UNBALANCED_LIMIT = 0.75
"""Up to as many cables as unknowns: the share of the wrench W (as a norm, moments scaled) that may
stay unbalanced. A pose off its equilibrium leaves some of it (0.7 where the reference crane tilts
most), and it accelerates the platform; beyond this share the cables hold next to nothing."""

BALANCE = 2.0**-12
"""Redundant cables: the same, as a share of the largest middle of a cable's bounds. They balance
the whole wrench, and this is room for rounding."""

METHODS = ("exact", "bounded-step", "closed-form")


@dataclass(frozen=True, kw_only=True)
class TensionSolution:
    """The tensions of each row.

    `tensions` (N, cables), N: 0 of a cable that was dropped. `active` (N, cables): whether the
    cable was not dropped, or with redundant cables is not held at a bound. `unbalanced` (N, free):
    W - J^T T, N and N m, unscaled. `status` (N,): words of `Status`.
    """

    tensions: np.ndarray
    active: np.ndarray
    unbalanced: np.ndarray
    status: np.ndarray


def tensions(
    robot: Robot,
    poses: np.ndarray,
    twists: np.ndarray | None = None,
    accelerations: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
    *,
    method: str = "exact",
) -> TensionSolution:
    """The cable tensions of each row.

    Poses, twists, accelerations and applied wrenches as in `carried_wrenches`, (N, free) each.
    `method`: `exact`; `bounded-step`, the passes that hardware takes (`solver_ref.tension_pass`),
    which find the same; `closed-form`, redundant cables only, which now and then finds none.

    Status: VALID and CONVERGED where the tensions balance the wrench within their bounds; SLACK
    beside it where a cable was dropped; NEAR_SINGULAR beside it where the cables' directions are
    nearly dependent, so that the tensions are no more than the smallest ones that fit; NO_SOLUTION
    where no cable is left, one is above its bound, or too much stays unbalanced.

    ValueError for an unknown method, a robot without mass, or redundant cables without bounds.
    """
    if method not in METHODS:
        raise ValueError(f"the method must be one of {', '.join(METHODS)}, not {method!r}")
    limits, scale = TensionLimits.of(robot), scaling(robot)
    wrench = np.atleast_2d(carried_wrenches(robot, poses, twists, accelerations, wrenches)) / scale
    rows = scaled_jacobian(robot, np.atleast_2d(poses))
    rows = np.broadcast_to(rows, (len(wrench), *rows.shape[1:]))
    found = _found(robot, method, rows, wrench, limits)
    unbalanced = wrench - (found.tensions[:, None, :] @ rows)[:, 0]
    return TensionSolution(
        tensions=found.tensions,
        active=found.free,
        unbalanced=unbalanced * scale,
        status=_status(limits, found, rows, wrench, unbalanced),
    )


def repeated_passes(rows: np.ndarray, wrench: np.ndarray, limits: TensionLimits) -> Distribution:
    """`tension_pass` until every row is done, at most `pass_limit` times.

    `rows` (N, cables, unknowns) and `wrench` (N, unknowns) as there; `found`: the row was done.
    """
    count, cables, unknowns = rows.shape
    tensions, free = np.zeros((count, cables)), np.zeros((count, cables), bool)
    done = np.zeros(count, bool)
    for one in passes(rows, wrench, limits, pass_limit(cables)):
        live = one.live[:, None]
        tensions = np.where(live, np.stack(one.found.tensions, axis=-1), tensions)
        fixed = np.stack(one.state.low, axis=-1) | np.stack(one.state.high, axis=-1)
        free = np.where(live, ~fixed, free)
        done = done | one.found.done
    if cables > unknowns:  # what was not done may be anywhere
        tensions = np.clip(tensions, limits.lowest, limits.highest)
    return Distribution(tensions, free, done)


@dataclass(frozen=True)
class Pass:
    """One pass over all rows: its arithmetic, the state that it was given, what it found, and the
    rows (N,) that no pass before had done."""

    m: LogicArithmetic
    state: TensionState
    found: TensionPass
    live: np.ndarray


def passes(
    rows: np.ndarray,
    wrench: np.ndarray,
    limits: TensionLimits,
    most: int,
    arithmetic: type[LogicArithmetic] = LogicArithmetic,
) -> Iterator[Pass]:
    """One pass after the other until all rows are done, at most so many; each has an arithmetic of
    its own. `rows` and `wrench` as in `repeated_passes`."""
    count, cables, unknowns = rows.shape
    off = np.zeros(count, bool)
    zeros = [np.zeros(count)] * min(cables, unknowns)
    state = TensionState(zeros, [off] * cables, [off] * cables, off)
    bounds = SolveBounds(PIVOT_FLOOR, *[math.inf] * 4)
    columns = [list(row.T) for row in np.swapaxes(rows, 0, 1)]
    live = ~off
    for _ in range(most):
        m = arithmetic()
        found = tension_pass(m, limits, columns, list(wrench.T), state, bounds)
        yield Pass(m, state, found, live)
        state, live = found.following, live & ~found.done
        if not live.any():
            return


def pass_limit(cables: int) -> int:
    """How many passes a solve may take: one for each cable, a first one and a last one."""
    return cables + 2


def _found(
    robot: Robot, method: str, rows: np.ndarray, wrench: np.ndarray, limits: TensionLimits
) -> Distribution:
    if method == "bounded-step":
        return repeated_passes(rows, wrench, limits)
    if len(robot.cables) > len(robot.free):
        search = closed_form if method == "closed-form" else nearest_to_middle
        return search(rows, wrench, np.array(limits.lowest), np.array(limits.highest))
    if method == "closed-form":
        raise ValueError(
            f"a closed form distributes the tensions of redundant cables, and {robot.name} has "
            f"{len(robot.cables)} for {len(robot.free)} unknowns"
        )
    return _dropped(rows, wrench, limits)


def _dropped(rows: np.ndarray, wrench: np.ndarray, limits: TensionLimits) -> Distribution:
    """Least squares by singular values; the cable furthest below its bound is dropped, for good."""
    active, each = np.ones(rows.shape[:2], bool), np.arange(len(rows))
    while True:
        held = np.swapaxes(rows * active[..., None], -1, -2)
        found = (np.linalg.pinv(held, rcond=math.sqrt(PIVOT_FLOOR)) @ wrench[..., None])[..., 0]
        below = np.where(active, np.array(limits.lowest) - found, 0.0)
        worst = below.argmax(axis=1)
        over = below[each, worst] > 0
        if not over.any():
            return Distribution(found * active, active, np.ones(len(rows), bool))
        active[each[over], worst[over]] = False


def _status(
    limits: TensionLimits,
    found: Distribution,
    rows: np.ndarray,
    wrench: np.ndarray,
    unbalanced: np.ndarray,
) -> np.ndarray:
    redundant = rows.shape[1] > rows.shape[2]
    highest = np.array([np.inf if high is None else high for high in limits.highest])
    left = np.linalg.norm(unbalanced, axis=1)
    allowed = UNBALANCED_LIMIT * np.linalg.norm(wrench, axis=1)
    if redundant:
        allowed = np.full(len(rows), BALANCE * max(limits.middle))
    none = ~found.free.any(axis=1) & (not redundant)
    over = (found.tensions > highest * (1 + 1e-9)).any(axis=1)
    under = (found.tensions < np.array(limits.lowest) * (1 - 1e-9)).any(axis=1) & redundant
    bad = none | over | under | ~(left <= allowed)
    smallest = np.linalg.svd(rows, compute_uv=False)[:, -1] ** 2
    bits = {
        Status.VALID: ~bad,
        Status.CONVERGED: found.found & ~bad,
        Status.NEAR_SINGULAR: ~(smallest > PIVOT_FLOOR),
        Status.SLACK: (not redundant) & ~found.free.all(axis=1),
        Status.NO_SOLUTION: bad,
    }
    return status_words(bits)
