"""Which multiplication runs on which unit: equal operands meet on one unit, so muxes stay small."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from hdl.lifetimes import Line
from hdl.network import Network
from hdl.wires import Bits, Word

Drive = tuple[tuple[int, ...], ...]
"""What drives a port in one slot: bits of certain stages or of parameters, and constants."""
Way = tuple[int, tuple[int, ...], tuple[Drive, ...], tuple[int, ...]]
"""Bits of new multiplexer inputs, nodes on the ports, what drives them, their widths."""


BITS_PER_CYCLE = 1
"""So many multiplexer inputs are worth a unit whose nodes are one cycle closer together."""


@dataclass(frozen=True)
class Unit:
    """A shared unit: the nodes it computes and, for each, the nodes on its ports in order.

    kind: `dsp`, `lut` (a multiplier from LUTs) or `table`.
    """

    kind: str
    nodes: tuple[int, ...]
    ports: tuple[tuple[int, ...], ...]


@dataclass
class _Load:
    nodes: list[int] = field(default_factory=list)
    ports: list[tuple[int, ...]] = field(default_factory=list)
    drives: tuple[set[Drive], set[Drive]] = field(default_factory=lambda: (set(), set()))
    widths: list[int] = field(default_factory=lambda: [0, 0])
    places: list[tuple[float, float]] = field(default_factory=list)

    def distance(self, place: tuple[float, float]) -> float:
        """How far the unit's nodes are on average, in cycles."""
        if not self.places:
            return 0.0
        return sum(abs(x - y) for p in self.places for x, y in zip(p, place, strict=True)) / len(
            self.places
        )


def bind(
    network: Network,
    starts: Mapping[int, int],
    lines: Mapping[int, Line],
    nodes: Sequence[int],
    *,
    ii: int,
    count: int,
    shape: tuple[int, int],
) -> list[Unit]:
    """Spread multiplications over `count` units, each at most once in a phase."""
    phases: dict[int, list[int]] = defaultdict(list)
    for node in nodes:
        phases[starts[node] % ii].append(node)
    loads = [_Load() for _ in range(count)]
    scale = starts[network.sink] / network.sink
    for _, group in sorted(phases.items(), key=lambda item: (-len(item[1]), item[0])):
        choices = [[_best_way(network, starts, lines, i, u, shape) for u in loads] for i in group]
        places = [(starts[i], i * scale) for i in group]
        far = np.array([[load.distance(place) for load in loads] for place in places])
        costs = np.array([[choice[0] for choice in row] for row in choices]) + BITS_PER_CYCLE * far
        for row, chosen in zip(*linear_sum_assignment(costs), strict=True):
            _put(loads[chosen], group[row], choices[row][chosen])
            loads[chosen].places.append(places[row])
    return [Unit("dsp", tuple(load.nodes), tuple(load.ports)) for load in loads if load.nodes]


def bind_gathered(
    network: Network,
    starts: Mapping[int, int],
    lines: Mapping[int, Line],
    nodes: Sequence[int],
    pools: Mapping[int, Hashable],
    shape: tuple[int, int],
) -> list[Unit]:
    """Units of the multiplications of each pool; only the order of operands is decided here."""
    loads: dict[Hashable, _Load] = defaultdict(_Load)
    for node in nodes:
        load = loads[pools[node]]
        _put(load, node, _best_way(network, starts, lines, node, load, shape))
    return [Unit("dsp", tuple(load.nodes), tuple(load.ports)) for load in loads.values()]


def _put(load: _Load, node: int, way: Way) -> None:
    _, ports, drives, widths = way
    load.nodes.append(node)
    load.ports.append(ports)
    for port in range(2):
        load.drives[port].add(drives[port])
        load.widths[port] = max(load.widths[port], widths[port])


def _best_way(
    network: Network,
    starts: Mapping[int, int],
    lines: Mapping[int, Line],
    node: int,
    load: _Load,
    shape: tuple[int, int],
) -> Way:
    """The operand order that adds least to the unit's multiplexers."""
    ways = []
    for ports in set(permutations(network.graph.nodes[node].operands)):
        widths = tuple(network.graph.ranges[i].width for i in ports)
        if widths[0] > shape[0] or widths[1] > shape[1]:
            continue
        drives = tuple(drive(network.words[i], lines, starts[node]) for i in ports)
        cost = 0
        for port in range(2):
            if drives[port] not in load.drives[port]:
                cost += widths[port] + max(0, load.widths[port] - widths[port]) // 4
        ways.append((cost, ports, drives, widths))
    return min(ways)


def drive(word: Word, lines: Mapping[int, Line], cycle: int) -> Drive:
    """What a word is made of when it is read in a cycle; equal drives are the same wires."""
    return tuple(
        (piece.source, lines[piece.source].stage(cycle), piece.low, piece.high)
        if isinstance(piece, Bits)
        else astuple(piece)
        for piece in word
    )
