"""Reciprocals and square roots as graph nodes: a table, then Newton's steps on the mantissa."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from solver_ref import graph as g
from solver_ref.fixed_arithmetic import Fixed, FixedArithmetic

TABLE_BITS = 9
"""Index bits of the first approximation of a reciprocal; one Newton step doubles them."""

RECIPROCAL_FRACTION = 23

TANGENT_BITS = 16
"""Fraction bits of the mantissa of a root that is rounded up."""

LONG_WORD = 25
"""Bits of the elimination from which the margins of its proven limits cover all rounding."""


@dataclass(frozen=True)
class Reciprocal:
    """1/value = mantissa * 2**(shift + exponent): mantissa in (1, 2], shift a small integer."""

    mantissa: Fixed
    shift: Fixed
    exponent: int


class RootArithmetic(FixedArithmetic):
    """`FixedArithmetic` with reciprocals and square roots."""

    def reciprocal(self, value: Fixed, role: str) -> Fixed:
        """1/value for a value whose range does not reach zero; error about 2**-17 relative."""
        inverse = self.normal_reciprocal(value)
        shift = inverse.shift.range
        mantissa = inverse.mantissa.narrow(getattr(self.profile, role).bits - 2)
        span = mantissa.range
        wide = mantissa.apply(
            g.ShiftLeft, inverse.shift, lo=span.lo << shift.lo, hi=span.hi << shift.hi
        )
        limit = 1.0 / (value.range.lo * 2.0**-value.range.fraction)
        result = wide.scaled(inverse.exponent)
        return self.round(result.into(0.0, limit * (1 + 2.0**-12), "proven"), role)

    def normal_reciprocal(self, value: Fixed) -> Reciprocal:
        """Table and one Newton step on the normalised mantissa."""
        if value.range.lo <= 0:
            raise ValueError(f"a reciprocal needs a positive range, not {value.range}")
        width = value.range.hi.bit_length()
        zeros = value.apply(g.LeadingZeros, width=width)
        top = 1 << (width - 1)
        mantissa = value.apply(g.ShiftLeft, zeros, lo=top, hi=2 * top - 1)
        mantissa = mantissa.scaled(mantissa.range.fraction - width)
        index = self._index(mantissa, TABLE_BITS + 1)
        table = _table(lambda v: 1 / v, TABLE_BITS + 1, 1 << TABLE_BITS, 1 << TABLE_BITS)
        first = index.apply(g.Table, codes=table, fraction=TABLE_BITS + 3)
        product = (mantissa.narrow(24) * first).narrow(24)
        error = (2.0 - product).into(1 - 2.0**-8, 1 + 2.0**-8, "proven")
        better = (error.narrow(23) * first).narrow(RECIPROCAL_FRACTION)
        # Newton's step never passes 1/v, and from a cell's middle it stays below 2 at v = 1/2.
        better = better.into(1 - 2.0**-12, 2 - 2.0**-RECIPROCAL_FRACTION, "proven")
        return Reciprocal(better, zeros, value.range.fraction - width)

    def _index(self, mantissa: Fixed, bits: int) -> Fixed:
        """The top bits of a mantissa in [1/2, 1) without its leading one."""
        size = 1 << (bits - 1)
        index = mantissa.apply(g.Narrow, fraction=bits, lo=0, hi=size - 1, overflow="wrap")
        return index.scaled(bits)

    def root_above(self, value: Fixed) -> Fixed:
        """At least the root of a positive value, at most a tenth more: on the mantissa v in
        [1/4, 1), the tangent at 4/9, 1/3 + 3 v/4."""
        v, half, exponent = self._root_operand(value)
        v = v.narrow(TANGENT_BITS)
        third = math.ceil(2.0**TANGENT_BITS / 3) + 1  # and what rounding took from v
        root = (
            v.scaled(-1)
            + v.scaled(-2)
            + self.builder.constant(math.ldexp(third, -TANGENT_BITS), TANGENT_BITS)
        )
        root = self._unshift_root(root, half, exponent)
        return root + self.builder.constant(2.0**-root.range.fraction, root.range.fraction)

    def square_root(self, value: Fixed, role: str) -> tuple[Fixed, Fixed]:
        """The root of a positive value and its reciprocal.

        Table, one Newton step for the reciprocal root, then one Heron step for the root, whose
        error is the square of the first's, and one Newton step more for the reciprocal. A role of
        fewer bits than `LONG_WORD` ends after the first step, 2**-19 of the value off at most.
        """
        v, half, exponent = self._root_operand(value)
        root, inverse = self._mantissa_root(v, getattr(self.profile, role).bits < LONG_WORD)
        return (
            self._unshift_root(root, half, exponent),
            self._shift_inverse(inverse, half, -exponent, value, role),
        )

    def _root_operand(self, value: Fixed) -> tuple[Fixed, Fixed, int]:
        """The mantissa v in [1/4, 1) of value = v * 4**(exponent - half)."""
        if value.range.lo <= 0:
            raise ValueError(f"a square root needs a positive range, not {value.range}")
        width = value.range.hi.bit_length()
        width += (width - value.range.fraction) % 2
        zeros = value.apply(g.LeadingZeros, width=width)
        half = zeros.scaled(-1).narrow(0)
        top = 1 << width
        mantissa = value.apply(g.ShiftLeft, half.extended(1).scaled(1), lo=top // 4, hi=top - 1)
        exponent = (width - value.range.fraction) // 2
        return mantissa.scaled(value.range.fraction - width), half, exponent

    def refined_root(self, value: Fixed, root: Fixed, inverse: Fixed, role: str) -> Fixed:
        """The root of `square_root` where `role` asks for more places: one Heron step more."""
        wanted, have = self.fraction(role, root.range), root.range.fraction
        if have >= wanted:
            return root
        guarded = wanted + 2
        # The root is two units of its last place off at most.
        size = 2.0 ** (math.ceil(math.log2(root.range.magnitude)) + 3 - have)
        rest = (value - root * root).narrow(guarded + have).into(-size, size, "saturate")
        return root.extended(guarded) + (rest * inverse).scaled(-1).narrow(guarded)

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


def _table(
    function: Callable[[float], float], bits: int, first: int, count: int
) -> tuple[int, ...]:
    """Codes at `bits` + 2 fraction bits: the function at the middle of each cell of 2**-bits."""
    middle = [(first + i + 0.5) * 2.0**-bits for i in range(count)]
    return tuple(round(math.ldexp(function(v), bits + 2)) for v in middle)
