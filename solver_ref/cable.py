"""The cable robot's equations, written once over the abstract scalar.

d = t + R b - a is the vector from anchor a to attachment b of one cable, L = |d| its length. Behind
a pulley L is the length of the whole way, and d the vector of that length along which the cable
leaves, so that L's derivative is that of a straight cable along d. A motion leaves some of the six
spatial coordinates free; the others are the plain number 0, so planar and point robots are the same
equations with the absent terms gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.parts import Cable
from solver_ref.pulley import UNLIMITED, Way, WrapLimits, way

Vector = Sequence[Scalar]
Matrix = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class Rotation:
    """R = exp([phi]x) and the rate matrix J_l (omega = J_l phi_dot), divided by `length`."""

    matrix: Matrix
    rate: Matrix

    def held(self, m: Arithmetic, flag: Scalar) -> Rotation:
        """The same rotation with a rate of zero where the flag is 1: the attitude does not move."""
        rate = [[x if is_zero(x) else m.select(flag, 0, x) for x in row] for row in self.rate]
        return Rotation(self.matrix, rate)


@dataclass(frozen=True)
class CableState:
    """One cable at a pose: R b, d and L^2 = d.d (fine), and the moment r x d (coarse).

    `way` is how it gets there over its pulley, None without one.
    """

    lever: Vector
    vector: Vector
    moment: Vector
    square: Scalar
    way: Way | None = None


def spatial(coordinates: Vector, free: Sequence[int]) -> list[Scalar]:
    """The six spatial coordinates x y z rx ry rz; those that the motion holds are 0."""
    full: list[Scalar] = [0] * 6
    for value, index in zip(coordinates, free, strict=True):
        full[index] = value
    return full


def rotation(m: Arithmetic, phi: Vector, *, length: float = 1.0) -> Rotation:
    """Rodrigues' formula and its rate matrix, with coefficients entire in s = phi.phi.

    R = I + a [phi]x + b (phi phi^T - s I); J_l = I + b [phi]x + c (phi phi^T - s I). `length`
    divides J_l, so that its rows scale a rotation to a displacement at the characteristic length.
    """
    if all(is_zero(angle) for angle in phi):
        identity = [[float(i == j) for j in range(3)] for i in range(3)]
        return Rotation(identity, [[0] * 3 for _ in range(3)])
    square = [[m.round(phi[i] * phi[j], "rotation") for j in range(3)] for i in range(3)]
    s = m.total([square[i][i] for i in range(3)])
    a, b, c = m.rotation_coefficients(s, 1 / length)
    b_scaled = m.round(m.constant(1 / length, "rate") * m.round(b, "rate"), "rate")
    matrix = _rodrigues(m, phi, square, 1.0, a, b, "rotation")
    coarse = [m.round(angle, "rate") for angle in phi]
    return Rotation(matrix, _rodrigues(m, coarse, square, 1 / length, b_scaled, c, "rate"))


def _rodrigues(
    m: Arithmetic,
    phi: Vector,
    square: Matrix,
    one: float,
    first: Scalar,
    second: Scalar,
    role: str,
) -> Matrix:
    """one I + first [phi]x + second (phi phi^T - s I), at the precision of `role`."""
    odd = [m.round(first * angle, role) for angle in phi]
    result: list[list[Scalar]] = [[0] * 3 for _ in range(3)]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        others = m.total([square[j][j], square[k][k]])
        result[i][i] = m.constant(one, role) - m.round(second * m.round(others, role), role)
        even = m.round(second * m.round(square[j][k], role), role)
        result[j][k] = even - odd[i]
        result[k][j] = even + odd[i]
    return [[m.turned(x, one) for x in row] for row in result]


def cable_at(
    m: Arithmetic,
    position: Vector,
    turn: Rotation,
    cable: Cable,
    limits: WrapLimits | None = None,
    *,
    precise: bool = True,
) -> CableState:
    """Lever r = R b, vector d, moment r x d and squared length of one cable.

    `limits` are those of its pulley (`solver_ref.pulley_limits`), which a trace needs; `precise`
    as in `solver_ref.pulley.way`.
    """
    lever = [
        m.dot(row, [m.constant(b, "geometry") for b in cable.attachment], "lever")
        for row in turn.matrix
    ]
    vector = [
        m.nearest(t + r - m.constant(a, "geometry"), "vector")
        for t, r, a in zip(position, lever, cable.anchor, strict=True)
    ]
    if cable.pulley is None:
        return CableState(lever, vector, cross(m, lever, vector), squared_length(m, vector))
    bent = way(m, cable.pulley, vector, limits or UNLIMITED, precise=precise)
    return CableState(lever, bent.vector, cross(m, lever, bent.vector), bent.square, bent)


def cross(m: Arithmetic, lever: Vector, vector: Vector) -> Vector:
    """r x d at the precision of the Jacobian."""
    r = [m.nearest(x, "moment") for x in lever]
    d = [m.nearest(x, "jacobian") for x in vector]
    turns = ((1, 2), (2, 0), (0, 1))
    return [m.nearest(r[j] * d[k] - r[k] * d[j], "moment") for j, k in turns]


def squared_length(m: Arithmetic, vector: Vector) -> Scalar:
    """d.d, fine enough for the residual."""
    return m.total([m.round(x * x, "square") for x in vector])


def squared_residual(m: Arithmetic, state: CableState, length: Scalar) -> Scalar:
    """f = (d.d - L^2)/2; zero where the pose has the length L. Its rows are [d, r x d]."""
    return 0.5 * (state.square - m.round(length * length, "square"))


def squared_row(m: Arithmetic, state: CableState, turn: Rotation, free: Sequence[int]) -> Vector:
    """[d, J_l^T (r x d) / l] in the free coordinates, l the characteristic length."""
    translation = [m.nearest(x, "jacobian") for x in state.vector]
    return pose_row(m, translation, state.moment, turn, free)


def pose_row(
    m: Arithmetic, translation: Vector, moment: Vector, turn: Rotation, free: Sequence[int]
) -> Vector:
    """A row by the twist as one by the pose: [translation, J_l^T moment / l] where free."""
    columns = [[turn.rate[j][k] for j in range(3)] for k in range(3)]
    angular = [m.dot(column, moment, "jacobian") for column in columns]
    return [[*translation, *angular][index] for index in free]
