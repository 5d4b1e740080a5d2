"""Checks a schedule against its graph by rules of its own: shares no code with the scheduler."""

from __future__ import annotations

from collections import Counter

from hdl.delay import is_wire, latency
from solver_ref import graph as g


def verify(graph: g.Graph, schedule, target) -> None:
    """ValueError naming the node or unit where the schedule could not work on the target.

    Every operation starts after its operands' used bits are there, a unit is used once in a phase
    and by nodes that fit it, every multiplication and table has its unit, and all outputs are there
    in cycle `latency`.
    """
    checker = _Checker(graph, schedule, target)
    for output in graph.outputs:
        checker.need(output.node, 0, graph.ranges[output.node].width, schedule.latency)
    checker.operations()
    checker.units()


class _Checker:
    def __init__(self, graph: g.Graph, schedule, target) -> None:
        self.graph, self.schedule, self.target = graph, schedule, target
        self.users: set[int] = set()

    def _name(self, position: int) -> str:
        return f"node {position} ({self.graph.nodes[position]})"

    def need(self, position: int, low: int, high: int, cycle: int) -> None:
        """Bits [low, high) of a node must stand in a cycle."""
        node, span = self.graph.nodes[position], self.graph.ranges[position]
        if low >= high or span.lo == span.hi or isinstance(node, g.Parameter):
            return
        if not is_wire(node):
            self._ready(position, cycle)
        elif isinstance(node, g.Scale):
            self.need(node.a, low, high, cycle)
        elif isinstance(node, g.Narrow):
            drop = self.graph.ranges[node.a].fraction - node.fraction
            top = span.width - (span.lo >= 0)
            self.need(node.a, low + drop, min(high, top) + drop, cycle)
        else:
            self.need(node.low, low, min(high, node.bits), cycle)
            self.need(node.high, max(low - node.bits, 0), high - node.bits, cycle)

    def _ready(self, position: int, cycle: int) -> None:
        start = self.schedule.start[position]
        if start is None:
            raise ValueError(f"{self._name(position)} is used but has no start cycle")
        node = self.graph.nodes[position]
        ready = start + latency(node, self.target.family, self.target.multiplier_latency)
        if ready > cycle:
            text = f"is ready in cycle {ready} but read in cycle {cycle}"
            raise ValueError(f"{self._name(position)} {text}")

    def operations(self) -> None:
        for position, start in enumerate(self.schedule.start):
            if start is None:
                continue
            node = self.graph.nodes[position]
            if start < 1 and not isinstance(node, g.Input) or start and isinstance(node, g.Input):
                raise ValueError(f"{self._name(position)} cannot start in cycle {start}")
            for operand in node.operands:
                self.need(operand, 0, self.graph.ranges[operand].width, start)

    def units(self) -> None:
        placed = Counter(node for unit in self.schedule.units for node in unit.nodes)
        for position, start in enumerate(self.schedule.start):
            shared = isinstance(self.graph.nodes[position], g.Multiply | g.Table)
            if placed[position] != (shared and start is not None):
                raise ValueError(f"{self._name(position)} is on {placed[position]} units")
        for number, unit in enumerate(self.schedule.units):
            self._unit(f"unit {number} ({unit.kind})", unit)

    def _unit(self, name: str, unit) -> None:
        phases = Counter(self.schedule.start[node] % self.schedule.ii for node in unit.nodes)
        if phases and max(phases.values()) > 1:
            raise ValueError(f"{name} is used twice in a phase")
        if unit.kind == "lut" and len(unit.nodes) > 1:
            raise ValueError(f"{name} is shared")
        for position, ports in zip(unit.nodes, unit.ports, strict=True):
            node = self.graph.nodes[position]
            if sorted(ports) != sorted(node.operands):
                raise ValueError(f"{name} has other operands than {self._name(position)}")
            if isinstance(node, g.Table) != (unit.kind == "table"):
                raise ValueError(f"{name} cannot compute {self._name(position)}")
            if isinstance(node, g.Table):
                if node.codes != self.graph.nodes[unit.nodes[0]].codes:
                    raise ValueError(f"{name} has two contents")
                continue
            widths = [self.graph.ranges[port].width for port in ports]
            if any(w > s for w, s in zip(widths, self.target.multiplier_shape, strict=True)):
                raise ValueError(f"{self._name(position)} is too wide for {name}: {widths}")
