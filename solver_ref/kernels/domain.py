"""The declared domain of a robot's kernels: limits, formats and the arithmetic that traces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from solver_ref import graph as g
from solver_ref.attitude import attitude_axes, least_squares, length_gain
from solver_ref.bounds import MARGIN, solve_bounds
from solver_ref.cable import cable_at, rotation, spatial
from solver_ref.fixed import Format, Range
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.geometry import (
    LEVER_ROOM,
    LIMITS,
    OFFSET_TOLERANCE,
    Number,
    cables_with,
    stretch_of,
)
from solver_ref.iteration import Iteration
from solver_ref.kernels.corrections import TENSION, encoder_format, encoder_spans
from solver_ref.kernels.loop_precision import precise
from solver_ref.loaded_stretch import UNITS
from solver_ref.loop_limits import joint_levers, loop_limits
from solver_ref.mechanisms import loops_of
from solver_ref.parameters import WORD_BITS
from solver_ref.parts import Cable
from solver_ref.profile import (
    LOOP_BITS,
    OPERAND,
    Fraction,
    OrthogonalProfile,
    Profile,
    Significant,
)
from solver_ref.pulley import WrapLimits
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot import Robot
from solver_ref.roots import LONG_WORD
from solver_ref.sequence import Sequence
from solver_ref.step import SolveBounds

SHORTEST = 2.0**-6
"""A length below this share of the largest is out of range even where a cable could vanish."""

FACTOR_BITS = 25
"""Of a number that is loaded and multiplied: the longer operand of a 7-series multiplier."""


@dataclass(frozen=True)
class Kernel:
    """What hardware is made of: the graph, and the robot and profile it was traced for."""

    name: str
    robot: Robot
    profile: Profile
    graph: g.Graph
    iteration: Iteration | None = None
    sequence: Sequence | None = None


@dataclass(frozen=True)
class Domain:
    """The declared inputs: coordinates and lengths within these limits, formats that hold them.

    `loaded`: the robot's geometry is that of its file only until another one is loaded.
    """

    robot: Robot
    profile: Profile
    bounds: SolveBounds
    reach: tuple[tuple[float, float], ...]
    loaded: bool = False

    @classmethod
    def of(
        cls,
        robot: Robot,
        profile_name: str,
        *,
        finest: float = math.inf,
        loaded: bool = False,
    ) -> Domain:
        """`finest` (m) makes the quantum that the accuracy asks for finer where it is smaller."""
        if loops_of(robot):
            return cls._of_loops(robot, profile_name, finest)
        # First, as it refuses cables that have no length somewhere.
        wraps = pulley_limits(robot, loaded=loaded)
        bounds = solve_bounds(robot, loaded=loaded)
        more = LEVER_ROOM if loaded else 0.0
        profile = Profile.choose(
            profile_name,
            quantum=min(largest_quantum(robot, bounds, more), finest),
            reach=largest_component(robot) + 2 * more,
            lever=longest_lever(robot) + more,
            radius=max((c.pulley.radius for c in robot.cables if c.pulley), default=1.0),
        )
        profile = _with_attitude(robot, profile)
        if loaded:  # longer levers: what they take from the moments' word is given back
            profile = replace(profile, moment=Significant(profile.moment.bits + 1))
        if bounds.near:
            profile = _near_singular(profile)
        m = tracer(robot, profile)
        full = spatial(pose_inputs(m, robot), robot.free)
        turn = rotation(m, full[3:])
        spans = []
        cables = traced_cables(m, robot) if loaded else robot.cables
        for cable, limits in zip(cables, wraps, strict=True):
            square = cable_at(m, full[:3], turn, cable, limits).square.range
            low, high = (
                math.sqrt(max(x, 0) * 2.0**-square.fraction) for x in (square.lo, square.hi)
            )
            spans.append((max(low, high * SHORTEST), high))
        return cls(robot, profile, bounds, _within_limits(robot, spans), loaded)

    @classmethod
    def _of_loops(cls, robot: Robot, profile_name: str, finest: float) -> Domain:
        bounds, spans, lever = solve_bounds(robot), loop_limits(robot).spans, longest_lever(robot)
        farthest = np.abs(estimate_limits(robot)[: robot.translations]).max()
        profile = Profile.choose(
            profile_name,
            quantum=min(largest_quantum(robot, bounds), finest),
            reach=2 * max(1.0, float(farthest) + lever),  # sines and cosines are among the values
            lever=lever,
            operand=OPERAND - LOOP_BITS,  # by which what loops multiply is longer than a pose
        )

        profile = _with_attitude(robot, profile)

        def opened(profile: Profile) -> tuple[TracedArithmetic, list[Fixed]]:
            m = tracer(robot, profile)
            return m, pose_inputs(m, robot)

        return cls(robot, precise(robot, profile, spans, opened), bounds, spans)

    def cables(self, m: TracedArithmetic) -> tuple[Cable, ...]:
        """The robot's cables in a trace; numbers that can be loaded are parameters of its graph."""
        return traced_cables(m, self.robot) if self.loaded else self.robot.cables

    @property
    def wraps(self) -> tuple[WrapLimits | None, ...]:
        """The limits of every cable's way over its pulley."""
        return pulley_limits(self.robot, loaded=self.loaded)

    def ways(self, m: TracedArithmetic) -> dict[str, object]:
        """The keywords of `solver_ref.evaluation.evaluate` that say how cables go."""
        return {"cables": self.cables(m), "wraps": self.wraps}

    def length_format(self) -> Format:
        top = max(high for _, high in self.reach)
        return Format(False, math.floor(math.log2(top)) + 1, self.profile.pose.bits)

    @cached_property
    def encoder(self) -> tuple[tuple[float, float], ...]:
        """What each encoder shows (m), at least and at most: `reach` before its corrections."""
        more = OFFSET_TOLERANCE if self.loaded else 0.0
        return encoder_spans(self.robot, self.reach, more)

    def encoder_format(self) -> Format:
        """Of the length ports."""
        return encoder_format(self.encoder, self.profile.pose.bits)


