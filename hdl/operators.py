"""One operation of the graph as hardware: from signed words to what its last register takes.

The contract of each (equation, range, rounding, overflow) is its class in `solver_ref.graph`,
its latency is in `hdl.delay`. Words are two's complement of their range's width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce, singledispatch
from operator import or_

from amaranth.hdl import Cat, Const, Mux, Value

from hdl.delay import is_word
from solver_ref import graph as g
from solver_ref.fixed import Range


@dataclass(frozen=True)
class Context:
    """spans: of the operands; result: of the node; cycles: to its registered result; register: one
    clock later, inside the node.
    """

    spans: tuple[Range, ...]
    result: Range
    cycles: int
    register: Callable[[Value], Value]


def extend(value: Value, width: int) -> Value:
    """The signed value in exactly `width` bits."""
    if len(value) > width:
        return value[:width].as_signed()
    if len(value) == width:
        return value.as_signed()
    return Cat(value, value[-1].replicate(width - len(value))).as_signed()


def constant(code: int, width: int) -> Value:
    """A code as a signed word of `width` bits."""
    return Const(code & ((1 << width) - 1), width).as_signed()


def _flag(bit: Value) -> Value:
    """A flag as the word of its range: 2 bits."""
    return Cat(bit, Const(0, 1)).as_signed()


@singledispatch
def result(node: g.Node, context: Context, *operands: Value) -> Value:
    """The result's bits, combinational from the operands (or from registers inside the node)."""
    raise TypeError(f"no hardware for {type(node).__name__}")


@result.register
def _(node: g.Input, context: Context, port: Value) -> Value:
    return port


def _offsets(context: Context) -> tuple[int, int]:
    """By how many bits each operand is shifted up to align the binary points."""
    first, second = (span.fraction for span in context.spans)
    return max(second - first, 0), max(first - second, 0)


def _raised(value: Value, offset: int) -> Value:
    return Cat(Const(0, offset), value).as_signed() if offset else value


def _top(value: Value, offset: int) -> Value:
    """floor(value / 2**offset)."""
    return value[min(offset, len(value) - 1) :].as_signed()


@result.register
def _(node: g.Add, context: Context, a: Value, b: Value) -> Value:
    raise_a, raise_b = _offsets(context)
    if raise_a:
        a, b, raise_b = b, a, raise_a
    # Only the bits that both have are added.
    return Cat(extend(a, max(len(a), raise_b))[:raise_b], _top(a, raise_b) + b).as_signed()


@result.register
def _(node: g.Subtract, context: Context, a: Value, b: Value) -> Value:
    raise_a, raise_b = _offsets(context)
    if raise_b:
        return Cat(extend(a, max(len(a), raise_b))[:raise_b], _top(a, raise_b) - b).as_signed()
    return _raised(a, raise_a) - b


@result.register
def _(node: g.Negate, context: Context, a: Value) -> Value:
    return constant(0, len(a)) - a


@result.register
def _(node: g.Absolute, context: Context, a: Value) -> Value:
    sign = a[-1]
    return (a.as_unsigned() ^ sign.replicate(len(a))).as_signed() + _flag(sign)


def _pair(a: Value, b: Value) -> tuple[Value, Value]:
    width = max(len(a), len(b))
    return extend(a, width), extend(b, width)


@result.register
def _(node: g.Maximum, context: Context, a: Value, b: Value) -> Value:
    a, b = _pair(a, b)
    return Mux(a < b, b, a)


@result.register
def _(node: g.Minimum, context: Context, a: Value, b: Value) -> Value:
    a, b = _pair(a, b)
    return Mux(a < b, a, b)


@result.register
def _(node: g.Less, context: Context, a: Value, b: Value) -> Value:
    a, b = _pair(a, b)
    return _flag(a < b)


@result.register
def _(node: g.And, context: Context, a: Value, b: Value) -> Value:
    return _flag(a[0] & b[0])


@result.register
def _(node: g.Or, context: Context, a: Value, b: Value) -> Value:
    return _flag(a[0] | b[0])


@result.register
def _(node: g.Not, context: Context, a: Value) -> Value:
    return _flag(~a[0])


@result.register
def _(node: g.Select, context: Context, condition: Value, a: Value, b: Value) -> Value:
    a, b = _pair(a, b)
    return Mux(condition[0], a, b)


@result.register
def _(node: g.Outside, context: Context, a: Value) -> Value:
    under, over = _beyond(a, node.lo, node.hi)
    return _flag(under | over)


def _beyond(a: Value, lo: int, hi: int) -> tuple[Value, Value]:
    """(a < lo, a > hi). A whole word needs no comparison."""
    if is_word(lo, hi):
        top, sign = a[min(hi.bit_length(), len(a) - 1) :], a[-1]
        return sign & ~top.all(), ~sign & top.any()
    width = max(len(a), hi.bit_length() + 1, (~lo).bit_length() + 1, lo.bit_length() + 1)
    a = extend(a, width)
    return a < constant(lo, width), a > constant(hi, width)


