"""Splitting a graph for a multiplier shape: equal values, products that fit, fewer of them."""

import pytest
from random_graphs import corner_codes, random_graph

from solver_ref import graph as g
from solver_ref import split as split_module
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.split import fits, signed_digits, split

DSP48, MULT18, SB_MAC = (25, 18), (18, 18), (16, 16)
SHAPES = (DSP48, MULT18, SB_MAC)


def made(inputs: dict[str, Format], *nodes: g.Node, outputs: tuple[int, ...] = ()) -> g.Graph:
    ports = tuple(g.Input(name, form) for name, form in inputs.items())
    results = outputs or (len(ports) + len(nodes) - 1,)
    named = tuple(g.Output(f"y{k}", i) for k, i in enumerate(results))
    return g.Graph("made", ports + nodes, named)


def signed(width: int) -> Format:
    return Format(True, width, 0)


def count(graph: g.Graph, kind: type[g.Node]) -> int:
    return sum(isinstance(node, kind) for node in graph.nodes)


def check_equal(graph: g.Graph, other: g.Graph, vectors: int = 200) -> None:
    codes = corner_codes(graph, 1, vectors)
    expected, got = evaluate(graph, codes), evaluate(other, codes)
    assert list(expected) == list(got)
    for name in expected:
        assert (expected[name] == got[name]).all(), (graph.name, name)


def check_fits(graph: g.Graph, shape: tuple[int, int]) -> None:
    for node in graph.nodes:
        if isinstance(node, g.Multiply):
            assert fits(graph.ranges[node.a], graph.ranges[node.b], shape), node


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("a", [2, 17, 18, 19, 25, 26, 35, 43, 60])
@pytest.mark.parametrize("b", [2, 18, 25, 26, 36])
def test_a_product_of_any_widths_is_cut_exactly(shape, a, b):
    graph = made({"a": signed(a), "b": signed(b)}, g.Multiply(0, 1))
    cut = split(graph, shape)
    check_fits(cut, shape)
    check_equal(graph, cut)
    assert cut.output_formats == graph.output_formats


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_keep_their_values_and_ranges(seed):
    graph = random_graph(seed)
    for shape in SHAPES:
        cut = split(graph, shape)
        check_fits(cut, shape)
        check_equal(graph, cut, 60)
        assert cut.output_formats == graph.output_formats, f"seed {seed}"
        for old, new in zip(graph.outputs, cut.outputs, strict=True):
            before, after = graph.ranges[old.node], cut.ranges[new.node]
            assert before.fraction == after.fraction, f"seed {seed}"
            assert before.lo <= after.lo and after.hi <= before.hi, f"seed {seed}"


@pytest.mark.parametrize(
    ("shape", "a", "b", "products", "adders"),
    [
        (DSP48, 25, 18, 1, 0),
        (DSP48, 18, 25, 1, 0),
        (DSP48, 25, 25, 2, 1),
        (DSP48, 40, 18, 2, 1),
        (MULT18, 18, 18, 1, 0),
        (MULT18, 25, 18, 2, 1),
        (MULT18, 25, 25, 4, 3),
    ],
)
def test_no_more_products_and_adders_than_needed(shape, a, b, products, adders):
    cut = split(made({"a": signed(a), "b": signed(b)}, g.Multiply(0, 1)), shape)
    assert (count(cut, g.Multiply), count(cut, g.Add)) == (products, adders)


def test_a_wide_square_needs_three_products():
    graph = made({"a": signed(25)}, g.Multiply(0, 0))
    cut = split(graph, MULT18)
    assert (count(cut, g.Multiply), count(cut, g.Add)) == (3, 2)
    check_equal(graph, cut)


def test_equal_and_opposite_products_are_one():
    graph = made(
        {"a": signed(18), "b": signed(18), "c": signed(12)},
        *(g.Subtract(0, 1), g.Subtract(1, 0), g.Narrow(2, 0, -2048, 2047)),
        *(g.Multiply(3, 2), g.Multiply(2, 4), g.Negate(2), g.Multiply(8, 3)),
        outputs=(6, 7, 9),
    )
    cut = split(graph, DSP48)
    assert count(cut, g.Multiply) == 1
    check_equal(graph, cut)


