"""What a node's word is made of: bits of registered nodes, held and constant bits, lowest first.

Nodes of 0 cycles (`hdl.delay.is_wire`) are resolved here, so that the schedule waits only for bits
that are used and the storage keeps nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hdl.delay import is_wire
from solver_ref import graph as g
from solver_ref.fixed import Range


@dataclass(frozen=True)
class _Slice:
    """Bits [low, high) of the node `source`."""

    source: int
    low: int
    high: int

    def __len__(self) -> int:
        return self.high - self.low


class Bits(_Slice):
    """Of a registered operation's result."""


class Held(_Slice):
    """Of a parameter: they stand in every cycle."""


@dataclass(frozen=True)
class Fixed:
    """`length` constant bits."""

    value: int
    length: int

    def __len__(self) -> int:
        return self.length


Piece = Bits | Held | Fixed
Word = tuple[Piece, ...]
"""Pieces of together `Range.width` bits: a two's complement number."""


def held_width(span: Range) -> int:
    """Bits that a register for the range needs: no sign bit where no code is negative."""
    return span.width - (span.lo >= 0)


def words(graph: g.Graph) -> tuple[Word, ...]:
    """The word of every node of the graph."""
    result: list[Word] = []
    for position, (node, span) in enumerate(zip(graph.nodes, graph.ranges, strict=True)):
        if span.lo == span.hi:
            word: Word = _fixed(span.lo, span.width)
        elif isinstance(node, g.Parameter):
            word = resize((Held(position, 0, held_width(span)),), span.width, signed=span.lo < 0)
        elif is_wire(node):
            operands = [result[i] for i in node.operands]
            word = _wired(node, span, operands, [graph.ranges[i] for i in node.operands])
        else:
            word = (Bits(position, 0, held_width(span)),)
            word = resize(word, span.width, signed=span.lo < 0)
        result.append(word)
    return tuple(result)


def sources(word: Word) -> tuple[int, ...]:
    """The registered nodes that the word uses, each once, ascending."""
    return tuple(sorted({piece.source for piece in word if isinstance(piece, Bits)}))


def cut(word: Word, low: int, high: int) -> Word:
    """Bits [low, high) of the word; its sign goes on for ever."""
    pieces: list[Piece] = []
    start = 0
    for piece in word:
        first, last = max(low - start, 0), min(high - start, len(piece))
        if first < last:
            pieces.append(_part(piece, first, last))
        start += len(piece)
    if not high > start:
        return _merged(pieces)
    sign = _part(word[-1], len(word[-1]) - 1, len(word[-1]))
    return _merged([*pieces, *[sign] * (high - max(low, start))])


def resize(word: Word, width: int, *, signed: bool) -> Word:
    """The word as `width` bits: cut off, or continued by its sign or by zeros."""
    length = sum(map(len, word))
    if signed or width <= length:
        return cut(word, 0, width)
    return _merged([*word, Fixed(0, width - length)])


def _part(piece: Piece, low: int, high: int) -> Piece:
    if isinstance(piece, Fixed):
        return Fixed((piece.value >> low) & ((1 << (high - low)) - 1), high - low)
    return type(piece)(piece.source, piece.low + low, piece.low + high)


def _fixed(value: int, width: int) -> Word:
    return (Fixed(value & ((1 << width) - 1), width),)


def _merged(pieces: Sequence[Piece]) -> Word:
    """Neighbours that continue each other become one piece."""
    result: list[Piece] = []
    for piece in pieces:
        last = result[-1] if result else None
        if isinstance(last, Fixed) and isinstance(piece, Fixed):
            joined = last.value | piece.value << last.length
            result[-1] = Fixed(joined, last.length + piece.length)
        elif (
            isinstance(last, Bits | Held)
            and type(last) is type(piece)
            and (last.source, last.high) == (piece.source, piece.low)
        ):
            result[-1] = type(last)(last.source, last.low, piece.high)
        else:
            result.append(piece)
    return tuple(result)


def _wired(node: g.Node, span: Range, operands: list[Word], spans: list[Range]) -> Word:
    if isinstance(node, g.Scale):
        return operands[0]
    if isinstance(node, g.Narrow):
        drop = spans[0].fraction - node.fraction
        kept = cut(operands[0], drop, drop + held_width(span))
        return resize(kept, span.width, signed=span.lo < 0)
    high, low = operands
    below = cut(resize(low, node.bits, signed=False), 0, node.bits)
    return resize(_merged([*below, *high]), span.width, signed=span.lo < 0)
