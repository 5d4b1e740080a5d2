"""Programs of the folded core: the same integers as the graph's interpreter, cycle by cycle."""

import dataclasses

import numpy as np
import pytest
from random_graphs import corner_codes, random_graph
from toy_kernels import countdown, root

from hdl.design import Design
from hdl.folded.instruction import Instruction, Operation, Source, execute
from hdl.folded.passes import Passes
from hdl.folded.program import compiled, fresh, run
from hdl.options import Options
from hdl.target import target
from sim.vectors import golden_vectors
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.robot_file import load
from solver_ref.split import split

ECP5 = target("ecp5-25k")
LATENCY = 11
SEEDS = [seed for seed in range(80) if not random_graph(seed).parameters]


def results(passes: Passes, codes: dict[str, int]) -> tuple[dict[str, int], int]:
    """What the core has in its outputs' cells in the end, and after how many passes."""
    memory, count = fresh(passes.program), 0
    for load_ in passes.loads:
        source = load_.source
        memory[load_.cell] = source if isinstance(source, int) else int(codes[source])
    while not count or (passes.done and not memory[passes.program.outputs[passes.done]]):
        run(passes.program, memory)
        count += 1
    cells = passes.program.outputs
    return {name: memory[cells[name]] for name in passes.results}, count


@pytest.mark.parametrize("seed", SEEDS)
def test_every_operation_gives_the_interpreters_codes(seed):
    graph = random_graph(seed)
    passes, codes = Passes.of(graph, ECP5), corner_codes(graph, seed, 12)
    expected = evaluate(graph, codes)
    for row in range(12):
        found, _ = results(passes, {name: column[row] for name, column in codes.items()})
        assert found == {name: int(column[row]) for name, column in expected.items()}


@pytest.mark.parametrize("iteration", [countdown(), root()])
def test_states_are_replaced_behind_their_last_reader(iteration):
    random = np.random.default_rng(3)
    fields = {n: random.integers(f.lo, f.hi + 1, 30) for n, f in iteration.fields.items()}
    expected, passes = evaluate_iteration(iteration, fields)
    program = Passes.of(iteration.graph, ECP5, iteration)
    for row in range(30):
        found, count = results(program, {name: column[row] for name, column in fields.items()})
        assert found == {name: int(column[row]) for name, column in expected.items()}
        assert count == passes[row]


@pytest.mark.parametrize("kernel", ["lengths", "step", "forward"])
@pytest.mark.parametrize("chip", ["ecp5-25k", "ice40-up5k"])
def test_kernels_of_a_robot_are_exact_with_every_multiplier(kernel, chip):
    design = Design(load("four-cable"), Options(kernel=kernel, target=chip, folded=True))
    vectors = golden_vectors(design, 20, 5)
    for row in range(20):
        found, _ = results(design.passes, {n: column[row] for n, column in vectors.inputs.items()})
        assert found == {name: int(column[row]) for name, column in vectors.outputs.items()}


def test_a_result_that_is_read_a_cycle_too_early_is_the_old_one():
    word = Format(True, 8, 0)
    nodes = (*(g.Input(name, word) for name in "ab"), g.Add(0, 1), g.Maximum(2, 1))
    program = compiled(g.Graph("late", nodes, (g.Output("y", 3),)), factor_bits=35, latency=LATENCY)
    assert [at for at, slot in enumerate(program.slots) if slot] == [0, LATENCY]
    hurried = dataclasses.replace(program, slots=(*program.slots[:-2], program.slots[-1]))
    for slots, expected in ((program, 11), (hurried, 1)):
        memory = fresh(slots)
        memory[program.inputs["a"]], memory[program.inputs["b"]] = 10, 1
        run(slots, memory)
        assert memory[program.outputs["y"]] == expected


def test_a_product_its_rounding_and_the_sum_behind_it_are_one_instruction():
    word = Format(True, 2, 16)
    nodes = (
        *(g.Input(name, word) for name in "abc"),
        g.Multiply(0, 1),
        g.Narrow(3, 17, -(1 << 19), 1 << 19),
        g.Subtract(2, 4),
        g.Narrow(5, 16, -(1 << 20), 1 << 20),
    )
    program = compiled(
        g.Graph("minus", nodes, (g.Output("y", 6),)), factor_bits=35, latency=LATENCY
    )
    (entry,) = [slot for slot in program.slots if slot]
    assert (entry.source, entry.operation) == (Source.PRODUCT, Operation.SUBTRACT)
    assert (entry.shift, entry.lift, entry.drop) == (15, True, True)


def test_ties_round_to_even():
    entry = Instruction(0, Operation.ADD, a=0, c=1, shift=2, even=True)
    halves = [execute(entry, code, 0, 0) for code in (-6, -2, 2, 6, 10)]
    assert halves == [-2, 0, 0, 2, 2]


def test_factors_longer_than_the_multiplier_are_refused():
    word = Format(True, 40, 0)
    nodes = (g.Input("a", word), g.Multiply(0, 0))
    graph = g.Graph("square", nodes, (g.Output("y", 1),))
    with pytest.raises(ValueError, match="a factor of 40 bits: the core has 35"):
        compiled(graph, factor_bits=35, latency=LATENCY)
    assert compiled(split(graph, (35, 35)), factor_bits=35, latency=LATENCY).slots


def test_what_the_core_cannot_do_is_refused_by_name():
    with pytest.raises(ValueError, match="a folded core has its geometry built in"):
        Design(load("hangprinter"), Options(kernel="step", folded=True, runtime_geometry=True))
