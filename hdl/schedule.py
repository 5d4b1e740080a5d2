"""When each operation runs and on which unit: a modulo schedule for an initiation interval.

Cycle 0 is the one in which an input is accepted; an operation that starts in cycle s reads its
operands in s and its result stands from s + latency on. A new input follows every II cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from hdl.binding import Unit, bind
from hdl.lifetimes import lines
from hdl.network import Network
from hdl.placement import Starts, place, shortest_waits
from hdl.target import Target
from hdl.verify import verify
from solver_ref import graph as g

DSP = "dsp"


@dataclass(frozen=True)
class Plan:
    """What the schedule asks of the chip's multipliers. slots: multiplications on `dsp` units."""

    ii: int
    dsp: int
    slots: int
    lut_multipliers: int

    @property
    def dsp_busy(self) -> float:
        """Occupied multiplier slots of those there are; 1 without multipliers."""
        return self.slots / (self.dsp * self.ii) if self.dsp else 1.0


@dataclass(frozen=True)
class Schedule:
    """start: by node, None for wires and for nodes that no output needs."""

    ii: int
    latency: int
    start: tuple[int | None, ...]
    units: tuple[Unit, ...]

    @cached_property
    def plan(self) -> Plan:
        kinds = Counter(unit.kind for unit in self.units)
        slots = sum(len(unit.nodes) for unit in self.units if unit.kind == DSP)
        return Plan(self.ii, kinds[DSP], slots, kinds["lut"])

    @cached_property
    def passing(self) -> frozenset[int]:
        """Nodes whose result stands for one cycle only, as their unit goes on to another."""
        return passing(self.units)


def passing(units: Sequence[Unit]) -> frozenset[int]:
    return frozenset(
        node for unit in units if unit.kind != "table" or len(unit.nodes) > 1 for node in unit.nodes
    )


def schedule(graph: g.Graph, ii: int, target: Target, *, dsp_limit: int | None = None) -> Schedule:
    """A verified schedule with the fewest multipliers that reach this II.

    Where the products do not fit `dsp_limit` multipliers (default: the target's), the smallest ones
    become LUT multipliers, which are not shared.
    """
    if ii < 1:
        raise ValueError(f"the initiation interval must be at least 1, not {ii}")
    limit = target.resources.dsp if dsp_limit is None else dsp_limit
    network = Network(graph, target)
    in_luts, in_dsps = _multipliers(network, limit * ii)
    pools = _pools(network, in_dsps)
    units = {pool: -(-count // ii) for pool, count in Counter(pools.values()).items()}
    starts = _starts(network, ii, pools, units)
    result = _bound(network, ii, starts, in_luts, in_dsps, units, target)
    verify(graph, result, target)
    return result


def _multipliers(network: Network, slots: int) -> tuple[list[int], list[int]]:
    """Multiplications in LUTs and in DSP blocks; the largest have the first claim to a block."""
    nodes, spans = network.graph.nodes, network.graph.ranges
    found = [i for i in network.operations if isinstance(nodes[i], g.Multiply)]
    found.sort(key=lambda i: (-spans[nodes[i].a].width * spans[nodes[i].b].width, i))
    return sorted(found[slots:]), sorted(found[:slots])


def _pools(network: Network, in_dsps: list[int]) -> dict[int, Hashable]:
    """Who shares units with whom: multiplications in blocks, and tables of equal content."""
    nodes = network.graph.nodes
    tables = {i: nodes[i] for i in network.operations if isinstance(nodes[i], g.Table)}
    return dict.fromkeys(in_dsps, DSP) | {i: (node.codes,) for i, node in tables.items()}


def _starts(
    network: Network, ii: int, pools: dict[int, Hashable], units: dict[Hashable, int]
) -> Starts:
    """Start cycles of all operations and the sink, of the least latency that is found."""
    limits = {"ii": ii, "pools": pools, "units": units}
    length, placed = network.earliest[network.sink] - 1, None
    while placed is None:
        length += 1
        placed = place(network, length, **limits)
    wanted = shortest_waits(network, length, {})
    better = place(network, length, **limits, wanted=wanted)
    starts = shortest_waits(network, length, better or placed)
    return starts | {network.sink: length}


def _bound(network, ii, starts, in_luts, in_dsps, units, target) -> Schedule:
    nodes = network.graph.nodes
    tables: list[Unit] = []
    groups: dict[tuple[int, ...], list[int]] = {}
    for i in network.operations:
        if isinstance(nodes[i], g.Table):
            groups.setdefault(nodes[i].codes, []).append(i)
    for codes, group in groups.items():
        tables += _table_units(group, starts, ii, units[(codes,)], nodes)
    kept = lines(network, starts, ii, passing(tables) | {*in_luts, *in_dsps})
    bound = bind(
        network,
        starts,
        kept,
        in_dsps,
        ii=ii,
        count=units.get(DSP, 0),
        shape=target.multiplier_shape,
    )
    spans = network.graph.ranges
    wide_first = [sorted(nodes[i].operands, key=lambda o: -spans[o].width) for i in in_luts]
    alone = [Unit("lut", (i,), (tuple(o),)) for i, o in zip(in_luts, wide_first, strict=True)]
    start = tuple(starts.get(i) for i in range(len(nodes)))
    return Schedule(ii, starts[network.sink], start, tuple(bound + alone + tables))


def _table_units(group, starts, ii, count, nodes) -> list[Unit]:
    """Each phase's readers take the units in turn."""
    shared: list[list[int]] = [[] for _ in range(count)]
    turn: Counter[int] = Counter()
    for i in group:
        phase = starts[i] % ii
        shared[turn[phase]].append(i)
        turn[phase] += 1
    return [
        Unit("table", tuple(unit), tuple(nodes[i].operands for i in unit))
        for unit in shared
        if unit
    ]
