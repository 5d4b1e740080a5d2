"""The gain of a correction under the closure `equilibrium`, over the abstract scalar.

How far each length moves a platform that goes on hanging in equilibrium, and how far it still is
from one: the step of `solver_ref.equilibrium_step` with a right side for each length beside that of
the unbalanced wrench, at a pose whose lengths count as right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.equilibrium_equations import Balance
from solver_ref.equilibrium_parts import (
    free_arms,
    gram_rows,
    normalised,
    rotation_change,
    torque,
    turn_axes,
)
from solver_ref.equilibrium_step import EquilibriumBounds
from solver_ref.fixed import next_power
from solver_ref.robot import Robot
from solver_ref.step import eliminate

Vector = Sequence[Scalar]

SHIFT = 2.0**-5
"""The longest way to equilibrium (m, rad) that is gone at once."""


@dataclass(frozen=True)
class EquilibriumGain:
    """`columns`: for each length, what one metre of it moves the coordinates by (m, rad); `shift`:
    the way to equilibrium (m, rad) and `change`, that of the densities over their sum; `pivot`: the
    smallest of both eliminations over its floor."""

    columns: list[list[Scalar]]
    shift: list[Scalar]
    change: list[Scalar]
    pivot: Scalar


@dataclass(frozen=True)
class GainBounds:
    """Limits of the eliminations, their steps, K's entries (m or rad per m) and P (1/m)."""

    inside: EquilibriumBounds = EquilibriumBounds()
    entry: float = math.inf
    step: float = math.inf
    total: tuple[float, float] = (0.0, math.inf)


UNLIMITED = GainBounds()


def equilibrium_gain(
    m: Arithmetic,
    robot: Robot,
    phi: Vector,
    at: Balance,
    lengths: Vector,
    bounds: GainBounds,
    *,
    fraction: int = 0,
    meters: tuple[Arithmetic, Arithmetic] | None = None,
) -> EquilibriumGain:
    """K and the shift at a pose whose rotation is `phi` (rad), whose balance is `at`, and whose
    cables have these `lengths` (m). In hardware shift and change have `fraction` bits. `meters`
    run the two eliminations instead of `m`."""
    first, second = meters or (m, m)
    turns, arms = turn_axes(robot), free_arms(robot, at)
    values, block = normalised(m, [*at.force, *at.moment])
    force, moment = values[:3], values[3:]
    side = torque(m, robot, at, force, moment)
    matrix = [[at.turn[j][k] for k in turns] for j in turns]
    turned = eliminate(first, matrix, [side, *arms], bounds.inside.turn)
    free, *answers = turned.solutions
    inside = bounds.inside.length
    target = _target(m, at, arms, [*(-x for x in force), *free], inside.right_side)
    size = len(at.rows)
    rows = gram_rows(at, arms, answers, lambda left, right: m.dot(left, right, "gram"))
    matrix = [[*[0] * i, *row] for i, row in enumerate(rows)]
    scale = next_power(longest(robot))
    rights = [target, *(_length_side(m, size, i, lengths[i], scale) for i in range(size))]
    found = eliminate(second, matrix, rights, inside)
    change, *moved = found.solutions
    way = _Way(m, robot, at, answers, bounds.step)
    shift = [m.denormalise(x, block, fraction) for x in way.scaled(change, free, force)]
    columns = [[-scale * x for x in way.scaled(s)] for s in moved]
    return EquilibriumGain(
        columns=[
            [m.round(m.limit(x, bounds.entry, "gain"), "gain") for x in _unscaled(m, robot, phi, c)]
            for c in columns
        ],
        shift=_unscaled(m, robot, phi, [m.limit(x, SHIFT, "gain") for x in shift]),
        change=[m.limit(m.denormalise(x, block, fraction), 1.0, "gain") for x in change],
        pivot=m.minimum([turned.pivot, found.pivot]),
    )


def _target(
    m: Arithmetic, at: Balance, arms: Sequence[Vector], way: Vector, limit: float
) -> list[Scalar]:
    """What the way to equilibrium at unchanged densities makes of f: the densities' right side."""
    return [
        m.dot_within([*row, *arm], way, limit, "right_side", "step")
        for row, arm in zip(at.rows, arms, strict=True)
    ]


def longest(robot: Robot) -> float:
    """No cable inside the workspace is longer (m)."""
    far = [max(abs(low), abs(high)) for low, high in robot.position_bounds]
    return math.hypot(*far) + max(
        math.hypot(*cable.anchor) + math.hypot(*cable.attachment) for cable in robot.cables
    )


def _length_side(
    m: Arithmetic, size: int, place: int, length: Scalar, scale: float
) -> list[Scalar]:
    """L_i / scale in its own row: minus what a metre more of L_i makes of f."""
    own = m.round((1 / scale) * length, "right_side")
    nothing = own - own
    return [own if i == place else nothing for i in range(size)]


@dataclass(frozen=True)
class _Way:
    """From a change of the densities to the step in scaled coordinates that belongs to it."""

    m: Arithmetic
    robot: Robot
    at: Balance
    answers: Sequence[Vector]
    limit: float

    def scaled(
        self, change: Vector, free: Vector | None = None, force: Vector = (0, 0, 0)
    ) -> list[Scalar]:
        """Turn and shift; `free` is the turn and -`force` the shift at unchanged densities."""
        turns = turn_axes(self.robot)
        angle: list[Scalar] = [0, 0, 0]
        for place, k in enumerate(turns):
            back = self._sum([answer[place] for answer in self.answers], change)
            angle[k] = back * -1.0 if free is None else self._within(free[place] - back)
        columns = list(zip(*self.at.rows, strict=True))
        centre = self.at.centre
        shift = []
        for k in (i for i in self.robot.free if i < 3):
            i, j = (k + 1) % 3, (k + 2) % 3
            first = [centre[i], centre[j], *columns[k]]
            second = [angle[j], -angle[i], *(-x for x in change)]
            moved = self._sum(first, second)
            shift.append(moved if is_zero(force[k]) else self._within(moved - force[k]))
        return [*shift, *(angle[k] for k in turns)]

    def _sum(self, a: Vector, b: Vector) -> Scalar:
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))]
        first, second = zip(*pairs, strict=True)
        return self.m.dot_within(first, second, self.limit, "step", "step")

    def _within(self, value: Scalar) -> Scalar:
        return self.m.limit(self.m.round(value, "step"), self.limit, "step")


def _unscaled(m: Arithmetic, robot: Robot, phi: Vector, scaled: Vector) -> list[Scalar]:
    """A step in the pose's own coordinates."""
    count = robot.translations
    return [*scaled[:count], *rotation_change(m, robot, phi, scaled[count:], "step")]
