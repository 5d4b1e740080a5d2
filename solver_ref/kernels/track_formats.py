"""Formats and constants that the graphs of `track` share."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

import numpy as np

from solver_ref import detection
from solver_ref.attitude import attitude_axes
from solver_ref.equilibrium import equilibrium
from solver_ref.equilibrium_limits import gain_bounds, hanging_quantum
from solver_ref.equilibrium_poses import hanging_robot
from solver_ref.errors import InputError
from solver_ref.fixed import Format
from solver_ref.functions import TracedArithmetic
from solver_ref.gain import tracking_quantum
from solver_ref.kernels.domain import Domain, estimate_limits, tracer
from solver_ref.kernels.kind import length_names
from solver_ref.kinematics import cable_lengths
from solver_ref.profile import Significant
from solver_ref.statics import weight_of
from solver_ref.tracking import Filter

SAMPLE_RATES = (200.0, 100_000.0)
"""Samples per second (Hz), at least and at most: no length moves by more than `RATE_LIMIT` from one
to the next, and twists keep their precision."""

POSE_GUARD, RATE_GUARD = 3, 10
"""Fraction bits of the tracked pose beyond the lengths' quantum, and of its rates beyond those."""

RATE_LIMIT = 2.0**-6
"""Largest change of a coordinate from sample to sample (m, rad)."""

INNOVATION_BITS = 18
"""An innovation's word: one operand of the smallest multipliers. While a pose is searched for,
what does not fit is walked in steps."""

ELIMINATION_BITS = 25
GAIN_BITS = 18
"""Of the right sides of an elimination that become a gain, whose errors the next sample corrects:
one operand of the smallest multipliers."""
FROZEN = 2.0**-17
"""An encoder that stands still while it should have moved by more (m) is frozen."""
CLOCK = Format(False, 16, 0)
"""The sample number `t`, which wraps."""
FLAG = Format(False, 1, 0)


class TrackFormats:
    """Number formats of a tracked robot, and what it measures."""

    def __init__(self, domain: Domain) -> None:
        self.hanging = domain.robot.closure == "equilibrium"
        self.robot = hanging_robot(domain.robot) if self.hanging else domain.robot
        if self.hanging:
            finest = hanging_quantum(self.robot, domain.loaded)
        else:
            finest = tracking_quantum(self.robot, loaded=domain.loaded)
        self.domain = domain = Domain.of(
            self.robot, domain.profile.name, finest=finest, loaded=domain.loaded
        )
        words = dict.fromkeys(("gram", "factor"), Significant(ELIMINATION_BITS))
        words["solution"] = Significant(ELIMINATION_BITS if self.hanging else GAIN_BITS)
        self.profile = dataclasses.replace(domain.profile, **words)
        self.quantum = domain.profile.pose.bits
        self.pose_bits = self.quantum + POSE_GUARD
        self.rate_bits = self.pose_bits + RATE_GUARD
        self.lengths = length_names(self.robot)
        self.axes = tuple(self.robot.coordinates[i] for i in attitude_axes(self.robot))
        self.measurements = (*self.lengths, *(f"m{axis}" for axis in self.axes))
        self.densities = (
            tuple(f"p{i + 1}" for i in range(len(self.lengths))) if self.hanging else ()
        )
        self.tensions = tuple(f"T{i + 1}" for i in range(len(self.densities)))
        self.length_format = domain.encoder_format()
        self.filter = Filter.at(self.robot.sample_rate)

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

    @cached_property
    def home(self) -> tuple[np.ndarray, np.ndarray]:
        """Where a search begins: the pose, and the densities (1/m; none where nothing hangs)."""
        home = np.array(self.robot.workspace.home)
        if not self.hanging:
            return home, np.zeros(0)
        lengths = cable_lengths(self.robot, home[None])
        found = equilibrium(self.robot, lengths, elastic=False)
        return found.poses[0], found.tensions[0] / lengths[0] / weight_of(self.robot)

    @cached_property
    def density_format(self) -> Format:
        """Of a force density (1/m), where there are any."""
        top = gain_bounds(self.robot, self.domain.loaded)[0].total[1] if self.hanging else 1.0
        return Format(False, math.floor(math.log2(top)) + 1, self.profile.density.bits)

    @property
    def sum_format(self) -> Format:
        """Of the movement that was predicted of a length since its code changed last."""
        return Format(True, INNOVATION_BITS - self.quantum, self.quantum)

    @property
    def jump_limit(self) -> float:
        """The largest innovation (m) that physics allows: at the beginning of a movement, when its
        rate is not known yet, with the lag of the rate's filter and the noise of rounding.

        InputError where the word of an innovation holds no more.
        """
        limit = float(
            detection.innovation_threshold(
                1 / self.robot.sample_rate,
                2.0**-self.quantum,
                detection.USUAL_LIMITS,
                self.filter.velocity,
                settling=True,
            )
        )
        word = 2.0 ** (INNOVATION_BITS - 1 - self.quantum)
        if limit >= word:
            raise InputError(
                self.robot.name,
                "sample-rate",
                wrong="is too low for quanta so fine",
                expected=f"one with which no length moves by {word * 1e3:.3g} mm in a sample",
                got=f"{self.robot.sample_rate:g} Hz, up to {limit * 1e3:.3g} mm",
            )
        return limit
