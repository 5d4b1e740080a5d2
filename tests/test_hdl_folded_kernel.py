# amaranth: UnusedElaboratable=no
"""The folded core in hardware: the model's bits, at exactly the model's cycles, behind streams."""

import shutil

import numpy as np
import pytest
from random_graphs import corner_codes, random_graph
from stream_bench import Bench
from toy_kernels import countdown, product

from hdl.design import Design
from hdl.folded.kernel import FoldedKernel
from hdl.folded.passes import Passes
from hdl.folded.team import Team, places
from hdl.folded.team_clock import TeamClock
from hdl.options import Options
from hdl.target import target
from sim.bench import simulate
from sim.vectors import golden_vectors
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.robot_file import load

ECP5 = target("ecp5-25k")
COUNT = 10
SEEDS = [seed for seed in range(20) if not random_graph(seed).parameters][:3]


def kernel(graph, iteration=None, chip=ECP5) -> FoldedKernel:
    return FoldedKernel(Passes.of(graph, chip, iteration), chip, behavioural=True)


def rows(columns: dict, count: int) -> list[dict[str, int]]:
    return [
        {name: int(column[row]) for name, column in columns.items()} | {"tag": row}
        for row in range(count)
    ]


@pytest.mark.parametrize("chip", ["ecp5-25k", "ice40-up5k", "xc7z020"])
@pytest.mark.parametrize("seed", SEEDS)
def test_operations_are_bit_exact_and_take_the_models_cycles(seed, chip):
    graph = random_graph(seed)
    codes = corner_codes(graph, seed, COUNT)
    dut = kernel(graph, chip=target(chip))
    record = Bench(dut).run({name: column.tolist() for name, column in codes.items()})
    assert record.outputs == rows(evaluate(graph, codes), COUNT)
    assert np.all(np.subtract(record.present, record.accept) == dut.passes.latency)
    assert np.all(np.diff(record.accept) == dut.passes.cycles)


@pytest.mark.parametrize("stalls", [{}, {"stall_in": 0.5, "stall_out": 0.9}])
def test_solves_take_as_many_passes_as_they_need(stalls):
    iteration = countdown()
    fields = {"step": np.arange(COUNT) - 5, "count": np.arange(COUNT) % 4}
    expected, passes = evaluate_iteration(iteration, fields)
    dut = kernel(iteration.graph, iteration)
    record = Bench(dut, **stalls).run({name: column.tolist() for name, column in fields.items()})
    assert record.outputs == rows(expected, COUNT)
    timing = dut.passes.timing(passes)
    assert np.array_equal(np.subtract(record.present, record.accept), timing.latency) or stalls
    assert np.array_equal(np.diff(record.accept), timing.ii) or stalls


@pytest.mark.parametrize("cores", [2, 3, 4])
@pytest.mark.parametrize("stalls", [{}, {"stall_in": 0.5, "stall_out": 0.9}])
def test_cores_share_the_transfers_and_give_them_back_in_order(cores, stalls):
    iteration, count = countdown(), 24
    draw = np.random.default_rng(cores).integers(0, 16, count) ** 2 // 15
    fields = {"step": np.arange(count) - 5, "count": draw}
    expected, passes = evaluate_iteration(iteration, fields)
    parts = Passes.of(iteration.graph, ECP5, iteration)
    dut = Team(parts, ECP5, cores=cores, behavioural=True)
    record = Bench(dut, **stalls).run({name: column.tolist() for name, column in fields.items()})
    assert record.outputs == rows(expected, count)
    loads, cycles = len(parts.loads), parts.program.cycles
    clock = TeamClock(cores=cores, places=places(cores), loads=loads, cycles=cycles)
    timing = clock.timing(passes)
    assert np.array_equal(np.subtract(record.present, record.accept), timing.latency) or stalls
    assert np.array_equal(np.diff(record.accept), timing.ii) or stalls
    assert timing.present[-1] < parts.timing(passes).present[-1] / (0.7 * cores)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"cores": 2}, "cores must be 1 without folded, not 2"),
        ({"cores": 33, "folded": True}, "cores must be between 1 and 32, not 33"),
        ({"cores": 2, "folded": True, "kernel": "lengths"}, "cores must be 1 for lengths, which"),
        ({"cores": 2, "folded": True, "kernel": "track"}, "cores must be 1 for track, whose"),
    ],
)
def test_more_cores_are_for_solves_alone(options, said):
    with pytest.raises(ValueError, match=said):
        design = Design(load("planar4"), Options(target="ecp5-25k", **options))
        _ = design.passes or design.preparation


def test_a_reset_drops_what_is_in_work():
    codes = {"a": np.arange(4), "b": np.arange(4) + 7}
    dut = kernel(product())
    record = Bench(dut, reset_at=dut.passes.cycles + 5).run(
        {n: c.tolist() for n, c in codes.items()}
    )
    assert record.outputs == rows(evaluate(product(), codes), 4)


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
@pytest.mark.parametrize("robot", ["four-cable", "planar4"])
def test_a_robots_kernel_is_bit_exact_as_verilog(tmp_path, robot):
    design = Design(load(robot), Options(kernel="lengths", target="ecp5-25k", folded=True))
    file = tmp_path / f"{design.name}.v"
    file.write_text(design.verilog)
    vectors = golden_vectors(design, 20, 2)
    seen = simulate(design, vectors, verilog=file, simulator="icarus", directory=tmp_path)
    assert seen.passed, seen
