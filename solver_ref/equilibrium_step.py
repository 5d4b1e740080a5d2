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
from solver_ref.cholesky import CholeskyBounds, Solved, solve
from solver_ref.equilibrium_equations import Balance, turn_length
from solver_ref.equilibrium_parts import (
    free_arms,
    gram_rows,
    normalised,
    rotation_change,
    torque,
    turn_axes,
)
from solver_ref.robot import Robot
from solver_ref.statics import cross, weight_of
from solver_ref.step import UNBOUNDED, Elimination, SolveBounds, eliminate

Vector = Sequence[Scalar]
Matrix = Sequence[Vector]

FIRST_DAMPING, DAMPING_FACTOR = 2.0**-10, 2.0**-5
"""lambda of the first step, and what each further step multiplies it with: starts from afar need
it, near ones do not notice it."""

LEAST_SHARE = 2.0**-10
"""No step lets a density fall below this share of their sum: cables never push."""


@dataclass(frozen=True)
class EquilibriumBounds:
    """Limits inside the eliminations of the turn and of the densities, and of the step.

    `matrix` and `gram` limit the entries of their matrices, the `step` of `turn` and of `length`
    the angles and the translations that the normalised right sides give, all under the flag `step`;
    `floors` are those of the densities' pivots, where each has its own. The step then is held
    within `shift` (m) and `angle` (rad), the densities' changes within `change` of their sum, and
    densities below `density` (1/m), under the flag `moved`.
    """

    turn: SolveBounds = UNBOUNDED
    length: SolveBounds = UNBOUNDED
    matrix: float = math.inf
    gram: float = math.inf
    floors: Sequence[float] = ()
    shift: float = math.inf
    angle: float = math.inf
    change: float = math.inf
    density: float = math.inf


@dataclass(frozen=True)
class EquilibriumStep:
    """The better pose (m, rad) and densities (1/m); the step in scaled coordinates (m), not yet
    added; and the eliminations of the `turn` (pivots in m^2 / l^2; None without rotations) and of
    the densities (`length`, m^2)."""

    pose: Vector
    densities: Vector
    scaled: Vector
    turn: Elimination | None
    length: Solved


def equilibrium_step(
    m: Arithmetic,
    robot: Robot,
    pose: Vector,
    densities: Vector,
    at: Balance,
    damping: Scalar = 0.0,
    bounds: EquilibriumBounds | None = None,
    fraction: int = 0,
    finer: Arithmetic | None = None,
) -> EquilibriumStep:
    """The step from a pose in the robot's coordinates and its densities, whose balance is `at`.

    `damping` is lambda: G grows by lambda tr(G) / n. In hardware the step has `fraction` bits, and
    `finer` may solve for the changes of the densities, which can be large.
    """
    bounds = bounds or EquilibriumBounds()
    values, block = normalised(m, [*at.force, *at.moment, *at.squared])
    right = values[:3], values[3:6], values[6:]
    system = _turned(m, robot, at, right, bounds)
    matrix = _damped(m, at, system, damping, bounds.gram)
    length = solve(finer or m, matrix, system.target, _floors(bounds, len(matrix)))
    change = length.solution
    shift = _shifted(m, robot, at, right[0], system, change, bounds)
    limits = [bounds.shift if i < 3 else turn_length(robot) * bounds.angle for i in robot.free]
    limits += [bounds.change] * len(change)
    values = [
        m.limit(m.denormalise(x, block, fraction), limit, "moved")
        for x, limit in zip([*shift, *change], limits, strict=True)
    ]
    scaled, change = values[: len(robot.free)], values[len(robot.free) :]
    return EquilibriumStep(
        pose=_moved(m, robot, pose, scaled),
        densities=_pulling(m, densities, at.total, change, bounds.density),
        scaled=scaled,
        turn=system.found,
        length=length,
    )


@dataclass(frozen=True)
class _Turned:
    """The elimination of the turn: A^-1 of the torque (`free`) and of every arm B_i (`answers`),
    in the free axes of rotation, the right side that is left (`target`), and the elimination, if
    there is one (`found`)."""

    arms: Matrix
    free: Vector
    answers: Matrix
    target: Vector
    found: Elimination | None


