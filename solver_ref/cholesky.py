"""A symmetric positive definite system over the abstract scalar, by M = L D L^T.

For a single right side: forwards through L, then back through L^T. This takes about half the
products of Gauss-Jordan (`solver_ref.step`), and a floor of its own for each pivot leaves the
factors of the good pivots all their bits where only the last one can be small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.step import BOUND_MARGIN, factor_limit

Vector = Sequence[Scalar]


@dataclass(frozen=True)
class CholeskyBounds:
    """What hardware holds values to: pivots at or above `floors` (flag `singular`), what is left of
    the right side within `right_side` and the solution within `solution` (flags of these names)."""

    floors: Sequence[float]
    right_side: float = math.inf
    solution: float = math.inf


@dataclass(frozen=True)
class Solved:
    """The `solution` x of M x = y and the smallest `pivot`; row k of L has `factors[k]` before its
    diagonal, which is 1, and `divisors[k]` is what divides by p_k."""

    solution: list[Scalar]
    pivot: Scalar
    factors: list[list[Scalar]]
    divisors: list[Scalar]


def solve(m: Arithmetic, matrix: Sequence[Vector], right: Vector, bounds: CholeskyBounds) -> Solved:
    """Solve M x = y. Only the upper half of M is read.

    What is left of M stays bounded by its diagonal, |S_ij| <= sqrt(M_ii M_jj), and the factors by
    |L_jk| <= sqrt(M_jj / p_k).
    """
    size = len(matrix)
    left = {(i, j): matrix[i][j] for i in range(size) for j in range(i, size)}
    top = [m.magnitude(matrix[i][i]) for i in range(size)]
    rest, factors, quotients, divisors = list(right), {}, [], []
    for k, floor in enumerate(bounds.floors):
        by = m.pivot(left[k, k], floor)
        divisors.append(by)
        for j in range(k + 1, size):
            factors[k, j] = m.divide(left[k, j], by, factor_limit(top[j], floor), "factor", "")
        quotients.append(m.divide(rest[k], by, bounds.solution, "solution", "solution"))
        for i in range(k + 1, size):
            value = m.minus_product(rest[i], factors[k, i], rest[k])
            rest[i] = m.limit(value, bounds.right_side, "right_side")
            for j in range(i, size):
                value = m.minus_product(left[i, j], left[k, i], factors[k, j])
                value = m.bounded(value, BOUND_MARGIN * (top[i] * top[j]) ** 0.5)
                left[i, j] = m.round(value, "gram")
    solution = quotients
    for k in reversed(range(size)):
        for j in range(k + 1, size):
            value = m.minus_product(solution[k], factors[k, j], solution[j])
            solution[k] = m.limit(value, bounds.solution, "solution")
    rows = [[factors[i, k] for i in range(k)] for k in range(size)]
    return Solved(solution, m.minimum([left[k, k] for k in range(size)]), rows, divisors)
