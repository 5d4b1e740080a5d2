"""The registered operations of a graph and who reads whom: what the schedule works on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from hdl.delay import latency
from hdl.target import Target
from hdl.wires import Bits, Word, sources, words
from solver_ref import graph as g


class Network:
    """Live operations only: those whose bits reach an output.

    *Members*: `words` of all nodes; `operations`, ascending (an operation's operands come before
    it), without the sink; `sink`, the position that stands for reading all outputs at once;
    `latency`, `operands` and `users` by operation, wires looked through.
    """

    def __init__(self, graph: g.Graph, target: Target) -> None:
        self.graph = graph
        self.words: tuple[Word, ...] = words(graph)
        self.sink = len(graph.nodes)
        results = tuple(output.node for output in graph.outputs)
        self.operands: dict[int, tuple[int, ...]] = {self.sink: self._read(results)}
        live = set(self.operands[self.sink])
        for position in range(self.sink - 1, -1, -1):
            if position in live:
                self.operands[position] = self._read(graph.nodes[position].operands)
                live.update(self.operands[position])
        self.operations = tuple(sorted(self.operands)[:-1])
        self.latency = {
            i: latency(graph.nodes[i], target.family, target.multiplier_latency)
            for i in self.operations
        }
        self.users: dict[int, list[int]] = {i: [] for i in self.operations}
        for user in sorted(self.operands):
            for operand in self.operands[user]:
                self.users[operand].append(user)

    def _read(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted({s for node in nodes for s in sources(self.words[node])}))

    def bits_read(self) -> Iterator[tuple[int, Bits]]:
        """Each operation that reads (or the sink), with each of the pieces that it reads."""
        for user in self.operands:
            if user == self.sink:
                nodes = tuple(output.node for output in self.graph.outputs)
            else:
                nodes = self.graph.nodes[user].operands
            for node in nodes:
                yield from ((user, p) for p in self.words[node] if isinstance(p, Bits))

    @cached_property
    def width(self) -> dict[int, int]:
        """How many bits of each operation somebody reads."""
        needed: dict[int, list[int]] = defaultdict(list)
        for _, piece in self.bits_read():
            needed[piece.source] += (piece.low, piece.high)
        return {i: max(needed[i]) - min(needed[i]) for i in self.operations}

    @cached_property
    def earliest(self) -> dict[int, int]:
        """The first cycle of each operation and of the sink, units unlimited.

        Only inputs work in cycle 0: it may be the first after a reset, when no select is set yet.
        """
        early: dict[int, int] = {}
        for i in sorted(self.operands):
            first = 1 - (i < self.sink and isinstance(self.graph.nodes[i], g.Input))
            early[i] = max([first, *(early[o] + self.latency[o] for o in self.operands[i])])
        return early

    def latest(self, length: int) -> dict[int, int]:
        """The last cycle of each, if the outputs are read in cycle `length`."""
        late = {self.sink: length}
        for i in reversed(self.operations):
            late[i] = min(late[user] for user in self.users[i]) - self.latency[i]
            if isinstance(self.graph.nodes[i], g.Input):
                late[i] = 0
        return late
