"""Angles as graph nodes: each a method of `TracedArithmetic` with its twin in `FloatArithmetic`."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from solver_ref.curves import curve
from solver_ref.fixed_arithmetic import Fixed, FixedArithmetic

WIDEST = 1.2
"""Half the widest span (rad) of an angle: beyond, the arcsine's polynomial grows long."""

COARSE = 6
"""Fraction bits that tell on which side of a quarter turn an angle lies."""

SHORT = 8
"""Integers up to here have at most two signed binary digits: products with them are sums."""


class AngleArithmetic(FixedArithmetic):
    """`FixedArithmetic` with the functions of angles."""

    def angle(
        self, cosine: Fixed, sine: Fixed, span: tuple[float, float], role: str, flag: str
    ) -> Fixed:
        """The angle (rad) of a unit vector: turned back to about the middle of the span, arcsine.

        Range: the span, at most +-`WIDEST` about its middle; what is beyond, all round, saturates
        to an angle in the span under `flag`. Error: 1.5 quanta of the role, and the vector's own
        over the cosine of half the span.
        """
        c, s, middle = short_direction((span[0] + span[1]) / 2)
        low, high = span[0] - middle, span[1] - middle
        if max(-low, high) > WIDEST:
            raise ValueError(f"an angle needs a span of at most {2 * WIDEST} rad, not {span}")
        exponent = math.ceil(math.log2(math.hypot(c, s)))
        size = math.hypot(c, s) / 2.0**exponent
        ahead = (sine.narrow(COARSE) * s + cosine.narrow(COARSE) * c).scaled(-exponent)
        self.flag_outside(ahead, 2.0**-COARSE, 2.0, flag)
        fraction = getattr(self.profile, role).bits
        turned = (sine * c - cosine * s).scaled(-exponent).narrow(fraction + 3)
        turned = self.clamp(turned, size * math.sin(low), size * math.sin(high), flag)
        square = (turned * turned).narrow(fraction + 1)
        error = 2.0 ** -(fraction + 1)
        ratio = curve(self, square, lambda m, x: _arcsine_ratio(x / size**2) / size, error)
        return self.nearest(turned * ratio + self.constant(middle, role), role)


@cache
def short_direction(angle: float) -> tuple[int, int, float]:
    """The integers (c, s) with few digits whose direction is nearest to an angle (rad), and the
    angle of that direction, within half a turn of the given one."""
    short = range(-SHORT, SHORT + 1)
    pairs = [(c, s) for c in short for s in short if math.gcd(c, s) == 1]
    c, s = max(pairs, key=lambda pair: math.cos(math.atan2(pair[1], pair[0]) - angle))
    return c, s, angle + math.remainder(math.atan2(s, c) - angle, 2 * math.pi)


def _arcsine_ratio(square: np.ndarray) -> np.ndarray:
    """arcsin(x) / x at x = sqrt(square); its series also a little below 0."""
    small = square < 1e-4
    x = np.sqrt(np.where(small, 0.5, square))
    return np.where(small, 1 + square / 6 + 3 * square**2 / 40, np.arcsin(x) / x)
