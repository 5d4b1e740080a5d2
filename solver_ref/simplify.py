"""A graph under construction in which equal nodes are one node and idle nodes vanish.

Every rule keeps the value exactly, and its range at most as wide.
"""

from __future__ import annotations

import dataclasses
from functools import singledispatch

from solver_ref import graph as g
from solver_ref.fixed import Range
from solver_ref.ranges import node_range, rounded


class Builder:
    """Append nodes with `add`; it returns the position of a node with that value."""

    def __init__(self) -> None:
        self.nodes: list[g.Node] = []
        self.ranges: list[Range] = []
        self._positions: dict[g.Node, int] = {}

    def add(self, node: g.Node) -> int:
        known = self._positions.get(node)
        if known is not None:
            return known
        position = _simplify(node, self)
        if position is None:
            position = self.append(node)
        self._positions[node] = position
        return position

    def append(self, node: g.Node) -> int:
        """The node as it stands; a constant in its place if it has only one value."""
        if node in self._positions:
            return self._positions[node]
        span = node_range(node, [self.ranges[i] for i in node.operands])
        if span.lo == span.hi and node.operands:
            return self.constant(span.lo, span.fraction)
        self.nodes.append(node)
        self.ranges.append(span)
        self._positions[node] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def known(self, node: g.Node) -> int | None:
        """Where a node equal to this one stands, if there is one."""
        return self._positions.get(node)

    def constant(self, code: int, fraction: int) -> int:
        return self.append(g.Constant(code, fraction))

    def bounded(self, position: int, bounds: Range) -> int:
        """The node, declared to stay within `bounds` (which has its fraction)."""
        return self.add(g.Narrow(position, bounds.fraction, bounds.lo, bounds.hi))

    def code(self, position: int) -> int | None:
        """The code of a constant, else None."""
        node = self.nodes[position]
        return node.code if isinstance(node, g.Constant) else None


@singledispatch
def _simplify(node: g.Node, builder: Builder) -> int | None:
    """The position of a simpler node of the same value, or None."""
    return None


def _sorted(node: g.Binary, builder: Builder) -> int | None:
    return None if node.a <= node.b else builder.add(node.with_operands(node.b, node.a))


def _is_zero(position: int, fraction: int, builder: Builder) -> bool:
    """Whether adding the node neither changes a value nor makes its fraction finer."""
    return builder.code(position) == 0 and builder.ranges[position].fraction <= fraction


@_simplify.register
def _(node: g.Add, builder: Builder) -> int | None:
    for a, b in ((node.a, node.b), (node.b, node.a)):
        if _is_zero(b, builder.ranges[a].fraction, builder):
            return a
        if isinstance(builder.nodes[b], g.Negate):
            return builder.add(g.Subtract(a, builder.nodes[b].a))
    return _sorted(node, builder)


@_simplify.register
def _(node: g.Subtract, builder: Builder) -> int | None:
    if _is_zero(node.b, builder.ranges[node.a].fraction, builder):
        return node.a
    if _is_zero(node.a, builder.ranges[node.b].fraction, builder):
        return builder.add(g.Negate(node.b))
    if node.a == node.b:
        return builder.constant(0, builder.ranges[node.a].fraction)
    if isinstance(builder.nodes[node.b], g.Negate):
        return builder.add(g.Add(node.a, builder.nodes[node.b].a))
    return None


@_simplify.register
def _(node: g.Negate, builder: Builder) -> int | None:
    operand = builder.nodes[node.a]
    if isinstance(operand, g.Negate):
        return operand.a
    if isinstance(operand, g.Subtract):
        return builder.add(g.Subtract(operand.b, operand.a))
    return None


@_simplify.register
def _(node: g.Absolute, builder: Builder) -> int | None:
    if builder.ranges[node.a].lo >= 0:
        return node.a
    return builder.add(g.Negate(node.a)) if builder.ranges[node.a].hi <= 0 else None


@_simplify.register(g.Maximum)
@_simplify.register(g.Minimum)
def _(node: g.Binary, builder: Builder) -> int | None:
    return node.a if node.a == node.b else _sorted(node, builder)


@_simplify.register
def _(node: g.Less, builder: Builder) -> int | None:
    a, b = builder.ranges[node.a], builder.ranges[node.b]
    if a.fraction == b.fraction and (a.hi < b.lo or a.lo >= b.hi):
        return builder.constant(int(a.hi < b.lo), 0)
    return None


