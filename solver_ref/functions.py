"""Elementary functions as graph nodes: polynomials, reciprocal, square root, block exponents.

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
from solver_ref.arithmetic import FloatArithmetic
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.profile import Profile

TABLE_BITS = 9
"""Index bits of the first approximation of a reciprocal; one Newton step doubles them."""

RECIPROCAL_FRACTION = 23

LONG_WORD = 25
"""Bits of the elimination from which the margins of its proven limits cover all rounding."""


@dataclass(frozen=True)
class Reciprocal:
    """1/value = mantissa * 2**(shift + exponent): mantissa in (1, 2], shift a small integer."""

    mantissa: Fixed
    shift: Fixed
    exponent: int


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

    def reciprocal(self, value: Fixed, role: str) -> Fixed:
        """1/value for a value whose range does not reach zero; error about 2**-17 relative."""
        inverse = self._reciprocal(value)
        shift = inverse.shift.range
        mantissa = inverse.mantissa.narrow(getattr(self.profile, role).bits - 2)
        span = mantissa.range
        wide = mantissa.apply(
            g.ShiftLeft, inverse.shift, lo=span.lo << shift.lo, hi=span.hi << shift.hi
        )
        limit = 1.0 / (value.range.lo * 2.0**-value.range.fraction)
        result = wide.scaled(inverse.exponent)
        return self.round(result.into(0.0, limit * (1 + 2.0**-12), "proven"), role)

    def _reciprocal(self, value: Fixed) -> Reciprocal:
        """Table and one Newton step on the normalised mantissa."""
        if value.range.lo <= 0:
            raise ValueError(f"a reciprocal needs a positive range, not {value.range}")
        width = value.range.hi.bit_length()
        zeros = value.apply(g.LeadingZeros, width=width)
        top = 1 << (width - 1)
        mantissa = value.apply(g.ShiftLeft, zeros, lo=top, hi=2 * top - 1)
        mantissa = mantissa.scaled(mantissa.range.fraction - width)
        index = self._index(mantissa, TABLE_BITS + 1, 0)
        table = _table(lambda v: 1 / v, TABLE_BITS + 1, 1 << TABLE_BITS, 1 << TABLE_BITS)
        first = index.apply(g.Table, codes=table, fraction=TABLE_BITS + 3)
        product = (mantissa.narrow(24) * first).narrow(24)
        error = (2.0 - product).into(1 - 2.0**-8, 1 + 2.0**-8, "proven")
        better = (error.narrow(23) * first).narrow(RECIPROCAL_FRACTION)
        # Newton's step never passes 1/v, and from a cell's middle it stays below 2 at v = 1/2.
        better = better.into(1 - 2.0**-12, 2 - 2.0**-RECIPROCAL_FRACTION, "proven")
        return Reciprocal(better, zeros, value.range.fraction - width)

    def _index(self, mantissa: Fixed, bits: int, first: int) -> Fixed:
        """The top bits of a mantissa in [1/2, 1) without its leading one."""
        size = 1 << (bits - 1)
        index = mantissa.apply(g.Narrow, fraction=bits, lo=0, hi=size - 1, overflow="wrap")
        return index.scaled(bits)

    def pivot(self, value: Fixed, floor: float) -> Reciprocal:
        """The reciprocal of a pivot that is kept at or above `floor` (NEAR_SINGULAR says so)."""
        return self._reciprocal(self.clamp(value, floor, value.range.magnitude, "singular"))

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

    def _within(self, value: Fixed, limit: float, flag: str) -> Fixed:
        return self.limit(value, limit, flag) if flag else self.bounded(value, limit)

    def bounded(self, value: Fixed, limit: float) -> Fixed:
        """The value within +-limit, as exact arithmetic would have it.

        Rounding cannot break such a limit where words are long; short ones saturate (flag `step`).
        """
        if self.profile.gram.bits < LONG_WORD:
            return self.limit(value, limit, "step")
        return value.into(-limit, limit - 2.0**-value.range.fraction, "proven")

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

    def denormalise(self, value: Fixed, block: BlockExponent, fraction: int) -> Fixed:
        """The value times the block's power of two, rounded to floor at `fraction`."""
        scaled = value.scaled(block.exponent).extended(fraction)
        return scaled.apply(g.ShiftRight, block.shift).narrow(fraction)

    def square_root(self, value: Fixed, role: str) -> tuple[Fixed, Fixed]:
        """The root of a positive value and its reciprocal.

        Table, one Newton step for the reciprocal root, then one Heron step for the root, whose
        error is the square of the first's, and one Newton step more for the reciprocal. A role of
        fewer bits than `LONG_WORD` ends after the first step, 2**-19 of the value off at most.
        """
        if value.range.lo <= 0:
            raise ValueError(f"a square root needs a positive range, not {value.range}")
        width = value.range.hi.bit_length()
        width += (width - value.range.fraction) % 2
        zeros = value.apply(g.LeadingZeros, width=width)
        half = zeros.scaled(-1).narrow(0)
        top = 1 << width
        mantissa = value.apply(g.ShiftLeft, half.extended(1).scaled(1), lo=top // 4, hi=top - 1)
        exponent = (width - value.range.fraction) // 2
        v = mantissa.scaled(value.range.fraction - width)
        root, inverse = self._mantissa_root(v, getattr(self.profile, role).bits < LONG_WORD)
        return (
            self._unshift_root(root, half, exponent),
            self._shift_inverse(inverse, half, -exponent, value, role),
        )

    def _mantissa_root(self, v: Fixed, short: bool) -> tuple[Fixed, Fixed]:
        bits = TABLE_BITS + 1
        quarter = 1 << (bits - 2)
        whole = v.apply(g.Narrow, fraction=bits, lo=quarter, hi=4 * quarter - 1).scaled(bits)
        index = whole - quarter
        table = _table(lambda x: x**-0.5, bits, quarter, 3 * quarter)
        y = index.apply(g.Table, codes=table, fraction=bits + 2)
        v = v.narrow(28)
        square = (y * y).narrow(24)
        y = (y * (3.0 - (v.narrow(24) * square).narrow(22)).scaled(-1)).narrow(24)
        y = y.into(1.0, 2.0, "saturate")
        if short:
            return (v.narrow(24) * y.narrow(22)).narrow(24).into(0.5, 1.0, "saturate"), y
        root = (v * y.narrow(22)).narrow(27)
        rest = (v - (root * root).narrow(34)).into(-(2.0**-12), 2.0**-12, "proven")
        root = (root + (rest * y.narrow(14)).narrow(30).scaled(-1)).narrow(28)
        root = root.into(0.5, 1.0, "saturate")
        error = (2.0 - (root * y).narrow(32)).into(1 - 2.0**-12, 1 + 2.0**-12, "proven")
        return root, (error.narrow(27) * y).narrow(25).into(1.0, 2.0, "saturate")

    def _unshift_root(self, root: Fixed, half: Fixed, exponent: int) -> Fixed:
        return root.scaled(exponent).apply(g.ShiftRight, half)

    def _shift_inverse(
        self, inverse: Fixed, half: Fixed, exponent: int, value: Fixed, role: str
    ) -> Fixed:
        span, most = inverse.range, half.range
        wide = inverse.apply(g.ShiftLeft, half, lo=span.lo << most.lo, hi=span.hi << most.hi)
        limit = (value.range.lo * 2.0**-value.range.fraction) ** -0.5
        limited = wide.scaled(exponent).into(0.0, limit * (1 + 2.0**-12), "proven")
        return self.round(limited, role)


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


def _table(
    function: Callable[[float], float], bits: int, first: int, count: int
) -> tuple[int, ...]:
    """Codes at `bits` + 2 fraction bits: the function at the middle of each cell of 2**-bits."""
    middle = [(first + i + 0.5) * 2.0**-bits for i in range(count)]
    return tuple(round(math.ldexp(function(v), bits + 2)) for v in middle)
