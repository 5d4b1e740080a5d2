"""Schedules: few units, all busy; and a check that refuses what could not work."""

import dataclasses
import itertools

import pytest
from amaranth.hdl import Fragment
from random_graphs import random_graph

from hdl import pipeline as pipeline_module
from hdl import schedule as schedule_module
from hdl.binding import Unit, bind
from hdl.lifetimes import DIRECT, lines, stage
from hdl.network import Network
from hdl.pipeline import Pipeline
from hdl.schedule import Schedule, schedule
from hdl.target import UNIT, target
from hdl.verify import verify
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.split import split

CHIPS = {name: target(name) for name in ("xc7z020", "ecp5-85k")}


def products(count: int, width: int = 16) -> g.Graph:
    """A chain of sums of products: x_k = x_(k-1) + a_k b_k, and every third product squared."""
    nodes: list[g.Node] = [g.Input(f"x{k}", Format(True, width, 0)) for k in range(6)]
    total = 0
    for k in range(count):
        nodes.append(g.Multiply(k % 6, (k * k + 1) % 6))
        nodes.append(g.Narrow(len(nodes) - 1, -width, -(1 << width), 1 << width))
        nodes.append(g.Scale(len(nodes) - 1, -width))
        nodes.append(g.Add(total, len(nodes) - 1))
        nodes.append(g.Narrow(len(nodes) - 1, 0, -(1 << 16), (1 << 16) - 1, "floor", "wrap"))
        total = len(nodes) - 1
        if k % 3 == 0:
            nodes.append(g.Multiply(total, k % 6))
            nodes.append(g.Narrow(len(nodes) - 1, 0, -(1 << 16), (1 << 16) - 1, "floor", "wrap"))
            total = len(nodes) - 1
    return g.Graph("products", tuple(nodes), (g.Output("y", total),))


