# amaranth: UnusedElaboratable=no
"""Kernels that remember: hardware against the row-by-row model, with stalls and resets."""

import dataclasses

import numpy as np
import pytest
from stream_bench import Bench
from toy_kernels import A, DelayPipeline

from hdl.folded.passes import Passes
from hdl.folded.stand import FoldedPipeline
from hdl.sequence import SequenceKernel
from hdl.target import target
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.scalar import compiled
from solver_ref.sequence import Offsets, Register, Sequence, Stage, evaluate_sequence

TOTAL = Format(True, 12, 0)


def wrapped(position: int) -> g.Narrow:
    return g.Narrow(position, 0, TOTAL.lo, TOTAL.hi, overflow="wrap")


def accumulator() -> Sequence:
    """y = a + memory at once; behind it memory += 2 y and 2 a, by two runs of one long graph."""
    first = (g.Input("a", A), g.Input("memory", TOTAL), g.Add(0, 1), wrapped(2), g.Less(0, 1))
    answer = g.Graph("answer", first, (g.Output("y", 3), g.Output("small", 4)))
    second = (g.Input("x", TOTAL), g.Add(0, 0), wrapped(1))
    double = g.Graph("double", second, (g.Output("z", 2),))
    third = (g.Input("p", TOTAL), g.Input("q", TOTAL), g.Add(0, 1), wrapped(2))
    both = g.Graph("both", third, (g.Output("sum", 3),))
    stages = (
        Stage("answer", "answer", {"a": "a", "memory": "memory"}, {"y": "y", "small": "small"}),
        Stage("twice", "double", {"x": "y"}, {"twice": "z"}),
        Stage("given", "double", {"x": "a"}, {"given": "z"}, after="answer"),
        Stage("add", "both", {"p": "twice", "q": "given"}, {"memory": "sum"}),
    )
    registers = {
        "y": Register(answer.output_formats["y"]),
        "small": Register(Format(False, 1, 0)),
        "twice": Register(TOTAL),
        "given": Register(TOTAL),
        "memory": Register(TOTAL, 7),
    }
    return Sequence(
        graphs={"answer": answer, "double": double, "both": both},
        stages=stages,
        fields={"a": A},
        registers=registers,
        results={"y": "y", "small": "small", "twice": "twice"},
        hold="small",
        held=frozenset({"y"}),
    )


def expected(codes: list[int]) -> list[dict[str, int]]:
    """The same in plain Python."""

    def wrap(value: int) -> int:
        return (value - TOTAL.lo) % (TOTAL.hi - TOTAL.lo + 1) + TOTAL.lo

    memory, twice, shown, rows = 7, 0, 0, []
    for a in codes:
        y, small = wrap(a + memory), int(a < memory)
        shown = shown if small else y
        rows.append({"y": shown, "small": small, "twice": twice})
        twice = wrap(2 * y)
        memory = wrap(twice + wrap(2 * a))
    return rows


CODES = np.random.default_rng(4).integers(A.lo, A.hi + 1, 120)


def kernel(slow: int = 1, latency: int = 3, folded: bool = False) -> SequenceKernel:
    sequence = accumulator()
    pipelines = {
        name: DelayPipeline(
            graph, latency=latency + len(name) % 3, ii=slow if name == "double" else 1
        )
        for name, graph in sequence.graphs.items()
    }
    if folded:
        graph, chip = sequence.graphs["double"], target("ecp5-85k")
        passes = Passes.of(graph, chip)
        pipelines["double"] = FoldedPipeline(graph, passes, chip, behavioural=True)
    return SequenceKernel(sequence, pipelines, tag_width=4)


def test_the_model_is_what_the_stages_say():
    results = evaluate_sequence(accumulator(), {"a": CODES})
    rows = [{name: int(codes[i]) for name, codes in results.items()} for i in range(len(CODES))]
    assert rows == expected(CODES.tolist())


