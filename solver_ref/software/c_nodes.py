"""Each node as one C statement on the narrowest word that holds its range, with exact integers.

A visitor like `solver_ref.interpreter`. The word in which a node is computed holds its operands
(shifted where binary points are aligned), its result, and what lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

from solver_ref import graph as g
from solver_ref.fixed import Range
from solver_ref.ranges import rounded
from solver_ref.software.words import INT32, Word, smallest_word, word_of
from solver_ref.templates import Templates, filled


@dataclass(frozen=True)
class Operand:
    """A value that is at hand: its text, its word and its range."""

    text: str
    word: Word
    span: Range

    def within(self, word: Word, shift: int = 0) -> str:
        """The value times 2**shift, in `word`."""
        if self.span.lo == self.span.hi:
            return word.literal(self.span.lo << shift)
        return word.left(word.convert(self.text, self.word), shift)


@dataclass(frozen=True)
class Result:
    """A computed text, its word, and the codes that it stays between because of a proof."""

    text: str
    word: Word
    proven: tuple[int, int] | None = None


def statements(
    node: g.Node, name: str, span: Range, operands: Sequence[Operand], tables: Tables
) -> list[str]:
    """The C statements that define the constant `name`, in the word of `span`."""
    made = _expression(node, span, tables, *operands)
    word, lines, text = word_of(span), [], made.text
    if made.proven:
        lines.append(f"const {made.word.type} {name}_exact = {_bare(text)};")
        text = f"{name}_exact"
        lo, hi = (made.word.literal(code) for code in made.proven)
        below, above = made.word.less(text, lo), made.word.less(hi, text)
        lines.append(f"KG_PROVEN(!{below} && !{above});")
    lines.append(f"const {word.type} {name} = {_bare(word.convert(text, made.word))};")
    return lines


class Tables:
    """The read-only memories of a graph: equal ones are one array."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, ...], str] = {}

    def name(self, codes: tuple[int, ...]) -> str:
        return self._names.setdefault(codes, f"kg_table_{len(self._names)}")

    def items(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(name, codes) for codes, name in self._names.items()]


def table_word(codes: tuple[int, ...]) -> Word:
    """The word of a table's entries: 16 bits where they do."""
    word = smallest_word(min(codes), max(codes))
    short = Word(16)
    return short if short.lo <= min(codes) and max(codes) <= short.hi else word


