"""The precision of every value of a closed loop's dynamics, from the asked accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from solver_ref.dynamics.three_rrr import ThreeRRR
from solver_ref.profile import Fraction, Significant

SHARE = 32
"""Each rounding may put an acceleration off by the accuracy over this."""
LEVER = 8.0
"""What an acceleration of the gaps that is off may put one of the coordinates off by."""
STRIDE = 10
"""So many bits shorter than places are speeds where a step multiplies them: it takes more away."""
WORD = Significant(30)
"""Of the elimination: what it leaves wrong pulls at the gaps, and Baumgarte's stabilisation pulls
back."""


@dataclass(frozen=True)
class DynamicsProfile:
    """One precision per role of `solver_ref.dynamics.leg_elimination` and of the integrator.

    `place` and `rate` are the quanta of coordinates and of their rates; `inverse` is the largest
    error of an inverse determinant (1/(kg m^2)^2).
    """

    name: str
    place: Fraction
    rate: Fraction
    angle: Fraction
    sine: Fraction
    path: Fraction
    speed: Fraction
    turn: Fraction
    drift: Fraction
    linear: Fraction
    moment: Fraction
    coupling: Fraction
    square: Fraction
    mobility: Fraction
    moved: Fraction
    acceleration: Fraction
    gram: Significant
    factor: Significant
    solution: Significant
    reciprocal: Significant
    number: Significant
    time: Significant
    stride: Fraction
    inverse: float

    @classmethod
    def choose(
        cls, mechanism: ThreeRRR, accuracy: float, *, step: float, speed: float, torque: float
    ) -> DynamicsProfile:
        """For an accuracy (m/s^2, rad/s^2) of steps (s) at the largest speed (rad/s) and torque of
        a motor (N m)."""
        own, beyond = mechanism.leg_inertias
        coupling = mechanism.coupling
        least = own * beyond - coupling**2
        mobility = max(max(own, beyond) / least, 1 / mechanism.inertia)

        def fine(lever: float) -> Fraction:
            return Fraction(max(0, math.ceil(math.log2(max(lever, 1.0) * SHARE / accuracy))))

        swung = torque + coupling * speed**2
        # A direction and its sign: with one bit less a word is one operand of a multiplier.
        sine = Fraction(fine(mobility * swung).bits - 1)
        mobile = fine(torque / mechanism.active.length)
        place = fine(1 / step).bits + 2
        return cls(
            name="fine",
            place=Fraction(place),
            rate=fine(1 / step),
            angle=Fraction(sine.bits + 1),
            sine=sine,
            path=sine,
            speed=fine(mobility * coupling * 2 * speed),
            turn=fine(mobility * coupling),
            drift=Fraction(sine.bits - 4),
            linear=fine(LEVER),
            moment=fine(mobility),
            coupling=fine(mobility * speed**2),
            square=fine(mobility / least * swung),
            mobility=mobile,
            moved=mobile,
            acceleration=fine(1.0),
            gram=WORD,
            factor=WORD,
            solution=WORD,
            reciprocal=WORD,
            number=Significant(27),
            time=Significant(27),
            stride=Fraction(place - STRIDE),
            inverse=2.0 ** -(mobile.bits + 1) / max(own, beyond),
        )
