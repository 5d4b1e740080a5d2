"""The declared motions of a serial arm: what its ports carry, and how precise its values are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solver_ref.dynamics.arm_limits import ArmLimits, arm_limits
from solver_ref.dynamics.arm_profile import ArmProfile
from solver_ref.dynamics.links import Arm, Limits
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.robot import Robot

FINER_PORTS = 2
"""Bits by which ports of rates are finer than the values inside."""


@dataclass(frozen=True)
class ArmDomain:
    """What `solver_ref.kernels.domain.Domain` is for platforms; `span` of each port, SI units."""

    robot: Robot
    limits: ArmLimits
    profile: ArmProfile
    spans: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, robot: Robot) -> ArmDomain:
        """ValueError where the robot is no arm."""
        arm = arm_of(robot)
        limits = arm_limits(arm)
        profile = ArmProfile.choose(limits, arm.accuracy, losses=largest_loss(arm))
        spans = {}
        for names, span in ((position_names, _position), (speed_names, _speed)):
            spans |= dict(zip(names(robot), (span(link.limits) for link in arm.links), strict=True))
        quick = (_symmetric(link.limits.acceleration) for link in arm.links)
        spans |= dict(zip(acceleration_names(robot), quick, strict=True))
        return cls(robot, limits, profile, spans)

    @cached_property
    def formats(self) -> dict[str, Format]:
        """Of every input port: signed, as wide as its span."""
        profile = self.profile
        bits = dict.fromkeys(position_names(self.robot), profile.angle.bits)
        bits |= dict.fromkeys(speed_names(self.robot), profile.speed.bits + FINER_PORTS)
        bits |= dict.fromkeys(acceleration_names(self.robot), profile.turn.bits + FINER_PORTS)
        return {
            name: Format(True, math.floor(math.log2(max(map(abs, span)))) + 2, bits[name])
            for name, span in self.spans.items()
        }

    def port(self, m: TracedArithmetic, name: str, *, like: str | None = None) -> Fixed:
        """A port, held to the codes nearest to its limits (flag `range`), which are those of
        `like` where that is named."""
        low, high = self.spans[like or name]
        fmt = self.formats[like or name]
        half = fmt.quantum / 2
        return m.clamp(m.input(name, fmt), low - half, high + half, "range")

    def beyond(self, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """Whether a row of port values leaves the joints' limits."""
        outside = [
            (inputs[name] < low) | (inputs[name] > high) for name, (low, high) in self.spans.items()
        ]
        return np.any(outside, axis=0)


def arm_of(robot: Robot) -> Arm:
    """The robot's arm. ValueError where it has none."""
    if robot.arm is None:
        raise ValueError(f"a robot of the kind {robot.kind} has no links in a chain")
    return robot.arm


def largest_loss(arm: Arm) -> float:
    """The largest torque of friction in any joint (N m, N)."""
    losses = []
    for link in arm.links:
        law = link.friction
        level = max(*law.coulomb, law.static or 0.0)
        losses.append(law.viscous * link.limits.speed + level)
    return max(losses)


def position_names(robot: Robot) -> tuple[str, ...]:
    return _names(robot, "q")


def speed_names(robot: Robot) -> tuple[str, ...]:
    return _names(robot, "qd")


def acceleration_names(robot: Robot) -> tuple[str, ...]:
    return _names(robot, "qdd")


def wanted_names(robot: Robot) -> tuple[tuple[str, ...], ...]:
    """Of the positions, speeds and accelerations that are wanted of the joints."""
    return _names(robot, "qr"), _names(robot, "qdr"), _names(robot, "qddr")


def torque_names(robot: Robot) -> tuple[str, ...]:
    return _names(robot, "tau")


def _names(robot: Robot, letter: str) -> tuple[str, ...]:
    return tuple(f"{letter}{i + 1}" for i in range(len(arm_of(robot).links)))


def _position(limits: Limits) -> tuple[float, float]:
    return limits.position


def _speed(limits: Limits) -> tuple[float, float]:
    return _symmetric(limits.speed)


def _symmetric(largest: float) -> tuple[float, float]:
    return -largest, largest
