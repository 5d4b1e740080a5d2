"""The equations of a hanging platform and their derivatives, over the abstract scalar.

Unknown are the pose and the force densities p_i = T_i / (L_i m |g|), in 1/m. In them lengths,
forces and moments are polynomials of the cable vectors d = t + r - a, without a root or a division:

    f_i = (d_i.d_i - L_i^2) / 2,  F = sum p_i d_i - g/|g|,  N = sum p_i r_i x d_i - r_c x g/|g|.

At fixed densities the cables are springs without a length of their own. Moving the platform by dt
changes F by P dt, P = sum p; e = sum p r / P is the point that they hold, and about it N changes by
P A dtheta, with B the change of f/1 m by dtheta:

    A = sym(S) - tr(S) I,  S = (sum p r c^T - r_c g^T/|g|) / P + e e^T,  c = d - r;
    B_i = (r_i - e) x d_i.

Behind a pulley d is L u (`solver_ref.pulley`), and A leaves out how the way over it bends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.cable import CableState, Rotation, cable_at, rotation, spatial, squared_residual
from solver_ref.parts import Cable
from solver_ref.pulley import WrapLimits
from solver_ref.robot import Robot
from solver_ref.statics import cross, mass_lever

Vector = Sequence[Scalar]
Matrix = Sequence[Vector]

ROOM = 1.01
"""Room for rounding above a limit that is a theorem."""


@dataclass(frozen=True)
class Balance:
    """The equations at a pose, and the parts of their derivatives; spatial components.

    `residuals`: f_i / L_i (m); `force` F / P and `moment` N / (P l) (m): zero in equilibrium, as
    are the residuals. `squared` f (m^2); `total` P (1/m); `centre` e / l; `turn` A / l^2;
    `rows` d_i (m); `arms` B_i / l (m). l is `turn_length`.
    """

    residuals: Vector
    force: Vector
    moment: Vector
    squared: Vector
    total: Scalar
    centre: Vector
    turn: Matrix
    rows: Matrix
    arms: Matrix


def turn_length(robot: Robot) -> float:
    """l (m): the power of two nearest to the characteristic length; turns are scaled by it."""
    return 2.0 ** round(math.log2(robot.characteristic_length))


def down(robot: Robot) -> tuple[float, float, float]:
    """g / |g|. ValueError where nothing pulls the platform down: no mass or no gravity."""
    size = math.hypot(*robot.gravity)
    if not size or robot.platform.mass is None:
        raise ValueError(f"{robot.name} needs a mass and gravity to hang in equilibrium")
    x, y, z = robot.gravity
    return x / size, y / size, z / size


def balance(
    m: Arithmetic,
    robot: Robot,
    pose: Vector,
    densities: Vector,
    lengths: Vector,
    total: tuple[float, float] = (0.0, math.inf),
    wraps: Sequence[WrapLimits | None] | None = None,
    cables: Sequence[Cable] | None = None,
    more: float = 0.0,
) -> Balance:
    """The balance at a pose in the robot's coordinates, with the lengths (m) of stretched cables.

    P is held within `total` (1/m), flag `tension`; `wraps` and `cables` as in
    `solver_ref.evaluation.evaluate`. `more`: how much further out than the robot's own attachments
    theirs may lie (m).
    """
    scale = 1 / turn_length(robot)
    turn, states = _states(m, robot, spatial(pose, robot.free), wraps, cables)
    squared = [squared_residual(m, state, x) for state, x in zip(states, lengths, strict=True)]
    held = m.clamp(m.total(densities), *total, "tension")
    share = m.reciprocal(held, "weight")
    pulled = _pulled(m, states, densities)
    force, spread = _loads(m, robot, turn, states, densities, pulled)
    moment = [spread[j][k] - spread[k][j] for j, k in ((1, 2), (2, 0), (0, 1))]
    # Coarse from here on: what only steers the step.
    centre = _centre(m, robot, pulled, share, more)
    rows = [[m.nearest(x, "jacobian") for x in state.vector] for state in states]
    arms = [_arm(m, state, row, centre) for state, row in zip(states, rows, strict=True)]
    return Balance(
        residuals=[
            m.round(f * m.reciprocal(x, "weight"), "residual")
            for f, x in zip(squared, lengths, strict=True)
        ],
        force=[m.round(x * share, "balance") for x in force],
        moment=[m.round(scale * x * share, "balance") for x in moment],
        squared=squared,
        total=held,
        centre=[scale * x for x in centre],
        turn=_turn_matrix(m, spread, centre, share, scale * scale),
        rows=rows,
        arms=[[scale * x for x in arm] for arm in arms],
    )


def equal_density(
    m: Arithmetic,
    robot: Robot,
    pose: Vector,
    reach: tuple[float, float] = (0.0, math.inf),
    wraps: Sequence[WrapLimits | None] | None = None,
) -> Scalar:
    """The density (1/m) of cables that all have the same one and hold the weight: a first guess.

    Its reciprocal is how far all cables together go down, held within `reach` (m), flag `tension`.
    """
    states = _states(m, robot, spatial(pose, robot.free), wraps)[1]
    columns = zip(*(state.vector for state in states), strict=True)
    total = [m.total(column) for column in columns]
    gravity = [m.constant(x, "force") for x in down(robot)]
    return m.reciprocal(m.clamp(m.dot(total, gravity, "vector"), *reach, "tension"), "weight")


def _states(
    m: Arithmetic,
    robot: Robot,
    full: Vector,
    wraps: Sequence[WrapLimits | None] | None,
    cables: Sequence[Cable] | None = None,
) -> tuple[Rotation, list[CableState]]:
    turn = rotation(m, full[3:])
    pairs = zip(cables or robot.cables, wraps or [None] * len(robot.cables), strict=True)
    return turn, [cable_at(m, full[:3], turn, cable, limits) for cable, limits in pairs]


def _pulled(m: Arithmetic, states: Sequence[CableState], densities: Vector) -> Matrix:
    """p_i r_i."""
    return [
        [m.nearest(p * x, "density") for x in state.lever]
        for p, state in zip(densities, states, strict=True)
    ]


def _centre(m: Arithmetic, robot: Robot, pulled: Matrix, share: Scalar, more: float) -> Vector:
    """e: densities are weights, so that it lies between the attachments (flag `step`)."""
    farthest = ROOM * (max(math.hypot(*cable.attachment) for cable in robot.cables) + more)
    return [
        x if is_zero(x) else m.round(m.limit(x * share, farthest, "step"), "jacobian")
        for x in map(m.total, zip(*pulled, strict=True))
    ]


def _arm(m: Arithmetic, state: CableState, row: Vector, centre: Vector) -> Vector:
    """B_i = (r_i - e) x d_i."""
    arm = [m.nearest(r - e, "jacobian") for r, e in zip(state.lever, centre, strict=True)]
    return cross(m, arm, row, "jacobian")


def _loads(
    m: Arithmetic,
    robot: Robot,
    turn: Rotation,
    states: Sequence[CableState],
    densities: Vector,
    pulled: Matrix,
) -> tuple[Vector, Matrix]:
    """F, and sum p r c^T - r_c g^T/|g|, whose antisymmetric part is N; fine.

    An error of d moves the platform less than the same error of a length: 25 bits are enough.
    """
    gravity = [m.constant(x, "force") for x in down(robot)]
    lever = mass_lever(m, robot, turn)
    force, spread = [], [[], [], []]
    for k in range(3):
        along = [m.nearest(state.vector[k], "unit") for state in states]
        force.append(m.round(m.dot(densities, along, "force") - gravity[k], "force"))
        below = [m.nearest(state.vector[k] - state.lever[k], "unit") for state in states]
        for j in range(3):
            arms = [arm[j] for arm in pulled]
            value = m.dot([*arms, -lever[j]], [*below, gravity[k]], "force")
            spread[j].append(value)
    return force, spread


def _turn_matrix(
    m: Arithmetic, spread: Matrix, centre: Vector, share: Scalar, scale: float
) -> Matrix:
    """A times `scale`; symmetric."""
    coarse = [m.round(x, "jacobian") for x in centre]
    matrix: list[list[Scalar]] = [[0] * 3 for _ in range(3)]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        straight = m.round((spread[j][j] + spread[k][k]) * share, "gram")
        square = m.round(coarse[j] * coarse[j] + coarse[k] * coarse[k], "gram")
        matrix[i][i] = m.round(-(straight + square) * scale, "gram")
        mixed = m.round(0.5 * (spread[j][k] + spread[k][j]) * share, "gram")
        product = m.round(coarse[j] * coarse[k], "gram")
        matrix[j][k] = matrix[k][j] = m.round((mixed + product) * scale, "gram")
    return matrix
