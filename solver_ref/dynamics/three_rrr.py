"""The planar 3-RRR mechanism in nine coordinates, written once over the abstract scalar.

Coordinates: the platform's x, y, theta, then the angles a of the three active arms and b of the
three passive ones, all against the base's x axis. With e(w) = (cos w, sin w), base joints B and
attachments P the six constraints say that each leg ends where the platform has it:

    B + L1 e(a) + L2 e(b) - (t + R(theta) P) = 0.

A passive arm's centre moves by L1 e(a) + c e(b), which couples a and b in the mass matrix and gives
the velocity products m L1 c sin(a - b) (b'^2, -a'^2). Lagrange's equations of these energies are
proven in the tests; `solver_ref.dynamics.three_rrr_bodies` derives the same motion from the bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.dynamics.planar_links import ArmBody
from solver_ref.dynamics.vectors import number

Pair = tuple[float, float]

LEGS = range(3)
COORDINATES = ("x", "y", "theta", "a1", "a2", "a3", "b1", "b2", "b3")


@dataclass(frozen=True, kw_only=True)
class Rod(ArmBody):
    """An arm with its `length` (m)."""

    length: float


@dataclass(frozen=True, kw_only=True)
class ThreeRRR:
    """Three legs of an active and a passive arm between base and platform.

    `bases` (m, base frame) and `attachments` (m, platform frame, whose origin is its centre of
    mass), one for each leg; `mass` (kg) and `inertia` (kg m^2) of the platform; `gravity` (m/s^2)
    in the plane. `elbows`: for each leg 1 where the passive arm turns on counterclockwise, else -1.
    """

    bases: tuple[Pair, Pair, Pair]
    attachments: tuple[Pair, Pair, Pair]
    active: Rod
    passive: Rod
    mass: float
    inertia: float
    gravity: Pair = (0.0, -9.81)
    elbows: tuple[int, int, int] = (1, 1, 1)

    @property
    def leg_inertias(self) -> Pair:
        """What a leg opposes to turning its active and its passive arm alone (kg m^2)."""
        active, passive = self.active, self.passive
        own = active.inertia + active.mass * active.centre**2 + passive.mass * active.length**2
        return own, passive.inertia + passive.mass * passive.centre**2

    @property
    def coupling(self) -> float:
        """What couples them (kg m^2) where both point the same way."""
        return self.passive.mass * self.active.length * self.passive.centre


@dataclass(frozen=True)
class Directions:
    """(sine, cosine) of theta, of the active and of the passive angles."""

    platform: tuple[Scalar, Scalar]
    active: Sequence[tuple[Scalar, Scalar]]
    passive: Sequence[tuple[Scalar, Scalar]]


def directions(m: Arithmetic, coordinates: Sequence[Scalar]) -> Directions:
    """Sines and cosines of the seven angles among the nine coordinates."""
    turns = [m.sine_cosine(angle, "sine") for angle in coordinates[2:]]
    return Directions(turns[0], turns[1:4], turns[4:7])


def mass_matrix(m: Arithmetic, mechanism: ThreeRRR, at: Directions) -> list[list[Scalar]]:
    """The symmetric 9 x 9 matrix of the kinetic energy v^T M v / 2."""
    matrix: list[list[Scalar]] = [[0] * 9 for _ in range(9)]
    for i, value in enumerate((mechanism.mass, mechanism.mass, mechanism.inertia)):
        matrix[i][i] = number(m, value)
    own, beyond = mechanism.leg_inertias
    for leg in LEGS:
        a, b = 3 + leg, 6 + leg
        matrix[a][a], matrix[b][b] = number(m, own), number(m, beyond)
        _, cosine = _elbow(m, at, leg)
        coupled = m.dot([number(m, mechanism.coupling)], [cosine], "coupling")
        matrix[a][b] = matrix[b][a] = coupled
    return matrix


def velocity_terms(
    m: Arithmetic, mechanism: ThreeRRR, at: Directions, rates: Sequence[Scalar]
) -> list[Scalar]:
    """The nine velocity products of Lagrange's equations, M v' + these = forces."""
    terms: list[Scalar] = [0] * 9
    for leg in LEGS:
        a, b = 3 + leg, 6 + leg
        sine, _ = _elbow(m, at, leg)
        swing = m.dot([number(m, mechanism.coupling)], [sine], "coupling")
        terms[a] = m.dot([swing], [m.dot([rates[b]], [rates[b]], "turn")], "moment")
        terms[b] = -m.dot([swing], [m.dot([rates[a]], [rates[a]], "turn")], "moment")
    return terms


def weight(m: Arithmetic, mechanism: ThreeRRR, at: Directions) -> list[Scalar]:
    """The nine generalised forces of gravity."""
    active, passive = mechanism.active, mechanism.passive
    gx, gy = mechanism.gravity
    first = active.mass * active.centre + passive.mass * active.length
    second = passive.mass * passive.centre

    def swung(turn: tuple[Scalar, Scalar], moment: float) -> Scalar:
        sine, cosine = turn
        return m.dot([number(m, moment * gy), number(m, -moment * gx)], [cosine, sine], "moment")

    platform = [number(m, mechanism.mass * g) for g in mechanism.gravity]
    arms = [swung(turn, first) for turn in at.active] + [swung(turn, second) for turn in at.passive]
    return [*platform, 0, *arms]


def constraint(
    m: Arithmetic, mechanism: ThreeRRR, at: Directions, position: Sequence[Scalar]
) -> list[Scalar]:
    """The six gaps (m) between the legs' ends and the platform: x, y of each leg."""
    gaps = []
    upper, lower = number(m, mechanism.active.length), number(m, mechanism.passive.length)
    for leg in LEGS:
        levers = _lever(m, at, mechanism.attachments[leg])
        ends = zip(at.active[leg][::-1], at.passive[leg][::-1], strict=True)
        for axis, (first, second) in enumerate(ends):
            base = number(m, mechanism.bases[leg][axis])
            reach = m.dot([upper, lower], [first, second], "path")
            gaps.append(m.total([base, reach, -position[axis], -levers[axis]]))
    return gaps


