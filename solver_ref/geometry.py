"""The numbers of a robot that hardware can load at run time, and how far they may differ.

Anchors and attachments along the axes in which the platform moves, pulley radii, the offsets of the
encoders, the limits of the tensions and the stiffness of the cables. A robot that was measured
again differs in nothing else from the one that its hardware was made for; the rest (axes, drums,
workspace) is built in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from solver_ref.errors import InputError, shown
from solver_ref.graph import Parameter
from solver_ref.loaded_stretch import TOLERANCE as STRETCH_TOLERANCE
from solver_ref.loaded_stretch import UNITS, LoadedStiffness, given
from solver_ref.parts import OVERLOAD, Cable
from solver_ref.robot import Robot

POSITION_TOLERANCE = 0.05
"""How far each coordinate of an anchor or attachment may be from the robot's own (m)."""
LEVER_ROOM = math.sqrt(3) * POSITION_TOLERANCE
"""How much further out an attachment may lie (m)."""
FRAME_SHARE, PLATFORM_SHARE = 0.02, 0.1
"""Where that is less: an anchor's as a share of the largest distance between two anchors, an
attachment's as a share of the characteristic length."""
RADIUS_TOLERANCE = 0.1
"""How far a pulley's radius may be from the robot's own, as a share of it."""
OFFSET_TOLERANCE = 0.1
"""How far a cable's offset may be from the robot's own (m)."""

LIMITS = ("tension_min", "tension_max")
LIMIT_TOLERANCE = 0.25
"""How far a cable's least or largest tension may be from the robot's own, as a share of it."""
LEAST_LIMIT = 1.0
"""A smaller one (N) is built in: the ports of tensions have quarters of a newton."""

BUILT_IN = ("kind", "motion", "gravity", "platform", "sensors", "workspace")
"""What a robot must have in common with the one that hardware was made for, beside its cables."""

OVERSHOOT = 1.6
"""How far beyond their limits samples are drawn before they are brought back to them."""
INSIDE = 0.999
"""The share of a tolerance in which a robot is drawn, so that every code is one that is taken."""


@dataclass(frozen=True)
class Number:
    """One number that can be loaded: of which cable (from 0) and, of a vector, along which axis.

    `part` is `anchor`, `attachment`, `radius`, `offset`, one of `LIMITS` or, of the stiffness, one
    of `loaded_stretch.PARTS`; `tolerance` is in its `unit`.
    """

    part: str
    cable: int
    axis: int = 0
    tolerance: float = field(kw_only=True, compare=False)

    @property
    def name(self) -> str:
        """Such as `anchor3_x`, `radius3` or `k0_3`: cables count from 1."""
        if self.part in UNITS:
            return f"{self.part}_{self.cable + 1}"
        axis = f"_{'xyz'[self.axis]}" if self.part in ("anchor", "attachment") else ""
        return f"{self.part}{self.cable + 1}{axis}"

    def of(self, robot: Robot) -> float:
        """What it is in a robot."""
        cable = robot.cables[self.cable]
        if self.part in UNITS:
            return getattr(cable.stiffness, self.part)
        if self.part == "radius":
            return cable.pulley.radius
        value = getattr(cable, self.part)
        return value[self.axis] if self.part in ("anchor", "attachment") else value

    @property
    def unit(self) -> str:
        return UNITS.get(self.part, "N" if self.part in LIMITS else "m")


def numbers(robot: Robot) -> tuple[Number, ...]:
    """All that can be loaded, cable by cable; behind them the limits, then the stiffness, where
    cables have any."""
    axes = [index for index in robot.free if index < 3]
    frame = max(math.dist(a.anchor, b.anchor) for a in robot.cables for b in robot.cables)
    outer = min(POSITION_TOLERANCE, FRAME_SHARE * frame)
    inner = min(POSITION_TOLERANCE, PLATFORM_SHARE * robot.characteristic_length)
    found = []
    for place, cable in enumerate(robot.cables):
        found += [Number("anchor", place, axis, tolerance=outer) for axis in axes]
        if robot.rotations:
            found += [Number("attachment", place, axis, tolerance=inner) for axis in axes]
        if cable.pulley:
            share = RADIUS_TOLERANCE * cable.pulley.radius
            found.append(Number("radius", place, tolerance=share))
        found.append(Number("offset", place, tolerance=OFFSET_TOLERANCE))
    for place, cable in enumerate(robot.cables):
        limits = {part: getattr(cable, part) for part in LIMITS}
        found += [
            Number(part, place, tolerance=LIMIT_TOLERANCE * limit)
            for part, limit in limits.items()
            if limit is not None and limit >= LEAST_LIMIT
        ]
    for place in range(len(robot.cables)):
        if stretch := stretch_of(robot, place):
            found += [
                Number(part, place, tolerance=STRETCH_TOLERANCE * getattr(stretch.own, part))
                for part in given(stretch.own)
            ]
    return tuple(found)


def cables_with(robot: Robot, value: Callable[[Number], Any]) -> tuple[Cable, ...]:
    """The cables with other numbers: floats, arrays of them, or traced values."""
    cables = list(robot.cables)
    for number in numbers(robot):
        cable = cables[number.cable]
        new = value(number)
        if number.part == "radius":
            cable = replace(cable, pulley=replace(cable.pulley, radius=new))
        elif number.part in UNITS:
            cable = replace(cable, stiffness=replace(cable.stiffness, **{number.part: new}))
        elif number.part == "offset" or number.part in LIMITS:
            cable = replace(cable, **{number.part: new})
        else:
            vector = list(getattr(cable, number.part))
            vector[number.axis] = new
            cable = replace(cable, **{number.part: tuple(vector)})
        cables[number.cable] = cable
    return tuple(cables)


