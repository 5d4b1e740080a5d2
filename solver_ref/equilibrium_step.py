"""One Newton step to the pose and tensions of a hanging platform, over the abstract scalar.

Translation is eliminated by hand, as moving the platform by dt changes F by P dt and nothing else.
Left are the turn and the changes P s of the densities (`solver_ref.equilibrium_equations`):

    ( A   B^T ) ( dtheta )   ( e x F/P - N/P )
    ( B   -G  ) (   s    ) = ( D F/P - f     ),   G = D D^T + damping, D the rows d_i.

A is positive definite where the platform hangs between its cables, and then G + B A^-1 B^T is:
two small eliminations that need no choice of pivots. Then dt = e x dtheta - F/P - D^T s, and the
rotation vector moves by J_l^-1 dtheta = dtheta - phi x dtheta / 2 + phi x (phi x dtheta) / 12, to
3e-4 of dtheta at 0.65 rad.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.equilibrium_equations import Balance, turn_length
from solver_ref.robot import Robot
from solver_ref.statics import cross
from solver_ref.step import UNBOUNDED, SolveBounds, eliminate

Vector = Sequence[Scalar]
Matrix = Sequence[Vector]

FIRST_DAMPING, DAMPING_FACTOR = 2.0**-10, 2.0**-5
"""lambda of the first step, and what each further step multiplies it with: starts from afar need
it, near ones do not notice it."""

LEAST_SHARE = 2.0**-10
"""No step lets a density fall below this share of their sum: cables never push."""


@dataclass(frozen=True)
class EquilibriumBounds:
    """Limits inside the eliminations of the turn and of the densities."""

    turn: SolveBounds = UNBOUNDED
    length: SolveBounds = UNBOUNDED


@dataclass(frozen=True)
class EquilibriumStep:
    """The better pose (m, rad) and densities (1/m); the step in scaled coordinates (m), not yet
    added; and the smallest pivots of the eliminations of the turn (m^2 / l^2) and of the densities
    (m^2). Without rotations the former is infinite."""

    pose: Vector
    densities: Vector
    scaled: Vector
    turn_pivot: Scalar
    length_pivot: Scalar


def equilibrium_step(
    m: Arithmetic,
    robot: Robot,
    pose: Vector,
    densities: Vector,
    at: Balance,
    damping: Scalar = 0.0,
    bounds: EquilibriumBounds | None = None,
    fraction: int = 0,
) -> EquilibriumStep:
    """The step from a pose in the robot's coordinates and its densities, whose balance is `at`.

    `damping` is lambda: G grows by lambda tr(G) / n. In hardware the step has `fraction` bits.
    """
    bounds = bounds or EquilibriumBounds()
    axes = [i for i in robot.free if i < 3]
    turns = [i - 3 for i in robot.free if i >= 3]
    arms = [[arm[k] for k in turns] for arm in at.arms]
    force, moment, squared, block = _normalised(m, at)
    twist = cross(m, at.centre, force, "right_side")
    torque = [m.round(twist[k] - moment[k], "right_side") for k in turns]
    matrix = [[at.turn[j][k] for k in turns] for j in turns]
    (free, *answers), turn_pivot = eliminate(m, matrix, [torque, *arms], bounds.turn)
    target = [
        m.round(m.dot([*row, *arm], [*(-x for x in force), *free], "right_side") + f, "right_side")
        for row, arm, f in zip(at.rows, arms, squared, strict=True)
    ]
    gram = _gram(m, at.rows, arms, answers, damping)
    (change,), length_pivot = eliminate(m, gram, [target], bounds.length)
    angle: list[Scalar] = [0, 0, 0]
    for place, k in enumerate(turns):
        back = m.dot([answer[place] for answer in answers], change, "step")
        angle[k] = m.round(free[place] - back, "step")
    swing = cross(m, at.centre, angle, "step")
    columns = list(zip(*at.rows, strict=True))
    shift = [m.round(swing[k] - force[k] - m.dot(columns[k], change, "step"), "step") for k in axes]
    scaled, change = (
        [m.denormalise(x, block, fraction) for x in values]
        for values in ([*shift, *(angle[k] for k in turns)], change)
    )
    return EquilibriumStep(
        pose=_moved(m, robot, pose, scaled),
        densities=_pulling(m, densities, at.total, change),
        scaled=scaled,
        turn_pivot=turn_pivot,
        length_pivot=length_pivot,
    )


def _normalised(m: Arithmetic, at: Balance) -> tuple[list, list, list, object]:
    """F/P, N/(P l) and f over a shared power of two, so that a small step is as precise."""
    values = [*at.force, *at.moment, *at.squared]
    places = [i for i, x in enumerate(values) if not is_zero(x)]
    normal, block = m.normalise([values[i] for i in places], "right_side")
    for i, x in zip(places, normal, strict=True):
        values[i] = x
    return values[:3], values[3:6], values[6:], block


def _gram(
    m: Arithmetic, rows: Matrix, arms: Matrix, answers: Matrix, damping: Scalar
) -> list[list[Scalar]]:
    """D D^T + B A^-1 B^T + lambda tr(D D^T) / n I, the answers being A^-1 B^T by cables."""
    size = range(len(rows))
    own = [m.dot(row, row, "gram") for row in rows]
    trace = m.round(m.total(own), "weight")
    share = m.round(trace * m.constant(1 / len(rows), "weight"), "weight")
    shift = m.round(damping * share, "gram")
    gram = [
        [m.dot([*rows[i], *arms[i]], [*rows[j], *answers[j]], "gram") for j in size] for i in size
    ]
    for i in size:
        gram[i][i] = m.round(gram[i][i] + shift, "gram")
    return gram


def _moved(m: Arithmetic, robot: Robot, pose: Vector, scaled: Vector) -> list[Scalar]:
    """The pose after the step; a turn is composed with the rotation, to third order in phi."""
    count, length = robot.translations, turn_length(robot)
    moved = [x + dx for x, dx in zip(pose, scaled, strict=False)][:count]
    angle = [(1 / length) * x for x in scaled[count:]]
    if robot.rotations < 3:
        return [*moved, *(x + dx for x, dx in zip(pose[count:], angle, strict=True))]
    phi = [m.round(x, "rate") for x in pose[count:]]
    once = cross(m, phi, angle, "step")
    twice = cross(m, phi, once, "step")
    third = m.constant(1 / 12, "rate")
    change = [
        m.round(a - 0.5 * b + third * c, "step") for a, b, c in zip(angle, once, twice, strict=True)
    ]
    return [*moved, *(x + dx for x, dx in zip(pose[count:], change, strict=True))]


def _pulling(m: Arithmetic, densities: Vector, total: Scalar, change: Vector) -> list[Scalar]:
    """p + P s, at least `LEAST_SHARE` of P."""
    least = m.round(LEAST_SHARE * total, "density")
    return [
        m.maximum([m.round(p + m.round(total * s, "density"), "density"), least])
        for p, s in zip(densities, change, strict=True)
    ]


def tensions_of(m: Arithmetic, robot: Robot, densities: Vector, lengths: Vector) -> list[Scalar]:
    """T_i = p_i L_i m |g| (N), L the lengths (m) of the stretched cables."""
    weight = m.constant(robot.platform.mass * math.hypot(*robot.gravity), "weight")
    return [
        m.round(weight * m.round(p * x, "density"), "tension")
        for p, x in zip(densities, lengths, strict=True)
    ]
