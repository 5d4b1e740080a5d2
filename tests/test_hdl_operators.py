"""Every operation as hardware: equal to the interpreter in two simulators, at several II."""

import shutil
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from pipeline_bench import icarus, simulate
from random_graphs import corner_codes, loaded_codes, random_graph

from hdl import pipeline as pipeline_module
from hdl.pipeline import Pipeline
from hdl.schedule import schedule
from hdl.target import target
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.ranges import node_range
from solver_ref.split import split

XC7, ECP5 = target("xc7z020"), target("ecp5-85k")
needs_icarus = pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")

A, B, U, F = 0, 1, 2, 3
INPUTS = (
    g.Input("a", Format(True, 6, 0)),
    g.Input("b", Format(True, 6, 0)),
    g.Input("u", Format(False, 4, 0)),
    g.Input("f", Format(False, 1, 0)),
    g.Input("w", Format(True, 40, 0)),
)
W = 4
P = g.Parameter("p", Format(True, 6, 2), -90, 101, 77)
Q = g.Parameter("q", Format(False, 17, 0), 5, 120_000, 65_537)
LOADED = {"p": -90, "q": 119_999}
CODES = (3, -7, 12, 0, 5, 5, -32, 31, 8, -1, 2, 9, -14, 6, 1, -3)
Add = Callable[..., int]


def unsigned(add: Add, a: int) -> int:
    """a as a code in 0..63."""
    return add(g.Narrow(a, 0, 0, 63, "floor", "wrap"))


