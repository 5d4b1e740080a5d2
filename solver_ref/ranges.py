"""The range of every node by exact interval arithmetic on integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from solver_ref import graph as g
from solver_ref.fixed import Range


def ranges(nodes: Sequence[g.Node]) -> tuple[Range, ...]:
    """One `Range` per node. ValueError names the node whose operands break its contract."""
    result: list[Range] = []
    for position, node in enumerate(nodes):
        if any(not 0 <= operand < position for operand in node.operands):
            raise ValueError(f"node {position} ({node}) uses a node that does not come before it")
        result.append(node_range(node, [result[operand] for operand in node.operands]))
    return tuple(result)


def node_range(node: g.Node, operands: Sequence[Range]) -> Range:
    """The range of one node from its operands' ranges, in the order of `operand_fields`."""
    try:
        return _range(node, *operands)
    except ValueError as error:
        raise ValueError(f"{node}: {error}") from None


def align(a: Range, b: Range) -> tuple[Range, Range]:
    """Both ranges at the finer of the two fractions."""
    fraction = max(a.fraction, b.fraction)
    return _at(a, fraction), _at(b, fraction)


def _at(a: Range, fraction: int) -> Range:
    shift = fraction - a.fraction
    return Range(a.lo << shift, a.hi << shift, fraction)


def _same_fraction(a: Range, b: Range) -> None:
    if a.fraction != b.fraction:
        raise ValueError(f"operands need one fraction, not {a.fraction} and {b.fraction}")


def _flags(*operands: Range) -> None:
    for operand in operands:
        if operand.lo < 0 or operand.hi > 1 or operand.fraction:
            raise ValueError(f"expected a flag, got {operand}")


def rounded(code: int, drop: int, rounding: str) -> int:
    """A code without its `drop` lowest bits, by `floor` or `half_even`."""
    if rounding == "half_even" and drop:
        code += (1 << (drop - 1)) - 1 + ((code >> drop) & 1)
    return code >> drop


FLAG = Range(0, 1, 0)


@singledispatch
def _range(node: g.Node, *operands: Range) -> Range:
    raise TypeError(f"no range rule for {type(node).__name__}")


@_range.register
def _(node: g.Input) -> Range:
    return Range(node.format.lo, node.format.hi, node.format.fraction)


@_range.register
def _(node: g.Parameter) -> Range:
    return Range(node.lo, node.hi, node.format.fraction)


@_range.register
def _(node: g.Constant) -> Range:
    return Range(node.code, node.code, node.fraction)


@_range.register
def _(node: g.Add, a: Range, b: Range) -> Range:
    a, b = align(a, b)
    return Range(a.lo + b.lo, a.hi + b.hi, a.fraction)


@_range.register
def _(node: g.Subtract, a: Range, b: Range) -> Range:
    a, b = align(a, b)
    return Range(a.lo - b.hi, a.hi - b.lo, a.fraction)


@_range.register
def _(node: g.Multiply, a: Range, b: Range) -> Range:
    fraction = a.fraction + b.fraction
    if node.a == node.b:
        largest = max(a.lo * a.lo, a.hi * a.hi)
        return Range(0 if a.lo <= 0 <= a.hi else min(a.lo**2, a.hi**2), largest, fraction)
    corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return Range(min(corners), max(corners), fraction)


@_range.register
def _(node: g.Negate, a: Range) -> Range:
    return Range(-a.hi, -a.lo, a.fraction)


@_range.register
def _(node: g.Absolute, a: Range) -> Range:
    lo = 0 if a.lo <= 0 <= a.hi else min(abs(a.lo), abs(a.hi))
    return Range(lo, max(abs(a.lo), abs(a.hi)), a.fraction)


@_range.register
def _(node: g.Maximum, a: Range, b: Range) -> Range:
    _same_fraction(a, b)
    return Range(max(a.lo, b.lo), max(a.hi, b.hi), a.fraction)


@_range.register
def _(node: g.Minimum, a: Range, b: Range) -> Range:
    _same_fraction(a, b)
    return Range(min(a.lo, b.lo), min(a.hi, b.hi), a.fraction)


