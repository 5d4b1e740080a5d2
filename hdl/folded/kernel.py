"""A folded core behind stream ports: it loads a transfer, runs its passes, presents the result."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed

from hdl.folded.core import FoldedCore
from hdl.folded.passes import Passes, code_of
from hdl.operators import multiplexer
from hdl.shell import StreamPorts
from hdl.target import Target


class FoldedKernel(StreamPorts):
    """One transfer at a time through the instructions of one core.

    *Parameters*: the passes (`hdl.folded.passes`); the target; `tag_width`.

    *Contract*: the results are those of the graph or the iteration, in input order, with the
    input's tag. An input is loaded while it is offered, a cell a cycle, and accepted with its last
    one. With outputs always taken, *latency* and *II* are those of `passes.timing`. A reset drops
    what is in work.
    """

    def __init__(
        self, passes: Passes, target: Target, *, tag_width: int = 8, behavioural: bool = False
    ) -> None:
        self.passes, self.target, self._behavioural = passes, target, behavioural
        super().__init__(inputs=passes.fields, outputs=passes.results, tag_width=tag_width)

    def elaborate(self, platform) -> Module:
        m = Module()
        program = self.passes.program
        core = FoldedCore(program, self.target, behavioural=self._behavioural)
        m.submodules.core = core
        loads = self.passes.loads
        loading, running, presenting = Signal(init=1), Signal(), Signal()
        number = Signal(range(len(loads)))
        cycle = Signal(range(program.cycles))
        last_load, last_cycle = number == len(loads) - 1, cycle == program.cycles - 1
        done = self._done(m, core)
        enter, leave = self.i_valid & self.i_ready, self.o_valid & self.o_ready
        ends = running & last_cycle & done
        m.d.comb += [
            self.i_ready.eq(loading & last_load),
            self.o_valid.eq(presenting),
            core.load.eq(loading & self.i_valid),
            core.cell.eq(multiplexer(list(number), [Const(x.cell, len(core.cell)) for x in loads])),
            core.code.eq(multiplexer(list(number), [self._code(x.source) for x in loads])),
            core.run.eq(running & (cycle < len(program.slots))),
            core.slot.eq(cycle),
        ]
        m.d.sync += [
            loading.eq(Mux(loading, ~enter, leave)),
            running.eq(Mux(running, ~ends, enter)),
            presenting.eq(Mux(presenting, ~self.o_ready, ends)),
            number.eq(Mux(core.load, Mux(last_load, 0, number + 1), number)),
            cycle.eq(Mux(running & ~last_cycle, cycle + 1, 0)),
        ]
        with m.If(enter):
            m.d.sync += self.o_tag.eq(self.i_tag)
        for name in self.outputs:
            port = self.port("o", name)
            with m.If(core.written & (core.at == program.outputs[name])):
                m.d.sync += port.eq(core.result)
        return m

    def _code(self, source: str | int) -> Value:
        """A source as the bits of a cell."""
        width = self.passes.program.width
        if isinstance(source, int):
            return Const(source, signed(width)).as_unsigned()
        return code_of(self.port("i", source), width)

    def _done(self, m: Module, core: FoldedCore) -> Value:
        """Whether the pass that ends is the transfer's last one."""
        name = self.passes.done
        if name is None:
            return Const(1)
        now, done = core.written & (core.at == core.program.outputs[name]), Signal()
        before = Signal()
        m.d.comb += done.eq(Mux(now, core.result[0], before))
        m.d.sync += before.eq(done)
        return done
