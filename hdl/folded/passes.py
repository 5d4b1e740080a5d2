"""What the folded core does for a transfer: which cells it loads, which program it runs how often.

Also its exact cycle model and its meaning in integers, so that hardware and model cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from amaranth.hdl import Cat, Const, Value

from hdl.folded.instruction import Source
from hdl.folded.product import MULTIPLIERS, factor_bits
from hdl.folded.program import Program, compiled
from hdl.folded.stages import stages
from hdl.operators import extend
from hdl.schedule import Plan
from hdl.target import Target
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.iteration import Iteration, Timing
from solver_ref.split import split


@dataclass(frozen=True)
class Load:
    """A cell that is written before the first pass: from an input's field, or a constant code."""

    cell: int
    source: str | int


@dataclass(frozen=True)
class Passes:
    """A program and what is around it. `done`: the output that ends a transfer, None after one
    pass; `fields`, `results`: the stream's."""

    program: Program
    loads: tuple[Load, ...]
    fields: Mapping[str, Format]
    results: Mapping[str, Format]
    done: str | None = None

    @classmethod
    def of(cls, graph: Graph, target: Target, iteration: Iteration | None = None) -> Passes:
        """For a graph, or for an iteration over it. ValueError where the core cannot do it."""
        bits, latency = factor_bits(target), stages(target.family).latency
        graph = split(graph, (bits, bits))
        if iteration is None:
            program = compiled(graph, factor_bits=bits, latency=latency)
            loads = tuple(Load(program.inputs[name], name) for name in graph.inputs)
            return cls(program, loads, graph.inputs, graph.output_formats)
        following = {f"next_{name}": name for name in iteration.state}
        program = compiled(graph, factor_bits=bits, latency=latency, following=following)
        sources = {name: name for name in iteration.inputs} | dict(iteration.initial)
        loads = tuple(Load(program.inputs[name], source) for name, source in sources.items())
        return cls(program, loads, iteration.fields, iteration.result_formats, iteration.done)

    @property
    def plan(self) -> Plan:
        """The multipliers of the core, and how many of their slots a pass uses."""
        entries = [entry for entry in self.program.slots if entry]
        products = sum(entry.source is Source.PRODUCT for entry in entries)
        return Plan(self.cycles, MULTIPLIERS, MULTIPLIERS * products, 0)

    @property
    def pipeline_latency(self) -> int:
        """Clock edges from an input to its outputs where the input is kept first."""
        return len(self.loads) + self.program.cycles + 1

    @property
    def latency(self) -> int:
        """Clock edges from accepting an input to presenting its result, after one pass."""
        return 1 + self.program.cycles

    @property
    def cycles(self) -> int:
        """Clock cycles between two accepted inputs with one pass."""
        return self.latency + len(self.loads)

    def timing(self, passes: np.ndarray) -> Timing:
        """Cycles of transfers of so many passes each, offered and taken without a pause. Exact."""
        work = 1 + np.asarray(passes, np.int64) * self.program.cycles
        accept = np.concatenate([[0], np.cumsum(work + len(self.loads))[:-1]])
        return Timing(accept, accept + work)


def code_of(port: Value, width: int) -> Value:
    """A port's code as the bits of a cell."""
    signed = port.shape().signed
    return extend(port if signed else Cat(port, Const(0, 1)).as_signed(), width).as_unsigned()
