"""The precision of every value of a serial arm's recursion, from the asked accuracy of torques."""

from __future__ import annotations

import math
from dataclasses import dataclass

from solver_ref.dynamics.arm_limits import ArmLimits
from solver_ref.profile import Fraction, Significant

SHARE = 8
"""Each rounding may put a torque off by the accuracy over this."""


@dataclass(frozen=True)
class ArmProfile:
    """One precision per role of `solver_ref.dynamics`; `angle` is the quantum of positions."""

    name: str
    angle: Fraction
    sine: Fraction
    path: Fraction
    speed: Fraction
    turn: Fraction
    linear: Fraction
    force: Fraction
    moment: Fraction
    share: Fraction
    torque: Fraction
    number: Significant

    @classmethod
    def choose(cls, limits: ArmLimits, accuracy: float, *, losses: float) -> ArmProfile:
        """For an accuracy of torques (N m, N); `losses`: the largest torque of friction."""
        quantum = accuracy / SHARE
        torque = max(limits.torque, losses)

        def fine(lever: float) -> Fraction:
            return Fraction(max(0, math.ceil(math.log2(max(lever, quantum) / quantum))))

        sine = fine(torque)
        return cls(
            name="fine",
            angle=sine,
            sine=sine,
            path=fine(limits.mass_reach * limits.bounds[-1].turn + limits.bounds[0].force),
            speed=fine(2 * limits.speed * limits.mass_square),
            turn=fine(limits.mass_square),
            linear=fine(limits.mass_reach),
            force=fine(max(limits.reach, 1.0)),
            moment=fine(1.0),
            share=fine(4 * losses),
            torque=Fraction(fine(1.0).bits - 1),
            number=Significant(sine.bits + 1),
        )