@_simplify.register(g.And)
@_simplify.register(g.Or)
def _(node: g.Binary, builder: Builder) -> int | None:
    neutral = int(isinstance(node, g.And))
    for a, b in ((node.a, node.b), (node.b, node.a)):
        if builder.code(b) is not None:
            return a if builder.code(b) == neutral else b
    return node.a if node.a == node.b else _sorted(node, builder)


@_simplify.register
def _(node: g.Not, builder: Builder) -> int | None:
    operand = builder.nodes[node.a]
    if isinstance(operand, g.Constant):
        return builder.constant(1 - operand.code, 0)
    return operand.a if isinstance(operand, g.Not) else None


@_simplify.register
def _(node: g.Select, builder: Builder) -> int | None:
    condition = builder.nodes[node.condition]
    if isinstance(condition, g.Constant):
        return node.a if condition.code else node.b
    if isinstance(condition, g.Not):
        return builder.add(g.Select(condition.a, node.b, node.a))
    return node.a if node.a == node.b else None


@_simplify.register
def _(node: g.Scale, builder: Builder) -> int | None:
    if node.exponent == 0:
        return node.a
    operand = builder.nodes[node.a]
    if isinstance(operand, g.Scale):
        return builder.add(g.Scale(operand.a, operand.exponent + node.exponent))
    if isinstance(operand, g.Negate):
        return builder.add(g.Negate(builder.add(g.Scale(operand.a, node.exponent))))
    return None


@_simplify.register
def _(node: g.Outside, builder: Builder) -> int | None:
    span = builder.ranges[node.a]
    if node.lo <= span.lo and span.hi <= node.hi:
        return builder.constant(0, 0)
    return builder.constant(1, 0) if span.hi < node.lo or span.lo > node.hi else None


@_simplify.register
def _(node: g.Narrow, builder: Builder) -> int | None:
    """In turn: the canonical form, no-ops, and what an inner wire node makes superfluous."""
    operand, span = builder.nodes[node.a], builder.ranges[node.a]
    drop = span.fraction - node.fraction
    canonical = _canonical(node, span)
    if canonical != node:
        return builder.add(canonical)
    if node.rounding == "half_even":
        return _separate(node, span, builder) if node.overflow != "proven" else None
    if drop == 0 and node.overflow == "proven" and (node.lo, node.hi) == (span.lo, span.hi):
        return node.a
    if isinstance(operand, g.Scale):
        inner = dataclasses.replace(node, a=operand.a, fraction=node.fraction + operand.exponent)
        return builder.add(g.Scale(builder.add(inner), operand.exponent))
    if (
        isinstance(operand, g.Narrow)
        and (operand.rounding, operand.overflow) == ("floor", "proven")
        and node.overflow != "saturate"  # its range would grow to that of the inner operand
    ):
        return builder.add(dataclasses.replace(node, a=operand.a))
    if isinstance(operand, g.Join):
        if drop >= operand.bits:
            return builder.add(dataclasses.replace(node, a=operand.high))
        if node.overflow == "wrap" and node.lo == 0 and (node.hi << drop) >> operand.bits == 0:
            return builder.add(dataclasses.replace(node, a=operand.low))
    return None


def _canonical(node: g.Narrow, span: Range) -> g.Narrow:
    """The same operation; `proven` and with the tightest bounds where it cannot overflow."""
    rounding = node.rounding if span.fraction > node.fraction else "floor"
    lo, hi = _rounded(span, node.fraction, rounding)
    if node.overflow == "proven" or (node.lo <= lo and hi <= node.hi):
        lo, hi = max(lo, node.lo), min(hi, node.hi)
        return g.Narrow(node.a, node.fraction, lo, hi, rounding, "proven")
    return dataclasses.replace(node, rounding=rounding)


def _rounded(span: Range, fraction: int, rounding: str) -> tuple[int, int]:
    drop = span.fraction - fraction
    return rounded(span.lo, drop, rounding), rounded(span.hi, drop, rounding)


def _separate(node: g.Narrow, span: Range, builder: Builder) -> int:
    """Rounding first, then the overflow rule: each is one operation of the hardware."""
    lo, hi = _rounded(span, node.fraction, "half_even")
    rounded = builder.add(g.Narrow(node.a, node.fraction, lo, hi, "half_even"))
    return builder.add(dataclasses.replace(node, a=rounded, rounding="floor"))
