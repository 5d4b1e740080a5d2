"""Each node as one C expression in double: what it means without rounding.

`Narrow` to fewer bits is the identity and a saturating one a limit. What serves as an integer (a
table's index, a shift's amount) is rounded down as ever, so tables, counts of leading zeros and the
polynomials are those of the fixed-point graph.
"""

from __future__ import annotations

from functools import singledispatch

from solver_ref import graph as g
from solver_ref.fixed import Range
from solver_ref.templates import Templates, filled

_WHOLE = (g.Narrow, g.LeadingZeros, g.Less, g.Outside, g.And, g.Or, g.Not)
"""What is whole whatever its operands are."""


def whole_nodes(graph: g.Graph) -> frozenset[int]:
    """The `Narrow` nodes whose value serves as an integer, or is one already: their rounding and
    wrapping are part of the meaning.

    ValueError for another wrapping `Narrow`: a value cut into pieces has no meaning in double (use
    the graph before `split`).
    """
    nodes, serving = graph.nodes, set()
    for position in range(len(nodes) - 1, -1, -1):
        node = nodes[position]
        if isinstance(node, g.Table):
            serving.add(node.a)
        elif isinstance(node, g.ShiftLeft | g.ShiftRight):
            serving.add(node.b)
        if position in serving and not isinstance(node, _WHOLE):
            serving.update(node.operands)
    found = {i for i in serving if isinstance(nodes[i], g.Narrow)}
    for position, node in enumerate(nodes):
        if isinstance(node, g.Narrow) and node.overflow == "wrap" and position not in found:
            if graph.ranges[node.a].fraction or node.fraction:
                raise ValueError(
                    f"node {position} ({node}) takes a value apart: not a matter of double"
                )
            found.add(position)
    return frozenset(found)


def real(code: int, fraction: int) -> str:
    """code * 2**-fraction as a C constant, exact to 53 bits."""
    return f"({code / 2**fraction!r})" if fraction >= 0 else f"({float(code << -fraction)!r})"


_TEMPLATES: Templates = {
    g.Add: "{a} + {b}",
    g.Subtract: "{a} - {b}",
    g.Join: "{high} + {low}",
    g.Multiply: "{a} * {b}",
    g.Negate: "-{a}",
    g.Absolute: "{a} < 0 ? -{a} : {a}",
    g.Maximum: "{a} < {b} ? {b} : {a}",
    g.Minimum: "{b} < {a} ? {b} : {a}",
    g.Less: "{a} < {b}",
    g.And: "{a} * {b}",
    g.Or: "{a} < {b} ? {b} : {a}",
    g.Not: "1 - {a}",
    g.Select: "{condition} != 0 ? {a} : {b}",
    g.ShiftLeft: "{a} * kg_power({b})",
    g.ShiftRight: "{a} / kg_power({b})",
}


@singledispatch
def expression(node: g.Node, span: Range, whole: bool, spans: list[Range], *operands: str) -> str:
    """The text of a node, from its range, whether it serves as an integer, and its operands."""
    return filled(_TEMPLATES, node, operands)


@expression.register
def _(node: g.Scale, span, whole, spans, a):
    return f"{a} * {real(1, -node.exponent)}"


@expression.register
def _(node: g.Narrow, span, whole, spans, a):
    if whole:
        return _whole(node, a)
    if node.overflow == "saturate":
        return _limited(a, span)
    return a


def _whole(node: g.Narrow, a: str) -> str:
    half = " + 0.5" if node.rounding == "half_even" else ""
    code = f"{a} * {real(1, -node.fraction)}{half}"
    quantum = real(1, node.fraction)
    if node.overflow == "wrap":
        size = node.hi - node.lo + 1
        ends = f"{-(1 << 62)}, {1 << 62}"
        turned = f"(kg_whole({code}, {ends}) - ({node.lo})) & {size - 1}"
        return f"(double)(({turned}) + ({node.lo})) * {quantum}"
    lo, hi = (max(min(x, 1 << 62), -(1 << 62)) for x in (node.lo, node.hi))
    return f"(double)kg_whole({code}, {lo}, {hi}) * {quantum}"


def _limited(a: str, span: Range) -> str:
    return f"kg_limit_real({a}, {real(span.lo, span.fraction)}, {real(span.hi, span.fraction)})"


@expression.register
def _(node: g.Difference, span, whole, spans, a, b):
    return _limited(f"{a} - {b}", span)


@expression.register
def _(node: g.Outside, span, whole, spans, a):
    lo, hi = (real(code, spans[0].fraction) for code in (node.lo, node.hi))
    return f"{a} < {lo} || {a} > {hi}"


@expression.register
def _(node: g.LeadingZeros, span, whole, spans, a):
    code = f"kg_whole({a} * {real(1, -spans[0].fraction)}, 0, INT64_MAX)"
    return f"{node.width} - kg_length((uint64_t){code})"
