"""How far a pose can be from the exact solution: a bound from the elimination that made its step.

To first order residuals e move a pose by K e. With M = J J^T of squared residuals f = L e (no more
cables than unknowns) |K e|^2 = f^T M^-1 f; with M = J^T J (least squares) K K^T = M^-1. And

    M^-1 = sum_k v_k v_k^T / p_k,

with the pivots p_k and the rows v_k of the inverse of M's lower triangle, which Gauss-Jordan has at
hand: its factors above the diagonal. So G = sum_k (sum_j |v_kj|)^2 / p_k takes two products a pivot
and bounds both, as no |v_kj| is left out:

    |K e| <= max L max|e| sqrt(G),        |(K e)_t|^2 <= n max|e|^2 G_t,

n residuals, t the coordinates of the position, G_t the same sum over j in t alone. What was
eliminated is M + mu I, and M^-1 <= (M + mu I)^-1 / (1 - mu G): mu G has to be `HIDDEN` at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.equilibrium_equations import Balance
from solver_ref.equilibrium_step import EquilibriumBounds, EquilibriumStep
from solver_ref.evaluation import Evaluation
from solver_ref.orthogonal import Damped
from solver_ref.step import Elimination, SolveBounds, Step

HIDDEN = 1 / 8
"""The largest mu G with which damping does not hide the gain."""

SLACK = 1 / 8
"""What is added to |K|: 0.069 for `HIDDEN`, the rest for rounding in the elimination."""

ROOM = 16.0
"""Limit of a term of G, times the smallest pivot that is not held."""


LARGEST_REST, MOST, ROUNDED = 2.0**14, 20, 2.0**-6
"""Limit of an entry of T below, the binary places by which a rest may be shorter than its row, and
what rounding takes from a row of T at most."""

LARGEST_SUM = 64.0
"""Limit of the factors of a row that are summed up one after another."""


def gauss_sums(
    m: Arithmetic, found: Elimination, limit: float, count: int | None = None
) -> list[Scalar]:
    """sum_j |v_kj| over the first `count` unknowns, by default all, rounded up in hardware.

    Flag `unknown` where a sum of factors reaches the `limit` of one of them.
    """
    sums = []
    for k, factors in enumerate(found.factors):
        parts = [m.absolute(x) for x in factors[:count] if not m.vanishes(x)]
        own = m.constant(1.0, "weight") if count is None or k < count else 0
        if parts:
            own = m.above(m.clamp(m.total(parts), 0.0, limit, "unknown") + own, "weight")
        sums.append(own)
    return sums


def triangle_sums(m: Arithmetic, factors: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The same, or more, from the rows of the lower triangle L itself: s_k = 1 + sum_i |L_ki| s_i,
    as v_k = e_k - sum_i L_ki v_i. Flag `unknown` where one reaches `LARGEST_SUM`."""
    sums: list[Scalar] = []
    for row in factors:
        own = m.constant(1.0, "weight")
        parts = [m.absolute(x) * s for x, s in zip(row, sums, strict=True) if not m.vanishes(x)]
        if parts:
            own = m.above(m.clamp(m.total(parts), 0.0, LARGEST_SUM, "unknown") + own, "weight")
        sums.append(own)
    return sums


def inverse_sum(
    m: Arithmetic, sums: Sequence[Scalar], divisors: Sequence[Scalar], floors: Sequence[float]
) -> Scalar:
    """G = sum_k s_k^2 / p_k, rounded up in hardware, of pivots that were held to their `floors`.

    Flag `unknown` where a term reaches what `ROOM` leaves it.
    """
    terms = []
    for row, by, floor in zip(sums, divisors, floors, strict=True):
        if not is_zero(row):
            top = 2.0 ** math.ceil(math.log2(ROOM / floor)) if floor else math.inf
            square = m.above(row * row, "unit")
            terms.append(m.quotient_above(square, by, top, "weight", "unknown"))
    return m.total(terms)


