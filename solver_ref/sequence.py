"""Kernels that remember: stages that a transfer runs through, and registers that stay behind.

A `Sequence` is a small program over a register file. Each stage is a graph that reads registers and
writes registers; results are given out after the first stage already, so that what a later transfer
needs is prepared behind the answer to this one. `hdl.sequence.SequenceKernel` is the hardware.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from solver_ref.fixed import Format, checked_codes
from solver_ref.graph import Graph, Parameter
from solver_ref.parameters import parameter_codes, parameters_of
from solver_ref.scalar import Row, compiled


@dataclass(frozen=True)
class Register:
    """A value that stays from transfer to transfer: its format, and its code after a reset."""

    format: Format
    initial: int = 0


@dataclass(frozen=True)
class Stage:
    """One run of a graph.

    `inputs`: the register (or, for a transfer's own values, the field) behind each graph input;
    `outputs`: the graph output that each register takes; `after`: the stage whose registers have
    to be there, the one before where it is empty. Stages that wait for the same one run through
    their pipelines side by side.
    """

    name: str
    graph: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    after: str = ""


@dataclass(frozen=True)
class Sequence:
    """The graphs, the stages in order, what a transfer brings, what stays, what is given out.

    `results`: the register behind each result, as it is after the first stage. `held` results keep
    what they were last where the flag register `hold` is then 1. ValueError, naming the culprit,
    where these do not fit together.
    """

    graphs: Mapping[str, Graph]
    stages: tuple[Stage, ...]
    fields: Mapping[str, Format]
    registers: Mapping[str, Register]
    results: Mapping[str, str]
    hold: str = ""
    held: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        names = {*self.fields, *self.registers}
        if clash := set(self.fields) & set(self.registers):
            raise ValueError(f"both fields and registers: {', '.join(sorted(clash))}")
        for number, stage in enumerate(self.stages):
            self._check(stage, names)
            between = self.stages[self.start_after(number) + 1 : number]
            written = {name for other in between for name in other.outputs}
            if early := written & set(stage.inputs.values()):
                raise ValueError(
                    f"stage {stage.name} reads {', '.join(sorted(early))} before it is written"
                )
        for name in self.results.values():
            if name not in self.registers:
                raise ValueError(f"the result {name!r} is no register")

    def _check(self, stage: Stage, names: set[str]) -> None:
        graph = self.graphs[stage.graph]
        if set(stage.inputs) != set(graph.inputs):
            missing = set(stage.inputs) ^ set(graph.inputs)
            raise ValueError(f"stage {stage.name}: inputs {', '.join(sorted(missing))} do not fit")
        for port, name in stage.inputs.items():
            if name not in names:
                raise ValueError(f"stage {stage.name}: {name!r} is no register and no field")
            self._fit(stage, name, self.format(name), port, graph.inputs[port])
        formats = graph.output_formats
        for register, port in stage.outputs.items():
            if register not in self.registers:
                raise ValueError(f"stage {stage.name}: {register!r} is no register")
            self._fit(stage, port, formats[port], register, self.format(register))

    @staticmethod
    def _fit(stage: Stage, source: str, given: Format, sink: str, own: Format) -> None:
        if given.fraction != own.fraction or given.lo < own.lo or given.hi > own.hi:
            raise ValueError(
                f"stage {stage.name}: {source} is {given}, which does not fit {sink}, {own}"
            )

    def format(self, name: str) -> Format:
        """Of a register or a field."""
        return self.fields[name] if name in self.fields else self.registers[name].format

    def start_after(self, number: int) -> int:
        """The place of the stage that a stage waits for; -1 for the first one."""
        after = self.stages[number].after
        if not after:
            return number - 1
        return next(i for i, stage in enumerate(self.stages) if stage.name == after)

    @property
    def result_formats(self) -> dict[str, Format]:
        return {name: self.format(register) for name, register in self.results.items()}

    @property
    def initial(self) -> Row:
        return {name: register.initial for name, register in self.registers.items()}

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Those of all graphs, by name."""
        return parameters_of(self.graphs.values())

    @cached_property
    def _parameters(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(graph.parameters) for name, graph in self.graphs.items()}

    @cached_property
    def _run(self) -> dict[str, Callable[[Mapping[str, int]], Row]]:
        return {name: compiled(graph) for name, graph in self.graphs.items()}

    def advance(self, values: Row, published: Row) -> Row:
        """One transfer: `values` holds its fields and all registers, which change in place;
        `published`, the last results, too. Returns the new results. What `values` has of the
        parameters is used as well."""
        for number, stage in enumerate(self.stages):
            given = {port: values[name] for port, name in stage.inputs.items()}
            loaded = self._parameters[stage.graph]
            given |= {name: values[name] for name in loaded if name in values}
            made = self._run[stage.graph](given)
            values |= {register: made[port] for register, port in stage.outputs.items()}
            if number == 0:
                keep = self.held if self.hold and values[self.hold] else ()
                published |= {r: values[s] for r, s in self.results.items() if r not in keep}
        return dict(published)


def evaluate_sequence(
    sequence: Sequence, inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Result codes of transfers in order, each of shape (n,), from their field codes after a reset.

    Codes of parameters may be among the inputs, of shape (1,) or (). ValueError for a missing field
    or a code outside its format.
    """
    columns = []
    for name, form in sequence.fields.items():
        if name not in inputs:
            raise ValueError(f"the sequence needs a field {name!r}")
        columns.append(checked_codes(f"field {name!r}", inputs[name], form).tolist())
    values = sequence.initial
    for name, parameter in sequence.parameters.items():
        (values[name],) = parameter_codes(parameter, inputs).tolist()
    published = {name: values[register] for name, register in sequence.results.items()}
    results: dict[str, list[int]] = {name: [] for name in sequence.results}
    for row in zip(*columns, strict=True):
        values |= dict(zip(sequence.fields, row, strict=True))
        for name, code in sequence.advance(values, published).items():
            results[name].append(code)
    return {name: np.array(codes, dtype=np.int64) for name, codes in results.items()}


@dataclass(frozen=True)
class Offsets:
    """When the stages start, in cycles after a transfer was accepted, and when the next may be.

    `ends`: the cycle in which the outputs of a stage stand at its pipeline; `cycles`: between two
    accepted transfers.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    cycles: int

    @classmethod
    def of(
        cls,
        sequence: Sequence,
        latency: Mapping[str, int],
        ii: Mapping[str, int],
        *,
        periodic: bool = True,
    ) -> Offsets:
        """From each pipeline's latency and II, of which one may be above 1.

        A pipeline with an II accepts in one of II cycles only: stages on it start a multiple of it
        apart, as do transfers. `periodic`: else it accepts whenever it is idle.
        """
        slow = [name for name, interval in ii.items() if interval > 1]
        if len(slow) > 1:
            raise ValueError(f"one pipeline may have an II above 1, not {', '.join(slow)}")
        interval = ii[slow[0]] if slow else 1
        starts: list[int] = []
        ends: list[int] = []
        used: dict[str, int] = {}
        first_slow = None
        for number, stage in enumerate(sequence.stages):
            after = sequence.start_after(number)
            start = ends[after] + 1 if after >= 0 else 0
            busy = 1 if periodic else ii[stage.graph]
            start = max(start, used.get(stage.graph, -busy) + busy)
            if stage.graph in slow and periodic:
                first_slow = start if first_slow is None else first_slow
                start += (first_slow - start) % interval
            starts.append(start)
            used[stage.graph] = start
            ends.append(start + latency[stage.graph])
        pace = interval if periodic else 1
        return cls(tuple(starts), tuple(ends), -(-(max(ends) + 1) // pace) * pace)
