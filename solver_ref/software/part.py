"""One graph on its way to text: which nodes are needed, and which need no computation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from solver_ref.graph import Graph, Input, Less, Maximum, Minimum, Outside, Scale


@dataclass(frozen=True)
class Part:
    """A graph that becomes a function of its own."""

    name: str
    graph: Graph

    @cached_property
    def used(self) -> frozenset[int]:
        """The positions of the nodes that an output needs."""
        needed = {output.node for output in self.graph.outputs}
        for position in range(len(self.graph.nodes) - 1, -1, -1):
            if position in needed:
                needed.update(self._needs(position))
        return frozenset(needed)

    def _needs(self, position: int) -> tuple[int, ...]:
        if self.code(position) is not None:
            return ()
        origin = self.origin(position)
        return self.graph.nodes[position].operands if origin is None else (origin,)

    @property
    def reads(self) -> bool:
        """Whether an input is needed."""
        return any(isinstance(self.graph.nodes[i], Input) for i in self.used)

    def code(self, position: int) -> int | None:
        """The code of a node that can only have one: it is written as that code."""
        node, span = self.graph.nodes[position], self.graph.ranges[position]
        if isinstance(node, Input):
            return None
        if isinstance(node, Outside):
            a = self.graph.ranges[node.a]
            never, always = node.lo <= a.lo and a.hi <= node.hi, a.hi < node.lo or a.lo > node.hi
            return 0 if never else 1 if always else None
        if isinstance(node, Less):
            a, b = self.graph.ranges[node.a], self.graph.ranges[node.b]
            return 1 if a.hi < b.lo else 0 if a.lo >= b.hi else None
        return span.lo if span.lo == span.hi else None

    def origin(self, position: int) -> int | None:
        """The operand whose code a node always has, where there is one: nothing is computed."""
        node = self.graph.nodes[position]
        if isinstance(node, Scale):
            return node.a
        if isinstance(node, Maximum | Minimum):
            a, b = self.graph.ranges[node.a], self.graph.ranges[node.b]
            larger = node.a if a.lo >= b.hi else node.b if b.lo >= a.hi else None
            if larger is None or isinstance(node, Maximum):
                return larger
            return node.b if larger == node.a else node.a
        return None