def error_radius(
    m: Arithmetic,
    at: Evaluation,
    step: Step,
    error: Scalar,
    bounds: SolveBounds,
    translations: int,
) -> tuple[Scalar, Scalar]:
    """|K| error (m): the exact position is nearer than that; and mu G.

    `error` (m) is at least the largest residual, also of a measured rotation. The position has that
    many `translations`.
    """
    found = step.elimination
    if isinstance(found, Damped):
        return orthogonal_radius(m, found, error + SLACK * error)
    floors = [bounds.pivot] * len(found.divisors)
    sums = gauss_sums(m, found, bounds.factor)
    every = inverse_sum(m, sums, found.divisors, floors)
    error = error + SLACK * error
    if at.least_squares:
        sums = gauss_sums(m, found, bounds.factor, translations)
        squared = inverse_sum(m, sums, found.divisors, floors)
        count = len(at.residuals) + len(at.turned)
        reach = m.above(m.constant(math.sqrt(count), "weight") * error, "weight")
    else:
        squared = every
        size = m.above(m.maximum(at.sizes), "weight") if len(at.sizes) else 1.0
        reach = m.above(size * error, "weight")
    return m.root_above(squared) * reach, every * step.shift


def orthogonal_radius(m: Arithmetic, found: Damped, error: Scalar) -> tuple[Scalar, Scalar]:
    """|K| error (m) and mu G of rows that were split, over their lengths.

    With a_j = sum over k < j of r_kj v_k + 2**-e_j v_j the parts along the v are T e, T_jj = 2**e_j
    and T_ji = -2**e_j sum_k r_kj T_ki, and |x|^2 = sum_j (T e)_j^2 / v_j^2 is at most 4 times the
    sum of their squares, as no v_j is shorter than 1/2.
    """
    rows: list[list[Scalar]] = []
    sums: list[Scalar] = []
    one = m.constant(1.0, "weight")
    for j, block in enumerate(found.split.blocks):
        shares = [found.split.shares[k][j] for k in range(j)]
        parts = [-m.total([shares[k] * rows[k][i] for k in range(i, j)]) for i in range(j)]
        row = [m.over_block(x, block, LARGEST_REST, MOST, "unknown") for x in (*parts, one)]
        rows.append([m.round(x, "unit") for x in row])
        size = m.total([m.absolute(x) for x in rows[-1]])
        sums.append(m.above(size + m.constant(ROUNDED, "weight"), "norm"))
    every = 4.0 * m.total([x * x for x in sums])
    damping = m.clamp(found.diagonal * found.diagonal, 0.0, 1.0, "unknown")
    return m.root_above(every) * error, m.above(damping, "damping") * m.above(every, "norm")


def equilibrium_radius(
    m: Arithmetic,
    at: Balance,
    step: EquilibriumStep,
    lengths: Sequence[Scalar],
    error: Scalar,
    bounds: EquilibriumBounds,
) -> tuple[Scalar, Scalar]:
    """|K| error (m) of a platform that hangs, see `solver_ref.equilibrium_step`; and G.

    With S = D D^T + B A^-1 B^T a change s = S^-1 f of the densities has |D^T s|^2 +
    |A^-1/2 B^T s|^2 = f^T S^-1 f, and dt = e x dtheta - D^T s with dtheta = -A^-1 B^T s, so

        |dt| <= max L max|e_i| sqrt(G (1 + |e|^2 G_A)),

    G of S and G_A of A as above. `error` (m) is at least the largest residual.
    """
    floors = bounds.floors or [bounds.length.pivot] * len(lengths)
    sums = triangle_sums(m, step.length.factors)
    every = squared = inverse_sum(m, sums, step.length.divisors, floors)
    if step.turn is not None:
        sums = gauss_sums(m, step.turn, LARGEST_SUM)
        turn = inverse_sum(m, sums, step.turn.divisors, [bounds.turn.pivot] * len(sums))
        centre = [m.above(m.absolute(x), "weight") for x in at.centre if not is_zero(x)]
        lever = m.above(m.total([x * x for x in centre]), "weight") * turn
        squared = every * m.above(lever + 1.0, "weight")
    error = error + SLACK * error
    reach = m.above(m.above(m.maximum(lengths), "weight") * error, "weight")
    return m.root_above(squared) * reach, every
