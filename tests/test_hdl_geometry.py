# amaranth: UnusedElaboratable=no
"""The load port: what it takes and refuses, and that no transfer sees two geometries."""

import zlib

import numpy as np
import pytest
from amaranth.sim import Simulator
from stream_bench import Bench
from toy_kernels import A, DelayPipeline

from hdl.geometry import GeometryRegisters
from hdl.pipeline import Pipeline
from hdl.ring import RingKernel
from hdl.schedule import schedule
from hdl.sequence import SequenceKernel
from hdl.shell import StreamKernel
from hdl.target import UNIT
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.iteration import Iteration, evaluate_iteration
from solver_ref.parameters import parameters_of, words
from solver_ref.sequence import Register, Sequence, Stage, evaluate_sequence
from solver_ref.split import split

P = g.Parameter("p", Format(True, 9, 0), -200, 150, -7)
Q = g.Parameter("q", Format(False, 8, 0), 3, 250, 100)
TABLE = {"p": P, "q": Q}
WORDS = [-7 & 0xFFFFFFFF, 100]


def crc(values):
    return zlib.crc32(b"".join(value.to_bytes(4, "little") for value in values))


def offer(ctx, port, address, word):
    for name, value in (("valid", 1), ("address", address), ("data", word & 0xFFFFFFFF)):
        ctx.set(port(name), value)


async def load(ctx, port, table, taking=list):
    """Words by address, one after another as they are taken; `taking` is called in these cycles."""
    for address, word in table:
        offer(ctx, port, address, word)
        while not ctx.get(port("ready")):
            await ctx.tick()
        taking()
        await ctx.tick()
    ctx.set(port("valid"), 0)


def after_loading(table):
    """(p, q, checksum, agrees, fault) when the words have been loaded and summed."""
    dut, seen = GeometryRegisters(TABLE), []

    async def process(ctx):
        await load(ctx, lambda name: getattr(dut, name), table)
        await ctx.tick().repeat(80)
        outputs = (dut.p_p.as_signed(), dut.p_q, dut.checksum, dut.agrees, dut.fault)
        seen.extend(ctx.get(value) for value in outputs)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()
    return tuple(seen)


def test_without_a_word_it_has_and_expects_what_it_was_made_with():
    assert after_loading([]) == (-7, 100, crc(WORDS), 1, 0)


def test_a_loaded_table_agrees_with_its_own_checksum():
    table = words(TABLE, {"p": -200, "q": 250})
    assert table == [-200 & 0xFFFFFFFF, 250, crc([-200 & 0xFFFFFFFF, 250])]
    assert after_loading(enumerate(table)) == (-200, 250, table[-1], 1, 0)


def test_one_word_more_or_less_does_not_agree():
    table = words(TABLE, {"p": 11, "q": 12})
    partly = crc([11, 100])
    assert after_loading([(0, 11), (2, table[-1])]) == (11, 100, partly, 0, 0)
    assert after_loading([(0, 11), (2, partly)]) == (11, 100, partly, 1, 0)


@pytest.mark.parametrize(
    "address, word", [(0, -201), (0, 151), (1, 2), (1, 251), (1, -100), (3, 5), (4, 0), (255, 0)]
)
def test_what_no_parameter_takes_is_kept_out_and_reported(address, word):
    assert after_loading([(address, word)]) == (-7, 100, crc(WORDS), 1, 1)
    assert after_loading([(address, word), (0, 9)])[0::4] == (9, 1)


@pytest.mark.parametrize("address, word", [(0, -200), (0, 150), (1, 3), (1, 250)])
def test_first_and_last_codes_are_taken(address, word):
    seen = after_loading([(address, word)])
    assert seen[address] == word and not seen[-1]


def scaled() -> g.Graph:
    """y = a p + q."""
    nodes = (g.Input("a", A), P, Q, g.Multiply(0, 1), g.Add(3, 2), g.Subtract(2, 1))
    return g.Graph("scaled", nodes, (g.Output("y", 4), g.Output("apart", 5)))


def pipeline(graph: g.Graph, ii: int) -> Pipeline:
    cut = split(graph, UNIT.multiplier_shape)
    return Pipeline(cut, schedule(cut, ii, UNIT), UNIT, behavioural=True)


def rounds() -> Iteration:
    """Adds p to `sum` once more than `count` says, then q."""
    total = Format(True, 14, 0)
    nodes = (
        *(g.Input("n", Format(False, 3, 0)), g.Input("sum", total), P, g.Constant(1, 0)),
        *(g.Less(0, 3), g.Subtract(0, 3), g.Narrow(5, 0, 0, 7, overflow="saturate")),
        *(g.Add(1, 2), g.Narrow(7, 0, total.lo, total.hi, overflow="wrap"), Q, g.Add(8, 9)),
    )
    outputs = (("next_n", 6), ("next_sum", 8), ("done", 4), ("y", 10))
    return Iteration(
        graph=split(g.Graph("rounds", nodes, tuple(g.Output(*item) for item in outputs)), (25, 18)),
        state=("n", "sum"),
        inputs=(),
        initial={"n": "count", "sum": 5},
        external={"count": Format(False, 3, 0)},
        done="done",
        results=("y",),
        max_passes=9,
    )


