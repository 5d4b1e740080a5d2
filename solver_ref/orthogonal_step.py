"""The step of `solver_ref.step` by orthogonal vectors, for poses too singular for J J^T.

J^T (J J^T + mu I)^-1 f is the shortest solution of [J, sqrt(mu) I] x = f, whose rows are split as
in `solver_ref.orthogonal`; the squares of the rests are the pivots of Gauss-Jordan on J J^T + mu I.
"""

from __future__ import annotations

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.evaluation import Evaluation
from solver_ref.orthogonal import Damped, least_norm, orthogonalise
from solver_ref.step import SolveBounds, Step, solve_step

MOST = 20
"""Binary places by which a rest may be shorter than its row and still count."""
LARGEST = 8.0
"""The root of mu over a length, at most: rows are about one long."""
TINIEST = 2.0**-48
"""The least mu: its root is 2**-24, the last bit of a row."""
DOUBT = 4.0
"""A pivot below so many mu is made of damping: the step says little of its direction."""


def take_step(
    m: Arithmetic, at: Evaluation, damping: Scalar, bounds: SolveBounds, fraction: int
) -> Step:
    """The damped step of an evaluation, in the way that its bounds are made for."""
    way = orthogonal_step if bounds.near else solve_step
    return way(m, at, damping, bounds, fraction)


def orthogonal_step(
    m: Arithmetic, at: Evaluation, damping: Scalar, bounds: SolveBounds, fraction: int
) -> Step:
    """The damped step at `fraction` bits (hardware), no component beyond `bounds.near.reach`.

    Each equation is divided by its measured length, which changes no solution, so that all rows are
    about one long. A pivot below `pivot_floor` is reported under the flag `singular`.
    """
    count = len(at.rows)
    trace = _trace(m, at)
    shift = _shift(m, trace, damping, count)
    root, _ = m.square_root(m.clamp(shift, TINIEST, m.magnitude(shift), "unused"), "unit")
    vectors, diagonals = [], []
    for i, (row, length) in enumerate(zip(at.rows, at.sizes, strict=True)):
        weight = m.reciprocal(length, "weight")
        entries = [
            x if is_zero(x) else m.round(m.limit(weight * x, top, "row"), "unit")
            for x, top in zip(row, bounds.near.rows, strict=True)
        ]
        diagonal = m.round(m.limit(root * weight, LARGEST, "row"), "share")
        vectors.append([*entries, *(diagonal if i == j else 0 for j in range(count))])
        diagonals.append(diagonal)
    split, _ = orthogonalise(m, vectors)
    step = least_norm(m, split, at.residuals, bounds.near.reach, MOST)[: len(at.rows[0])]
    squares = [m.round(length * length, "weight") for length in at.sizes]
    pivots = [p * square for p, square in zip(split.pivots, squares, strict=True)]
    pivot = m.minimum(pivots)
    m.report_below(pivot, _floor(m, trace, shift, bounds), "singular")
    damped = Damped(split, pivot, m.maximum(diagonals))
    return Step([m.denormalise(x, None, fraction) for x in step], damped, shift)


def pivot_floor(m: Arithmetic, at: Evaluation, damping: Scalar, bounds: SolveBounds) -> Scalar:
    """The pivot below which a step counts as near singular, in m^2."""
    if bounds.near is None:
        return bounds.pivot
    trace = _trace(m, at)
    return _floor(m, trace, _shift(m, trace, damping, len(at.rows)), bounds)


def _floor(m: Arithmetic, trace: Scalar, shift: Scalar, bounds: SolveBounds) -> Scalar:
    return DOUBT * shift + trace * m.constant(bounds.pivot, "weight")


def _trace(m: Arithmetic, at: Evaluation) -> Scalar:
    entries = [m.round(x, "weight") for row in at.rows for x in row if not is_zero(x)]
    return m.round(m.total([x * x for x in entries]), "weight")


def _shift(m: Arithmetic, trace: Scalar, damping: Scalar, count: int) -> Scalar:
    """mu = lambda trace / n."""
    return damping * m.round(trace * m.constant(1 / count, "weight"), "weight")
