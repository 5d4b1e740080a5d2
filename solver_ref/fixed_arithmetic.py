"""Tracing: runs the equations on graph nodes and chooses every format from ranges and a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from solver_ref import graph as g
from solver_ref.arithmetic import Arithmetic, balanced, is_zero
from solver_ref.fixed import Format, Range
from solver_ref.profile import Fraction, Profile
from solver_ref.ranges import rounded
from solver_ref.simplify import Builder

GUARD = 3
"""Extra fraction bits inside a sum that is rounded to floor afterwards."""


class Trace:
    """A graph under construction: equal nodes are shared, constants folded, signs pulled out."""

    def __init__(self) -> None:
        self._builder = Builder()

    @property
    def nodes(self) -> list[g.Node]:
        return self._builder.nodes

    @property
    def ranges(self) -> list[Range]:
        return self._builder.ranges

    def add(self, node: g.Node) -> Fixed:
        """The value of the node; one that exists already is used again."""
        return Fixed(self, self._builder.add(node))

    def constant(self, value: float, fraction: int | None = None) -> Fixed:
        """The nearest code at `fraction`; without one, the value must be exact in 40 bits."""
        if fraction is None:
            fraction = next((f for f in range(41) if math.ldexp(value, f).is_integer()), None)
            if fraction is None:
                raise ValueError(f"{value} is not a short binary number: name its precision")
        code = round(math.ldexp(value, fraction))
        while code and code % 2 == 0:
            code, fraction = code // 2, fraction - 1
        return self.add(g.Constant(code, fraction))

    def graph(
        self, name: str, outputs: dict[str, Fixed], formats: dict[str, Format] | None = None
    ) -> g.Graph:
        """The finished graph; nodes that no output needs are left out. Inputs stay.

        `formats` names the port formats of outputs that shall be wider than their range needs.
        """
        formats = formats or {}
        needed: set[int] = set()
        pending = [value.index for value in outputs.values()]
        pending += [i for i, node in enumerate(self.nodes) if isinstance(node, g.Input)]
        while pending:
            index = pending.pop()
            if index not in needed:
                needed.add(index)
                pending += self.nodes[index].operands
        place = {old: new for new, old in enumerate(sorted(needed))}
        nodes = tuple(
            self.nodes[old].with_operands(*(place[i] for i in self.nodes[old].operands))
            for old in sorted(needed)
        )
        results = tuple(
            g.Output(key, place[value.index], formats.get(key)) for key, value in outputs.items()
        )
        return g.Graph(name, nodes, results)


@dataclass(frozen=True)
class Fixed:
    """A traced value: an operand of `+`, `-`, `*` that adds nodes to its builder's graph."""

    builder: Trace = field(repr=False, compare=False)
    index: int

    @property
    def node(self) -> g.Node:
        return self.builder.nodes[self.index]

    @property
    def range(self) -> Range:
        return self.builder.ranges[self.index]

    def lift(self, other: Fixed | float) -> Fixed:
        return other if isinstance(other, Fixed) else self.builder.constant(float(other))

    def apply(self, operation: type[g.Node], *operands: Fixed, **fields: object) -> Fixed:
        return self.builder.add(operation(self.index, *(o.index for o in operands), **fields))

    def __neg__(self) -> Fixed:
        return self.apply(g.Negate)

    def __add__(self, other: Fixed | float) -> Fixed:
        return self if is_zero(other) else self.apply(g.Add, self.lift(other))

    __radd__ = __add__

    def __sub__(self, other: Fixed | float) -> Fixed:
        if is_zero(other):
            return self
        if isinstance(self.node, g.Negate):
            return -(Fixed(self.builder, self.node.a) + other)
        return self.apply(g.Subtract, self.lift(other))

    def __rsub__(self, other: float) -> Fixed:
        return -self if is_zero(other) else self.lift(other) - self

    def __mul__(self, other: Fixed | float) -> Fixed | int:
        if is_zero(other):
            return 0
        other = self.lift(other)
        for x, y in ((self, other), (other, self)):
            if isinstance(x.node, g.Negate):
                return -(Fixed(self.builder, x.node.a) * y)
            if isinstance(x.node, g.Constant):
                return _times_constant(y, x.node)
        return self.builder.add(g.Multiply(*sorted((self.index, other.index))))

    __rmul__ = __mul__

    def narrow(self, fraction: int, rounding: str = "floor") -> Fixed:
        """Fewer fraction bits; the range follows, so nothing can overflow."""
        drop = self.range.fraction - fraction
        if drop <= 0:
            return self
        lo, hi = (rounded(code, drop, rounding) for code in (self.range.lo, self.range.hi))
        return self.apply(g.Narrow, fraction=fraction, lo=lo, hi=hi, rounding=rounding)

    def into(self, lo: float, hi: float, overflow: str) -> Fixed:
        """The same fraction with codes brought into [lo, hi] by `saturate` or `proven`."""
        first, last = self.codes_within(lo, hi)
        if first <= self.range.lo and self.range.hi <= last:
            return self
        return self.apply(
            g.Narrow, fraction=self.range.fraction, lo=first, hi=last, overflow=overflow
        )

    def codes_within(self, lo: float, hi: float) -> tuple[int, int]:
        fraction = self.range.fraction
        return math.ceil(math.ldexp(lo, fraction)), math.floor(math.ldexp(hi, fraction))

    def extended(self, fraction: int) -> Fixed:
        """The same value with zeros appended up to `fraction`."""
        bits = fraction - self.range.fraction
        if bits <= 0:
            return self
        zero = self.builder.add(g.Constant(0, fraction))
        return self.apply(g.Join, zero, bits=bits)

    def scaled(self, exponent: int) -> Fixed:
        return self.apply(g.Scale, exponent=exponent) if exponent else self


