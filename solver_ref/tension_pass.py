"""One pass of the search for cable tensions, over the abstract scalar: all passes are the same.

Up to as many cables as unknowns: T is the least-squares solution of J^T T = W. The cable furthest
below its bound is dropped (T = 0), for good, and the next pass solves for the others. More cables:
T is the one inside its bounds that is nearest to their middles Tm with J^T T = W. Its condition of
optimality is T = Tm + J y, held at the bounds, for some y of the unknowns. A pass solves for y with
the cables that are free, fixes the one furthest beyond a bound there, and releases those that y
calls back. (Without releasing this is the improved closed form of Pott, 2014.)

A pass adds a correction for the wrench that is still unbalanced, so that it is this difference, not
the elimination, whose precision counts. Cables are dropped, fixed and released only once the
correction has settled. A pass judges the tensions that it is given: those of a solve that is done
are ones whose unbalanced wrench was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.cholesky import CholeskyBounds, solve
from solver_ref.parts import Cable
from solver_ref.robot import Robot
from solver_ref.step import SolveBounds

Vector = Sequence[Scalar]

PIVOT_FLOOR = 2.0**-16
"""The pivot of a matrix of unit rows below which it counts as singular."""

RELEASE_MARGIN = 2.0**-12
"""A fixed cable is called back from this share of its bounds' width on: rounding never does."""


@dataclass(frozen=True)
class TensionLimits:
    """The bounds of every cable and their middles (N). Up to as many cables as unknowns only
    `lowest` is used."""

    lowest: Vector
    highest: Vector
    middle: Vector

    @classmethod
    def of(cls, robot: Robot, cables: Sequence[Cable] | None = None) -> TensionLimits:
        """A cable without a lower bound pulls with 0 N or more. `cables`: by default the robot's
        own; their bounds may be any scalars.

        ValueError for a redundant robot without upper bounds: it has no middles.
        """
        cables = cables or robot.cables
        lowest = [0.0 if cable.tension_min is None else cable.tension_min for cable in cables]
        highest = [cable.tension_max for cable in cables]
        if len(robot.cables) <= len(robot.free):
            return cls(lowest, highest, lowest)
        missing = [number for number, high in enumerate(highest, 1) if high is None]
        if missing:
            number = missing[0]
            raise ValueError(f"cable {number} of {robot.name} has no tension_max to stay below")
        middle = [0.5 * (low + high) for low, high in zip(lowest, highest, strict=True)]
        return cls(lowest, highest, middle)


@dataclass(frozen=True)
class Precision:
    """What rounding does to a pass in hardware; floats need none of it.

    A correction of the tensions, or with redundant cables of the wrench, is off by `rate` of its
    largest component at most; it has settled where that is within `tolerance` (N), and tensions are
    final where the next one is within twice that. `fraction`: the bits of a correction. `wrench`
    (N): the unbalanced wrench is held to it. `floors`: of the pivots, where each has its own.
    """

    rate: float = 0.0
    tolerance: float = math.inf
    fraction: int = 0
    wrench: float = math.inf
    floors: tuple[float, ...] = ()


EXACT = Precision()


@dataclass(frozen=True)
class TensionState:
    """What travels from pass to pass.

    `solution`: T (N), or with redundant cables y (N). Flags `low` and `high`: the cable is fixed at
    that bound; where cables are dropped, `low` says so and `high` stays 0. Flag `kept`: the last
    correction had settled and no cable was fixed or released. The first pass starts from zeros.
    """

    solution: Vector
    low: Vector
    high: Vector
    kept: Scalar


@dataclass(frozen=True)
class TensionPass:
    """What a pass finds: of the state that it was given the tensions (N), the unbalanced wrench
    (scaled, N) and the smallest pivot; and the next state. Flag `done`: the tensions are final."""

    tensions: Vector
    unbalanced: Vector
    pivot: Scalar
    following: TensionState
    done: Scalar


def tension_pass(
    m: Arithmetic,
    limits: TensionLimits,
    rows: Sequence[Vector],
    wrench: Vector,
    state: TensionState,
    bounds: SolveBounds,
    precision: Precision = EXACT,
) -> TensionPass:
    """One pass. `rows` are [u, (r x u) / l] and `wrench` is W, moments divided by l (N), l the
    characteristic length; `bounds` limit the elimination, whose pivots are about 1, and by `step`
    the solution (N)."""
    redundant = len(rows) > len(wrench)
    free = [m.negation(m.any([a, b])) for a, b in zip(state.low, state.high, strict=True)]
    tensions = _held(m, limits, rows, state, bounds, redundant)
    columns = list(zip(*rows, strict=True))
    unbalanced = [
        m.limit(m.round(w - m.dot(column, tensions, "wrench"), "wrench"), precision.wrench, "left")
        for w, column in zip(wrench, columns, strict=True)
    ]
    correction, pivot = _correction(m, rows, free, unbalanced, bounds, precision)
    solution = [
        m.limit(m.nearest(old + new, "tension"), bounds.step, "tension")
        for old, new in zip(state.solution, correction, strict=True)
    ]
    largest = m.maximum([m.absolute(x) for x in (unbalanced if redundant else correction)])
    settled = m.negation(m.less(precision.tolerance, precision.rate * largest))
    wanted = _wanted(m, limits, rows, solution, bounds, redundant)
    low, high, changed = _sorted(m, limits, state, free, wanted, settled, redundant)
    kept = m.every(settled, m.negation(changed))
    close = m.negation(m.less(2 * precision.tolerance, largest))
    following = TensionState(solution, low, high, kept)
    done = m.every(state.kept, kept, close)
    return TensionPass(tensions, unbalanced, pivot, following, done)


