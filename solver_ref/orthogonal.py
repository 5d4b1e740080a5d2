"""Linear systems by modified Gram-Schmidt, over the abstract scalar.

Each vector a_j is split into its parts along the directions before it and a rest q_j = 2**-e_j v_j,
where v_j has been shifted to fill its word. The squares of the rests are the pivots of Gauss-Jordan
on the normal equations, but no square is ever formed of what is small: 25-bit words resolve a
condition number of 1e4, whose square would ask for words of 40 bits and a reciprocal to match.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.fixed import next_power

Vector = Sequence[Scalar]

MARGIN = 1.01
"""Room for rounding above what a projection, which makes nothing longer, allows."""
SHORTEST = 0.25
"""The least square of a vector that fills its word; of none where a rest is 0."""


@dataclass(frozen=True)
class Split:
    """a_j = sum over k < j of shares[k][j] v_k, plus 2**-e_j v_j.

    `directions`: the v; `divisors`: their squares, as divisors; `blocks`: the powers of two;
    `pivots`: the squares of the rests.
    """

    directions: list[list[Scalar]]
    divisors: list[Any]
    blocks: list[Any]
    shares: list[dict[int, Scalar]]
    pivots: list[Scalar]


@dataclass(frozen=True)
class Damped:
    """Rows a_j that were split with a diagonal of their own beside them, no entry of which is
    larger than `diagonal`; `pivot`: the smallest of the system that they stand for."""

    split: Split
    pivot: Scalar
    diagonal: Scalar


def orthogonalise(
    m: Arithmetic, vectors: Sequence[Vector], carried: Vector | None = None
) -> tuple[Split, list[Scalar]]:
    """Split vectors in their order; plain zeros stay zeros.

    Also returned are the shares of one more vector, `carried`, along each direction: the
    least-squares solution's right side.
    """
    tops = [_longest(m, vector) for vector in vectors]
    top = _longest(m, carried or [])
    rests = [list(vector) for vector in vectors]
    split, found = Split([], [], [], [], []), []
    for k, rest in enumerate(rests):
        direction, block = _normalised(m, rest)
        square = m.dot(direction, direction, "norm")
        by = m.pivot(square, SHORTEST)
        shares = {}
        for j in range(k + 1, len(rests)):
            shares[j] = _share(m, direction, rests[j], by, tops[j])
            rests[j] = _without(m, rests[j], direction, shares[j], tops[j])
        if carried is not None:
            found.append(_share(m, direction, carried, by, top, "answer"))
            carried = _without(m, carried, direction, found[-1], top)
        split.directions.append(direction)
        split.divisors.append(by)
        split.blocks.append(block)
        split.shares.append(shares)
        split.pivots.append(m.block_square(square, block))
    return split, found


def least_norm(m: Arithmetic, split: Split, right: Vector, size: float, most: int) -> list[Scalar]:
    """The shortest x with a_j . x = right[j]; where that is longer than `size` it is held there.

    `most`: the largest e_j that counts. Flags `answer`.
    """
    parts: list[Scalar] = []  # v_j . x
    for j, value in enumerate(right):
        before = [split.shares[k][j] * parts[k] for k in range(j)]
        left = m.round(value - m.total(before), "remainder") if before else value
        reach = size * math.sqrt(len(split.directions[j]))
        parts.append(_over(m, left, split.blocks[j], reach, most))
    shares = [
        m.divide(part, by, next_power(2 * size), "answer", "answer")
        for part, by in zip(parts, split.divisors, strict=True)
    ]
    rows = zip(*split.directions, strict=True)
    return [m.dot_within(row, shares, next_power(size), "answer", "answer") for row in rows]


def least_squares(
    m: Arithmetic, split: Split, shares: Vector, size: float, most: int
) -> list[Scalar]:
    """The x with the least |sum of x_j a_j - b|, from the shares of b; held within `size`."""
    count = len(shares)
    x: list[Scalar] = [0] * count
    for j in reversed(range(count)):
        later = [split.shares[j][k] * x[k] for k in range(j + 1, count)]
        left = m.round(shares[j] - m.total(later), "remainder") if later else shares[j]
        x[j] = _over(m, left, split.blocks[j], size, most)
    return x


def _longest(m: Arithmetic, vector: Vector) -> float:
    """The largest norm that the ranges of a vector's entries allow."""
    return math.hypot(*(m.magnitude(x) for x in vector if not m.vanishes(x)))


def _normalised(m: Arithmetic, vector: Vector) -> tuple[list[Scalar], Any]:
    present = [x for x in vector if not m.vanishes(x)]
    filled, block = m.normalise(present, "unit")
    values = iter(filled)
    return [0 if m.vanishes(x) else next(values) for x in vector], block


def _share(
    m: Arithmetic, direction: Vector, vector: Vector, by: Any, top: float, role: str = "share"
) -> Scalar:
    """(v . a) / (v . v), at most 2 |a| as v is half a unit long at least."""
    coarse = [m.round(x, role) for x in vector]
    most = next_power(MARGIN * top * math.sqrt(len(vector)))
    along = m.dot_within(direction, coarse, most, role, "unused")
    return m.divide(along, by, next_power(2 * MARGIN * top), role, "")


def _without(
    m: Arithmetic, vector: Vector, direction: Vector, share: Scalar, top: float
) -> list[Scalar]:
    """a - share v, which is no longer than a was."""
    return [
        x if m.vanishes(v) else m.bounded(_difference(m, x, share, v), MARGIN * top)
        for x, v in zip(vector, direction, strict=True)
    ]


def _difference(m: Arithmetic, x: Scalar, share: Scalar, v: Scalar) -> Scalar:
    if m.vanishes(x):
        return -m.round(share * v, "share")
    return m.minus_product(x, share, v)


def _over(m: Arithmetic, value: Scalar, block: Any, size: float, most: int) -> Scalar:
    return m.round(m.over_block(value, block, next_power(size), most, "answer"), "answer")