def _near_singular(profile: Profile) -> OrthogonalProfile:
    """For steps at poses that are near singular: what is weak needs exact rows, many places of the
    step, and little damping."""
    roles = ("jacobian", "moment", "rate", "share")
    long = dict.fromkeys(roles, Significant(32)) | {"answer": Significant(36)}
    remainder = profile.residual.bits + 2
    return OrthogonalProfile.of(profile, remainder=remainder, damping=Fraction(34), **long)


def _within_limits(
    robot: Robot, spans: list[tuple[float, float]]
) -> tuple[tuple[float, float], ...]:
    """What the lengths' spans (m) have in common with the joints' limits, where there are any."""
    if not robot.joints:
        return tuple(spans)
    common = []
    for (low, high), joint in zip(spans, robot.joints, strict=True):
        common.append((max(low, joint.limits[0]), min(high, joint.limits[1])))
        if common[-1][0] >= common[-1][1]:
            raise ValueError(f"{joint.name} reaches no pose of the workspace: {joint.limits} m")
    return tuple(common)


def tracer(
    robot: Robot, profile: Profile, kind: type[TracedArithmetic] = TracedArithmetic
) -> TracedArithmetic:
    """A new trace; tilts beyond the grown workspace are flagged, those beyond estimates held."""
    largest = robot.tilt_bound + robot.workspace.start_error[1]
    return kind(profile, tilt=robot.tilt_bound, largest_tilt=largest)


def traced_cables(m: TracedArithmetic, robot: Robot) -> tuple[Cable, ...]:
    """The cables with parameters of the graph for their numbers, in the order of the addresses;
    those of the stiffness follow where it is used.

    A length has the precision of constants of the geometry, or what fits its word, half a quantum
    of poses at least; a tension that of the kernel's tensions.
    """
    tension = getattr(m.profile, "tension", Fraction(TENSION.fraction)).bits

    def parameter(number: Number) -> Fixed | float:
        if number.part in UNITS:
            return number.of(robot)
        value, tolerance = number.of(robot), number.tolerance
        width = FACTOR_BITS if number.part in ("attachment", "radius") else WORD_BITS
        integer = math.frexp(abs(value) + tolerance)[1] + 1
        if number.part in LIMITS:
            fraction = min(tension, width - integer)
        else:
            fraction = min(m.profile.geometry.bits, width - integer)
            fraction = max(fraction, m.profile.pose.bits + 1)
        code = round(math.ldexp(value, fraction))
        size = math.floor(math.ldexp(tolerance, fraction))
        span = Range(code - size, code + size, fraction)
        return m.builder.add(g.Parameter(number.name, span.format, span.lo, span.hi, code))

    stretches = [stretch_of(robot, place) for place in range(len(robot.cables))]
    return tuple(
        replace(cable, stiffness=stretch) if stretch else cable
        for cable, stretch in zip(cables_with(robot, parameter), stretches, strict=True)
    )


