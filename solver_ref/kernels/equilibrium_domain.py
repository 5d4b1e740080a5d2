"""The declared domain of `forward` with the closure `equilibrium`: what its formats come from.

Declared are the poses in which the platform hangs, over the position box, tilted as far as
`hanging_robot` says, and starts within the start error of them. The robot's own workspace stays as
it is: only this kernel reaches further.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from solver_ref.equilibrium_equations import equal_density, turn_length
from solver_ref.equilibrium_poses import hanging_robot
from solver_ref.equilibrium_step import EquilibriumBounds
from solver_ref.errors import InputError
from solver_ref.fixed import Format, next_power
from solver_ref.geometry import LEVER_ROOM, STRETCH_TOLERANCE
from solver_ref.kernels.corrections import stretches
from solver_ref.kernels.domain import Domain, estimate_limits, largest_component
from solver_ref.kernels.equilibrium_bounds import SAFE, Sampled, sampled
from solver_ref.kinematics import FLOAT, cable_lengths
from solver_ref.profile import Fraction, Profile, Significant
from solver_ref.robot import Robot
from solver_ref.roots import LONG_WORD
from solver_ref.statics import weight_of

NOISE = 1.5
"""How far, in quanta, the measured residual of a length may be off, its correction included."""

SHARE = 1 / 8
"""What rounding in the balance of forces may cost, as a share of the asked accuracy."""

STEP = 4.0
"""The longest last step, in units of the asked accuracy: the pose behind it is given out."""

TENSION_BITS = 25
"""A tension's word: one operand of a multiplier."""

TENSION_SHARE = 1 / 4
"""What a tension that has not settled may cost through the stretch of its cable, as a share of the
asked accuracy."""

SETTLED = 2.0**-7
"""What lambda may still add to a pivot of the densities in the last step, as a share of it."""

STEP_BITS, WIDEST = 21, 35
"""Bits after the binary point of a normalised step and of the changes of densities, whose words
have as many more as their limits ask for; and the widest of them, for two multipliers."""

FURTHEST = 2.0
"""No step changes a density by more than this many times their sum, or turns by more radians."""


@dataclass(frozen=True)
class EquilibriumProfile(Profile):
    """A profile with the roles of tensions (N) and of the weight."""

    tension: Fraction
    scale: Significant


@dataclass(frozen=True)
class EquilibriumTolerances:
    """When a solve stops: length residual, unbalanced wrench, step (m); the change of a tension
    (N), infinite where no length depends on it; lambda."""

    residual: float
    unbalanced: float
    step: float
    tension: float
    damping: float


@dataclass(frozen=True)
class EquilibriumDomain:
    """What the pass is made for.

    `total`: the sum of the densities (1/m), at least and at most. A solve begins with the same
    `density` (1/m) in every cable, and `tensions` (N) that it makes in the home pose; `most` is the
    largest tension (N) that a word holds.
    """

    domain: Domain
    profile: EquilibriumProfile
    bounds: EquilibriumBounds
    tolerances: EquilibriumTolerances
    total: tuple[float, float]
    density: float
    tensions: tuple[float, ...]
    most: float

    @classmethod
    def of(cls, domain: Domain) -> EquilibriumDomain:
        """From the robot's usual domain. InputError for a platform that nothing pulls down,
        ValueError for one that does not hang in its workspace."""
        robot, asked = working_robot(domain.robot), domain.robot.accuracy.length
        seen = sampled(domain.robot, domain.loaded)
        finest = asked / seen.length_gain / NOISE
        domain = Domain.of(robot, domain.profile.name, finest=finest, loaded=domain.loaded)
        home = np.array(robot.workspace.home)
        density = float(equal_density(FLOAT, robot, list(home)))
        return cls(
            domain=domain,
            profile=_profile(domain, seen),
            bounds=_bounds(robot, seen),
            tolerances=_tolerances(domain, seen),
            total=seen.total,
            density=density,
            tensions=tuple((density * weight_of(robot) * cable_lengths(robot, home)).tolist()),
            most=seen.most,
        )

    @property
    def finer(self) -> EquilibriumProfile:
        """For the changes of the densities, which poorly held platforms let grow large."""
        return replace(self.profile, solution=_word(self.bounds.length.solution))

    def density_format(self) -> Format:
        """Of a force density: as wide as their sum."""
        bits = math.floor(math.log2(self.bounds.density)) + 1
        return Format(False, bits, self.profile.density.bits)

    def tension_format(self) -> Format:
        return Format(False, round(math.log2(self.most)), self.profile.tension.bits)


