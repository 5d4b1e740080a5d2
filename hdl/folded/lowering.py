"""A graph rewritten with few kinds of nodes, which the folded core's instructions can do.

What is left: Input, Constant, Add, Subtract, Multiply, Maximum, Minimum, Less, `Differs`, `Limit`,
Select, Scale, Narrow that cannot overflow, LeadingZeros, ShiftLeft, ShiftRight, Table. Equal nodes
are one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatchmethod

from solver_ref import graph as g
from solver_ref.fixed import Range
from solver_ref.ranges import node_range


class Differs(g.Binary):
    """1 where the codes of a and b differ, else 0."""


@dataclass(frozen=True)
class Limit(g.Unary):
    """The code of a, brought into [lo, hi], which both lie in its range."""

    lo: int
    hi: int


@dataclass
class Lowered:
    """Nodes and their ranges; `positions`: where each node of the graph went."""

    nodes: list[g.Node] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def lowered(graph: g.Graph) -> Lowered:
    """The rewritten graph. ValueError for a node that the core has no way to compute."""
    return _Lowering(graph).result


class _Lowering:
    def __init__(self, graph: g.Graph) -> None:
        self.result = Lowered()
        self._known: dict[g.Node, int] = {}
        for node in graph.nodes:
            moved = node.with_operands(*(self.result.positions[i] for i in node.operands))
            self.result.positions.append(self.lower(moved))

    def add(self, node: g.Node) -> int:
        if node not in self._known:
            span = self._range(node)
            self._known[node] = len(self.result.nodes)
            self.result.nodes.append(node)
            self.result.ranges.append(span)
        return self._known[node]

    def _range(self, node: g.Node) -> Range:
        if isinstance(node, Differs):
            return Range(0, 1, 0)
        if isinstance(node, Limit):
            return Range(node.lo, node.hi, self._fraction(node.a))
        return node_range(node, [self.result.ranges[i] for i in node.operands])

    def constant(self, code: int, fraction: int) -> int:
        return self.add(g.Constant(code, fraction))

    @singledispatchmethod
    def lower(self, node: g.Node) -> int:
        return self.add(node)

    @lower.register
    def _(self, node: g.Parameter) -> int:
        raise ValueError(f"the folded core holds no geometry that is loaded: {node.name}")

    @lower.register
    def _(self, node: g.Negate) -> int:
        return self.add(g.Subtract(self.constant(0, self._fraction(node.a)), node.a))

    @lower.register
    def _(self, node: g.Absolute) -> int:
        span = node_range(node, [self.result.ranges[node.a]])
        largest = self.add(g.Maximum(node.a, self.lower(g.Negate(node.a))))
        return self.add(g.Narrow(largest, span.fraction, span.lo, span.hi))

    @lower.register
    def _(self, node: g.And) -> int:
        return self.add(g.Minimum(node.a, node.b))

    @lower.register
    def _(self, node: g.Or) -> int:
        return self.add(g.Maximum(node.a, node.b))

    @lower.register
    def _(self, node: g.Not) -> int:
        return self.add(g.Subtract(self.constant(1, 0), node.a))

    @lower.register
    def _(self, node: g.Join) -> int:
        exponent = self._fraction(node.high) - self._fraction(node.low) + node.bits
        return self.add(g.Add(self.add(g.Scale(node.high, exponent)), node.low))

    @lower.register
    def _(self, node: g.Difference) -> int:
        return self._clamped(self.add(g.Subtract(node.a, node.b)), node.lo, node.hi)

    @lower.register
    def _(self, node: g.Outside) -> int:
        return self.add(Differs(node.a, self._clamped(node.a, node.lo, node.hi)))

    @lower.register
    def _(self, node: g.Narrow) -> int:
        if node.overflow == "proven":
            return self.add(node)
        kept = self._floor(node.a, node.fraction, node.rounding)
        if node.overflow == "saturate":
            return self._clamped(kept, node.lo, node.hi)
        return self._wrapped(kept, node.lo, node.hi)

    def _fraction(self, position: int) -> int:
        return self.result.ranges[position].fraction

    def _floor(self, position: int, fraction: int, rounding: str) -> int:
        """Fewer fraction bits, in a range that holds every code."""
        span = self.result.ranges[position]
        drop = span.fraction - fraction
        if drop == 0:
            return position
        lo, hi = span.lo >> drop, (span.hi >> drop) + (rounding == "half_even")
        return self.add(g.Narrow(position, fraction, lo, hi, rounding=rounding))

    def _clamped(self, position: int, lo: int, hi: int) -> int:
        span = self.result.ranges[position]
        if span.lo < lo and span.hi > hi:
            return self.add(Limit(position, lo, hi))
        if span.lo < lo:
            position = self.add(g.Maximum(self.constant(lo, span.fraction), position))
        if span.hi > hi:
            position = self.add(g.Minimum(self.constant(hi, span.fraction), position))
        return position

    def _wrapped(self, position: int, lo: int, hi: int) -> int:
        """code - size * floor((code - lo) / size), size a power of two."""
        span, bits = self.result.ranges[position], (hi - lo).bit_length()
        if lo <= span.lo and span.hi <= hi:
            return position
        raised = position
        if lo:
            raised = self.add(g.Subtract(position, self.constant(lo, span.fraction)))
        whole = self._floor(raised, span.fraction - bits, "floor")
        rest = self.add(g.Subtract(position, whole))
        return self.add(g.Narrow(rest, span.fraction, lo, hi))