def _times_constant(value: Fixed, constant: g.Constant) -> Fixed:
    code, fraction = constant.code, constant.fraction
    if code == 0:
        return value.builder.constant(0.0)
    if code < 0:
        return -_times_constant(value, g.Constant(-code, fraction))
    if code & (code - 1) == 0:
        return value.scaled(code.bit_length() - 1 - fraction)
    index = value.builder.add(g.Constant(code, fraction)).index
    return value.builder.add(g.Multiply(*sorted((value.index, index))))


class FixedArithmetic(Arithmetic):
    """The arithmetic that traces. `flags[name]` collects what saturated, by the clamp's `flag`."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.builder = Trace()
        self.flags: dict[str, list[Fixed]] = {}

    def input(self, name: str, fmt: Format) -> Fixed:
        return self.builder.add(g.Input(name, fmt))

    def fraction(self, role: str, span: Range) -> int:
        """Fraction bits that the profile gives a value of this range in this role."""
        precision = getattr(self.profile, role)
        if isinstance(precision, Fraction):
            return precision.bits
        return precision.bits - (span.width - span.fraction)

    def constant(self, value: float | Fixed, role: str) -> Fixed | int:
        if isinstance(value, Fixed):
            return value
        if value == 0:
            return 0
        precision = getattr(self.profile, role)
        if isinstance(precision, Fraction):
            return self.builder.constant(value, precision.bits)
        return self.builder.constant(value, precision.bits - 2 - math.floor(math.log2(abs(value))))

    def round(self, value: Fixed, role: str) -> Fixed:
        return value if is_zero(value) else value.narrow(self.fraction(role, value.range))

    def nearest(self, value: Fixed, role: str) -> Fixed:
        if is_zero(value):
            return value
        return value.narrow(self.fraction(role, value.range), "half_even")

    def above(self, value: Fixed, role: str) -> Fixed:
        fraction = self.fraction(role, value.range)
        if fraction >= value.range.fraction:
            return value
        return value.narrow(fraction) + self.builder.constant(2.0**-fraction, fraction)

    def clamp(self, value: Fixed, lo: float, hi: float, flag: str = "range") -> Fixed:
        self.flag_outside(value, lo, hi, flag)
        return value.into(lo, hi, "saturate")

    def flag_outside(self, value: Fixed, lo: float, hi: float, flag: str) -> None:
        """Remember under `flag` whether the value leaves [lo, hi], if its range can."""
        first, last = value.codes_within(lo, hi)
        if value.range.lo < first or last < value.range.hi:
            self.flag(flag, value.apply(g.Outside, lo=first, hi=last))

    def report_below(self, value: Fixed, limit: Fixed, flag: str) -> None:
        self.flag(flag, self.less(value, limit))

    def limit(self, value: Fixed, size: float, flag: str) -> Fixed:
        return self.clamp(value, -size, size - 2.0**-value.range.fraction, flag)

    def proven(self, value: Fixed, limit: float) -> Fixed:
        """The value, known by a theorem to lie within +-limit; the interpreter checks it."""
        return value.into(-limit, limit, "proven")

    def difference(self, a: Fixed, b: Fixed, size: float) -> Fixed:
        """a - b, saturated to the two's complement word of +-size."""
        a, b = self._pair(a, b)
        hi = math.floor(math.ldexp(size, a.range.fraction)) - 1
        return a.apply(g.Difference, b, lo=-hi - 1, hi=hi)

    def vanishes(self, value: Fixed) -> bool:
        return is_zero(value) or value.range.lo == value.range.hi == 0

    def magnitude(self, value: Fixed) -> float:
        return value.range.magnitude

    def flag(self, name: str, value: Fixed) -> None:
        self.flags.setdefault(name, []).append(value)

    def flagged(self, *names: str) -> list[Fixed]:
        """The flags under these names so far."""
        return [flag for name in names for flag in self.flags.get(name, [])]

    def any(self, flags: Sequence[Fixed]) -> Fixed:
        """Logical or of flags, as a balanced tree."""
        flags = list(flags)
        if not flags:
            return self.builder.constant(0.0)
        return balanced(flags, lambda a, b: a.apply(g.Or, b))

    def dot(self, a: Sequence[Fixed], b: Sequence[Fixed], role: str) -> Fixed | int:
        products = [x * y for x, y in zip(a, b, strict=True)]
        products = [p for p in products if not is_zero(p)]
        if not products:
            return 0
        fraction = self.fraction(role, _sum_range([p.range for p in products]))
        guarded = [p.narrow(fraction + GUARD) for p in products] if len(products) > 1 else products
        return self.total(guarded).narrow(fraction, "half_even")

    def minus_product(self, value: Fixed, a: Fixed, b: Fixed) -> Fixed:
        fraction = value.range.fraction
        return (value - (a * b).narrow(fraction + 1)).narrow(fraction)

    def dot_within(
        self, a: Sequence[Fixed], b: Sequence[Fixed], limit: float, role: str, flag: str
    ) -> Fixed:
        fraction = getattr(self.profile, role).bits - 1 - math.ceil(math.log2(limit))
        products = [x * y for x, y in zip(a, b, strict=True)]
        total = self.total([p.narrow(fraction + GUARD) for p in products if not is_zero(p)])
        return self.limit(total.narrow(fraction), limit, flag)

    def absolute(self, value: Fixed) -> Fixed:
        return value if value.range.lo >= 0 else value.apply(g.Absolute)

    def maximum(self, values: Sequence[Fixed]) -> Fixed:
        return self._tournament(g.Maximum, values)

    def minimum(self, values: Sequence[Fixed]) -> Fixed:
        return self._tournament(g.Minimum, values)

    def _tournament(self, operation: type[g.Node], values: Sequence[Fixed]) -> Fixed:
        fraction = max(v.range.fraction for v in values)
        rest = [v.extended(fraction) for v in values]
        return balanced(rest, lambda a, b: a.apply(operation, b))

    def less(self, a: Fixed | float, b: Fixed | float) -> Fixed:
        """Flag: a < b."""
        a, b = self._pair(a, b)
        return a.apply(g.Less, b)

    def select(self, condition: Fixed, a: Fixed | float, b: Fixed | float) -> Fixed:
        """a where the flag is 1, else b."""
        a, b = self._pair(a, b)
        return a if a.index == b.index else condition.apply(g.Select, a, b)

    def _pair(self, a: Fixed | float, b: Fixed | float) -> tuple[Fixed, Fixed]:
        a, b = (x if isinstance(x, Fixed) else self.builder.constant(float(x)) for x in (a, b))
        fraction = max(a.range.fraction, b.range.fraction)
        return _at_fraction(a, fraction), _at_fraction(b, fraction)

    def every(self, *flags: Fixed) -> Fixed:
        """Logical and of flags."""
        result = flags[0]
        for flag in flags[1:]:
            result = result.apply(g.And, flag)
        return result

    def negation(self, flag: Fixed) -> Fixed:
        """Logical not of a flag."""
        return flag.apply(g.Not)


def _at_fraction(value: Fixed, fraction: int) -> Fixed:
    if isinstance(value.node, g.Constant):
        node = value.node
        return value.builder.add(g.Constant(node.code << (fraction - node.fraction), fraction))
    return value.extended(fraction)


def _sum_range(spans: Sequence[Range]) -> Range:
    fraction = max(span.fraction for span in spans)
    lo = sum(span.lo << (fraction - span.fraction) for span in spans)
    hi = sum(span.hi << (fraction - span.fraction) for span in spans)
    return Range(lo, hi, fraction)
