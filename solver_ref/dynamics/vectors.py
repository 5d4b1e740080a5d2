"""Vectors of three abstract scalars; the plain number 0 stands for a component that vanishes."""

from __future__ import annotations

from collections.abc import Sequence

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero

Vector = Sequence[Scalar]
Matrix = Sequence[Sequence[Scalar]]

TURNS = ((1, 2), (2, 0), (0, 1))
NOTHING: tuple[Scalar, ...] = (0, 0, 0)


def number(m: Arithmetic, value: float) -> Scalar:
    """A number of the arm; 0 where it is too small for the precision of hardware."""
    if is_zero(value):
        return 0
    result = m.constant(value, "number")
    return 0 if m.vanishes(result) else result


def numbers(m: Arithmetic, values: Sequence[float]) -> list[Scalar]:
    return [number(m, value) for value in values]


def plus(m: Arithmetic, *vectors: Vector) -> list[Scalar]:
    """The sum of vectors."""
    return [m.total(terms) for terms in zip(*vectors, strict=True)]


def times(m: Arithmetic, factor: Scalar, vector: Vector, role: str) -> list[Scalar]:
    return [m.dot([factor], [x], role) for x in vector]


def cross(m: Arithmetic, a: Vector, b: Vector, role: str) -> list[Scalar]:
    """a x b at the precision of `role`."""
    return [m.dot([a[j], -a[k]], [b[k], b[j]], role) for j, k in TURNS]


def apply(m: Arithmetic, matrix: Matrix, vector: Vector, role: str) -> list[Scalar]:
    """The matrix times the vector, at the precision of `role`."""
    return [m.dot(row, vector, role) for row in matrix]


def transposed(matrix: Matrix) -> list[list[Scalar]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def inward(m: Arithmetic, sine: Scalar, cosine: Scalar, v: Vector, role: str) -> list[Scalar]:
    """v as the frame sees it that is turned about z by an angle: Rz^T v."""
    return [
        m.dot([cosine, sine], [v[0], v[1]], role),
        m.dot([cosine, -sine], [v[1], v[0]], role),
        v[2],
    ]


def outward(m: Arithmetic, sine: Scalar, cosine: Scalar, v: Vector, role: str) -> list[Scalar]:
    """v of a frame that is turned about z by an angle, seen from outside: Rz v."""
    return [
        m.dot([cosine, -sine], [v[0], v[1]], role),
        m.dot([sine, cosine], [v[0], v[1]], role),
        v[2],
    ]


def euler_matrix(m: Arithmetic, speed: Vector, acceleration: Vector, role: str) -> Matrix:
    """S = [alpha]x + [omega]x [omega]x: a point r of a body that turns accelerates by S r."""
    square = [m.round(w * w, role) for w in speed]
    result: list[list[Scalar]] = [[0] * 3 for _ in range(3)]
    for i, (j, k) in enumerate(TURNS):
        result[i][i] = -m.total([square[j], square[k]])
        both = m.round(speed[j] * speed[k], role)
        result[j][k] = both - acceleration[i]
        result[k][j] = both + acceleration[i]
    return result


def held(m: Arithmetic, vector: Vector, limit: float) -> list[Scalar]:
    """The vector, whose norm a theorem bounds by `limit`."""
    return [x if is_zero(x) else m.proven(x, limit) for x in vector]
