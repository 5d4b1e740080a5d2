# amaranth: UnusedElaboratable=no
"""The ring of solves: bit-exact, in order, and at exactly the cycles of its model."""

import dataclasses

import numpy as np
import pytest
from amaranth.sim import Simulator
from stream_bench import Bench
from toy_kernels import B, DelayPipeline, countdown, product, root

from hdl.pipeline import Pipeline
from hdl.ring import RingKernel
from hdl.schedule import schedule
from hdl.target import UNIT, target
from solver_ref.iteration import evaluate_iteration
from solver_ref.split import split

SHAPES = [(1, 1), (1, 3), (2, 4), (3, 2), (4, 2), (7, 1), (9, 4), (10, 4), (11, 4), (5, 12)]


def kernel(latency, ii, iteration=None, tag_width=4, **options):
    iteration = iteration or countdown()
    pipeline = DelayPipeline(iteration.graph, latency=latency, ii=ii, **options)
    return RingKernel(iteration, pipeline, tag_width=tag_width)


def solves(count, seed, high=16):
    random = np.random.default_rng(seed)
    return {
        "step": random.integers(B.lo, B.hi + 1, count),
        "count": random.integers(0, high, count),
    }


def run(dut, inputs, **options):
    record = Bench(dut, **options).run({name: codes.tolist() for name, codes in inputs.items()})
    results, passes = evaluate_iteration(dut.iteration, inputs)
    mask = (1 << dut.tag_width) - 1
    expected = [
        {name: int(codes[i]) for name, codes in results.items()} | {"tag": i & mask}
        for i in range(len(passes))
    ]
    return record, expected, passes


@pytest.mark.parametrize("latency, ii", SHAPES)
@pytest.mark.parametrize("high", [1, 3, 16])
def test_results_order_and_every_cycle_are_those_of_the_model(latency, ii, high):
    dut = kernel(latency, ii)
    record, expected, passes = run(dut, solves(150, seed=latency * 100 + ii, high=high))
    assert record.outputs == expected
    timing = dut.ring.timing(passes)
    assert np.array_equal(np.subtract(record.accept, record.accept[0]), timing.accept)
    assert np.array_equal(np.subtract(record.present, record.accept[0]), timing.present)


def test_one_slow_solve_in_front_of_many_fast_ones_is_as_in_the_model():
    dut = kernel(3, 1)
    inputs = {"step": np.arange(60) - 30, "count": np.array([15] + [0] * 29 + [15] + [0] * 29)}
    record, expected, passes = run(dut, inputs)
    assert record.outputs == expected
    assert np.array_equal(
        np.subtract(record.present, record.accept[0]), dut.ring.timing(passes).present
    )


@pytest.mark.parametrize("latency, ii", [(1, 1), (2, 4), (7, 1), (9, 4)])
@pytest.mark.parametrize("stall_in, stall_out", [(0, 0.9), (0.9, 0), (0.5, 0.5), (0.05, 0.97)])
def test_random_stalls_lose_repeat_and_reorder_nothing(latency, ii, stall_in, stall_out):
    options = {"stall_in": stall_in, "stall_out": stall_out, "seed": latency * ii}
    record, expected, _ = run(kernel(latency, ii), solves(120, 7), **options)
    assert record.outputs == expected, options


@pytest.mark.parametrize("latency, ii", [(1, 1), (9, 4)])
def test_isolated_solves_take_their_passes_and_nothing_else(latency, ii):
    dut = kernel(latency, ii)
    record, expected, passes = run(dut, solves(20, 8), isolated=True)
    assert record.outputs == expected
    own = passes * dut.ring.round_cycles + dut.ring.PRESENT
    assert np.array_equal(np.subtract(record.present, record.accept), own)