def _turned(
    m: Arithmetic, robot: Robot, at: Balance, right: Sequence[Vector], bounds: EquilibriumBounds
) -> _Turned:
    """`right`: F/P, N/(P l) and f, normalised."""
    force, moment, squared = right
    turns, arms = turn_axes(robot), free_arms(robot, at)
    free, answers, found = [], arms, None
    if turns:
        side = torque(m, robot, at, force, moment)
        matrix = [[_held(m, at.turn[j][k], bounds.matrix, "gram") for k in turns] for j in turns]
        found = eliminate(m, matrix, [side, *arms], bounds.turn)
        free, *answers = found.solutions
    pulled, limit, target = [*(-x for x in force), *free], bounds.length.right_side, []
    for row, arm, f in zip(at.rows, arms, squared, strict=True):
        value = m.dot_within([*row, *arm], pulled, limit, "right_side", "step")
        target.append(_held(m, value + f, limit, "right_side"))
    return _Turned(arms, free, answers, target, found)


def _shifted(
    m: Arithmetic,
    robot: Robot,
    at: Balance,
    force: Vector,
    system: _Turned,
    change: Vector,
    bounds: EquilibriumBounds,
) -> list[Scalar]:
    """The step in scaled coordinates, normalised, that belongs to a change of the densities."""
    angle: list[Scalar] = [0, 0, 0]
    turns = turn_axes(robot)
    for place, k in enumerate(turns):
        column = [answer[place] for answer in system.answers]
        back = m.dot_within(column, change, bounds.turn.step, "step", "step")
        angle[k] = _held(m, system.free[place] - back, bounds.turn.step, "step")
    swing = cross(m, at.centre, angle, "step")
    shift = []
    for k in (i for i in robot.free if i < 3):
        column = [row[k] for row in at.rows]
        back = m.dot_within(column, change, bounds.length.step, "step", "step")
        shift.append(_held(m, swing[k] - force[k] - back, bounds.length.step, "step"))
    return [*shift, *(angle[k] for k in turns)]


def _held(m: Arithmetic, value: Scalar, limit: float, role: str) -> Scalar:
    """The value within its limit (flag `step`), at the precision that `role` gives the limit."""
    return value if is_zero(value) else m.round(m.limit(value, limit, "step"), role)


def _floors(bounds: EquilibriumBounds, size: int) -> CholeskyBounds:
    length = bounds.length
    floors = bounds.floors or [length.pivot] * size
    return CholeskyBounds(floors, length.right_side, length.solution)


def _damped(
    m: Arithmetic, at: Balance, system: _Turned, damping: Scalar, limit: float
) -> list[list[Scalar]]:
    """D D^T + B A^-1 B^T + lambda tr(D D^T) / n I, within `limit` (m^2): the upper half."""
    squares = [m.dot(row, row, "gram") for row in at.rows]
    trace = m.round(m.total(squares), "weight")
    share = m.round(trace * m.constant(1 / len(squares), "weight"), "weight")
    shift = m.round(damping * share, "gram")

    def product(left: Vector, right: Vector) -> Scalar:
        return m.dot_within(left, right, limit, "gram", "step")

    return [
        [*[0] * i, _held(m, own + shift, limit, "gram"), *rest]
        for i, (own, *rest) in enumerate(gram_rows(at, system.arms, system.answers, product))
    ]


def _moved(m: Arithmetic, robot: Robot, pose: Vector, scaled: Vector) -> list[Scalar]:
    """The pose after the step; a turn is composed with the rotation."""
    count = robot.translations
    moved = [x + dx for x, dx in zip(pose, scaled, strict=False)][:count]
    change = rotation_change(m, robot, pose[count:], scaled[count:], "rotation")
    return [*moved, *(x + dx for x, dx in zip(pose[count:], change, strict=True))]


def _pulling(
    m: Arithmetic, densities: Vector, total: Scalar, change: Vector, most: float
) -> list[Scalar]:
    """p + P s, at least `LEAST_SHARE` of P."""
    total = m.round(total, "unit")
    least = m.round(LEAST_SHARE * total, "density")
    moved = [
        m.maximum([m.round(p + m.round(total * s, "density"), "density"), least])
        for p, s in zip(densities, change, strict=True)
    ]
    return [m.clamp(p, 0.0, most, "moved") for p in moved]


def tensions_of(m: Arithmetic, robot: Robot, densities: Vector, lengths: Vector) -> list[Scalar]:
    """T_i = p_i L_i m |g| (N), L the lengths (m) of the stretched cables."""
    weight = m.constant(weight_of(robot), "weight")
    return [
        m.round(weight * m.round(p * x, "density"), "tension")
        for p, x in zip(densities, lengths, strict=True)
    ]
