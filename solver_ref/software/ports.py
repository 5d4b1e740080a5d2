"""What is emitted, in any language: a graph or an iteration with a name, checked port names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from solver_ref.fixed import Format
from solver_ref.graph import Graph, Input, Less, Maximum, Minimum, Outside, Scale
from solver_ref.iteration import Iteration

_RESERVED = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while class delete new operator private protected public template this
    throw try catch typename using virtual friend namespace mutable explicit export bool true
    false""".split()
)


@dataclass(frozen=True)
class Model:
    """A graph, or an iteration over one, that becomes software under `name`.

    ``header`` is what each file says on top. ``feedback`` names for inputs the outputs that feed
    them from one row of a sequence to the next. ValueError, naming the culprit, for names that C or
    Structured Text cannot have and for a feedback that does not fit.
    """

    name: str
    source: Graph | Iteration
    header: str = ""
    feedback: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.inputs or not self.outputs:
            raise ValueError(f"{self.name} has no inputs or no outputs: nothing to run")
        _check_names([self.name], "names")
        _check_names(self.inputs, "inputs")
        _check_names(self.outputs, "outputs")
        for name, form in self.inputs.items():
            if form.hi >> 63:
                raise ValueError(f"input {name!r} is {form}, and a port of software has 64 bits")
        for name, source in self.feedback.items():
            if name not in self.inputs:
                raise ValueError(f"feedback into {name!r}, which is no input")
            if source not in self.outputs:
                raise ValueError(f"feedback from {source!r}, which is no output")
            _check_fit(source, self.outputs[source], name, self.inputs[name])

    @property
    def iteration(self) -> Iteration | None:
        return self.source if isinstance(self.source, Iteration) else None

    @property
    def graph(self) -> Graph:
        return self.iteration.graph if self.iteration else self.source

    @property
    def inputs(self) -> dict[str, Format]:
        return self.iteration.fields if self.iteration else self.graph.inputs

    @property
    def outputs(self) -> dict[str, Format]:
        return self.iteration.result_formats if self.iteration else self.graph.output_formats

    @property
    def macro(self) -> str:
        """The start of the names of constants."""
        return self.name.upper()

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

    def describe(self, note: str) -> list[str]:
        """The lines on top of a file."""
        return [*self.header.splitlines(), f"graph sha256 {self.graph.digest}", note]

    def input_nodes(self) -> list[tuple[int, Input]]:
        """The inputs that are used, with their positions."""
        nodes = enumerate(self.graph.nodes)
        return [(i, node) for i, node in nodes if i in self.used and isinstance(node, Input)]


def _check_names(names: Mapping[str, Format] | list[str], what: str) -> None:
    for name in names:
        if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) or name in _RESERVED:
            raise ValueError(f"{name!r} among the {what} is no name in C")
    folded = [name.upper() for name in names]
    if len(set(folded)) < len(folded):
        raise ValueError(f"{what} that differ in the case of letters only: {', '.join(names)}")


def _check_fit(source: str, given: Format, name: str, own: Format) -> None:
    if given.fraction != own.fraction or given.lo < own.lo or given.hi > own.hi:
        raise ValueError(f"{source} is {given}, which does not fit the input {name!r}, {own}")
