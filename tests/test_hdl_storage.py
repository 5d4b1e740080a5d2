"""Values that wait: any number of cycles, in every kind of delay line, at any II."""

import dataclasses
import re
import shutil

import numpy as np
import pytest
from pipeline_bench import icarus, simulate

from hdl import pipeline as pipeline_module
from hdl import storage
from hdl.lifetimes import lines
from hdl.network import Network
from hdl.pipeline import Pipeline
from hdl.schedule import schedule
from hdl.target import target
from hdl.verilog import verilog
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate

CHIPS = {"srl": target("xc7z020"), "dram": target("ecp5-85k")}
LENGTH = 45


def waiting(taps: tuple[int, ...]) -> g.Graph:
    """x goes through a chain, which y and a product join after so many cycles; w only waits."""
    nodes: list[g.Node] = [g.Input(name, Format(True, 9, 0)) for name in "xyw"]
    nodes.append(g.Multiply(1, 1))
    outputs, total = [], 0
    for cycle in range(LENGTH):
        nodes.append(g.Negate(total))
        total = len(nodes) - 1
        if cycle in taps:
            nodes += [g.Add(total, 1), g.Subtract(3, total)]
            outputs += [g.Output(f"sum_{cycle}", total + 1), g.Output(f"rest_{cycle}", total + 2)]
    outputs += [g.Output("end", total), g.Output("waited", 2)]
    return g.Graph("waiting", tuple(nodes), tuple(outputs))


def codes(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(9)
    return {name: rng.integers(-256, 256, count) for name in "xyw"}


def pipeline(graph: g.Graph, kind: str, ii: int, *, behavioural: bool = True) -> Pipeline:
    return Pipeline(graph, schedule(graph, ii, CHIPS[kind]), CHIPS[kind], behavioural=behavioural)


def check(graph: g.Graph, outputs: dict[str, np.ndarray], count: int) -> None:
    for name, expected in evaluate(graph, codes(count)).items():
        assert (expected == outputs[name]).all(), name


@pytest.mark.parametrize("ii", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", CHIPS)
def test_values_wait_for_any_number_of_cycles(kind, ii):
    graph = waiting((1, 2, 4, 5, 8, 17, 19, 36, 40))
    check(graph, simulate(pipeline(graph, kind, ii), codes(60)), 60)


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
@pytest.mark.parametrize("kind", CHIPS)
def test_the_verilog_keeps_values_too(kind, tmp_path):
    graph = waiting((2, 5, 17, 36))
    check(graph, icarus(pipeline(graph, kind, 1, behavioural=False), codes(90), tmp_path), 90)


def test_deep_lines_are_memories_only_where_the_chip_wants_them():
    graph = waiting((40,))
    arrays = {
        kind: re.findall(r"^ +reg +(?:signed +)?\[\d+:0\] \w+ \[(\d+):0\];", text, re.M)
        for kind in CHIPS
        if (text := verilog(pipeline(graph, kind, 1, behavioural=True), "top", ""))
    }
    assert not arrays["srl"]
    assert "15" in arrays["dram"] and max(map(int, arrays["dram"])) <= 15


def test_a_pointer_that_turns_too_late_is_noticed(monkeypatch):
    right = storage.Storage._pointer
    monkeypatch.setattr(
        storage.Storage,
        "_pointer",
        lambda self, depth, phase, load: right(self, depth + 1, phase, load),
    )
    graph = waiting((9, 12))
    outputs = simulate(pipeline(graph, "dram", 1), codes(60))
    with pytest.raises(AssertionError):
        check(graph, outputs, 60)


def test_a_register_that_lacks_its_enable_is_noticed(monkeypatch):
    monkeypatch.setattr(
        pipeline_module,
        "lines",
        lambda *args: {
            i: dataclasses.replace(line, lasting=line.ready) for i, line in lines(*args).items()
        },
    )
    graph = waiting((2, 5))
    outputs = simulate(pipeline(graph, "srl", 3), codes(60))
    with pytest.raises(AssertionError):
        check(graph, outputs, 60)


def test_a_value_that_is_read_at_once_needs_no_enable():
    """In a chain of negations only the input and the words that wait are held."""
    graph = waiting(())
    plan = schedule(graph, 4, CHIPS["srl"])
    network = Network(graph, CHIPS["srl"])
    starts = {i: plan.start[i] for i in network.operations} | {network.sink: plan.latency}
    held = [i for i, x in lines(network, starts, 4, plan.passing).items() if x.lasting is None]
    assert held == [2]


def test_an_unknown_delay_line_is_refused():
    with pytest.raises(ValueError, match="a delay line is srl or dram, not 'bram'"):
        storage.Storage(None, None, "bram")