@pytest.mark.parametrize("reset_at", [0, 1, 5, 20, 21, 22, 23, 60, 111])
@pytest.mark.parametrize("latency, ii", [(1, 1), (9, 4)])
@pytest.mark.parametrize("stall_out", [0, 0.8])
def test_a_reset_in_mid_flight_drops_everything(latency, ii, reset_at, stall_out):
    options = {"reset_at": reset_at, "stall_out": stall_out, "seed": reset_at}
    record, expected, _ = run(kernel(latency, ii), solves(50, 9), **options)
    assert record.outputs == expected, options


def test_a_solve_without_external_fields_works():
    dut = kernel(4, 2, iteration=root())
    record, expected, _ = run(dut, {"x": np.arange(256)})
    assert record.outputs == expected


def test_a_solve_without_constant_inputs_works():
    iteration = dataclasses.replace(
        countdown(),
        state=("n", "sum", "step"),
        inputs=(),
        initial={"n": "count", "sum": -7, "step": "start"},
        external={"count": countdown().external["count"], "start": B},
        graph=with_step_carried(),
    )
    inputs = solves(60, 10)
    inputs["start"] = inputs.pop("step")
    record, expected, _ = run(kernel(3, 2, iteration=iteration), inputs)
    assert record.outputs == expected


def with_step_carried():
    graph = countdown().graph
    step = dataclasses.replace(graph.outputs[0], name="next_step", node=2)
    return dataclasses.replace(graph, outputs=(*graph.outputs, step))


@pytest.mark.parametrize("latency, ii", [(1, 1), (7, 1), (9, 4), (10, 4)])
def test_the_pipeline_takes_a_pass_every_ii_cycles_while_there_is_work(latency, ii):
    dut = kernel(latency, ii)
    starts = []

    async def process(ctx):
        ctx.set(dut.i_valid, 1)
        ctx.set(dut.o_ready, 1)
        ctx.set(dut.i_count, 2)
        for cycle in range(60 * ii):
            if ctx.get(dut.pipeline.i_valid & dut.pipeline.accept):
                starts.append(cycle)
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()
    assert set(np.diff(starts)) == {ii}
    assert len(starts) >= 57


@pytest.mark.parametrize("ii", [1, 3, 8])
@pytest.mark.parametrize("chip", [UNIT, target("ecp5-85k")], ids=lambda chip: chip.name)
@pytest.mark.parametrize("iteration", [countdown(), root()], ids=lambda i: i.graph.name)
def test_a_scheduled_pipeline_works_as_the_toy_one(iteration, chip, ii):
    graph = split(iteration.graph, chip.multiplier_shape)
    pipeline = Pipeline(graph, schedule(graph, ii, chip), chip, behavioural=True)
    dut = RingKernel(dataclasses.replace(iteration, graph=graph), pipeline)
    random = np.random.default_rng(ii)
    inputs = {name: random.integers(f.lo, f.hi + 1, 60) for name, f in dut.inputs.items()}
    record, expected, passes = run(dut, inputs)
    assert record.outputs == expected
    timing = dut.ring.timing(passes)
    assert np.array_equal(np.subtract(record.accept, record.accept[0]), timing.accept)
    assert np.array_equal(np.subtract(record.present, record.accept[0]), timing.present)
    for options in ({"stall_in": 0.3, "stall_out": 0.7}, {"reset_at": 33}):
        assert run(dut, inputs, **options)[0].outputs == expected, options


def test_no_more_is_accepted_than_there_are_places_while_the_sink_waits():
    dut = kernel(3, 1)
    bench = Bench(dut, stall_out=1.0, limit=500)
    with pytest.raises(AssertionError, match="only 0 of 200"):
        bench.run({name: codes.tolist() for name, codes in solves(200, 11).items()})
    assert len(bench._record.accept) == dut.ring.places + 1  # one more in the output register


def test_a_broken_pipeline_is_noticed():
    record, expected, _ = run(kernel(3, 1, mutant="next_sum"), solves(60, 12))
    assert record.outputs != expected


def test_a_pipeline_of_another_graph_is_refused():
    with pytest.raises(ValueError, match="computes product, not countdown: its inputs are a SQ"):
        RingKernel(countdown(), DelayPipeline(product(), latency=1, ii=1))
