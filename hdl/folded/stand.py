"""A folded core in the place of a pipeline: the same ports, for a graph that has time."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.folded.core import FoldedCore
from hdl.folded.passes import Passes, code_of
from hdl.operators import multiplexer
from hdl.shell import shape
from hdl.target import Target
from solver_ref import graph as g


class FoldedPipeline(wiring.Component):
    """Computes a graph as `hdl.pipeline.Pipeline` does, one input at a time.

    *Members*: those of a pipeline, but `accept` is high whenever the core is idle. The outputs
    stand from the `latency`-th clock edge on until the next ones do.
    """

    periodic = False

    def __init__(
        self, graph: g.Graph, passes: Passes, target: Target, *, behavioural: bool = False
    ) -> None:
        self.graph, self.passes, self.target = graph, passes, target
        self._behavioural = behavioural
        super().__init__(
            {"accept": Out(1), "i_valid": In(1), "o_valid": Out(1)}
            | {f"i_{name}": In(shape(form)) for name, form in passes.fields.items()}
            | {f"o_{name}": Out(shape(form)) for name, form in passes.results.items()}
        )

    @property
    def latency(self) -> int:
        return self.passes.pipeline_latency

    @property
    def ii(self) -> int:
        return self.latency

    def elaborate(self, platform) -> Module:
        m, program, loads = Module(), self.passes.program, self.passes.loads
        m.submodules.core = core = FoldedCore(program, self.target, behavioural=self._behavioural)
        given = {}
        enter = self.i_valid & self.accept
        for name, form in self.passes.fields.items():
            given[name] = Signal(shape(form), name=f"given_{name}", reset_less=True)
            with m.If(enter):
                m.d.sync += given[name].eq(getattr(self, f"i_{name}"))
        loading, running = Signal(), Signal()
        number, cycle = Signal(range(len(loads))), Signal(range(program.cycles))
        loaded, ends = number == len(loads) - 1, cycle == program.cycles - 1
        fields = [code_of(given[x.source], program.width) for x in loads]
        m.d.comb += [
            self.accept.eq(~loading & ~running),
            core.load.eq(loading),
            core.cell.eq(multiplexer(list(number), [Const(x.cell, len(core.cell)) for x in loads])),
            core.code.eq(multiplexer(list(number), fields)),
            core.run.eq(running & (cycle < len(program.slots))),
            core.slot.eq(cycle),
        ]
        m.d.sync += [
            loading.eq(Mux(loading, ~loaded, enter)),
            running.eq(Mux(running, ~ends, loading & loaded)),
            number.eq(Mux(loading & ~loaded, number + 1, 0)),
            cycle.eq(Mux(running & ~ends, cycle + 1, 0)),
            self.o_valid.eq(running & ends),
        ]
        for name, port in ((name, getattr(self, f"o_{name}")) for name in self.passes.results):
            with m.If(core.written & (core.at == program.outputs[name])):
                m.d.sync += port.eq(core.result)
        return m