# A new operation costs one line here: what to compute from the inputs.
CASES: dict[str, Callable[[Add], int]] = {
    "input": lambda add: A,
    "add": lambda add: add(g.Add(A, B)),
    "add_above": lambda add: add(g.Add(A, add(g.Scale(B, 3)))),
    "add_below": lambda add: add(g.Add(A, add(g.Scale(B, -2)))),
    "add_apart": lambda add: add(g.Add(A, add(g.Scale(B, -9)))),
    "add_constant": lambda add: add(g.Add(add(g.Constant(-37, 2)), B)),
    "add_wide": lambda add: add(g.Add(W, add(g.Scale(W, 30)))),
    "subtract": lambda add: add(g.Subtract(A, B)),
    "subtract_above": lambda add: add(g.Subtract(A, add(g.Scale(B, 3)))),
    "subtract_below": lambda add: add(g.Subtract(A, add(g.Scale(B, -2)))),
    "subtract_apart": lambda add: add(g.Subtract(add(g.Scale(B, -9)), A)),
    "subtract_unsigned": lambda add: add(g.Subtract(A, U)),
    "multiply": lambda add: add(g.Multiply(A, B)),
    "multiply_unsigned": lambda add: add(g.Multiply(U, B)),
    "multiply_constant": lambda add: add(g.Multiply(A, add(g.Constant(-11, 1)))),
    "multiply_flag": lambda add: add(g.Multiply(F, A)),
    "square": lambda add: add(g.Multiply(A, A)),
    "negate": lambda add: add(g.Negate(A)),
    "negate_unsigned": lambda add: add(g.Negate(U)),
    "absolute": lambda add: add(g.Absolute(A)),
    "maximum": lambda add: add(g.Maximum(A, B)),
    "maximum_unsigned": lambda add: add(g.Maximum(A, U)),
    "minimum": lambda add: add(g.Minimum(A, B)),
    "less": lambda add: add(g.Less(A, B)),
    "less_unsigned": lambda add: add(g.Less(U, A)),
    "and": lambda add: add(g.And(F, add(g.Less(A, B)))),
    "or": lambda add: add(g.Or(F, add(g.Less(A, B)))),
    "not": lambda add: add(g.Not(F)),
    "scale": lambda add: add(g.Scale(A, 7)),
    "floor_wrap": lambda add: add(g.Narrow(A, -2, -4, 3, "floor", "wrap")),
    "floor_wrap_unsigned": lambda add: add(g.Narrow(A, -1, 0, 7, "floor", "wrap")),
    "floor_proven": lambda add: add(g.Narrow(A, -3, -4, 3)),
    "floor_apart": lambda add: add(g.Narrow(A, -9, -4, 3)),
    "half_even": lambda add: add(g.Narrow(A, -3, -4, 4, "half_even")),
    "half_even_1": lambda add: add(g.Narrow(A, -1, -16, 16, "half_even")),
    "half_even_2": lambda add: add(g.Narrow(U, -2, 0, 4, "half_even")),
    "half_even_apart": lambda add: add(g.Narrow(A, -9, -4, 4, "half_even")),
    "saturate": lambda add: add(g.Narrow(A, 0, -8, 7, "floor", "saturate")),
    "saturate_odd": lambda add: add(g.Narrow(A, 0, -13, 21, "floor", "saturate")),
    "saturate_above": lambda add: add(g.Narrow(A, 0, -100, 3, "floor", "saturate")),
    "saturate_positive": lambda add: add(g.Narrow(A, -1, 2, 9, "floor", "saturate")),
    "difference": lambda add: add(g.Difference(A, B, -16, 15)),
    "difference_odd": lambda add: add(g.Difference(A, U, -13, 21)),
    "difference_wide": lambda add: add(g.Difference(A, B, -100, 100)),
    "outside": lambda add: add(g.Outside(A, -8, 7)),
    "outside_odd": lambda add: add(g.Outside(A, -3, 21)),
    "outside_above": lambda add: add(g.Outside(A, -99, 5)),
    "outside_zero": lambda add: add(g.Outside(A, -1, 0)),
    "select": lambda add: add(g.Select(F, A, B)),
    "select_unsigned": lambda add: add(g.Select(F, U, B)),
    "leading_zeros": lambda add: add(g.LeadingZeros(unsigned(add, A), 6)),
    "leading_zeros_wide": lambda add: add(g.LeadingZeros(unsigned(add, A), 21)),
    "leading_zeros_40": lambda add: add(
        g.LeadingZeros(add(g.Narrow(W, 0, 0, (1 << 39) - 1, "floor", "wrap")), 40)
    ),
    "shift_left": lambda add: add(g.ShiftLeft(A, U, -(1 << 20), (1 << 20) - 1)),
    "shift_left_by_flag": lambda add: add(g.ShiftLeft(A, F, -64, 63)),
    "shift_left_unsigned": lambda add: add(g.ShiftLeft(unsigned(add, B), U, 0, 1 << 21)),
    "shift_right": lambda add: add(g.ShiftRight(A, U)),
    "shift_right_by_flag": lambda add: add(g.ShiftRight(A, F)),
    "shift_right_wide": lambda add: add(g.ShiftRight(W, unsigned(add, A))),
    "table": lambda add: add(g.Table(U, CODES, 3)),
    "table_again": lambda add: add(g.Table(add(g.Narrow(A, 0, 0, 15, "floor", "wrap")), CODES, 3)),
    "table_positive": lambda add: add(g.Table(U, tuple(range(5, 37, 2)), 0)),
    "join": lambda add: add(g.Join(add(g.Scale(A, 4)), U, 4)),
    "join_gap": lambda add: add(g.Join(add(g.Scale(A, 9)), U, 9)),
    "constant": lambda add: add(g.Constant(-5, 3)),
    "parameter": lambda add: add(P),
    "parameter_unsigned": lambda add: add(g.Subtract(B, add(Q))),
    "parameter_times_input": lambda add: add(g.Multiply(A, add(P))),
    "parameter_times_parameter": lambda add: add(g.Multiply(add(P), add(Q))),
    "parameter_cut": lambda add: add(
        g.Multiply(add(g.Narrow(add(Q), 0, 0, 255, "floor", "wrap")), B)
    ),
    "parameter_joined": lambda add: add(g.Join(add(g.Scale(add(P), 6)), U, 4)),
    "unread_low_bits": lambda add: add(
        g.Narrow(add(g.Multiply(add(g.Add(A, B)), A)), -6, -64, 63, "floor", "wrap")
    ),
}


@cache
def everything() -> g.Graph:
    """All cases in one graph."""
    nodes = list(INPUTS)
    spans = [node_range(node, []) for node in nodes]

    def add(node: g.Node) -> int:
        spans.append(node_range(node, [spans[i] for i in node.operands]))
        nodes.append(node)
        return len(nodes) - 1

    outputs = [g.Output(name, make(add)) for name, make in CASES.items()]
    # A port may be wider than its value needs.
    outputs.append(g.Output("wide_port", A, Format(True, 11, 0)))
    outputs.append(g.Output("wide_signed_port", U, Format(True, 9, 0)))
    return g.Graph("everything", tuple(nodes), tuple(outputs))


