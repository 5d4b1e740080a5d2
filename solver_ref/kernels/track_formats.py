"""Formats and constants that the graphs of `track` share."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

from solver_ref import detection
from solver_ref.fixed import Format
from solver_ref.functions import TracedArithmetic
from solver_ref.gain import attitude_axes, tracking_quantum
from solver_ref.kernels.domain import Domain, estimate_limits, tracer
from solver_ref.kernels.kind import length_names
from solver_ref.profile import Significant
from solver_ref.robot import Robot
from solver_ref.tracking import Filter

SAMPLE_RATE = 10_000.0
"""Samples per second (Hz)."""

POSE_GUARD, RATE_GUARD = 3, 10
"""Fraction bits of the tracked pose beyond the lengths' quantum, and of its rates beyond those."""

RATE_LIMIT = 2.0**-6
"""Largest change of a coordinate from sample to sample (m, rad)."""

INNOVATION_BITS = 18
"""An innovation's word: one operand of the smallest multipliers. While a pose is searched for,
what does not fit is walked in steps."""

GAIN_BITS = 18
ELIMINATION_BITS = 25
FROZEN_QUANTA = 16
"""An encoder that stands still while it should have moved by more quanta is frozen."""
CLOCK = Format(False, 16, 0)
"""The sample number `t`, which wraps."""
FLAG = Format(False, 1, 0)

TENSION = Format(False, 16, 2)
"""A measured tension (N)."""


class TrackFormats:
    """Number formats of a tracked robot, and what it measures."""

    def __init__(self, domain: Domain) -> None:
        self.robot = domain.robot
        finest = tracking_quantum(self.robot)
        self.domain = domain = Domain.of(self.robot, domain.profile.name, finest=finest)
        words = dict.fromkeys(("gram", "factor", "solution"), Significant(ELIMINATION_BITS))
        self.profile = dataclasses.replace(domain.profile, **words, step=Significant(GAIN_BITS))
        self.quantum = domain.profile.pose.bits
        self.pose_bits = self.quantum + POSE_GUARD
        self.rate_bits = self.pose_bits + RATE_GUARD
        self.lengths = length_names(self.robot)
        self.axes = tuple(self.robot.coordinates[i] for i in attitude_axes(self.robot))
        self.measurements = (*self.lengths, *(f"m{axis}" for axis in self.axes))
        self.length_format = domain.length_format()
        self.filter = Filter()

    def tracer(self) -> TracedArithmetic:
        return tracer(self.robot, self.profile)

    @cached_property
    def pose_formats(self) -> dict[str, Format]:
        """Of the tracked pose: room for a step beyond where estimates may go."""
        return {
            name: Format(True, math.floor(math.log2(max(map(abs, limits)))) + 3, self.pose_bits)
            for name, limits in zip(
                self.robot.coordinates, estimate_limits(self.robot), strict=True
            )
        }

    @cached_property
    def attitude_format(self) -> Format:
        top = self.robot.tilt_bound + self.robot.workspace.start_error[1]
        return Format(True, math.floor(math.log2(top)) + 2, self.quantum)

    @cached_property
    def offset_format(self) -> Format:
        """Of what homing adds to the lengths: as far as they reach, both ways."""
        return Format(True, self.length_format.width - self.quantum + 1, self.quantum)

    @property
    def rate_format(self) -> Format:
        return Format(True, 1 - round(-math.log2(RATE_LIMIT)), self.rate_bits)

    @property
    def sum_format(self) -> Format:
        """Of the movement that was predicted of a length since its code changed last."""
        return Format(True, INNOVATION_BITS - self.quantum, self.quantum)

    @property
    def jump_limit(self) -> float:
        """The largest innovation (m) that physics allows: at the beginning of a movement, when its
        rate is not known yet, with the lag of the rate's filter and the noise of rounding."""
        limits, period = detection.USUAL_LIMITS, 1 / SAMPLE_RATE
        lag = limits.acceleration * period**2 / self.filter.velocity
        noise = detection.NOISE_QUANTA * 2.0**-self.quantum + limits.noise
        return limits.speed * period + lag + noise


def twist_names(robot: Robot) -> tuple[str, ...]:
    """The free components of the twist, in the order of the coordinates."""
    return tuple(("vx", "vy", "vz", "wx", "wy", "wz")[index] for index in robot.free)
