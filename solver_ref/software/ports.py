"""What is emitted, in any language: graphs with a name, checked port names, and how they run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.iteration import Iteration
from solver_ref.parameters import settled
from solver_ref.sequence import Sequence
from solver_ref.software.part import Part

Source = Graph | Iteration | Sequence

_RESERVED = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while class delete new operator private protected public template this
    throw try catch typename using virtual friend namespace mutable explicit export bool true
    false""".split()
)


@dataclass(frozen=True)
class Model:
    """A graph, an iteration over one, or a sequence of several, that becomes software as `name`.

    ``header`` is what each file says on top. ``feedback`` names for inputs the outputs that feed
    them from one row of a sequence to the next. ValueError, naming the culprit, for names that C or
    Structured Text cannot have and for a feedback that does not fit.
    """

    name: str
    source: Source
    header: str = ""
    feedback: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.inputs or not self.outputs:
            raise ValueError(f"{self.name} has no inputs or no outputs: nothing to run")
        _check_names([self.name], "names")
        _check_names(self.inputs, "inputs")
        _check_names(self.outputs, "outputs")
        _check_words("input", self.inputs)
        if self.sequence:
            registers = {name: r.format for name, r in self.sequence.registers.items()}
            _check_names(registers, "registers")
            _check_words("register", registers)
        if self.sequence and self.feedback:
            raise ValueError(f"{self.name} carries its registers itself and takes no feedback")
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
    def sequence(self) -> Sequence | None:
        return self.source if isinstance(self.source, Sequence) else None

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The graphs by name; an only one is `pass`. Parameters are what they were made with."""
        if self.sequence:
            graphs = self.sequence.graphs.items()
            return {name: Part(f"pass_{name}", settled(graph)) for name, graph in graphs}
        graph = self.iteration.graph if self.iteration else self.source
        return {"pass": Part("pass", settled(graph))}

    @property
    def inputs(self) -> dict[str, Format]:
        if isinstance(self.source, Graph):
            return self.source.inputs
        return dict(self.source.fields)

    @property
    def outputs(self) -> dict[str, Format]:
        if isinstance(self.source, Graph):
            return self.source.output_formats
        return self.source.result_formats

    @property
    def macro(self) -> str:
        """The start of the names of constants."""
        return self.name.upper()

    @cached_property
    def digest(self) -> str:
        """Of the graph, or of all graphs and how a sequence runs them."""
        if not self.sequence:
            return self.parts["pass"].graph.digest
        told = [(name, part.graph.digest) for name, part in self.parts.items()]
        told += [self.sequence.stages, self.sequence.registers, self.sequence.results]
        return hashlib.sha256(repr(told).encode()).hexdigest()

    def describe(self, note: str) -> list[str]:
        """The lines on top of a file."""
        return [*self.header.splitlines(), f"graph sha256 {self.digest}", note]


def _check_names(names: Iterable[str], what: str) -> None:
    names = list(names)
    for name in names:
        if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) or name in _RESERVED:
            raise ValueError(f"{name!r} among the {what} is no name in C")
    if len({name.upper() for name in names}) < len(names):
        raise ValueError(f"{what} that differ in the case of letters only: {', '.join(names)}")


def _check_words(what: str, formats: Mapping[str, Format]) -> None:
    for name, form in formats.items():
        if form.hi >> 63:
            raise ValueError(f"{what} {name!r} is {form}, and a port of software has 64 bits")


def _check_fit(source: str, given: Format, name: str, own: Format) -> None:
    if given.fraction != own.fraction or given.lo < own.lo or given.hi > own.hi:
        raise ValueError(f"{source} is {given}, which does not fit the input {name!r}, {own}")