def _bare(text: str) -> str:
    """Without brackets around the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text


_FLAGS: Templates = {g.And: "({a} & {b})", g.Or: "({a} | {b})", g.Not: "(1 - {a})"}


@singledispatch
def _expression(node: g.Node, span: Range, tables: Tables, *operands: Operand) -> Result:
    return Result(filled(_FLAGS, node, [x.text for x in operands]), INT32)


def _aligned(span: Range, *operands: Operand) -> tuple[Word, list[str]]:
    """The operands at the fraction of `span`, in a word that holds them all."""
    shifts = [span.fraction - x.span.fraction for x in operands]
    ends = [end << s for x, s in zip(operands, shifts, strict=True) for end in _ends(x)]
    word = smallest_word(span.lo, span.hi, *ends, *(1 << s for s in shifts))
    return word, [x.within(word, s) for x, s in zip(operands, shifts, strict=True)]


def _ends(x: Operand) -> tuple[int, int]:
    return _ends_of(x.span)


def _ends_of(span: Range) -> tuple[int, int]:
    return span.lo, span.hi


def _common(*operands: Operand) -> tuple[Word, list[str]]:
    word = smallest_word(*(end for x in operands for end in _ends(x)))
    return word, [x.within(word) for x in operands]


@_expression.register
def _(node: g.Add, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word, texts = _aligned(span, a, b)
    return Result(word.add(*texts), word)


@_expression.register
def _(node: g.Subtract, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word, texts = _aligned(span, a, b)
    return Result(word.subtract(*texts), word)


@_expression.register
def _(node: g.Multiply, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word = smallest_word(span.lo, span.hi, *_ends(a), *_ends(b))
    return Result(word.multiply(a.within(word), b.within(word)), word)


@_expression.register
def _(node: g.Negate, span: Range, tables: Tables, a: Operand) -> Result:
    word = smallest_word(span.lo, span.hi, *_ends(a))
    return Result(word.negative(a.within(word)), word)


@_expression.register
def _(node: g.Absolute, span: Range, tables: Tables, a: Operand) -> Result:
    word = smallest_word(span.lo, span.hi, *_ends(a), 0)
    text = a.within(word)
    below = word.less(text, word.literal(0))
    return Result(f"({below} ? {word.negative(text)} : {text})", word)


@_expression.register
def _(node: g.Maximum, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word, (first, second) = _common(a, b)
    return Result(f"({word.less(first, second)} ? {second} : {first})", word)


@_expression.register
def _(node: g.Minimum, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word, (first, second) = _common(a, b)
    return Result(f"({word.less(second, first)} ? {second} : {first})", word)


@_expression.register
def _(node: g.Less, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word, texts = _common(a, b)
    return Result(word.less(*texts), INT32)


@_expression.register
def _(node: g.Narrow, span: Range, tables: Tables, a: Operand) -> Result:
    drop = a.span.fraction - node.fraction
    lo, hi = (rounded(code, drop, node.rounding) for code in _ends(a))
    held = node.lo <= lo and hi <= node.hi
    up = 1 << (drop - 1) if node.rounding == "half_even" and drop else 0
    extremes = () if held or node.overflow != "wrap" else _turned(node, lo, hi)
    word = smallest_word(lo, hi, a.span.lo, a.span.hi + up, up, *extremes)
    text = word.right(_half_up(word, a.within(word), drop) if up else a.within(word), drop)
    if held:
        return Result(text, word)
    if node.overflow == "saturate":
        return Result(word.limit(text, span.lo, span.hi), word)
    if node.overflow == "wrap":
        return Result(_wrapped(word, text, node), word)
    return Result(text, word, _ends_of(span))


def _half_up(word: Word, text: str, drop: int) -> str:
    """The code plus what makes floor round to the nearest code, ties to even."""
    odd = word.odd(word.right(text, drop))
    return word.add(text, word.add(word.literal((1 << (drop - 1)) - 1), odd))


def _turned(node: g.Narrow, lo: int, hi: int) -> tuple[int, ...]:
    """What lies between while a code is wrapped."""
    return -node.lo, lo - node.lo, hi - node.lo, node.hi - node.lo


def _wrapped(word: Word, text: str, node: g.Narrow) -> str:
    """((a - lo) modulo the size) + lo."""
    bits = (node.hi - node.lo).bit_length()
    if not node.lo:
        return word.low_bits(text, bits)
    lo = word.literal(-node.lo)
    return word.subtract(word.low_bits(word.add(text, lo), bits), lo)


@_expression.register
def _(node: g.Difference, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    lo, hi = a.span.lo - b.span.hi, a.span.hi - b.span.lo
    word = smallest_word(lo, hi, *_ends(a), *_ends(b))
    text = word.subtract(a.within(word), b.within(word))
    held = node.lo <= lo and hi <= node.hi
    return Result(text if held else word.limit(text, span.lo, span.hi), word)


@_expression.register
def _(node: g.Outside, span: Range, tables: Tables, a: Operand) -> Result:
    below, above = a.span.lo < node.lo, a.span.hi > node.hi
    word = smallest_word(*_ends(a), *[node.lo] * below, *[node.hi] * above)
    text = a.within(word)
    sides = [word.less(text, word.literal(node.lo))] * below
    sides += [word.less(word.literal(node.hi), text)] * above
    return Result(f"({' | '.join(sides)})" if len(sides) > 1 else sides[0], INT32)


@_expression.register
def _(node: g.Select, span: Range, tables: Tables, c: Operand, a: Operand, b: Operand) -> Result:
    word, (yes, no) = _common(a, b)
    return Result(f"({c.text} ? {yes} : {no})", word)


@_expression.register
def _(node: g.LeadingZeros, span: Range, tables: Tables, a: Operand) -> Result:
    return Result(f"({node.width} - {a.word.length(a.text)})", INT32)


@_expression.register
def _(node: g.ShiftLeft, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    corners = [end << amount for end in _ends(a) for amount in _ends(b)]
    word = smallest_word(*_ends(a), span.lo, span.hi, 1 << b.span.hi)
    held = node.lo <= min(corners) and max(corners) <= node.hi
    text = word.left_by(a.within(word), b.text)
    return Result(text, word, None if held else _ends_of(span))


@_expression.register
def _(node: g.ShiftRight, span: Range, tables: Tables, a: Operand, b: Operand) -> Result:
    word = smallest_word(*_ends(a), 1 << max(b.span.hi - 1, 0))
    return Result(word.right_by(a.within(word), b.text), word)


@_expression.register
def _(node: g.Table, span: Range, tables: Tables, a: Operand) -> Result:
    return Result(f"{tables.name(node.codes)}[{a.text}]", table_word(node.codes))


@_expression.register
def _(node: g.Join, span: Range, tables: Tables, high: Operand, low: Operand) -> Result:
    word = smallest_word(*_ends(low), *(end << node.bits for end in _ends(high)), 1 << node.bits)
    text = high.within(word, node.bits)
    return Result(word.add(text, low.within(word)) if low.span.hi else text, word)
