"""Forward dynamics of the planar 3-RRR with fewer products, written once over the abstract scalar.

In the saddle-point system of `solver_ref.dynamics.closed_loop` the mass matrix is one block of
2 x 2 for each leg beside a diagonal one for the platform. Each is inverted by itself, which leaves

    (A M^-1 A^T) mu = A M^-1 f - (asked acceleration of the gaps)

for the six forces mu in the joints of the platform: symmetric and positive definite as long as the
constraints are independent, also where a leg is straight, at which the platform's coordinates alone
say nothing of the motion any more. A mu that is a little wrong pulls at the gaps and does no work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.cholesky import CholeskyBounds, solve
from solver_ref.curves import curve, within
from solver_ref.dynamics import three_rrr
from solver_ref.dynamics.closed_loop import Baumgarte
from solver_ref.dynamics.three_rrr import LEGS, Directions, ThreeRRR
from solver_ref.dynamics.vectors import number

FORCES = 2 * len(LEGS)
"""Components of the forces between legs and platform."""
ROOM = 1.0 + 2.0**-16
"""What rounding may add to the square of a cosine."""

Vector = Sequence[Scalar]


@dataclass(frozen=True)
class EliminationBounds:
    """What hardware holds values to: `gap` (m) and its `rate` (m/s) under the flag `open`, those of
    the elimination, and the largest error of the inverse determinant of a leg's mass matrix."""

    cholesky: CholeskyBounds = CholeskyBounds(floors=(0.0,) * FORCES)
    gap: float = float("inf")
    rate: float = float("inf")
    inverse: float = 1.0


@dataclass(frozen=True)
class Accelerated:
    """`accelerations` of the nine coordinates, the `forces` (N) of the legs on the platform, x and
    y of each, and the smallest `pivot` (1/kg) of the elimination."""

    accelerations: list[Scalar]
    forces: list[Scalar]
    pivot: Scalar


@dataclass(frozen=True)
class _Leg:
    """One leg: its `inverse` mass matrix, `rows` (2 x 2) of the constraints, `moved` = rows times
    inverse, and `torques` (N m), all by active and passive angle; `lever`: the rows' slopes by
    theta."""

    inverse: list[list[Scalar]]
    rows: list[list[Scalar]]
    moved: list[list[Scalar]]
    torques: list[Scalar]
    lever: list[Scalar]