@pytest.mark.parametrize("slow", [1, 2, 5])
@pytest.mark.parametrize("latency", [1, 4])
def test_results_order_and_every_cycle_are_those_of_the_model(slow, latency):
    dut = kernel(slow, latency)
    record = Bench(dut).run({"a": CODES.tolist()})
    wanted = [row | {"tag": i & 15} for i, row in enumerate(expected(CODES.tolist()))]
    assert record.outputs == wanted
    assert set(np.subtract(record.present, record.accept)) == {dut.latency}
    assert set(np.diff(record.accept)) == {dut.ii}


@pytest.mark.parametrize("options", [{}, {"stall_in": 0.5, "stall_out": 0.9}, {"reset_at": 47}])
def test_a_folded_core_may_stand_for_the_long_graph(options):
    dut = kernel(folded=True)
    record = Bench(dut, **options).run({"a": CODES.tolist()})
    wanted = [row | {"tag": i & 15} for i, row in enumerate(expected(CODES.tolist()))]
    assert record.outputs == wanted
    if not options:
        assert set(np.subtract(record.present, record.accept)) == {dut.latency}
        assert set(np.diff(record.accept)) == {dut.ii}


@pytest.mark.parametrize("slow", [1, 3])
@pytest.mark.parametrize("stalls", [(0.7, 0.0), (0.0, 0.9), (0.5, 0.5)])
def test_stalls_change_nothing(slow, stalls):
    record = Bench(kernel(slow), stall_in=stalls[0], stall_out=stalls[1]).run({"a": CODES.tolist()})
    wanted = [row | {"tag": i & 15} for i, row in enumerate(expected(CODES.tolist()))]
    assert record.outputs == wanted


@pytest.mark.parametrize("cycle", [40, 41, 47, 55])
def test_a_reset_puts_every_register_back(cycle):
    record = Bench(kernel(3), reset_at=cycle).run({"a": CODES.tolist()})
    wanted = [row | {"tag": i & 15} for i, row in enumerate(expected(CODES.tolist()))]
    assert record.outputs == wanted


def test_stages_side_by_side_share_a_pipeline_an_interval_apart():
    latency = {"answer": 4, "double": 10, "both": 3}
    offsets = Offsets.of(accumulator(), latency, {"answer": 1, "double": 6, "both": 1})
    assert offsets.starts == (0, 5, 11, 22)
    assert offsets.ends == (4, 15, 21, 25)
    assert offsets.cycles == 30


def test_stages_on_a_core_follow_when_it_is_idle():
    latency = {"answer": 4, "double": 10, "both": 3}
    ii = {"answer": 1, "double": 10, "both": 1}
    offsets = Offsets.of(accumulator(), latency, ii, periodic=False)
    assert offsets.starts == (0, 5, 15, 26)
    assert offsets.cycles == 30


def test_a_stage_that_reads_too_early_is_refused():
    sequence = accumulator()
    last = dataclasses.replace(sequence.stages[-1], after="twice")
    with pytest.raises(ValueError, match="stage add reads given before it is written"):
        dataclasses.replace(sequence, stages=(*sequence.stages[:-1], last))


def test_a_value_that_does_not_fit_its_register_is_refused():
    sequence = accumulator()
    small = sequence.registers | {"memory": Register(Format(True, 8, 0))}
    with pytest.raises(ValueError, match="memory"):
        dataclasses.replace(sequence, registers=small)


def test_one_row_and_many_rows_mean_the_same():
    graph = accumulator().graphs["answer"]
    memory = np.arange(len(CODES)) * 30 % 4000 - 2000
    many = evaluate(graph, {"a": CODES, "memory": memory})
    run = compiled(graph)
    for i, (a, b) in enumerate(zip(CODES.tolist(), memory.tolist(), strict=True)):
        assert run({"a": a, "memory": b}) == {name: int(c[i]) for name, c in many.items()}
