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


@singledispatch
def _text(node: g.Node, position: int, spans: list[Range], *names: str) -> str:
    raise TypeError(f"no rule for {type(node).__name__}")


@_text.register
def _(node: g.Input, position, spans):
    return f"inputs[{node.name!r}]"


@_text.register
def _(node: g.Parameter, position, spans):
    return f"inputs.get({node.name!r}, {node.initial})"


@_text.register
def _(node: g.Constant, position, spans):
    return str(node.code)


def _aligned(spans: list[Range], a: str, b: str) -> tuple[str, str]:
    fraction = max(spans[0].fraction, spans[1].fraction)
    first, second = (fraction - span.fraction for span in spans)
    return (f"({a} << {first})" if first else a), (f"({b} << {second})" if second else b)


@_text.register
def _(node: g.Add, position, spans, a, b):
    return " + ".join(_aligned(spans, a, b))


@_text.register
def _(node: g.Subtract, position, spans, a, b):
    return " - ".join(_aligned(spans, a, b))


@_text.register
def _(node: g.Multiply, position, spans, a, b):
    return f"{a} * {b}"


@_text.register
def _(node: g.Negate, position, spans, a):
    return f"-{a}"


@_text.register
def _(node: g.Absolute, position, spans, a):
    return f"abs({a})"


@_text.register
def _(node: g.Maximum, position, spans, a, b):
    return f"max({a}, {b})"


@_text.register
def _(node: g.Minimum, position, spans, a, b):
    return f"min({a}, {b})"


@_text.register
def _(node: g.Less, position, spans, a, b):
    return f"int({a} < {b})"


@_text.register
def _(node: g.And, position, spans, a, b):
    return f"{a} & {b}"


@_text.register
def _(node: g.Or, position, spans, a, b):
    return f"{a} | {b}"


@_text.register
def _(node: g.Not, position, spans, a):
    return f"1 - {a}"


@_text.register
def _(node: g.Scale, position, spans, a):
    return a


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
def _(node: g.Difference, position, spans, a, b):
    return f"min(max({a} - {b}, {node.lo}), {node.hi})"


@_text.register
def _(node: g.Outside, position, spans, a):
    return f"int(not {node.lo} <= {a} <= {node.hi})"


@_text.register
def _(node: g.Select, position, spans, condition, a, b):
    return f"{a} if {condition} else {b}"


@_text.register
def _(node: g.LeadingZeros, position, spans, a):
    return f"{node.width} - {a}.bit_length()"


@_text.register
def _(node: g.ShiftLeft, position, spans, a, b):
    return f"{a} << {b}"


@_text.register
def _(node: g.ShiftRight, position, spans, a, b):
    return f"{a} >> {b}"


@_text.register
def _(node: g.Table, position, spans, a):
    return f"table{position}[{a}]"


@_text.register
def _(node: g.Join, position, spans, high, low):
    return f"({high} << {node.bits}) + {low}"
