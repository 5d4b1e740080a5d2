"""Elementary functions as graph nodes: polynomials, division by pivots, block exponents.

Each is a `FixedArithmetic` method with its float twin in `FloatArithmetic`; the tests measure every
one against float64 in units of its last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from solver_ref import graph as g
from solver_ref.angles import AngleArithmetic
from solver_ref.arithmetic import FloatArithmetic, is_zero
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.profile import Profile
from solver_ref.roots import LONG_WORD, RECIPROCAL_FRACTION, Reciprocal

LOOSE = 1.5
"""How far beyond what it can be the range of a matrix's entry is left."""
MOST_SHIFT = 62
"""What a shift right takes at most."""
ROUNDINGS = 64
"""Quanta by which an entry of an elimination may be off, as errors grow from row to row."""
SQUARE_FRACTION = 36
"""Fraction bits of a square that was normalised."""


@dataclass(frozen=True)
class BlockExponent:
    """values = normalised * 2**(exponent - shift), shared by a block of values."""

    shift: Fixed
    exponent: int


class TracedArithmetic(AngleArithmetic):
    """`FixedArithmetic` with the elementary functions; what the kernels are traced with.

    `tilt` is the declared bound of the rotation vector's norm (rad), whose violation is flagged
    `beyond`; at `largest_tilt` the coefficients saturate (flag `tilt`).
    """

    def __init__(self, profile: Profile, *, tilt: float, largest_tilt: float) -> None:
        super().__init__(profile)
        self.declared_s, self.largest_s = tilt * tilt, largest_tilt * largest_tilt

    def rotation_coefficients(self, s: Fixed, scale: float = 1.0) -> tuple[Fixed, ...]:
        """The three entire functions of s as polynomials; s saturates at the tilt's square."""
        self.flag_outside(s, 0.0, self.declared_s, "beyond")
        s = self.clamp(s, 0.0, self.largest_s, "tilt")
        names = ("rotation", "rotation", "rate")
        scales = (1.0, 1.0, scale)
        return tuple(
            self._polynomial(s, scales[i] * p, names[i])
            for i, p in enumerate(rotation_polynomials(self.largest_s, self._errors()))
        )

    def turned(self, value: Fixed, size: float) -> Fixed:
        """Held a little above `size` where intervals, at large tilts, say much more than that.

        Only beyond the declared tilt, which has a flag of its own, can it be more.
        """
        if is_zero(value) or value.range.magnitude <= LOOSE * size:
            return value
        return value.into(-size * (1 + 2.0**-8), size * (1 + 2.0**-8), "saturate")

    def _errors(self) -> tuple[float, float, float]:
        fine = 2.0 ** -(self.profile.rotation.bits + 1)
        return fine, fine, 2.0 ** -(self.profile.rate.bits + 1)

    def _polynomial(self, x: Fixed, polynomial: Polynomial, role: str) -> Fixed:
        """Horner's rule on an argument in [0, 1], so that no rounding is amplified; each factor is
        only as long as its product can be felt."""
        exponent = math.ceil(math.log2(self.largest_s))
        x = x.scaled(-exponent)
        coefficients = [float(c) * 2.0 ** (exponent * k) for k, c in enumerate(polynomial.coef)]
        fraction = self.fraction(role, self.builder.constant(abs(coefficients[0]), 60).range) + 2
        value = self.builder.constant(coefficients[-1], fraction)
        for coefficient in reversed(coefficients[:-1]):
            felt = fraction + 1 + math.ceil(math.log2(max(value.range.magnitude, 2.0**-fraction)))
            product = (value * x.narrow(felt)).narrow(fraction)
            value = product + self.builder.constant(coefficient, fraction)
        return value.narrow(fraction - 2)

    def pivot(self, value: Fixed, floor: float) -> Reciprocal:
        """The reciprocal of a pivot that is kept at or above `floor` (NEAR_SINGULAR says so)."""
        return self.normal_reciprocal(self.clamp(value, floor, value.range.magnitude, "singular"))

    def divide(self, value: Fixed, by: Reciprocal, limit: float, role: str, flag: str) -> Fixed:
        """value / pivot at the precision that `role` gives to +-limit.

        Saturates there under `flag`; without a flag it is `bounded`.
        """
        span, shift = value.range, by.shift.range
        ends = [code << bits for code in (span.lo, span.hi) for bits in (shift.lo, shift.hi)]
        wide = value.apply(g.ShiftLeft, by.shift, lo=min(ends), hi=max(ends))
        precision = getattr(self.profile, role).bits
        fraction = precision - 1 - math.ceil(math.log2(limit))
        wide = self._within(wide.scaled(by.exponent).narrow(fraction), limit, flag)
        mantissa = by.mantissa.narrow(min(RECIPROCAL_FRACTION, precision - 2))
        return self._within((wide * mantissa).narrow(fraction), limit, flag)

    def quotient_above(
        self, value: Fixed, by: Reciprocal, limit: float, role: str, flag: str
    ) -> Fixed:
        """`divide` rounds its operand, which then counts double, its product, and the mantissa, in
        all 2**-15 less than the reciprocal's."""
        quotient = self.divide(value, by, limit, role, flag)
        fraction = quotient.range.fraction
        error = 3 * 2.0**-fraction + limit * 2.0**-15
        return quotient + self.builder.constant(error, fraction)

    def _within(self, value: Fixed, limit: float, flag: str) -> Fixed:
        return self.limit(value, limit, flag) if flag else self.bounded(value, limit)

    def bounded(self, value: Fixed, limit: float) -> Fixed:
        """The value within +-limit, as exact arithmetic would have it.

        Rounding cannot break such a limit where words are long; short ones saturate (flag `step`).
        """
        if self.profile.gram.bits < LONG_WORD:
            return self.limit(value, limit, "step")
        return value.into(-limit, limit - 2.0**-value.range.fraction, "proven")

    def rounding(self) -> float:
        return ROUNDINGS * 2.0 ** (1 - self.profile.gram.bits)

    def normalise(self, values: Sequence[Fixed], role: str) -> tuple[list[Fixed], BlockExponent]:
        """The values shifted left together until the largest fills the word, as +-1."""
        fraction = max(v.range.fraction for v in values)
        values = [v.extended(fraction) for v in values]
        largest = self.maximum([self.absolute(v) for v in values])
        width = largest.range.hi.bit_length()
        zeros = largest.apply(g.LeadingZeros, width=width)
        keep = getattr(self.profile, role).bits - 1
        normal = [
            v.apply(g.ShiftLeft, zeros, lo=1 - (1 << width), hi=(1 << width) - 1)
            .scaled(fraction - width)
            .narrow(keep)
            for v in values
        ]
        return normal, BlockExponent(zeros, width - fraction)

    def denormalise(self, value: Fixed, block: BlockExponent | None, fraction: int) -> Fixed:
        """The value times the block's power of two, if any, rounded to floor at `fraction`."""
        if block is None:
            return value.extended(fraction).narrow(fraction)
        scaled = value.scaled(block.exponent).extended(fraction)
        return scaled.apply(g.ShiftRight, block.shift).narrow(fraction)

    def over_block(
        self, value: Fixed, block: BlockExponent, limit: float, most: int, flag: str
    ) -> Fixed:
        """The value over the block's power of two, limited to +-limit (under `flag`).

        Where it would be multiplied by more than 2**most it is so by that.
        """
        shift = self.minimum([block.shift, self.builder.constant(float(most + block.exponent))])
        span = value.range
        ends = [code << bits for code in (span.lo, span.hi) for bits in (0, shift.range.hi)]
        wide = value.apply(g.ShiftLeft, shift, lo=min(ends), hi=max(ends))
        return self.limit(wide.scaled(-block.exponent), limit, flag)

    def block_square(self, square: Fixed, block: BlockExponent) -> Fixed:
        """The square of normalised values times that of the block's power of two, to
        `SQUARE_FRACTION` bits."""
        shift = block.shift
        if 2 * shift.range.hi > MOST_SHIFT:  # beyond, nothing is left
            shift = self.minimum([shift, self.builder.constant(float(MOST_SHIFT // 2))])
        twice = shift.scaled(1).extended(0)
        scaled = square.scaled(2 * block.exponent).extended(SQUARE_FRACTION)
        return scaled.apply(g.ShiftRight, twice).narrow(SQUARE_FRACTION)


def rotation_polynomials(largest_s: float, errors: tuple[float, float, float]) -> list[Polynomial]:
    """Near-minimax polynomials on [0, largest_s] with the lowest degrees that meet `errors`."""
    m = FloatArithmetic()
    return [
        _fit(lambda s, i=i: m.rotation_coefficients(s)[i], largest_s, errors[i]) for i in range(3)
    ]


def _fit(function: Callable[[np.ndarray], np.ndarray], top: float, error: float) -> Polynomial:
    grid = np.linspace(0.0, top, 1001)
    for degree in range(1, 16):
        fit = Chebyshev.interpolate(function, degree, domain=[0.0, top])
        if np.max(np.abs(fit(grid) - function(grid))) <= error / 2:
            return fit.convert(kind=Polynomial)
    raise ValueError(f"no polynomial of degree 15 or less is within {error} on [0, {top}]")