def _wanted(
    m: Arithmetic,
    limits: TensionLimits,
    rows: Sequence[Vector],
    solution: Vector,
    bounds: SolveBounds,
    redundant: bool,
) -> list[Scalar]:
    """The tension of each cable if it had no bounds."""
    if not redundant:
        return list(solution)
    middles = [m.constant(middle, "tension") for middle in limits.middle]
    changes = [m.dot(row, solution, "tension") for row in rows]
    return [
        m.limit(middle + change, bounds.step, "tension")
        for middle, change in zip(middles, changes, strict=True)
    ]


def _held(
    m: Arithmetic,
    limits: TensionLimits,
    rows: Sequence[Vector],
    state: TensionState,
    bounds: SolveBounds,
    redundant: bool,
) -> list[Scalar]:
    """The tensions of a state: those that are fixed at their bounds, or dropped."""
    wanted = _wanted(m, limits, rows, state.solution, bounds, redundant)
    if not redundant:
        return [m.select(low, 0, x) for low, x in zip(state.low, wanted, strict=True)]
    result = []
    for i, x in enumerate(wanted):
        lowest, highest = (m.constant(b[i], "tension") for b in (limits.lowest, limits.highest))
        result.append(m.select(state.low[i], lowest, m.select(state.high[i], highest, x)))
    return result


def _correction(
    m: Arithmetic,
    rows: Sequence[Vector],
    free: Vector,
    unbalanced: Vector,
    bounds: SolveBounds,
    precision: Precision,
) -> tuple[list[Scalar], Scalar]:
    """(J J^T)^-1 J v or (J^T J)^-1 v over the free cables, and the smallest pivot."""
    redundant = len(rows) > len(unbalanced)
    held = [[m.select(flag, x, 0) for x in row] for flag, row in zip(free, rows, strict=True)]
    vectors = list(zip(*held, strict=True)) if redundant else held
    size = range(len(vectors))
    gram = [[m.dot(vectors[i], vectors[j], "gram") for j in size] for i in size]
    right = list(unbalanced)
    if not redundant:
        for i in size:  # a dropped cable has the equation 1 T = 0
            gram[i][i] = m.select(free[i], gram[i][i], 1.0)
        right = [m.dot(row, unbalanced, "projection") for row in held]
    right, block = m.normalise(right, "right_side")
    floors = precision.floors or [bounds.pivot] * len(vectors)
    limits = CholeskyBounds(floors, bounds.right_side, bounds.solution)
    found = solve(m, gram, right, limits)
    return [m.denormalise(x, block, precision.fraction) for x in found.solution], found.pivot


def _sorted(
    m: Arithmetic,
    limits: TensionLimits,
    state: TensionState,
    free: Vector,
    wanted: Vector,
    settled: Scalar,
    redundant: bool,
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """The next flags `low` and `high`, and whether they changed, which needs `settled`."""
    below = [
        m.constant(bound, "tension") - x for bound, x in zip(limits.lowest, wanted, strict=True)
    ]
    if not redundant:
        first = _worst(m, free, settled, below)
        low = [m.any([old, new]) for old, new in zip(state.low, first, strict=True)]
        return low, list(state.high), m.any(first)
    above = [
        x - m.constant(bound, "tension") for bound, x in zip(limits.highest, wanted, strict=True)
    ]
    beyond = [m.maximum(pair) for pair in zip(below, above, strict=True)]
    first = _worst(m, free, settled, beyond)
    low, high, changed = [], [], list(first)
    for i, fixed in enumerate(first):
        back = -RELEASE_MARGIN * (limits.highest[i] - limits.lowest[i])
        back = m.constant(back, "tension")
        up = m.every(settled, state.low[i], m.less(below[i], back))
        down = m.every(settled, state.high[i], m.less(above[i], back))
        is_above = m.less(below[i], above[i])
        low.append(_flag(m, state.low[i], up, m.every(fixed, m.negation(is_above))))
        high.append(_flag(m, state.high[i], down, m.every(fixed, is_above)))
        changed += [up, down]
    return low, high, m.any(changed)


def _flag(m: Arithmetic, old: Scalar, off: Scalar, on: Scalar) -> Scalar:
    return m.any([m.every(old, m.negation(off)), on])


def _worst(m: Arithmetic, free: Vector, settled: Scalar, excess: Vector) -> list[Scalar]:
    """Flags: the first of the free cables with the largest excess, if any is above zero."""
    excess = [
        m.select(m.every(flag, m.less(0.0, x)), x, 0) for flag, x in zip(free, excess, strict=True)
    ]
    largest = m.maximum(excess)
    some = m.every(settled, m.less(0.0, largest))
    most = [m.negation(m.less(x, largest)) for x in excess]
    return [
        m.every(some, flag, m.negation(m.any(most[:place]))) if place else m.every(some, flag)
        for place, flag in enumerate(most)
    ]