def _with_attitude(robot: Robot, profile: Profile) -> Profile:
    """A measured attitude leaves pivots of the square of its weight, 2**-8, so that every profile
    eliminates with long words: with 18 bits most solves of the reference crane do not converge."""
    if not attitude_axes(robot):
        return profile
    words = ("gram", "factor", "solution", "reciprocal")
    return replace(profile, **dict.fromkeys(words, Significant(LONG_WORD)))


def largest_quantum(robot: Robot, bounds: SolveBounds, more: float = 0.0) -> float:
    """The coarsest quantum that the asked accuracy allows (m and rad).

    It moves no attachment by more than a quarter of the accuracy; with more lengths than unknowns,
    or a measured attitude, it is also so small that half the accuracy remains after the
    least-squares step has amplified a quantum of residual. `more`: how much further out than the
    robot's own attachments may lie (m).
    """
    accuracy = robot.accuracy.length
    quantum = accuracy / 4 / max(1.0, longest_lever(robot) + more, *joint_levers(robot))
    if attitude_axes(robot):
        return min(quantum, accuracy / 2 / length_gain(robot))
    if least_squares(robot):
        return min(quantum, accuracy / 2 * MARGIN / bounds.step)
    return quantum


def longest_lever(robot: Robot) -> float:
    """The largest distance of an attachment from the platform origin (m)."""
    return max((math.hypot(*place) for place in robot.attachments.tolist()), default=0.0)


def largest_component(robot: Robot) -> float:
    """The largest component of any cable vector over the grown workspace (m)."""
    box = dict(zip(robot.free, estimate_limits(robot), strict=True))
    largest = 0.0
    for cable in robot.cables:
        lever = math.hypot(*cable.attachment)
        for axis in range(3):
            ends = box.get(axis, (0.0, 0.0))
            largest = max(largest, *(abs(end - cable.anchor[axis]) + lever for end in ends))
    return largest


def coordinate_limits(robot: Robot) -> list[tuple[float, float]]:
    """The grown workspace, coordinate by coordinate (m, rad)."""
    tilt = (-robot.tilt_bound, robot.tilt_bound)
    return [*robot.position_bounds, *[tilt] * robot.rotations]


def estimate_limits(robot: Robot) -> list[tuple[float, float]]:
    """Where estimates may go: the grown workspace and one start error more on each side.

    The minimum-norm answer to a start in the grown workspace lies within a start error of that
    start, so this is also where the answers of under-determined robots count as in range.
    """
    distance, angle = robot.workspace.start_error
    margins = [distance] * robot.translations + [angle] * robot.rotations
    return [
        (low - margin, high + margin)
        for (low, high), margin in zip(coordinate_limits(robot), margins, strict=True)
    ]


def pose_inputs(m: TracedArithmetic, robot: Robot) -> list[Fixed]:
    """The pose ports, held where estimates may go (flag `pose`); `beyond` the grown workspace."""
    formats, pose = pose_formats(robot, m.profile), []
    limits = zip(coordinate_limits(robot), estimate_limits(robot), strict=True)
    for name, (declared, (low, high)) in zip(robot.coordinates, limits, strict=True):
        port = m.input(name, formats[name])
        m.flag_outside(port, *declared, "beyond")
        pose.append(m.clamp(port, low, high, "pose"))
    return pose


def pose_formats(robot: Robot, profile: Profile) -> dict[str, Format]:
    """The port format of every coordinate: signed, as wide as an estimate needs."""
    return {
        name: Format(True, math.floor(math.log2(max(map(abs, limits)))) + 2, profile.pose.bits)
        for name, limits in zip(robot.coordinates, estimate_limits(robot), strict=True)
    }