@_range.register
def _(node: g.Less, a: Range, b: Range) -> Range:
    _same_fraction(a, b)
    return FLAG


@_range.register(g.And)
@_range.register(g.Or)
@_range.register(g.Not)
def _(node: g.Node, *operands: Range) -> Range:
    _flags(*operands)
    return FLAG


@_range.register
def _(node: g.Scale, a: Range) -> Range:
    return Range(a.lo, a.hi, a.fraction - node.exponent)


@_range.register
def _(node: g.Narrow, a: Range) -> Range:
    if a.fraction < node.fraction:
        raise ValueError(f"cannot narrow to more fraction bits than the {a.fraction} there are")
    lo, hi = (rounded(code, a.fraction - node.fraction, node.rounding) for code in (a.lo, a.hi))
    if node.overflow == "wrap":
        turns = (lo - node.lo) // (node.hi - node.lo + 1)
        shift = turns * (node.hi - node.lo + 1)
        if hi - shift > node.hi:
            return Range(node.lo, node.hi, node.fraction)
        lo, hi = lo - shift, hi - shift
    if node.overflow == "saturate":
        lo, hi = (min(max(code, node.lo), node.hi) for code in (lo, hi))
    first, last = max(lo, node.lo), min(hi, node.hi)
    if first > last:
        raise ValueError(f"no code in {node.lo}..{node.hi}: the operand spans {lo}..{hi}")
    return Range(first, last, node.fraction)


@_range.register
def _(node: g.Difference, a: Range, b: Range) -> Range:
    _same_fraction(a, b)
    lo, hi = (min(max(code, node.lo), node.hi) for code in (a.lo - b.hi, a.hi - b.lo))
    return Range(lo, hi, a.fraction)


@_range.register
def _(node: g.Outside, a: Range) -> Range:
    return FLAG


@_range.register
def _(node: g.Select, condition: Range, a: Range, b: Range) -> Range:
    _flags(condition)
    _same_fraction(a, b)
    return Range(min(a.lo, b.lo), max(a.hi, b.hi), a.fraction)


@_range.register
def _(node: g.LeadingZeros, a: Range) -> Range:
    if a.lo < 0 or a.hi >> node.width:
        raise ValueError(f"needs codes in 0..2**{node.width} - 1, not {a.lo}..{a.hi}")
    return Range(node.width - a.hi.bit_length(), node.width - a.lo.bit_length(), 0)


def _amount(b: Range) -> None:
    if b.lo < 0 or b.fraction or b.hi > 63:
        raise ValueError(f"a shift amount must be an integer in 0..63, not {b}")


@_range.register
def _(node: g.ShiftLeft, a: Range, b: Range) -> Range:
    _amount(b)
    return Range(
        max(node.lo, min(a.lo << b.hi, a.lo << b.lo)),
        min(node.hi, max(a.hi << b.hi, a.hi << b.lo)),
        a.fraction,
    )


@_range.register
def _(node: g.ShiftRight, a: Range, b: Range) -> Range:
    _amount(b)
    corners = [a.lo >> b.lo, a.lo >> b.hi, a.hi >> b.lo, a.hi >> b.hi]
    return Range(min(corners), max(corners), a.fraction)


@_range.register
def _(node: g.Table, a: Range) -> Range:
    if a.lo < 0 or a.hi >= len(node.codes) or a.fraction:
        raise ValueError(f"the index spans {a.lo}..{a.hi} but there are {len(node.codes)} entries")
    used = node.codes[a.lo : a.hi + 1]
    return Range(min(used), max(used), node.fraction)


@_range.register
def _(node: g.Join, high: Range, low: Range) -> Range:
    if low.lo < 0 or low.hi >> node.bits:
        raise ValueError(f"the low part needs codes in 0..2**{node.bits} - 1, not {low}")
    if high.fraction != low.fraction - node.bits:
        raise ValueError(f"fractions {high.fraction} and {low.fraction} are not {node.bits} apart")
    top = (1 << node.bits) - 1
    return Range(high.lo << node.bits, (high.hi << node.bits) + min(top, low.hi), low.fraction)