def jacobian(m: Arithmetic, mechanism: ThreeRRR, at: Directions) -> list[list[Scalar]]:
    """The 6 x 9 derivatives of the gaps by the coordinates."""
    rows = []
    upper, lower = number(m, mechanism.active.length), number(m, mechanism.passive.length)
    for leg in LEGS:
        levers = _lever(m, at, mechanism.attachments[leg])
        turned = ((levers[1], -levers[0]), _across(at.active[leg]), _across(at.passive[leg]))
        for axis in range(2):
            row: list[Scalar] = [0] * 9
            row[axis] = number(m, -1.0)
            row[2] = turned[0][axis]
            row[3 + leg] = m.dot([upper], [turned[1][axis]], "path")
            row[6 + leg] = m.dot([lower], [turned[2][axis]], "path")
            rows.append(row)
    return rows


def curvature(
    m: Arithmetic, mechanism: ThreeRRR, at: Directions, rates: Sequence[Scalar]
) -> list[Scalar]:
    """What the gaps' second derivatives (m/s^2) are where the coordinates do not accelerate."""
    terms = []
    square = [m.dot([rate], [rate], "turn") for rate in rates[2:]]
    upper, lower = number(m, mechanism.active.length), number(m, mechanism.passive.length)
    for leg in LEGS:
        levers = _lever(m, at, mechanism.attachments[leg])
        ends = zip(at.active[leg][::-1], at.passive[leg][::-1], levers, strict=True)
        for first, second, lever in ends:
            inner = m.dot([upper], [first], "path"), m.dot([lower], [second], "path")
            factors = [-inner[0], -inner[1], lever]
            turning = [square[1 + leg], square[4 + leg], square[0]]
            terms.append(m.dot(factors, turning, "linear"))
    return terms


def _elbow(m: Arithmetic, at: Directions, leg: int) -> tuple[Scalar, Scalar]:
    """Sine and cosine of a - b."""
    (sa, ca), (sb, cb) = at.active[leg], at.passive[leg]
    return m.dot([sa, -ca], [cb, sb], "sine"), m.dot([ca, sa], [cb, sb], "sine")


def _across(turn: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """The derivative of e(w)."""
    return -turn[0], turn[1]


def _lever(m: Arithmetic, at: Directions, attachment: Pair) -> list[Scalar]:
    """R(theta) P."""
    sine, cosine = at.platform
    x, y = (number(m, value) for value in attachment)
    return [m.dot([x, -y], [cosine, sine], "path"), m.dot([y, x], [cosine, sine], "path")]