def working_robot(robot: Robot) -> Robot:
    """The robot with the workspace that it hangs in. InputError where nothing pulls it down."""
    missing = "the mass that the cables carry, in kg", "no such key"
    faults = [("platform.mass", robot.platform.mass is None, "is missing", *missing)]
    pulled = any(robot.gravity[i] for i in robot.free if i < 3)
    needed = "an acceleration along a direction in which the platform moves, in m/s^2"
    given = ", ".join(f"{x:g}" for x in robot.gravity)
    faults.append(("gravity", not pulled, "pulls nowhere", needed, given))
    for key, bad, wrong, expected, got in faults:
        if bad:
            raise InputError(robot.name, key, wrong=wrong, expected=expected, got=got)
    return hanging_robot(robot)


def _profile(domain: Domain, seen: Sampled) -> EquilibriumProfile:
    """Long words in the elimination of every profile: its pivots can be small."""
    robot, profile = domain.robot, domain.profile
    reach = largest_component(robot) + (2 * LEVER_ROOM if domain.loaded else 0.0)
    # Lengths move the platform more than the same error of F/P or N/(P l), which at most moves it
    # as far.
    floor = SHARE * robot.accuracy.length * SAFE * seen.total[0] * min(turn_length(robot), 1.0)
    force = math.ceil(-math.log2(floor))
    own = {field.name: getattr(profile, field.name) for field in fields(profile)}
    own |= dict.fromkeys(("gram", "factor", "solution", "reciprocal"), Significant(LONG_WORD))
    own |= {
        "density": Fraction(force + math.ceil(math.log2(reach))),
        "force": Fraction(force),
        "balance": Fraction(profile.pose.bits + 1),
        "step": _word(max(seen.bounds.turn.step, seen.bounds.length.step)),
    }
    return EquilibriumProfile(
        **own,
        tension=Fraction(TENSION_BITS - round(math.log2(seen.most))),
        scale=Significant(TENSION_BITS),
    )


def _word(limit: float) -> Significant:
    """What +-limit takes in the elimination."""
    bits = STEP_BITS + 1 + math.ceil(math.log2(limit))
    return Significant(min(max(bits, LONG_WORD), WIDEST))


def _bounds(robot: Robot, seen: Sampled) -> EquilibriumBounds:
    box = [high - low for low, high in estimate_limits(robot)[: robot.translations]]
    return replace(
        seen.bounds,
        shift=next_power(max(box)),
        angle=FURTHEST,
        change=FURTHEST,
        density=seen.total[1],
    )


def _tolerances(domain: Domain, seen: Sampled) -> EquilibriumTolerances:
    """ValueError where the quantum is too coarse for the asked accuracy ever to be met."""
    robot, quantum = domain.robot, 2.0**-domain.profile.pose.bits
    asked = robot.accuracy.length
    residual = asked - NOISE * quantum
    if residual < 2 * quantum:
        raise ValueError(f"no stopping tolerance within {asked} m at a quantum of {quantum}")
    tension = math.inf
    if stretches(robot) and "tension" not in robot.sensors:
        softest = min(cable.stiffness.k0 for cable in robot.cables if cable.stiffness)
        softest *= 1 - STRETCH_TOLERANCE if domain.loaded else 1.0
        tension = TENSION_SHARE * asked / seen.length_gain * softest
    return EquilibriumTolerances(
        residual=residual,
        unbalanced=STEP * asked,
        step=STEP * asked,
        tension=tension,
        damping=SETTLED * seen.least_pivot,
    )
