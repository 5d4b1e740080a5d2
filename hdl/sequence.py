"""Kernels that remember, as hardware: pipelines around a register file, run by a counter."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal

from hdl.pipeline import Pipeline
from hdl.shell import StreamPorts, shape
from solver_ref.sequence import Offsets, Sequence, Stage


class SequenceKernel(StreamPorts):
    """A `solver_ref.sequence.Sequence` behind stream ports, one transfer at a time.

    *Parameters*: the sequence; a pipeline for each of its graphs, or a
    `hdl.folded.stand.FoldedPipeline`; `tag_width`.

    *Contract*: the results are those of `evaluate_sequence`, in input order, with the input's tag.
    *Latency*: that of the first stage's pipeline, whatever comes after it. *II*: `offsets.cycles`,
    as long as the sink takes each result by then. A reset drops what is in flight and puts every
    register back to its initial code.

    *Inside*: a counter starts each stage in its cycle and stores what leaves its pipeline; where a
    pipeline accepts in one of II cycles only, so does the kernel.
    """

    def __init__(
        self, sequence: Sequence, pipelines: dict[str, Pipeline], *, tag_width: int = 8
    ) -> None:
        self.sequence, self.pipelines = sequence, pipelines
        self.offsets = Offsets.of(
            sequence,
            {name: pipe.latency for name, pipe in pipelines.items()},
            {name: pipe.ii for name, pipe in pipelines.items()},
            periodic=all(pipe.periodic for pipe in pipelines.values()),
        )
        super().__init__(
            inputs=sequence.fields,
            outputs=sequence.result_formats,
            tag_width=tag_width,
            pipelines=pipelines.values(),
        )

    @property
    def latency(self) -> int:
        return self.offsets.ends[0]

    @property
    def ii(self) -> int:
        return self.offsets.cycles

    def elaborate(self, platform) -> Module:
        m = Module()
        for name, pipe in self.pipelines.items():
            m.submodules[name] = pipe
        self.values = {
            name: Signal(shape(entry.format), name=f"kept_{name}", init=entry.initial)
            for name, entry in self.sequence.registers.items()
        }
        self.row = {
            name: Signal(shape(form), name=f"row_{name}", reset_less=True)
            for name, form in self.sequence.fields.items()
        }
        enter = Signal()
        count = self._counter(m, enter)
        self._publish(m, enter, count)
        for name, pipe in self.pipelines.items():
            self._feed(m, name, pipe, enter, count)
        for stage, end in zip(self.sequence.stages, self.offsets.ends, strict=True):
            with m.If(self._moment(m, enter, count, end)):
                self._store(m, stage)
        with m.If(enter):
            m.d.sync += [self.row[name].eq(self.port("i", name)) for name in self.row]
        return m

    def _counter(self, m: Module, enter: Signal) -> Signal:
        """Cycles since the transfer in work was accepted; 0 while there is none."""
        count = Signal(range(self.offsets.cycles))
        last = self.offsets.cycles - 1
        m.d.comb += enter.eq(self.i_valid & self.i_ready)
        m.d.sync += count.eq(
            Mux(enter, 1 if last else 0, Mux((count == 0) | (count == last), 0, count + 1))
        )
        return count

    def _moment(self, m: Module, enter: Signal, count: Signal, cycle: int) -> Signal:
        """High while `count` is `cycle`: decided a cycle before, as thousands of bits obey it."""
        now = Signal(name=f"at_{cycle}")
        m.d.sync += now.eq(enter if cycle == 1 else count == cycle - 1)
        return now

    def _publish(self, m: Module, enter: Signal, count: Signal) -> None:
        """Results as the first stage's outputs stand, then from registers until they are taken."""
        first, end = self.sequence.stages[0], self.offsets.ends[0]
        fresh, waiting = Signal(), Signal()
        m.d.comb += [
            fresh.eq(self._moment(m, enter, count, end)),
            self.i_ready.eq(
                self.opened(m, (count == 0) & ~waiting & self._aligned(m), busy=count != 0)
            ),
            self.o_valid.eq(fresh | waiting),
        ]
        m.d.sync += waiting.eq(self.o_valid & ~self.o_ready)
        tag = Signal(self.tag_width, reset_less=True)
        m.d.comb += self.o_tag.eq(tag)
        with m.If(enter):
            m.d.sync += tag.eq(self.i_tag)
        hold = self._after(first, self.sequence.hold)[0] if self.sequence.hold else 0
        for name, register in self.sequence.results.items():
            form = self.outputs[name]
            initial = self.sequence.registers[register].initial
            shown = Signal(shape(form), name=f"shown_{name}", init=initial)
            take = fresh & ~hold if name in self.sequence.held else fresh
            port = self.port("o", name)
            m.d.comb += port.eq(Mux(take, self._after(first, register), shown))
            m.d.sync += shown.eq(port)

    def _after(self, stage: Stage, register: str) -> Signal:
        """A register's value as the stage's outputs change it, while they stand."""
        if register in stage.outputs:
            pipe = self.pipelines[stage.graph]
            return getattr(pipe, f"o_{stage.outputs[register]}")
        return self.values[register]

    def _aligned(self, m: Module) -> Signal:
        """High where a transfer accepted now finds the slow pipeline ready for its stages."""
        for number, stage in enumerate(self.sequence.stages):
            pipe = self.pipelines[stage.graph]
            if pipe.ii > 1 and pipe.periodic:
                phase, ii = Signal(range(pipe.ii)), pipe.ii
                # The pipeline's phase 0 follows `accept` by one cycle in this counter.
                m.d.sync += phase.eq(Mux(pipe.accept, 1, Mux(phase == ii - 1, 0, phase + 1)))
                wanted = -self.offsets.starts[number] % ii
                aligned = Signal()
                known = Signal()
                with m.If(pipe.accept):
                    m.d.sync += known.eq(1)
                m.d.comb += aligned.eq((phase == wanted) & known)
                return aligned
        always = Signal(init=1)
        return always

    def _feed(self, m: Module, name: str, pipe: Pipeline, enter: Signal, count: Signal) -> None:
        """Inputs of a pipeline: those of the stage whose turn it is."""
        uses = [
            (stage, start)
            for stage, start in zip(self.sequence.stages, self.offsets.starts, strict=True)
            if stage.graph == name
        ]
        turns = [self._moment(m, enter, count, start) if start else enter for _, start in uses]
        m.d.comb += pipe.i_valid.eq(Cat(*turns).any())
        for port in pipe.graph.inputs:
            given = self._source(uses[-1][0], uses[-1][1], port)
            for (stage, start), turn in zip(uses[:-1], turns[:-1], strict=True):
                given = Mux(turn, self._source(stage, start, port), given)
            m.d.comb += getattr(pipe, f"i_{port}").eq(given)

    def _source(self, stage: Stage, start: int, port: str) -> Signal:
        name = stage.inputs[port]
        if name in self.values:
            return self.values[name]
        return self.port("i", name) if start == 0 else self.row[name]

    def _store(self, m: Module, stage: Stage) -> None:
        pipe = self.pipelines[stage.graph]
        for register, port in stage.outputs.items():
            m.d.sync += self.values[register].eq(getattr(pipe, f"o_{port}"))