def memory() -> Sequence:
    """y = a + kept; behind it kept = p y + q, wrapped."""
    form = Format(True, 11, 0)
    first = (g.Input("a", A), g.Input("kept", form), g.Add(0, 1))
    second = (g.Input("y", Format(True, 12, 0)), P, Q, g.Multiply(0, 1), g.Add(3, 2))
    second += (g.Narrow(4, 0, form.lo, form.hi, overflow="wrap"),)
    stages = (
        Stage("answer", "answer", {"a": "a", "kept": "kept"}, {"y": "y"}),
        Stage("next", "next", {"y": "y"}, {"kept": "kept"}),
    )
    return Sequence(
        graphs={
            "answer": g.Graph("answer", first, (g.Output("y", 2),)),
            "next": g.Graph("next", second, (g.Output("kept", 5),)),
        },
        stages=stages,
        fields={"a": A},
        registers={"y": Register(Format(True, 12, 0)), "kept": Register(form, 3)},
        results={"y": "y"},
    )


def run_loaded(kernel, inputs, codes, start=60, **stalls):
    """The outputs, and how many transfers had been accepted when the words were loaded."""
    before = set()

    async def loader(ctx, record):
        def taking():
            assert len(record.accept) == len(record.outputs)
            before.add(len(record.accept))

        await ctx.tick().repeat(start)
        table = enumerate(words(kernel.parameters, codes))
        await load(ctx, lambda name: getattr(kernel, f"geometry_{name}"), table, taking)

    record = Bench(kernel, beside=loader, **stalls).run(inputs)
    (count,) = before
    assert 0 < count < len(record.outputs)
    columns = {name: [row[name] for row in record.outputs] for name in kernel.outputs}
    return columns, count


def joined(parts):
    """Results of two runs, one behind the other."""
    return {name: [*parts[0][name].tolist(), *parts[1][name].tolist()] for name in parts[0]}


A_CODES = np.random.default_rng(3).integers(A.lo, A.hi + 1, 70)
NEW = {"p": 150, "q": 3}
STALLS = [{}, {"stall_in": 0.4, "stall_out": 0.6}]


@pytest.mark.parametrize("stalls", STALLS)
@pytest.mark.parametrize("ii", [1, 3])
def test_each_transfer_of_a_stream_has_one_geometry(ii, stalls):
    kernel = StreamKernel(pipeline(scaled(), ii))
    outputs, count = run_loaded(kernel, {"a": A_CODES.tolist()}, NEW, **stalls)
    parts = [(A_CODES[:count], {}), (A_CODES[count:], NEW)]
    assert outputs == joined([evaluate(scaled(), {"a": a} | given) for a, given in parts])


@pytest.mark.parametrize("stalls", STALLS)
def test_each_solve_of_a_ring_has_one_geometry(stalls):
    iteration = rounds()
    kernel = RingKernel(iteration, pipeline(iteration.graph, 2))
    codes = np.random.default_rng(5).integers(0, 8, 60)
    outputs, count = run_loaded(kernel, {"count": codes.tolist()}, NEW, **stalls)
    parts = [(codes[:count], {}), (codes[count:], NEW)]
    runs = [evaluate_iteration(iteration, {"count": c} | given)[0] for c, given in parts]
    assert outputs == joined(runs)


@pytest.mark.parametrize("stalls", STALLS)
@pytest.mark.parametrize("ii", [1, 4])
def test_each_sample_of_a_sequence_has_one_geometry(ii, stalls):
    sequence = memory()
    pipelines = {
        name: pipeline(graph, ii if name == "next" else 1)
        for name, graph in sequence.graphs.items()
    }
    kernel = SequenceKernel(sequence, pipelines)
    outputs, count = run_loaded(kernel, {"a": A_CODES.tolist()}, NEW, **stalls)
    values, published, rows = sequence.initial, {"y": 0}, []
    for number, a in enumerate(A_CODES.tolist()):
        values |= {"a": a} | (NEW if number >= count else {})
        rows.append(sequence.advance(values, published)["y"])
    assert outputs == {"y": rows}
    whole = evaluate_sequence(sequence, {"a": A_CODES} | NEW)["y"]
    assert whole.tolist() != rows


def test_a_reset_keeps_what_was_loaded():
    kernel = StreamKernel(pipeline(scaled(), 2))

    async def loader(ctx, record):
        await load(
            ctx, lambda name: getattr(kernel, f"geometry_{name}"), enumerate(words(TABLE, NEW))
        )

    record = Bench(kernel, beside=loader, reset_at=120).run({"a": A_CODES.tolist()})
    expected = evaluate(scaled(), {"a": A_CODES} | NEW)["y"]
    assert [row["y"] for row in record.outputs] == expected.tolist()


def test_a_kernel_without_parameters_has_no_load_port():
    graph = g.Graph("plain", (g.Input("a", A), g.Negate(0)), (g.Output("y", 1),))
    kernel = StreamKernel(DelayPipeline(graph, latency=2, ii=1))
    assert not [name for name in kernel.signature.members if name.startswith("geometry")]


def test_parameters_that_cannot_be_loaded_are_refused():
    wide = g.Parameter("w", Format(True, 40, 0), -(1 << 32), 5, 0)
    with pytest.raises(ValueError, match="does not fit a word of 32 bits"):
        GeometryRegisters({"w": wide})
    with pytest.raises(ValueError, match="256 parameters are more than"):
        GeometryRegisters({f"p{number}": P for number in range(256)})


def test_two_parameters_of_one_name_are_refused():
    other = g.Graph("other", (g.Parameter("p", P.format, -1, 1, 0),), (g.Output("y", 0),))
    with pytest.raises(ValueError, match="two parameters 'p'"):
        parameters_of([scaled(), other])
