"""Angles as graph nodes: each a method of `TracedArithmetic` with its twin in `FloatArithmetic`."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from solver_ref import graph as g
from solver_ref.curves import curve
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.roots import RootArithmetic

WIDEST = 1.2
"""Half the widest span (rad) of an angle: beyond, the arcsine's polynomial grows long."""

FEW = 18
"""Fraction bits of an arctangent up to which a reciprocal's own precision is enough."""
LACK = 12
"""Places behind the point at which what a reciprocal lacks to 1 begins at most."""

COARSE = 6
"""Fraction bits that tell on which side of a quarter turn an angle lies."""

SHORT = 8
"""Integers up to here have at most two signed binary digits: products with them are sums."""


class AngleArithmetic(RootArithmetic):
    """`RootArithmetic` with the functions of angles."""

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

    def sine_cosine(self, angle: Fixed, role: str) -> tuple[Fixed, Fixed]:
        """Sine and cosine of an angle (rad), as polynomials over its range.

        Range: about +-6.3, whatever `curve` can follow. Error: 1.5 quanta of the role.
        """
        fraction, most = getattr(self.profile, role).bits, max(angle.range.magnitude, 1.0)
        error = 2.0 ** -(fraction + 2)
        square = (angle * angle).narrow(fraction + 4)
        # In s = x^2: the slope of cos is at most 1/2, that of sin(x)/x at most 1/6.
        ratio = curve(self, square, lambda m, s: m.rotation_coefficients(s)[0], error / most)
        lack = curve(self, square, lambda m, s: s * m.rotation_coefficients(s)[1], error)
        sine, cosine = (self.nearest(x, role) for x in (angle * ratio, 1.0 - lack))
        return sine.into(-1.0, 1.0, "saturate"), cosine.into(-1.0, 1.0, "saturate")

    def arctangent(self, y: Fixed, x: Fixed, role: str) -> Fixed:
        """The angle (rad) of the point (x, y) in (-pi, pi]; 0 at the origin.

        Error: 1.5 quanta of the role, and 2**-20 of one that has no more than `FEW` fraction bits.
        """
        fraction = getattr(self.profile, role).bits
        a, b = self._pair(self.absolute(x), self.absolute(y))
        steep = self.less(a, b)
        code = self.builder.constant(2.0**-a.range.fraction, a.range.fraction)
        large = self.maximum([a, b, code])
        inverse = self.normal_reciprocal(large)
        top = (1 << large.range.hi.bit_length()) - 1
        small = self.minimum([a, b]).apply(g.ShiftLeft, inverse.shift, lo=0, hi=top)
        ratio = (small.scaled(inverse.exponent) * inverse.mantissa).narrow(fraction + 4)
        if fraction > FEW:
            # One of Newton's steps, on the quotient: what the reciprocal lacks, times it.
            whole = large.apply(g.ShiftLeft, inverse.shift, lo=(top + 1) // 2, hi=top)
            whole = whole.scaled(whole.range.fraction - large.range.hi.bit_length())
            lack = 1.0 - whole * inverse.mantissa
            lack = lack.narrow(fraction + 4).into(-(2.0**-LACK), 2.0**-LACK, "proven")
            ratio = ratio + (ratio.narrow(fraction + 5 - LACK) * lack).narrow(fraction + 4)
        error = 2.0 ** -(fraction + 2)
        angle = curve(self, ratio.into(0.0, 1.0, "saturate"), lambda m, t: np.arctan(t), error)
        angle = self.nearest(angle, role)
        quarter, half = (self.constant(turn, role) for turn in (math.pi / 2, math.pi))
        angle = self.select(steep, quarter - angle, angle)
        angle = self.select(self.less(x, 0.0), half - angle, angle)
        return self.select(self.less(y, 0.0), -angle, angle)

    def arccosine(self, x: Fixed, role: str, flag: str) -> Fixed:
        """The angle (rad) from 0 to pi of a cosine, which is held to +-1 under `flag`.

        2 arcsin of the root of (1 - |x|) / 2. Error: two quanta of the role, and the cosine's own
        over the sine.
        """
        x = self.clamp(x, -1.0, 1.0, flag)
        fraction = getattr(self.profile, role).bits
        square = (1.0 - self.absolute(x)).scaled(-1)
        least = 2.0**-square.range.fraction
        none = self.less(square, least)
        root, _ = self.square_root(square.into(least, 0.5, "saturate"), "unit")
        root = self.select(none, 0.0, root.narrow(fraction + 4))
        ratio = curve(self, square, lambda m, s: _arcsine_ratio(s), 2.0 ** -(fraction + 3))
        angle = self.nearest((root * ratio).scaled(1), role)
        return self.select(self.less(x, 0.0), self.constant(math.pi, role) - angle, angle)


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