@pytest.mark.parametrize("ii", [1, 2, 3, 5, 12, 40])
@pytest.mark.parametrize("chip", CHIPS)
def test_units_are_as_few_as_the_slots_allow(chip, ii):
    graph = split(products(30), CHIPS[chip].multiplier_shape)
    pieces = sum(isinstance(node, g.Multiply) for node in graph.nodes)
    plan = schedule(graph, ii, CHIPS[chip]).plan
    assert (plan.slots, plan.lut_multipliers) == (pieces, 0)
    assert plan.dsp == -(-pieces // ii)
    assert plan.dsp_busy == pieces / (plan.dsp * ii)


def test_without_contention_the_latency_is_the_longest_path():
    graph = split(products(12), UNIT.multiplier_shape)
    network = Network(graph, UNIT)
    assert schedule(graph, 1, UNIT).latency == network.earliest[network.sink]


def test_one_unit_for_all_still_has_a_schedule():
    graph = split(products(9), UNIT.multiplier_shape)
    pieces = sum(isinstance(node, g.Multiply) for node in graph.nodes)
    plan = schedule(graph, pieces, UNIT)
    assert plan.plan.dsp == 1 and plan.plan.dsp_busy == 1


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_have_schedules_that_verify(seed):
    for chip in CHIPS.values():
        graph = split(random_graph(seed), chip.multiplier_shape)
        for ii in (1, 2, 5, 7):
            verify(graph, schedule(graph, ii, chip), chip)


def test_the_smallest_products_go_to_luts_when_the_blocks_run_out():
    nodes = [g.Input(f"x{w}", Format(True, w, 0)) for w in (4, 8, 12, 18)]
    nodes += [g.Multiply(k, k) for k in range(4)]
    outputs = tuple(g.Output(f"y{k}", 4 + k) for k in range(4))
    graph = g.Graph("squares", tuple(nodes), outputs)
    plan = schedule(graph, 1, UNIT, dsp_limit=2)
    kinds = {unit.nodes[0]: unit.kind for unit in plan.units}
    assert kinds == {4: "lut", 5: "lut", 6: "dsp", 7: "dsp"}
    shared = schedule(graph, 2, UNIT, dsp_limit=1)
    assert (shared.plan.dsp, shared.plan.slots, shared.plan.lut_multipliers) == (1, 2, 2)
    assert schedule(graph, 3, UNIT, dsp_limit=0).plan.dsp == 0


def test_equal_tables_share_a_port():
    ports = [g.Input(f"x{k}", Format(False, 4, 0)) for k in range(3)]
    same, other = tuple(range(16)), tuple(range(100, 116))
    tables = [g.Table(0, same, 0), g.Table(1, same, 0), g.Table(2, other, 0)]
    outputs = tuple(g.Output(f"y{k}", 3 + k) for k in range(3))
    graph = g.Graph("tables", (*ports, *tables), outputs)
    assert len(schedule(graph, 1, UNIT).units) == 3
    plan = schedule(graph, 2, UNIT)
    assert sorted(unit.nodes for unit in plan.units) == [(3, 4), (5,)]


def test_equal_operands_meet_on_one_unit():
    """Of 8 products x_i * c_j on 2 units at II 4, each unit sees one x."""
    ports = [g.Input(f"x{k}", Format(True, 12, 0)) for k in range(6)]
    multiplies = [g.Multiply(i, 2 + j) for j in range(4) for i in range(2)]
    outputs = tuple(g.Output(f"y{k}", 6 + k) for k in range(8))
    network = Network(g.Graph("shared", (*ports, *multiplies), outputs), UNIT)
    starts = dict.fromkeys(range(6), 0) | {6 + k: 1 + k // 2 for k in range(8)} | {14: 9}
    kept = lines(network, starts, 4, frozenset(range(6, 14)))
    units = bind(network, starts, kept, range(6, 14), ii=4, count=2, shape=(18, 18))
    for unit in units:
        assert min(len(set(port)) for port in zip(*unit.ports, strict=True)) == 1


def test_products_of_one_time_meet_on_one_unit():
    """Two bursts of six products, far apart: at II 3, each burst fills two units."""
    nodes: list[g.Node] = [g.Input(f"x{k}", Format(True, 9, 0)) for k in range(4)]
    late, outputs = [0, 1, 2, 3], []
    for _ in range(20):
        late = [nodes.append(g.Negate(x)) or len(nodes) - 1 for x in late]
    for burst in (range(4), late):
        for a, b in itertools.combinations(burst, 2):
            nodes.append(g.Multiply(a, b))
            outputs.append(g.Output(f"y{len(nodes)}", len(nodes) - 1))
    plan = schedule(g.Graph("bursts", tuple(nodes), tuple(outputs)), 3, UNIT)
    for unit in plan.units:
        times = [plan.start[node] for node in unit.nodes]
        assert max(times) - min(times) < 6


def test_gathered_units_are_for_neighbours():
    chip = CHIPS["ecp5-85k"]
    graph = split(products(30), chip.multiplier_shape)
    pieces = [i for i, node in enumerate(graph.nodes) if isinstance(node, g.Multiply)]
    units = schedule(graph, 6, chip).units
    assert [node for unit in units for node in unit.nodes] == pieces
    assert {len(unit.nodes) for unit in units[:-1]} == {6}


def test_the_same_graph_gives_the_same_schedule():
    graph = split(products(20), UNIT.multiplier_shape)
    assert schedule(graph, 4, UNIT) == schedule(graph, 4, UNIT)


def test_waiting_is_shortened():
    """A narrow operand waits, not the wide product: 2 bits times 2 bits, used much later."""
    nodes: list[g.Node] = [g.Input("a", Format(True, 18, 0)), g.Input("b", Format(True, 2, 0))]
    chain = 0
    for _ in range(10):
        nodes.append(g.Negate(chain))
        chain = len(nodes) - 1
    nodes.append(g.Multiply(1, 1))
    square = len(nodes) - 1
    nodes.append(g.Multiply(0, 0))
    nodes.append(g.Add(chain, square))
    nodes.append(g.Add(len(nodes) - 2, len(nodes) - 1))
    graph = g.Graph("waits", tuple(nodes), (g.Output("y", len(nodes) - 1),))
    plan = schedule(graph, 1, UNIT)
    assert plan.start[square] + UNIT.multiplier_latency == plan.start[square + 2]


def test_a_held_value_is_read_in_its_stage():
    assert [stage(wait, 3, False) for wait in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    assert [stage(wait, 3, True) for wait in range(8)] == [DIRECT, 0, 0, 0, 1, 1, 1, 2]
    assert [stage(wait, 1, True) for wait in range(3)] == [DIRECT, 0, 1]


@pytest.mark.parametrize("ii", [0, -3])
def test_an_impossible_ii_is_refused(ii):
    with pytest.raises(ValueError, match=f"must be at least 1, not {ii}"):
        schedule(products(2), ii, UNIT)


# Mutants: each breaks one rule of a good schedule, and the check names it.


@pytest.fixture(scope="module")
def good() -> tuple[g.Graph, Schedule]:
    graph = split(products(10), UNIT.multiplier_shape)
    return graph, schedule(graph, 3, UNIT)


def refused(good, message: str, **changes) -> None:
    graph, plan = good
    with pytest.raises(ValueError, match=message):
        verify(graph, dataclasses.replace(plan, **changes), UNIT)


def moved(plan: Schedule, node: int, start: int | None) -> tuple[int | None, ...]:
    return (*plan.start[:node], start, *plan.start[node + 1 :])


def test_a_good_schedule_passes(good):
    verify(*good, UNIT)


def test_an_operation_before_its_operand_is_refused(good):
    graph, plan = good
    node = next(i for i, n in enumerate(graph.nodes) if isinstance(n, g.Add))
    start = moved(plan, node, plan.start[node] - 3 * plan.ii)
    refused(good, r"read in cycle|cannot start", start=start)


def test_every_start_one_cycle_early_is_refused_or_had_slack(good):
    """No operation on a longest path can move; the check finds each."""
    graph, plan = good
    network = Network(graph, UNIT)
    late = network.latest(plan.latency)
    tight = [i for i in network.operations if late[i] == network.earliest[i]]
    assert len(tight) > 5
    for node in tight:
        refused(good, r"read in cycle|cannot start", start=moved(plan, node, plan.start[node] - 1))


def test_a_latency_too_short_is_refused(good):
    refused(good, "read in cycle", latency=good[1].latency - 1)


def test_a_start_that_is_missing_is_refused(good):
    node = good[1].units[0].nodes[0]
    refused(good, "has no start cycle", start=moved(good[1], node, None))


def test_an_input_that_waits_is_refused(good):
    refused(good, "cannot start in cycle 1", start=moved(good[1], 0, 1))


def test_a_unit_used_twice_in_a_phase_is_refused(good):
    first, second, *rest = good[1].units
    both = Unit("dsp", first.nodes + second.nodes, first.ports + second.ports)
    refused(good, "used twice in a phase", units=(both, *rest))


def test_a_node_without_or_with_two_units_is_refused(good):
    first, *rest = good[1].units
    refused(good, "is on 0 units", units=tuple(rest))
    refused(good, "is on 2 units", units=(first, first, *rest))


def test_other_operands_are_refused(good):
    first, *rest = good[1].units
    ports = ((0, 0), *first.ports[1:])
    other = Unit("dsp", first.nodes, ports if ports != first.ports else ((1, 1), *first.ports[1:]))
    refused(good, "has other operands", units=(other, *rest))


def test_a_shared_lut_multiplier_is_refused(good):
    first, *rest = good[1].units
    refused(good, "is shared", units=(Unit("lut", first.nodes, first.ports), *rest))


def test_a_product_wider_than_the_unit_is_refused(good):
    graph, plan = good
    with pytest.raises(ValueError, match="is too wide for unit"):
        verify(graph, plan, dataclasses.replace(UNIT, multiplier_shape=(9, 9)))


def test_a_longer_multiplier_is_refused(good):
    with pytest.raises(ValueError, match="read in cycle"):
        verify(*good, dataclasses.replace(UNIT, multiplier_latency=4))


def test_every_schedule_and_every_pipeline_is_verified(good, monkeypatch):
    seen = []
    monkeypatch.setattr(schedule_module, "verify", lambda *args: seen.append("schedule"))
    monkeypatch.setattr(pipeline_module, "verify", lambda *args: seen.append("pipeline"))
    graph, _ = good
    Fragment.get(Pipeline(graph, schedule(graph, 3, UNIT), UNIT), None)
    assert seen == ["schedule", "pipeline"]
