"""The bit-true model: runs a graph on arrays of integer codes, exactly at any width.

Codes live in int64 wherever the node's range and its work fit 63 bits, else in Python integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

import numpy as np

from solver_ref import graph as g
from solver_ref.fixed import Range, checked_codes
from solver_ref.parameters import parameter_codes

_WORD = 1 << 62


class ContractViolation(ArithmeticError):
    """A value left the range that its node declares as proven."""


def evaluate(graph: g.Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs by name, shape (n,), from input codes by name, each of shape (n,).

    Codes of parameters may be among them, of shape (n,) or (); those that are not are as they were
    made. Raises ValueError for a missing input or a code outside its format, ContractViolation
    where a `proven` range does not hold.
    """
    values = evaluate_all(graph, inputs)
    count = max((np.size(v) for v in inputs.values()), default=1)
    return {
        output.name: np.broadcast_to(narrowest(values[output.node]), (count,)).copy()
        for output in graph.outputs
    }


def evaluate_all(graph: g.Graph, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The codes of every node, in graph order."""
    values: list[np.ndarray] = []
    for node, result in zip(graph.nodes, graph.ranges, strict=True):
        if isinstance(node, g.Input | g.Parameter):
            values.append(_given(node, inputs))
            continue
        operands = [values[i] for i in node.operands]
        spans = [graph.ranges[i] for i in node.operands]
        if _needs_python_integers(node, spans, result):
            operands = [np.asarray(v).astype(object) for v in operands]
        values.append(narrowest(_compute(node, spans, *operands)))
    return values


def _given(node: g.Input | g.Parameter, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    if isinstance(node, g.Parameter):
        return parameter_codes(node, inputs)
    if node.name not in inputs:
        raise ValueError(f"the graph needs an input {node.name!r}")
    return checked_codes(f"input {node.name!r}", inputs[node.name], node.format)


def _needs_python_integers(node: g.Node, spans: list[Range], result: Range) -> bool:
    if isinstance(node, g.ShiftLeft) and _shifted(spans) >= _WORD:
        return True
    top = max([0, *(max(abs(s.lo), abs(s.hi)) << _growth(node, s, result) for s in spans)])
    return max(top, abs(result.lo), abs(result.hi)) >= _WORD


def _growth(node: g.Node, span: Range, result: Range) -> int:
    """Bits by which an operand is shifted up while the node is computed."""
    if isinstance(node, g.Add | g.Subtract):
        return result.fraction - span.fraction
    return 1 if isinstance(node, g.Narrow) else 0


def _shifted(spans: list[Range]) -> int:
    return max(abs(spans[0].lo), abs(spans[0].hi)) << spans[1].hi


def narrowest(value: np.ndarray) -> np.ndarray:
    """The codes as int64, where that holds every one of them with room to work."""
    value = np.asarray(value)
    if value.dtype != object:
        return value.astype(np.int64, copy=False)
    fits = all(-_WORD < v < _WORD for v in value.flat)
    return value.astype(np.int64) if fits else value


@singledispatch
def _compute(node: g.Node, spans: list[Range], *operands: np.ndarray) -> np.ndarray:
    raise TypeError(f"no interpreter rule for {type(node).__name__}")


def _aligned(spans: list[Range], a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fraction = max(spans[0].fraction, spans[1].fraction)
    return a << (fraction - spans[0].fraction), b << (fraction - spans[1].fraction)


@_compute.register
def _(node: g.Constant, spans):
    return np.array([node.code], dtype=object)


@_compute.register
def _(node: g.Add, spans, a, b):
    a, b = _aligned(spans, a, b)
    return a + b


@_compute.register
def _(node: g.Subtract, spans, a, b):
    a, b = _aligned(spans, a, b)
    return a - b


@_compute.register
def _(node: g.Multiply, spans, a, b):
    return a * b


@_compute.register
def _(node: g.Negate, spans, a):
    return -a


@_compute.register
def _(node: g.Absolute, spans, a):
    return np.abs(a)


@_compute.register
def _(node: g.Maximum, spans, a, b):
    return np.maximum(a, b)


@_compute.register
def _(node: g.Minimum, spans, a, b):
    return np.minimum(a, b)


@_compute.register
def _(node: g.Less, spans, a, b):
    return (a < b).astype(np.int64)


@_compute.register
def _(node: g.And, spans, a, b):
    return a & b


@_compute.register
def _(node: g.Or, spans, a, b):
    return a | b


@_compute.register
def _(node: g.Not, spans, a):
    return 1 - a


@_compute.register
def _(node: g.Scale, spans, a):
    return a


@_compute.register
def _(node: g.Narrow, spans, a):
    drop = spans[0].fraction - node.fraction
    if node.rounding == "half_even" and drop:
        a = a + ((1 << (drop - 1)) - 1) + ((a >> drop) & 1)
    a = a >> drop
    if node.overflow == "saturate":
        return np.clip(a, node.lo, node.hi)
    if node.overflow == "wrap":
        return ((a - node.lo) & (node.hi - node.lo)) + node.lo
    if np.size(a) and (np.min(a) < node.lo or np.max(a) > node.hi):
        raise ContractViolation(f"{node}: got a code in {np.min(a)}..{np.max(a)}")
    return a


@_compute.register
def _(node: g.Difference, spans, a, b):
    return np.clip(a - b, node.lo, node.hi)


@_compute.register
def _(node: g.Outside, spans, a):
    return ((a < node.lo) | (a > node.hi)).astype(np.int64)


@_compute.register
def _(node: g.Select, spans, condition, a, b):
    return np.where(condition.astype(bool), a, b)


@_compute.register
def _(node: g.LeadingZeros, spans, a):
    zeros = np.full(np.shape(a), node.width, dtype=np.int64)
    for bit in range(node.width):
        zeros = np.where((a >> bit) != 0, node.width - 1 - bit, zeros)
    return zeros


@_compute.register
def _(node: g.ShiftLeft, spans, a, b):
    shifted = a << b
    if np.size(shifted) and (np.min(shifted) < node.lo or np.max(shifted) > node.hi):
        raise ContractViolation(f"{node}: got {np.min(shifted)}..{np.max(shifted)}")
    return shifted


@_compute.register
def _(node: g.ShiftRight, spans, a, b):
    return a >> b


@_compute.register
def _(node: g.Table, spans, a):
    return narrowest(np.array(node.codes, dtype=object))[a.astype(np.int64)]


@_compute.register
def _(node: g.Join, spans, high, low):
    return (high << node.bits) + low
