# amaranth: UnusedElaboratable=no
"""The stream shell around a pipeline: nothing lost, repeated or reordered, at the stated cycles."""

import numpy as np
import pytest
from amaranth.sim import Simulator
from stream_bench import Bench
from toy_kernels import A, B, DelayPipeline, product

from hdl.pipeline import Pipeline
from hdl.schedule import schedule
from hdl.shell import StreamKernel
from hdl.target import UNIT, target
from solver_ref.fixed import Format
from solver_ref.graph import Graph, Input, Output
from solver_ref.interpreter import evaluate
from solver_ref.split import split

SHAPES = [(1, 1), (2, 1), (7, 1), (1, 4), (9, 4), (3, 12)]  # (latency, ii) of the pipeline


def kernel(latency, ii, tag_width=5, **options):
    pipeline = DelayPipeline(product(), latency=latency, ii=ii, **options)
    return StreamKernel(pipeline, tag_width=tag_width)


def vectors(count, seed):
    random = np.random.default_rng(seed)
    return {
        "a": [A.lo, A.hi, 0, -1, *random.integers(A.lo, A.hi + 1, count - 4).tolist()],
        "b": [B.lo, B.lo, B.hi, 1, *random.integers(B.lo, B.hi + 1, count - 4).tolist()],
    }


def expected(inputs, tag_width=5):
    outputs = evaluate(product(), {name: np.array(codes) for name, codes in inputs.items()})
    return [
        {name: int(codes[i]) for name, codes in outputs.items()} | {"tag": i % (1 << tag_width)}
        for i in range(len(inputs["a"]))
    ]


@pytest.mark.parametrize("latency, ii", SHAPES)
def test_a_ready_sink_gets_full_throughput_at_the_stated_latency(latency, ii):
    dut, inputs = kernel(latency, ii), vectors(60, 1)
    record = Bench(dut).run(inputs)
    assert record.outputs == expected(inputs)
    assert set(np.diff(record.accept)) == {ii} == {dut.ii}
    assert set(np.subtract(record.present, record.accept)) == {dut.latency}


@pytest.mark.parametrize("latency, ii", SHAPES)
@pytest.mark.parametrize("stall_in, stall_out", [(0, 0.9), (0.9, 0), (0.5, 0.5), (0.1, 0.7)])
def test_random_stalls_lose_repeat_and_reorder_nothing(latency, ii, stall_in, stall_out):
    inputs = vectors(80, 2)
    bench = Bench(kernel(latency, ii), stall_in=stall_in, stall_out=stall_out, seed=latency + ii)
    assert bench.run(inputs).outputs == expected(inputs), bench


@pytest.mark.parametrize("latency, ii", SHAPES)
def test_isolated_transfers_give_the_results_of_back_to_back_ones(latency, ii):
    dut, inputs = kernel(latency, ii), vectors(20, 3)
    record = Bench(dut, isolated=True).run(inputs)
    assert record.outputs == expected(inputs)
    assert set(np.subtract(record.present, record.accept)) == {dut.latency}


@pytest.mark.parametrize("reset_at", [0, 1, 7, 8, 9, 23, 50])
@pytest.mark.parametrize("latency, ii", [(2, 1), (9, 4)])
@pytest.mark.parametrize("stall_out", [0, 0.8])
def test_a_reset_in_mid_flight_drops_everything(latency, ii, reset_at, stall_out):
    inputs = vectors(40, 4)
    bench = Bench(kernel(latency, ii), stall_out=stall_out, reset_at=reset_at, seed=reset_at)
    assert bench.run(inputs).outputs == expected(inputs), bench


@pytest.mark.parametrize("ii", [1, 2, 5])
@pytest.mark.parametrize("chip", [UNIT, target("ecp5-85k")], ids=lambda chip: chip.name)
def test_a_scheduled_pipeline_works_as_the_toy_one(chip, ii):
    graph = split(product(), chip.multiplier_shape)
    pipeline = Pipeline(graph, schedule(graph, ii, chip), chip, behavioural=True)
    dut, inputs = StreamKernel(pipeline, tag_width=5, block_ram=True), vectors(40, ii)
    record = Bench(dut).run(inputs)
    assert record.outputs == expected(inputs)
    assert set(np.diff(record.accept)) == {ii}
    assert set(np.subtract(record.present, record.accept)) == {dut.latency}
    for options in ({"stall_in": 0.3, "stall_out": 0.7}, {"isolated": True}, {"reset_at": 33}):
        assert Bench(dut, **options).run(inputs).outputs == expected(inputs), options


def test_no_more_is_accepted_than_there_are_places_while_the_sink_waits():
    dut = kernel(9, 2)
    with pytest.raises(AssertionError, match="only 0 of 40"):
        bench = Bench(dut, stall_out=1.0, limit=300)
        bench.run(vectors(40, 5))
    assert len(bench._record.accept) == dut.places


def test_ready_and_valid_do_not_depend_on_each_other_in_the_same_cycle():
    dut = kernel(3, 2)

    async def process(ctx):
        for _ in range(60):
            seen = set()
            for i_valid, o_ready in ((0, 0), (0, 1), (1, 0), (1, 1)):
                ctx.set(dut.i_valid, i_valid)
                ctx.set(dut.o_ready, o_ready)
                seen.add((ctx.get(dut.i_ready), ctx.get(dut.o_valid)))
            assert len(seen) == 1
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


def test_the_ports_are_streams_as_well():
    dut = kernel(2, 1)
    payload = dut.i.payload
    assert list(payload.shape().members) == ["a", "b", "tag"]
    assert dut.o.valid is dut.o_valid
    assert dut.o.ready is dut.o_ready


def test_a_broken_pipeline_is_noticed():
    inputs = vectors(40, 6) | {"a": [3] * 40}
    assert Bench(kernel(4, 2, mutant="p")).run(inputs).outputs != expected(inputs)


def test_a_field_that_the_stream_needs_itself_is_refused():
    form = Format(False, 1, 0)
    graph = Graph("bad", (Input("ready", form),), (Output("x", 0),))
    with pytest.raises(ValueError, match=r"^no field may be called 'ready'"):
        StreamKernel(DelayPipeline(graph, latency=1, ii=1))


def test_a_tag_without_bits_is_refused():
    with pytest.raises(ValueError, match=r"^tag_width must be at least 1, not 0$"):
        kernel(1, 1, tag_width=0)
