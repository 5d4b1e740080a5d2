"""Sums and logic of many terms in the order in which the terms arrive: equal values, sooner.

A chain of additions (or of `And`, `Or`, `Maximum`, `Minimum`) whose inner results nobody else reads
may be associated in any way. The two terms that are there first are joined first.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections import Counter
from dataclasses import dataclass

from solver_ref import graph as g
from solver_ref.simplify import Builder

# Nominal cycles of an operation; all others take one. Only their order of magnitude matters.
_CYCLES: dict[type[g.Node], int] = {
    **dict.fromkeys((g.Input, g.Parameter, g.Constant, g.Scale, g.Join), 0),
    **dict.fromkeys((g.LeadingZeros, g.ShiftLeft, g.ShiftRight), 2),
    g.Multiply: 3,
}
_SUMS = (g.Add, g.Subtract, g.Negate)
_LATTICE = (g.And, g.Or, g.Maximum, g.Minimum)


def balance(graph: g.Graph) -> g.Graph:
    """An equal graph of the same nodes, except where another order of a chain ends sooner."""
    return _Balancer(graph).run()


def cycles(node: g.Node) -> int:
    """Nominal cycles from the operands to the result."""
    if isinstance(node, g.Narrow):
        return int(node.rounding == "half_even" or node.overflow == "saturate")
    return _CYCLES.get(type(node), 1)


@dataclass(frozen=True, order=True)
class _Term:
    arrival: int
    position: int
    negative: bool = False


class _Balancer:
    def __init__(self, graph: g.Graph) -> None:
        self.graph = graph
        self.uses = Counter(o.node for o in graph.outputs)
        self.readers: dict[int, int] = {}
        for position, node in enumerate(graph.nodes):
            self.uses.update(node.operands)
            self.readers.update(dict.fromkeys(node.operands, position))
        self.builder = Builder()
        self.arrivals: list[int] = []
        self.new: list[int] = []

    def run(self) -> g.Graph:
        for position, node in enumerate(self.graph.nodes):
            self.new.append(self._node(position, node))
        outputs = [dataclasses.replace(o, node=self.new[o.node]) for o in self.graph.outputs]
        return g.Graph(self.graph.name, tuple(self.builder.nodes), tuple(outputs))

    def _node(self, position: int, node: g.Node) -> int:
        straight = self._add(node.with_operands(*(self.new[i] for i in node.operands)))
        if not isinstance(node, _SUMS + _LATTICE) or self._goes_on(position):
            return straight
        terms = self._terms(position, False)
        if len(terms) < 3 or self._end(node, terms) >= self.arrivals[straight]:
            return straight
        joined = self._joined(node, terms)
        return self.builder.bounded(joined, self.graph.ranges[position])

    def _goes_on(self, position: int) -> bool:
        """Whether the node is inside a longer chain, which is then treated as a whole."""
        reader = self.readers.get(position)
        if reader is None or self.uses[position] > 1:
            return False
        return self._continues(self.graph.nodes[reader], self.graph.nodes[position])

    def _continues(self, outer: g.Node, inner: g.Node) -> bool:
        if isinstance(outer, _SUMS):
            return isinstance(inner, _SUMS)
        return isinstance(outer, _LATTICE) and type(outer) is type(inner)

    def _terms(self, position: int, negative: bool) -> list[_Term]:
        """The leaves of the chain that ends in a node."""
        node, terms = self.graph.nodes[position], []
        for number, operand in enumerate(node.operands):
            flipped = isinstance(node, g.Negate) or (isinstance(node, g.Subtract) and number == 1)
            sign = negative ^ flipped
            inner = self.graph.nodes[operand]
            if self.uses[operand] == 1 and self._continues(node, inner):
                terms += self._terms(operand, sign)
            else:
                terms.append(_Term(self.arrivals[self.new[operand]], self.new[operand], sign))
        return terms

    def _end(self, node: g.Node, terms: list[_Term]) -> int:
        """When the chain would be done, earliest terms first."""
        times = [term.arrival for term in terms]
        heapq.heapify(times)
        while len(times) > 1:
            first = heapq.heappop(times)
            heapq.heapreplace(times, max(first, times[0]) + cycles(node))
        return times[0] + all(term.negative for term in terms)

    def _joined(self, node: g.Node, terms: list[_Term]) -> int:
        heapq.heapify(terms)
        while len(terms) > 1:
            first, second = heapq.heappop(terms), heapq.heappop(terms)
            heapq.heappush(terms, self._pair(node, first, second))
        (last,) = terms
        return self._add(g.Negate(last.position)) if last.negative else last.position

    def _pair(self, node: g.Node, first: _Term, second: _Term) -> _Term:
        if isinstance(node, _LATTICE):
            position = self._add(type(node)(first.position, second.position))
            return _Term(self.arrivals[position], position)
        if first.negative == second.negative:
            position = self._add(g.Add(first.position, second.position))
        else:
            plus, minus = (second, first) if first.negative else (first, second)
            position = self._add(g.Subtract(plus.position, minus.position))
        return _Term(self.arrivals[position], position, first.negative and second.negative)

    def _add(self, node: g.Node) -> int:
        position = self.builder.add(node)
        for made in self.builder.nodes[len(self.arrivals) :]:
            before = max((self.arrivals[i] for i in made.operands), default=0)
            self.arrivals.append(before + cycles(made))
        return position