def stretch_of(robot: Robot, place: int) -> LoadedStiffness | None:
    """The stiffness of a cable as it can be loaded; None where it has none, or where nothing says
    how far it is pulled."""
    cable = robot.cables[place]
    if not cable.stiffness or not (cable.stiffness.slip or cable.tension_max):
        return None
    return LoadedStiffness(cable.stiffness, place + 1, OVERLOAD * (cable.tension_max or math.inf))


def spread_cables(robot: Robot, count: int, seed: int) -> tuple[Cable, ...]:
    """The cables of many robots at once: each number an array (count,) within its tolerance, of
    which a good part lies at its ends."""
    rng = np.random.default_rng(seed)
    return cables_with(robot, lambda n: n.of(robot) + n.tolerance * _shares(rng, count))


def drawn(robot: Robot, rng: np.random.Generator) -> Recalibrated:
    """The robot as if it had been measured again, each number somewhere within its tolerance."""
    cables = cables_with(
        robot, lambda n: float(n.of(robot) + INSIDE * n.tolerance * _shares(rng, None))
    )
    return recalibrated(robot, cables)


def _shares(rng: np.random.Generator, count: int | None) -> np.ndarray:
    return np.clip(OVERSHOOT * rng.uniform(-1, 1, count), -1, 1)


@dataclass(frozen=True, kw_only=True)
class Recalibrated(Robot):
    """A robot as hardware sees it that was made for another one and has loaded its geometry.

    `scale` (m) is the characteristic length of that other one, by which the hardware goes on
    scaling rotations.
    """

    scale: float

    @property
    def characteristic_length(self) -> float:
        return self.scale


def recalibrated(made_for: Robot, cables: tuple[Cable, ...]) -> Recalibrated:
    """The robot that hardware made for another one computes with once it has loaded the cables."""
    facts = {name: getattr(made_for, name) for name in made_for.__dataclass_fields__}
    facts |= {"cables": cables, "scale": made_for.characteristic_length}
    return Recalibrated(**facts)


def loaded_codes(
    made_for: Robot, parameters: Mapping[str, Parameter], robot: Robot
) -> dict[str, int]:
    """The code of each parameter for a robot that was measured again.

    InputError names what is built in where the robot differs in it, or a number that is further off
    than its tolerance.
    """
    _check_built_in(made_for, robot)
    codes = {}
    for number in numbers(made_for):
        if number.part in UNITS or number.name not in parameters:
            continue
        parameter, value = parameters[number.name], number.of(robot)
        fraction = parameter.format.fraction
        code = round(math.ldexp(value, fraction))
        if not parameter.lo <= code <= parameter.hi:
            low, high = (math.ldexp(end, -fraction) for end in (parameter.lo, parameter.hi))
            raise _out_of_tolerance(robot, number, low, high)
        codes[number.name] = code
    return codes | _stretch_codes(made_for, parameters, robot)


def _stretch_codes(
    made_for: Robot, parameters: Mapping[str, Parameter], robot: Robot
) -> dict[str, int]:
    """Of the cables whose stretch the hardware computes."""
    codes = {}
    for place, cable in enumerate(robot.cables):
        if f"stretch{place + 1}_0" not in parameters:
            continue
        for number in numbers(made_for):
            if number.cable == place and number.part in UNITS:
                own, far = number.of(made_for), (1 + 1e-9) * number.tolerance
                if abs(number.of(robot) - own) > far:
                    raise _out_of_tolerance(
                        robot, number, own - number.tolerance, own + number.tolerance
                    )
        stretch = stretch_of(made_for, place)
        codes |= stretch.codes(cable.stiffness, made_for.elongation, parameters)
    return codes


def _out_of_tolerance(robot: Robot, number: Number, low: float, high: float) -> InputError:
    return InputError(
        robot.name,
        number.name,
        wrong="is out of the tolerance that the hardware was made for",
        expected=f"{low:.6g} to {high:.6g} {number.unit}",
        got=f"{number.of(robot):.6g} {number.unit}",
    )


def _check_built_in(made_for: Robot, robot: Robot) -> None:
    def check(key: str, own: object, other: object) -> None:
        if own != other:
            wrong = "is built into the hardware"
            raise InputError(robot.name, key, wrong=wrong, expected=shown(own), got=shown(other))

    for name in BUILT_IN:
        check(name, getattr(made_for, name), getattr(robot, name))
    check("cables", len(made_for.cables), len(robot.cables))
    for place, (own, other) in enumerate(zip(made_for.cables, robot.cables, strict=True), 1):
        check(f"cable {place} pulley", bool(own.pulley), bool(other.pulley))
        for part in LIMITS:
            present = [getattr(cable, part) is not None for cable in (own, other)]
            check(f"cable {place} {part}", *present)
        check(f"cable {place} stiffness", bool(own.stiffness), bool(other.stiffness))
        for part in given(own.stiffness) if own.stiffness else ():
            check(f"cable {place} {part}", True, bool(getattr(other.stiffness, part)))
    same = {number: number.of(made_for) for number in numbers(made_for)}
    others = cables_with(robot, same.__getitem__)
    for place, (own, other) in enumerate(zip(made_for.cables, others, strict=True), 1):
        for name in own.__dataclass_fields__:
            check(f"cable {place} {name}", getattr(own, name), getattr(other, name))
