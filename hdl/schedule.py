"""When each operation runs and on which unit: a modulo schedule for an initiation interval.

Cycle 0 is the one in which an input is accepted; an operation that starts in cycle s reads its
operands in s and its result stands from s + latency on. A new input follows every II cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hdl.binding import Unit, bind, bind_gathered
from hdl.lifetimes import Line, lines
from hdl.network import Network
from hdl.placement import Starts, place, shortest_waits
from hdl.refine import refine
from hdl.target import Target
from hdl.verify import verify
from solver_ref import graph as g

DSP = "dsp"
COARSE = 8
"""Cycles by which the length grows until gathered products fit; then it is searched back."""


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


def combined(plans: Sequence[Plan], ii: int) -> Plan:
    """One plan for all, in which units of an II of 1 count as busy in as many of `ii` cycles as
    they work: one."""
    return Plan(
        ii,
        sum(plan.dsp for plan in plans),
        sum(plan.slots for plan in plans),
        sum(plan.lut_multipliers for plan in plans),
    )


def passing(units: Sequence[Unit]) -> frozenset[int]:
    """See `Schedule.passing`."""
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
    result = _Scheduler(graph, ii, target, limit).run()
    verify(graph, result, target)
    return result


class _Scheduler:
    """Decides in turn: LUT or block, start cycles, units."""

    def __init__(self, graph: g.Graph, ii: int, target: Target, dsp_limit: int) -> None:
        self.network = Network(graph, target)
        self.ii, self.target = ii, target
        self.in_luts, self.in_dsps = self._multipliers(dsp_limit * ii)
        self.tables: dict[tuple[int, ...], list[int]] = {}
        for i in self.network.operations:
            if isinstance(graph.nodes[i], g.Table):
                self.tables.setdefault(graph.nodes[i].codes, []).append(i)
        # Who shares units with whom: products in blocks, and tables of equal content.
        self.pools: dict[int, Hashable] = self._blocks()
        for codes, nodes in self.tables.items():
            self.pools |= dict.fromkeys(nodes, codes)
        self.counts = {
            pool: -(-count // ii) for pool, count in Counter(self.pools.values()).items()
        }

    def run(self) -> Schedule:
        starts = self._starts()
        tables = [unit for codes in self.tables for unit in self._table_units(codes, starts)]
        kept = lines(
            self.network, starts, self.ii, passing(tables) | {*self.in_luts, *self.in_dsps}
        )
        units = (*self._bound(starts, kept), *map(self._lut_unit, self.in_luts), *tables)
        start = tuple(starts.get(i) for i in range(self.network.sink))
        return Schedule(self.ii, starts[self.network.sink], start, units)

    def _multipliers(self, slots: int) -> tuple[list[int], list[int]]:
        """Products in LUTs and in blocks; the largest have the first claim to a block."""
        nodes, spans = self.network.graph.nodes, self.network.graph.ranges
        found = [i for i in self.network.operations if isinstance(nodes[i], g.Multiply)]
        found.sort(key=lambda i: (-spans[nodes[i].a].width * spans[nodes[i].b].width, i))
        return sorted(found[slots:]), sorted(found[:slots])

    def _blocks(self) -> dict[int, Hashable]:
        """All products share all blocks; gathered, one block is for II neighbours in the graph."""
        if not self.target.gathered:
            return dict.fromkeys(self.in_dsps, DSP)
        return {i: (DSP, number // self.ii) for number, i in enumerate(self.in_dsps)}

    def _bound(self, starts: Starts, kept: dict[int, Line]) -> list[Unit]:
        shape = self.target.multiplier_shape
        if self.target.gathered:
            return bind_gathered(self.network, starts, kept, self.in_dsps, self.pools, shape)
        count = self.counts.get(DSP, 0)
        return bind(self.network, starts, kept, self.in_dsps, ii=self.ii, count=count, shape=shape)

    def _starts(self) -> Starts:
        """Start cycles of all operations and the sink, of the least latency that is found."""
        network = self.network
        limits = {"ii": self.ii, "pools": self.pools, "units": self.counts}
        length = self._shortest(limits)
        placed = place(network, length, **limits)
        wanted = shortest_waits(network, length, {})
        placed = place(network, length, **limits, wanted=wanted) or placed
        starts = shortest_waits(network, length, placed) | {network.sink: length}
        shared = {i for nodes in self.tables.values() if len(nodes) > 1 for i in nodes}
        return refine(
            network,
            starts,
            ii=self.ii,
            passing={*self.in_luts, *self.in_dsps, *shared},
            fixed=placed.keys(),
        )

    def _shortest(self, limits: Mapping[str, Any]) -> int:
        """The least length that is found; gathered, where many fail, after larger steps."""
        network = self.network
        length = network.earliest[network.sink]
        step = COARSE if self.target.gathered else 1
        while place(network, length, **limits) is None:
            length += step
        between = range(max(length - step + 1, network.earliest[network.sink]), length)
        fitting = (n for n in between if place(network, n, **limits) is not None)
        return next(fitting, length)

    def _lut_unit(self, node: int) -> Unit:
        spans, multiply = self.network.graph.ranges, self.network.graph.nodes[node]
        wide, narrow = sorted(multiply.operands, key=lambda i: -spans[i].width)
        return Unit("lut", (node,), ((wide, narrow),))

    def _table_units(self, codes: tuple[int, ...], starts: Starts) -> list[Unit]:
        """Each phase's readers take the units in turn."""
        shared: list[list[int]] = [[] for _ in range(self.counts[codes])]
        turn: Counter[int] = Counter()
        for node in self.tables[codes]:
            phase = starts[node] % self.ii
            shared[turn[phase]].append(node)
            turn[phase] += 1
        nodes = self.network.graph.nodes
        return [
            Unit("table", tuple(unit), tuple(nodes[i].operands for i in unit))
            for unit in shared
            if unit
        ]
