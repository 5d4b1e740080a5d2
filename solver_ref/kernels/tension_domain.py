"""The formats of `tension`: precisions of forces and motion, and the bounds inside a pass."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from solver_ref.fixed import next_power
from solver_ref.geometry import LIMIT_TOLERANCE
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.tension_ports import UNKNOWN_LIMIT, check, earth_weight, working_robot
from solver_ref.kernels.tension_samples import Sizes, sampled
from solver_ref.profile import Fraction, Profile, Significant
from solver_ref.robot import Robot
from solver_ref.roots import LONG_WORD
from solver_ref.step import SolveBounds
from solver_ref.tension import BALANCE
from solver_ref.tension_pass import Precision, TensionLimits

TENSION_BITS = 25
"""A tension's word: one operand of a multiplier."""

MARGIN = 2.0
"""What bounds keep away from the largest that was sampled."""

SETTLED, QUANTA = 2.0**-20, 8.0
"""How exact tensions are, as a share of the largest that their word holds; with redundant cables,
in quanta at least."""

ROUNDING = 2.0**-20
"""What rounding does to a pivot of the elimination, at most."""


@dataclass(frozen=True)
class TensionProfile(Profile):
    """A profile with the roles of forces and of motion."""

    mass: Significant
    inertia: Significant
    motion: Fraction
    wrench: Fraction
    tension: Fraction
    projection: Fraction


@dataclass(frozen=True)
class TensionDomain:
    """What the graph is made for. `limits` are the robot's own."""

    domain: Domain
    profile: TensionProfile
    limits: TensionLimits
    bounds: SolveBounds
    precision: Precision

    @classmethod
    def of(cls, domain: Domain) -> TensionDomain:
        """InputError for a robot whose cables carry nothing that is known."""
        check(domain.robot)
        robot = working_robot(domain.robot)
        if robot != domain.robot:
            domain = Domain.of(robot, domain.profile.name, loaded=domain.loaded)
        limits, seen = TensionLimits.of(robot), sampled(robot, domain.loaded)
        bounds = _bounds(robot, seen, 1 + LIMIT_TOLERANCE if domain.loaded else 1.0)
        precision = _precision(robot, limits, bounds, seen)
        profile = _profile(robot, domain.profile, precision, min(seen.floors))
        return cls(domain, profile, limits, bounds, precision)


def _bounds(robot: Robot, seen: Sizes, room: float) -> SolveBounds:
    """`room`: how many times the robot's own a cable's limit may be."""
    known = [cable.tension_max for cable in robot.cables if cable.tension_max is not None]
    expected = max(known, default=UNKNOWN_LIMIT * earth_weight(robot))
    return SolveBounds(
        pivot=min(seen.floors),
        factor=math.inf,
        right_side=next_power(MARGIN * seen.sizes["right_side"]),
        solution=next_power(MARGIN * seen.sizes["solution"]),
        step=next_power(max(room * expected, MARGIN * seen.sizes["tension"])),
    )


def _precision(robot: Robot, limits: TensionLimits, bounds: SolveBounds, seen: Sizes) -> Precision:
    """With redundant cables the wrench is balanced to an eighth of what may stay unbalanced."""
    bits, tolerance = TENSION_BITS - 1 - round(math.log2(bounds.step)), SETTLED * bounds.step
    if len(robot.cables) > len(robot.free):
        tolerance = 2.0 ** math.floor(math.log2(BALANCE * max(limits.middle) / 8))
        bits = max(bits, math.ceil(-math.log2(tolerance / QUANTA)))
    return Precision(
        rate=min(2.0**-2, next_power(ROUNDING * max(1 / bounds.pivot, bounds.solution))),
        tolerance=tolerance,
        fraction=bits + 1,
        wrench=next_power(MARGIN * seen.sizes["left"]),
        floors=tuple(2.0 ** math.floor(math.log2(floor / MARGIN)) for floor in seen.floors),
    )


def _profile(
    robot: Robot, profile: Profile, precision: Precision, smallest: float
) -> TensionProfile:
    """An error of the wrench reaches the tensions through the root of the smallest pivot, one of
    its projection through the pivot itself; the elimination's words are long in any profile."""
    bits, depth = precision.fraction - 1, max(0, math.ceil(-math.log2(smallest)))
    own = {field.name: getattr(profile, field.name) for field in dataclasses.fields(profile)}
    own |= dict.fromkeys(("gram", "factor", "solution", "reciprocal"), Significant(LONG_WORD))
    own |= {
        "mass": Significant(25),
        "inertia": Significant(18),
        "motion": Fraction(max(12, bits + math.ceil(math.log2(robot.platform.mass)))),
        "wrench": Fraction(bits + 1 + (depth + 1) // 2),
        "tension": Fraction(bits),
        "projection": Fraction(bits + 1 + depth),
    }
    return TensionProfile(**own)