def test_a_negated_term_is_subtracted():
    cut = split(made({"a": signed(8), "b": signed(8)}, g.Negate(1), g.Add(0, 2)), DSP48)
    assert [type(node) for node in cut.nodes[2:]] == [g.Subtract]


@pytest.mark.parametrize("code", [0, 1, -1, 2, -8, 3, 5, -6, 7, 96, 11, 10007, -(1 << 30) + 7])
@pytest.mark.parametrize("fraction", [-3, 0, 12])
def test_a_constant_factor_is_exact(code, fraction):
    graph = made({"a": signed(14)}, g.Constant(code, fraction), g.Multiply(0, 1))
    for limit in (0, 1, 2, 4):
        cut = split(graph, MULT18, csd_limit=limit)
        check_equal(graph, cut)
        check_fits(cut, MULT18)
        if len(signed_digits(code)) <= limit:
            assert count(cut, g.Multiply) == 0
        for node in cut.nodes:
            if isinstance(node, g.Multiply):
                factors = [cut.nodes[i] for i in node.operands]
                odd = [n.code for n in factors if isinstance(n, g.Constant)]
                assert all(code & 1 for code in odd), "trailing zeros are wires"


def test_signed_digits_are_canonical():
    for value in range(-300, 300):
        digits = signed_digits(value)
        assert sum(sign << position for sign, position in digits) == value
        places = [position for _, position in digits]
        assert all(later - earlier > 1 for earlier, later in zip(places, places[1:], strict=False))


def test_low_products_that_nobody_reads_disappear():
    """The low part of 25 x 25 is needed for its carry only."""
    graph = made(
        {"a": signed(25), "b": signed(25)}, g.Multiply(0, 1), g.Narrow(2, -25, -(1 << 24), 1 << 24)
    )
    cut = split(graph, DSP48)
    assert count(cut, g.Join) == 0
    check_equal(graph, cut)


def test_rounding_and_saturation_are_separated():
    narrow = g.Narrow(0, -4, -100, 90, "half_even", "saturate")
    cut = split(made({"a": signed(14)}, narrow), DSP48)
    both = [n for n in cut.nodes if isinstance(n, g.Narrow)]
    assert [(n.rounding, n.overflow) for n in both] == [
        ("half_even", "proven"),
        ("floor", "saturate"),
    ]
    check_equal(made({"a": signed(14)}, narrow), cut)


def test_inputs_stay_even_when_nothing_reads_them():
    graph = made({"a": signed(8), "idle": signed(3)}, g.Negate(0), g.Multiply(0, 1), outputs=(2,))
    cut = split(graph, DSP48)
    assert cut.inputs == graph.inputs
    assert count(cut, g.Multiply) == 0


def test_splitting_twice_changes_nothing():
    cut = split(random_graph(7), MULT18)
    assert split(cut, MULT18) == cut


def test_a_cut_that_loses_a_bit_is_noticed(monkeypatch):
    right = split_module._Splitter._cut

    def mutant(self, a, k):
        high, low = right(self, a, k)
        lost = g.Narrow(low, self.ranges[low].fraction, 0, (1 << (k - 1)) - 1, "floor", "wrap")
        return high, self.add(lost)

    monkeypatch.setattr(split_module._Splitter, "_cut", mutant)
    graph = made({"a": signed(25), "b": signed(25)}, g.Multiply(0, 1))
    with pytest.raises(AssertionError):
        check_equal(graph, split(graph, DSP48))


@pytest.mark.parametrize("shape", [(18, 25), (4, 2)])
def test_an_impossible_shape_is_refused(shape):
    with pytest.raises(ValueError, match="a multiplier shape is"):
        split(made({"a": signed(3)}, g.Negate(0)), shape)
