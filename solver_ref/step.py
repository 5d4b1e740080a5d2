"""One Levenberg-Marquardt step of any mechanism, over the abstract scalar.

With no more joints than unknowns the step is the damped minimum norm one, J^T (J J^T + mu I)^-1 f;
with more, or with a measured rotation beside them, it is the damped least-squares one,
(J^T J + mu I)^-1 J^T e. mu = lambda trace(M) / n; rows and residuals are those of
`solver_ref.evaluation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.evaluation import Evaluation
from solver_ref.fixed import next_power
from solver_ref.orthogonal import Damped

Vector = Sequence[Scalar]


@dataclass(frozen=True)
class NearSingular:
    """Limits of a step where poses are near singular: `reach` of its components (m), `rows` of the
    entries of a row over the measured length."""

    reach: float
    rows: tuple[float, ...]


@dataclass(frozen=True)
class SolveBounds:
    """Limits inside the elimination, found on poses of the workspace (`solver_ref.bounds`).

    A pivot below `pivot` is held there and reported; the others saturate and say so. Where `near`
    is given the step is one of `solver_ref.orthogonal_step`: `pivot` is then a share of the trace.
    """

    pivot: float
    factor: float
    right_side: float
    solution: float
    step: float
    near: NearSingular | None = None


BOUND_MARGIN = 1.01
"""Room for rounding above the bound that positive definiteness gives."""

UNBOUNDED = SolveBounds(0.0, math.inf, math.inf, math.inf, math.inf)


@dataclass(frozen=True)
class Elimination:
    """A system M x = y solved: `solutions`, one for each right side, and the smallest `pivot`.

    M^-1 is the sum over k of v_k v_k^T / p_k; `factors[k]` are the entries of v_k before its k-th
    one, which is 1 (with the other sign), and `divisors[k]` is what divides by p_k.
    """

    solutions: list[list[Scalar]]
    pivot: Scalar
    factors: list[list[Scalar]]
    divisors: list[Scalar]


@dataclass(frozen=True)
class Step:
    """The step in scaled coordinates (m), to be subtracted; the `elimination` of M + `shift` I, or
    how its rows were split, and its smallest `pivot`."""

    scaled: Vector
    elimination: Elimination | Damped
    shift: Scalar

    @property
    def pivot(self) -> Scalar:
        return self.elimination.pivot


def solve_step(
    m: Arithmetic, at: Evaluation, damping: Scalar, bounds: SolveBounds, fraction: int
) -> Step:
    """The damped step of an evaluation, at `fraction` bits (hardware)."""
    columns = [[row[k] for row in at.rows] for k in range(len(at.rows[0]))]
    vectors = columns if at.least_squares else at.rows
    size = len(vectors)
    targets, block = m.normalise(at.targets, "right_side")
    gram = [[m.dot(vectors[i], vectors[j], "gram") for j in range(size)] for i in range(size)]
    trace = m.round(m.total([gram[i][i] for i in range(size)]), "weight")
    share = m.round(trace * m.constant(1 / size, "weight"), "weight")
    shift = m.round(damping * share, "gram")
    for i in range(size):
        gram[i][i] = m.round(gram[i][i] + shift, "gram")
    if at.least_squares:
        limit = bounds.right_side
        targets = [m.dot_within(c, targets, limit, "right_side", "step") for c in columns]
    found = eliminate(m, gram, [targets], bounds)
    (solution,) = found.solutions
    if not at.least_squares:
        solution = [m.dot_within(c, solution, bounds.step, "step", "step") for c in columns]
    return Step([m.denormalise(x, block, fraction) for x in solution], found, shift)


def factor_limit(top: float, pivot: float) -> float:
    """|S_kj| <= sqrt(S_kk S_jj) and p >= S_kk, so |S_kj / p| <= sqrt(S_jj / p): a power of two."""
    if not math.isfinite(top):
        return math.inf
    return next_power(BOUND_MARGIN * math.sqrt(top / pivot))


def eliminate(
    m: Arithmetic,
    matrix: Sequence[Vector],
    rights: Sequence[Vector],
    bounds: SolveBounds,
    *,
    factor_role: str | None = None,
) -> Elimination:
    """Solve a symmetric positive definite system for every right side, by Gauss-Jordan in the order
    of the rows.

    The trailing block stays symmetric and bounded by its diagonal, |S_ij| <= sqrt(M_ii M_jj), so
    only its upper half is computed. `factor_role`: the precision of the factors on the right sides,
    where it is another than in the matrix.
    """
    size = len(matrix)
    s = [[matrix[min(i, j)][max(i, j)] for j in range(size)] for i in range(size)]
    top = [m.magnitude(matrix[i][i]) for i in range(size)]
    solutions: list[list[Scalar]] = [list(right) for right in rights]
    pivots, factors, divisors = [], [], []
    # An entry that is off by e puts e sqrt(top / pivot) into others.
    room = (BOUND_MARGIN - 1) * math.sqrt(bounds.pivot / max(top))
    flag = "" if m.rounding() <= room else "step"
    for k in range(size):
        pivots.append(s[k][k])
        by = m.pivot(s[k][k], bounds.pivot)
        factors.append([s[i][k] for i in range(k)])
        divisors.append(by)
        row = [
            m.divide(s[k][j], by, factor_limit(top[j], bounds.pivot), "factor", flag)
            for j in range(k + 1, size)
        ]
        for solution in solutions:
            if not m.vanishes(solution[k]):
                solution[k] = m.divide(solution[k], by, bounds.solution, "solution", "step")
        for i in (i for i in range(size) if i != k):
            factor = s[i][k]
            _clear(m, s, i, k, row, top, bounds.factor, flag)
            limit = bounds.right_side if i > k else bounds.solution
            factor = m.round(factor, factor_role) if factor_role else factor
            for solution in solutions:
                if not m.vanishes(solution[k]):
                    value = m.minus_product(solution[i], factor, solution[k])
                    solution[i] = m.limit(value, limit, "step")
        s[k][k + 1 :] = row
    return Elimination(solutions, m.minimum(pivots), factors, divisors)


def _clear(
    m: Arithmetic,
    s: list[list[Scalar]],
    i: int,
    k: int,
    row: Vector,
    top: Sequence[float],
    limit: float,
    flag: str,
) -> None:
    """Row i of the matrix less its multiple of `row`: what stands behind the pivot in row k, over
    it. Above the pivot it is limited, below it bounded by the diagonal `top`: of itself, or with a
    `flag` where rounding might break that."""
    factor = s[i][k]
    for j in range(max(i, k + 1), len(s)):
        value = m.minus_product(s[i][j], factor, row[j - k - 1])
        if i > k:
            most = BOUND_MARGIN * (top[i] * top[j]) ** 0.5
            value = m.limit(value, most, flag) if flag else m.bounded(value, most)
            s[i][j] = s[j][i] = m.round(value, "gram")
        else:
            s[i][j] = m.limit(value, limit, "step")
