"""The meaning of a graph: operations exact at any width, ranges that hold, text that comes back."""

import dataclasses
import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from random_graphs import corner_codes, random_graph

from solver_ref import graph as g
from solver_ref.fixed import Format, Range
from solver_ref.interpreter import ContractViolation, evaluate, evaluate_all

WIDTHS = (4, 31, 62)  # exhaustive; within int64; beyond it
CODES = tuple(range(-8, 24))
FA, FB = 3, 1


def value(code: int, fraction: int) -> Fraction:
    return Fraction(code) / Fraction(2) ** fraction


def half_even(x: Fraction) -> int:
    return round(x)  # Python rounds a Fraction's ties to even


def clipped(code: int, lo: int, hi: int) -> int:
    return max(lo, min(hi, code))


# Operations of a (fraction 3) and b (fraction 1) as nodes on positions 0 and 1, and what their
# value is: of real numbers, in exact rational arithmetic.
MEANING = {
    "add": (g.Add(0, 1), lambda a, b: a + b),
    "subtract": (g.Subtract(0, 1), lambda a, b: a - b),
    "multiply": (g.Multiply(0, 1), lambda a, b: a * b),
    "square": (g.Multiply(0, 0), lambda a, b: a * a),
    "negate": (g.Negate(0), lambda a, b: -a),
    "absolute": (g.Absolute(0), lambda a, b: abs(a)),
    "scale": (g.Scale(0, -5), lambda a, b: a / 32),
    "floor": (g.Narrow(0, 1, -(1 << 70), 1 << 70), lambda a, b: Fraction(a * 2 // 1, 2)),
    "half_even": (
        g.Narrow(0, 1, -(1 << 70), 1 << 70, "half_even"),
        lambda a, b: Fraction(half_even(a * 2), 2),
    ),
    "saturate": (
        g.Narrow(0, 2, -5, 6, "floor", "saturate"),
        lambda a, b: Fraction(clipped(a * 4 // 1, -5, 6), 4),
    ),
    "wrap": (
        g.Narrow(0, 2, -4, 3, "floor", "wrap"),
        lambda a, b: Fraction((a * 4 // 1 + 4) % 8 - 4, 4),
    ),
    "wrap_unsigned": (
        g.Narrow(0, 3, 0, 7, "floor", "wrap"),
        lambda a, b: Fraction((a * 8 // 1) % 8, 8),
    ),
    "outside": (g.Outside(0, -3, 9), lambda a, b: int(not -3 <= a * 8 <= 9)),
}


def one(node: g.Node, width: int) -> g.Graph:
    ports = (g.Input("a", Format(True, width - FA, FA)), g.Input("b", Format(True, width - FB, FB)))
    return g.Graph("one", (*ports, node), (g.Output("y", 2),))


def pairs(width: int) -> tuple[list[int], list[int]]:
    lo, hi = -(1 << (width - 1)), (1 << (width - 1)) - 1
    if width == 4:
        both = list(itertools.product(range(lo, hi + 1), repeat=2))
    else:
        rng = random.Random(width)
        corners = [lo, lo + 1, -1, 0, 1, hi - 1, hi]
        both = list(itertools.product(corners, repeat=2))
        both += [(rng.randint(lo, hi), rng.randint(lo, hi)) for _ in range(200)]
    return [a for a, _ in both], [b for _, b in both]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MEANING)
def test_an_operation_means_its_real_value(name, width):
    node, meaning = MEANING[name]
    graph = one(node, width)
    a, b = pairs(width)
    got = evaluate(graph, {"a": np.array(a), "b": np.array(b)})["y"]
    span = graph.ranges[2]
    for x, y, code in zip(a, b, got, strict=True):
        assert value(int(code), span.fraction) == meaning(value(x, FA), value(y, FB)), (x, y)


@pytest.mark.parametrize("name", MEANING)
def test_a_range_is_reached_at_both_ends(name):
    node, _ = MEANING[name]
    graph = one(node, 4)
    a, b = pairs(4)
    got = evaluate(graph, {"a": np.array(a), "b": np.array(b)})["y"]
    assert (min(got), max(got)) == (graph.ranges[2].lo, graph.ranges[2].hi)


# Operations of codes: a, b, b mod 8, the flags a < b and a < -2, and 8 a, by these positions.
A, B, LOW, ORDERED, SMALL, HIGH = 0, 1, 2, 3, 5, 6
CODE_NODES = (
    *(g.Narrow(B, 0, 0, 7, "floor", "wrap"), g.Less(A, B)),
    *(g.Constant(-2, 0), g.Less(A, 4), g.Scale(A, 3)),
)
CODE_MEANING = {
    "maximum": (g.Maximum(A, B), max),
    "minimum": (g.Minimum(A, B), min),
    "difference": (g.Difference(A, B, -5, 9), lambda a, b: clipped(a - b, -5, 9)),
    "less": (g.Less(A, B), lambda a, b: int(a < b)),
    "join": (g.Join(HIGH, LOW, 3), lambda a, b: a * 8 + b % 8),
    "shift_left": (g.ShiftLeft(A, LOW, -(1 << 80), 1 << 80), lambda a, b: a * 2 ** (b % 8)),
    "shift_right": (g.ShiftRight(A, LOW), lambda a, b: a // 2 ** (b % 8)),
    "select": (g.Select(ORDERED, A, B), lambda a, b: a if a < b else b),
    "table": (g.Table(LOW, CODES, 0), lambda a, b: CODES[b % 8]),
    "leading_zeros": (g.LeadingZeros(LOW, 5), lambda a, b: 5 - (b % 8).bit_length()),
    "and": (g.And(ORDERED, SMALL), lambda a, b: int(a < b and a < -2)),
    "or": (g.Or(ORDERED, SMALL), lambda a, b: int(a < b or a < -2)),
    "not": (g.Not(ORDERED), lambda a, b: int(a >= b)),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CODE_MEANING)
def test_an_operation_on_codes_and_flags_is_exact(name, width):
    node, meaning = CODE_MEANING[name]
    ports = (g.Input("a", Format(True, width, 0)), g.Input("b", Format(True, width, 0)))
    nodes = (*ports, *CODE_NODES, node)
    graph = g.Graph("one", nodes, (g.Output("y", len(nodes) - 1),))
    a, b = pairs(width)
    got = evaluate(graph, {"a": np.array(a), "b": np.array(b)})["y"]
    assert [int(code) for code in got] == [meaning(x, y) for x, y in zip(a, b, strict=True)]


def test_every_operation_is_tested():
    tested = [node for node, _ in (MEANING | CODE_MEANING).values()] + list(CODE_NODES)
    names = {type(node).__name__ for node in tested} | {"Input", "Parameter"}
    assert names == set(g.OPERATIONS)


@pytest.mark.parametrize("seed", range(30))
def test_every_value_lies_in_its_range(seed):
    graph = random_graph(seed)
    for values, span in zip(
        evaluate_all(graph, corner_codes(graph, seed, 50)), graph.ranges, strict=True
    ):
        assert span.lo <= min(values) and max(values) <= span.hi, f"seed {seed}"


@pytest.mark.parametrize("seed", range(10))
def test_json_gives_the_graph_back(seed):
    graph = random_graph(seed)
    again = g.Graph.from_json(graph.to_json())
    assert again == graph and again.digest == graph.digest


def test_the_digest_depends_on_every_field():
    node = g.Narrow(0, 1, -4, 3, "floor", "wrap")
    digests = {one(node, 8).digest}
    changes = {"fraction": 2, "lo": 0, "hi": 11, "rounding": "half_even", "overflow": "proven"}
    for field, other in changes.items():
        fields = {"overflow": "saturate"} | {field: other}
        digests.add(one(dataclasses.replace(node, **fields), 8).digest)
    assert len(digests) == 6


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="unknown operation 'Divide'; known are Input"):
        g.Graph.from_json('{"name":"x","nodes":[["Divide",0,1]],"outputs":[]}')


def test_a_proven_narrowing_that_overflows_raises():
    graph = one(g.Narrow(0, FA, -3, 3), 4)
    assert list(evaluate(graph, {"a": np.array([-3, 3]), "b": np.array([0, 0])})["y"]) == [-3, 3]
    with pytest.raises(ContractViolation, match=r"got a code in -3\.\.4"):
        evaluate(graph, {"a": np.array([-3, 4]), "b": np.array([0, 0])})


def test_a_left_shift_beyond_its_declared_range_raises():
    nodes = (g.Input("a", Format(False, 4, 0)), g.ShiftLeft(0, 0, 0, 15))
    graph = g.Graph("shift", nodes, (g.Output("y", 1),))
    assert evaluate(graph, {"a": np.array([2])})["y"] == [8]
    with pytest.raises(ContractViolation):
        evaluate(graph, {"a": np.array([3])})


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (g.Maximum(0, 1), "operands need one fraction"),
        (g.Less(0, 1), "operands need one fraction"),
        (g.And(0, 1), "expected a flag"),
        (g.Not(0), "expected a flag"),
        (g.Select(0, 1, 1), "expected a flag"),
        (g.Narrow(0, FA + 1, -1, 1), "cannot narrow to more fraction bits"),
        (g.Narrow(0, FA, 200, 300), "no code in 200..300"),
        (g.LeadingZeros(0, 4), "needs codes in"),
        (g.ShiftRight(1, 0), "a shift amount must be"),
        (g.Table(0, (1, 2), 0), "the index spans"),
        (g.Join(0, 1, 2), "the low part needs codes"),
        (g.Add(0, 2), "uses a node that does not come before it"),
    ],
)
def test_a_broken_contract_is_refused_with_the_node(node, message):
    with pytest.raises(ValueError, match=message) as caught:
        assert one(node, 8).ranges
    assert type(node).__name__ in str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"a": np.array([1])}, "needs an input 'b'"),
        ({"a": np.array([1]), "b": np.array([0.5])}, "must be integer codes"),
        ({"a": np.array([8]), "b": np.array([0])}, "outside SQ"),
    ],
)
def test_wrong_inputs_are_refused(inputs, message):
    with pytest.raises(ValueError, match=message):
        evaluate(one(g.Add(0, 1), 4), inputs)


@pytest.mark.parametrize("text", ["SQ(5, 20)", "UQ(3, -1)", "SQ(-2, 9)"])
def test_a_format_is_read_as_it_is_written(text):
    assert str(Format.parse(text)) == text


def test_a_format_encodes_to_the_nearest_code_and_limits():
    form = Format(True, 3, 2)
    codes = form.encode(np.array([0.125, 0.375, -0.125, 100.0, -100.0, 3.9]))
    assert list(codes) == [0, 2, 0, form.hi, form.lo, form.hi]
    assert list(form.decode(np.array([1, -4]))) == [0.25, -1.0]


@pytest.mark.parametrize(
    ("lo", "hi", "width"), [(0, 0, 1), (0, 1, 2), (-1, 0, 1), (-8, 7, 4), (-9, 0, 5), (0, 255, 9)]
)
def test_the_width_of_a_range_is_the_smallest_that_holds_it(lo, hi, width):
    assert Range(lo, hi, 0).width == width