def codes(step: int) -> dict[str, np.ndarray]:
    """All pairs of a and b (every `step`-th), with the other inputs spread over them."""
    a, b = np.divmod(np.arange(0, 1 << 12, step), 64)
    count = np.arange(len(a))
    wide = np.random.default_rng(5).integers(-(1 << 39), 1 << 39, len(a))
    wide[:4] = -(1 << 39), (1 << 39) - 1, 0, -1
    return {"a": a - 32, "b": b - 32, "u": (a * 7 + b) % 16, "f": count // 3 % 2, "w": wide}


def built(chip, ii: int, *, behavioural: bool) -> Pipeline:
    graph = everything()
    return Pipeline(graph, schedule(graph, ii, chip), chip, behavioural=behavioural)


# (target, II, every n-th pair): the first is exhaustive in a and b.
RUNS = {
    "icarus-1": (icarus, XC7, 1, 1),
    "icarus-3": (icarus, ECP5, 3, 5),
    "icarus-2": (icarus, XC7, 2, 5),
    "icarus-5": (icarus, ECP5, 5, 5),
    "amaranth-1": (simulate, ECP5, 1, 11),
    "amaranth-4": (simulate, XC7, 4, 11),
}
_results: dict[str, dict[str, np.ndarray]] = {}


@pytest.fixture(params=[*RUNS])
def run(request, tmp_path):
    """(inputs, outputs) of one run of all cases; each run is made once. Where Amaranth's simulator
    runs them, the parameters have other codes than at first."""
    name = request.param
    simulator, chip, ii, step = RUNS[name]
    if simulator is icarus and not shutil.which("iverilog"):
        pytest.skip("iverilog is not installed")
    given = {} if simulator is icarus else LOADED
    if name not in _results:
        pipeline = built(chip, ii, behavioural=simulator is simulate)
        extra = tmp_path if simulator is icarus else given
        _results[name] = simulator(pipeline, codes(step), extra)
    return codes(step) | given, _results[name]


@pytest.mark.xdist_group("operators")
@pytest.mark.parametrize("case", [*CASES, "wide_port", "wide_signed_port"])
def test_an_operation_is_exact(run, case):
    inputs, outputs = run
    expected = evaluate(everything(), inputs)[case]
    wrong = np.flatnonzero(expected != outputs[case])
    assert not len(wrong), {name: inputs[name][wrong[0]] for name in everything().inputs}


def test_every_operation_has_a_case():
    used = {type(node).__name__ for node in everything().nodes}
    assert used == set(g.OPERATIONS)


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs_are_exact(seed):
    graph = random_graph(seed)
    inputs, given = corner_codes(graph, seed, 20), loaded_codes(graph, seed)
    expected = evaluate(graph, inputs | given)
    chip, ii = (XC7, ECP5)[seed % 2], (1, 2, 3, 5, 9)[seed % 5]
    cut = split(graph, chip.multiplier_shape)
    pipeline = Pipeline(cut, schedule(cut, ii, chip), chip, behavioural=True)
    read = {name: code for name, code in given.items() if name in cut.parameters}
    outputs = simulate(pipeline, inputs, read)
    for name, values in expected.items():
        assert (values == outputs[name]).all(), f"seed {seed}, output {name}, II {ii}"


@needs_icarus
def test_the_bench_notices_a_wrong_operator(monkeypatch, tmp_path):
    """The mutant: `Less` becomes `not greater`."""
    rule = pipeline_module.result

    def mutant(node, context, *operands):
        if isinstance(node, g.Less):
            return rule(node, context, operands[1], operands[0]) ^ 1
        return rule(node, context, *operands)

    monkeypatch.setattr(pipeline_module, "result", mutant)
    inputs = codes(41)
    outputs = icarus(built(XC7, 1, behavioural=False), inputs, tmp_path)
    expected = evaluate(everything(), inputs)
    wrong = {name for name in expected if np.any(expected[name] != outputs[name])}
    assert wrong == {"less", "and", "or", "less_unsigned"}