def accelerations(
    m: Arithmetic,
    mechanism: ThreeRRR,
    coordinates: Vector,
    rates: Vector,
    torques: Vector,
    *,
    stabilise: Baumgarte,
    bounds: EliminationBounds,
) -> Accelerated:
    """The motion of the nine coordinates under the motors' torques (N m)."""
    at = three_rrr.directions(m, coordinates)
    rows = three_rrr.jacobian(m, mechanism, at)
    legs = _legs(m, mechanism, at, rows, rates, torques, bounds.inverse)
    gaps = three_rrr.constraint(m, mechanism, at, coordinates[:2])
    curvature = three_rrr.curvature(m, mechanism, at, rates)
    right = []
    for i, (row, gap, bend) in enumerate(zip(rows, gaps, curvature, strict=True)):
        leg, axis = legs[i // 2], i % 2
        gap = m.clamp(gap, -bounds.gap, bounds.gap, "open")
        pull = stabilise.pull(gap, _rate(m, row, rates, bounds.rate))
        pushed = m.dot(leg.moved[axis], leg.torques, "linear")
        lift = number(m, -mechanism.gravity[axis])
        right.append(m.nearest(m.total([pushed, lift, bend, -pull]), "linear"))
    solved = solve(m, _matrix(m, mechanism, legs), right, bounds.cholesky)
    return Accelerated(_moved(m, mechanism, legs, solved.solution), solved.solution, solved.pivot)


def _legs(
    m: Arithmetic,
    mechanism: ThreeRRR,
    at: Directions,
    rows: Sequence[Vector],
    rates: Vector,
    torques: Vector,
    error: float,
) -> list[_Leg]:
    mass = three_rrr.mass_matrix(m, mechanism, at)
    terms = three_rrr.velocity_terms(m, mechanism, at, rates)
    weight = three_rrr.weight(m, mechanism, at)
    due = [m.total([w, -term]) for w, term in zip(weight, terms, strict=True)]
    return [
        _leg(
            m,
            mechanism,
            place,
            rows,
            mass[3 + place][6 + place],
            [m.total([due[3 + place], torques[place]]), due[6 + place]],
            error,
        )
        for place in LEGS
    ]


def _leg(
    m: Arithmetic,
    mechanism: ThreeRRR,
    place: int,
    rows: Sequence[Vector],
    coupled: Scalar,
    torques: list[Scalar],
    error: float,
) -> _Leg:
    """The leg at a place; `coupled` is the entry of the mass matrix beside its diagonal."""
    inertias = mechanism.leg_inertias
    product, most = inertias[0] * inertias[1], ROOM * mechanism.coupling**2
    square = within(m, m.nearest(coupled * coupled, "square"), 0.0, most)
    share = curve(m, square, lambda _, x: 1.0 / (product - x), error)
    own, beyond = (m.dot([number(m, x)], [share], "mobility") for x in inertias)
    cross = -m.dot([coupled], [share], "mobility")
    inverse = [[beyond, cross], [cross, own]]
    own_rows = rows[2 * place : 2 * place + 2]
    inner = [[row[3 + place], row[6 + place]] for row in own_rows]
    return _Leg(
        inverse=inverse,
        rows=inner,
        moved=[[m.dot(row, column, "moved") for column in inverse] for row in inner],
        torques=torques,
        lever=[row[2] for row in own_rows],
    )


def _rate(m: Arithmetic, row: Vector, rates: Vector, limit: float) -> Scalar:
    """How fast a gap opens (m/s)."""
    parts = [(a, b) for a, b in zip(row[2:], rates[2:], strict=True) if not is_zero(a)]
    turning = m.dot(*zip(*parts, strict=True), "drift")
    axis = 0 if not is_zero(row[0]) else 1
    return m.clamp(m.total([turning, -rates[axis]]), -limit, limit, "open")


def _matrix(m: Arithmetic, mechanism: ThreeRRR, legs: Sequence[_Leg]) -> list[list[Scalar]]:
    """A M^-1 A^T, its upper half; what is below the diagonal is not read."""
    inverse, size = number(m, 1 / mechanism.inertia), range(FORCES)
    levers = [lever for leg in legs for lever in leg.lever]
    turned = [m.dot([inverse], [lever], "moved") for lever in levers]
    matrix: list[list[Scalar]] = [[0] * FORCES for _ in size]
    for i in size:
        for j in range(i, FORCES):
            left, right = [turned[i]], [levers[j]]
            if i // 2 == j // 2:
                left += legs[i // 2].moved[i % 2]
                right += legs[i // 2].rows[j % 2]
            entry = m.dot(left, right, "gram")
            if i % 2 == j % 2:
                entry = m.total([entry, m.constant(1 / mechanism.mass, "gram")])
            matrix[i][j] = entry
    return matrix


def _moved(
    m: Arithmetic, mechanism: ThreeRRR, legs: Sequence[_Leg], forces: Vector
) -> list[Scalar]:
    """M^-1 (f - A^T mu) of all coordinates."""
    lightness = number(m, 1 / mechanism.mass)
    platform = [
        m.nearest(m.total([number(m, g), lightness * m.total(forces[axis::2])]), "acceleration")
        for axis, g in enumerate(mechanism.gravity)
    ]
    levers = [lever for leg in legs for lever in leg.lever]
    moment = m.dot(levers, forces, "moment")
    platform.append(-m.dot([number(m, 1 / mechanism.inertia)], [moment], "acceleration"))
    arms = []
    for joint in range(2):
        for place, leg in enumerate(legs):
            own = forces[2 * place : 2 * place + 2]
            column = [-row[joint] for row in leg.moved]
            left, right = [*leg.inverse[joint], *column], [*leg.torques, *own]
            arms.append(m.dot(left, right, "acceleration"))
    return [*platform, *arms]
