"""The bit-true model for one row at a time: a graph as a Python function over integers.

`solver_ref.interpreter` is made for many rows at once; where a row depends on the one before it,
this is a hundred times faster. It is exact at any width and checks what the graph declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch

from solver_ref import graph as g
from solver_ref.fixed import Range
from solver_ref.interpreter import ContractViolation
from solver_ref.templates import Templates, filled

Row = dict[str, int]


def compiled(graph: g.Graph) -> Callable[[Mapping[str, int]], Row]:
    """A function from input codes by name to output codes by name.

    It raises ContractViolation where a `proven` range does not hold, and KeyError for a missing
    input; a parameter that is missing is as it was made. Codes have to lie in their formats: nobody
    checks that again for each row.
    """
    lines = ["def run(inputs):"]
    constants: dict[str, object] = {"ContractViolation": ContractViolation}
    for position, (node, span) in enumerate(zip(graph.nodes, graph.ranges, strict=True)):
        spans = [graph.ranges[i] for i in node.operands]
        if isinstance(node, g.Table):
            constants[f"table{position}"] = node.codes
        names = [f"v{i}" for i in node.operands]
        lines.append(f"    v{position} = {_text(node, position, spans, *names)}")
        if _declares(node):
            lines += [
                f"    if not {span.lo} <= v{position} <= {span.hi}:",
                f"        raise ContractViolation('node {position} of {graph.name}')",
            ]
    results = ", ".join(f"{output.name!r}: v{output.node}" for output in graph.outputs)
    lines.append(f"    return {{{results}}}")
    exec(compile("\n".join(lines), f"<graph {graph.name}>", "exec"), constants)
    return constants["run"]


def _declares(node: g.Node) -> bool:
    """Whether the node promises a range that its operands alone do not give."""
    if isinstance(node, g.Narrow):
        return node.overflow == "proven"
    return isinstance(node, g.ShiftLeft)


_TEMPLATES: Templates = {
    g.Input: "inputs[{name!r}]",
    g.Parameter: "inputs.get({name!r}, {initial})",
    g.Constant: "{code}",
    g.Add: "{a} + {b}",
    g.Subtract: "{a} - {b}",
    g.Multiply: "{a} * {b}",
    g.Negate: "-{a}",
    g.Absolute: "abs({a})",
    g.Maximum: "max({a}, {b})",
    g.Minimum: "min({a}, {b})",
    g.Less: "int({a} < {b})",
    g.And: "{a} & {b}",
    g.Or: "{a} | {b}",
    g.Not: "1 - {a}",
    g.Scale: "{a}",
    g.Difference: "min(max({a} - {b}, {lo}), {hi})",
    g.Outside: "int(not {lo} <= {a} <= {hi})",
    g.Select: "{a} if {condition} else {b}",
    g.LeadingZeros: "{width} - {a}.bit_length()",
    g.ShiftLeft: "{a} << {b}",
    g.ShiftRight: "{a} >> {b}",
    g.Join: "({high} << {bits}) + {low}",
}


@singledispatch
def _text(node: g.Node, position: int, spans: list[Range], *names: str) -> str:
    """The value of the node at `position`, from the ranges and the names of its operands."""
    return filled(_TEMPLATES, node, names)


@_text.register(g.Add)
@_text.register(g.Subtract)
def _(node: g.Binary, position, spans, *names):
    fraction = max(span.fraction for span in spans)
    lefts = [fraction - span.fraction for span in spans]
    aligned = [f"({v} << {n})" if n else v for v, n in zip(names, lefts, strict=True)]
    return filled(_TEMPLATES, node, aligned)


@_text.register
def _(node: g.Narrow, position, spans, a):
    drop = spans[0].fraction - node.fraction
    if node.rounding == "half_even" and drop:
        a = f"({a} + {(1 << (drop - 1)) - 1} + (({a} >> {drop}) & 1))"
    a = f"({a} >> {drop})" if drop else a
    if node.overflow == "saturate":
        return f"min(max({a}, {node.lo}), {node.hi})"
    if node.overflow == "wrap":
        return f"(({a} - {node.lo}) & {node.hi - node.lo}) + {node.lo}"
    return a


@_text.register
def _(node: g.Table, position, spans, a):
    return f"table{position}[{a}]"