@result.register
def _(node: g.Narrow, context: Context, a: Value) -> Value:
    drop = context.spans[0].fraction - node.fraction
    if node.rounding == "half_even":
        kept, half = _top(a, drop), extend(a, drop + 1)[drop - 1]
        up = half & (kept[0] | a[: drop - 1].any()) if drop > 1 else half & kept[0]
        return kept + _flag(up)
    a = _top(a, drop)
    if is_word(node.lo, node.hi):
        return _saturated_word(a, node.hi.bit_length())
    width = max(context.result.width, len(a))
    under, over = _beyond(a, node.lo, node.hi)
    if context.cycles == 2:
        under, over, a = (context.register(value) for value in (under, over, a))
    lo, hi = (constant(code, width) for code in (node.lo, node.hi))
    return Mux(under, lo, Mux(over, hi, extend(a, width)))


def _saturated_word(a: Value, width: int) -> Value:
    """The value in a word of `width` bits and a sign."""
    # Out of range, all lower bits are the opposite of the sign.
    top, sign = a[min(width, len(a) - 1) :], a[-1]
    inside = top.all() == top.any()
    low = Mux(inside, extend(a, width).as_unsigned(), (~sign).replicate(width))
    return Cat(low, sign).as_signed()


@result.register
def _(node: g.Difference, context: Context, a: Value, b: Value) -> Value:
    a = a - b
    if is_word(node.lo, node.hi):
        return _saturated_word(a, node.hi.bit_length())
    under, over = _beyond(a, node.lo, node.hi)
    width = max(context.result.width, len(a))
    lo, hi = (constant(code, width) for code in (node.lo, node.hi))
    return Mux(under, lo, Mux(over, hi, extend(a, width)))


@result.register
def _(node: g.LeadingZeros, context: Context, a: Value) -> Value:
    """First, zeros within each group of 8 bits from the top; then the highest group with a one."""
    a, width = extend(a, max(len(a), node.width)), node.width.bit_length()
    groups = [a[max(top - 8, 0) : top] for top in range(node.width, 0, -8)]
    found = [context.register(group.any()) for group in groups]
    zeros = [context.register(leading_zeros(group)) for group in groups]
    count: Value = Const(node.width, width)
    for number in reversed(range(len(groups))):
        inside = Cat(zeros[number], Const(number, width))[:width]
        count = Mux(found[number], inside, count)
    return Cat(count, Const(0, 1)).as_signed()


def leading_zeros(group: Value) -> Value:
    """Zeros above the first one of up to 8 bits; anything where there is none."""
    count: Value = Const(0, 3)
    for bit in range(len(group)):
        count = Mux(group[bit], Const(len(group) - 1 - bit, 3), count)
    return count


def _amount_bits(span: Range) -> int:
    return max(1, span.hi.bit_length())


@result.register
def _(node: g.ShiftLeft, context: Context, a: Value, b: Value) -> Value:
    """First by 0 to 3, then by multiples of 4; bits above the declared result are not made."""
    width = context.result.width
    a = extend(a, min(width, len(a) + 3))
    bits = _amount_bits(context.spans[1])
    fine = _selected(b[: min(bits, 2)], lambda n: _up(a, n, len(a)))
    fine = context.register(fine).as_signed()
    if bits <= 2:
        return extend(fine, width)
    rest = context.register(b[2:bits])
    return _selected(rest, lambda n: _up(extend(fine, width), 4 * n, width)).as_signed()


def _up(a: Value, n: int, width: int) -> Value:
    return Cat(Const(0, min(n, width)), a)[:width]


@result.register
def _(node: g.ShiftRight, context: Context, a: Value, b: Value) -> Value:
    """First by 0 to 3, then by multiples of 4."""
    bits, width = _amount_bits(context.spans[1]), len(a)
    fine = _selected(b[: min(bits, 2)], lambda n: extend(_top(a, n), width))
    fine = context.register(fine).as_signed()
    if bits <= 2:
        return fine
    rest = context.register(b[2:bits])
    return _selected(rest, lambda n: extend(_top(fine, 4 * n), width)).as_signed()


def _selected(select: Value, choice: Callable[[int], Value]) -> Value:
    """choice(select) as a tree of two-way multiplexers over unsigned words of one width."""
    choices = [choice(n).as_unsigned() for n in range(1 << len(select))]
    for bit in range(len(select)):
        choices = [Mux(select[bit], choices[n + 1], choices[n]) for n in range(0, len(choices), 2)]
    return choices[0]


def multiplexer(select: list[Value], choices: list[Value]) -> Value:
    """The choice whose number has the bits `select`, lowest first; all of one width, unsigned."""
    for bit in select:
        pairs = [choices[n : n + 2] for n in range(0, len(choices), 2)]
        choices = [Mux(bit, pair[-1], pair[0]) if len(pair) > 1 else pair[0] for pair in pairs]
    return choices[0]


def one_hot_multiplexer(select: list[Value], choices: list[Value]) -> Value:
    """The choice whose select bit is high."""
    gated = [c & s.replicate(len(c)) for s, c in zip(select, choices, strict=True)]
    return reduce(or_, gated)
