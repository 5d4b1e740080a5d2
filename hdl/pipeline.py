"""A scheduled graph as a pipeline without back-pressure: a new input every II cycles.

The one emitter: whatever the graph, the II and the target, hardware is written here.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.binding import Unit
from hdl.geometry import parameter_port
from hdl.lifetimes import lines
from hdl.network import Network
from hdl.operators import Context, extend, result
from hdl.phases import Phases
from hdl.schedule import Schedule
from hdl.shell import shape
from hdl.storage import Storage
from hdl.target import Target
from hdl.units import UnitEmitter
from hdl.verify import verify
from hdl.wires import Fixed, Held, Piece, Word
from solver_ref import graph as g

SMALL_LUTS = ("ecp5", "ice40")
"""Families whose LUTs have four inputs."""


class Pipeline(wiring.Component):
    """The hardware of a graph.

    *Parameters*: the graph (as `solver_ref.split` made it); its schedule, verified here once more;
    the target; `behavioural`, multipliers as plain registers where a simulator has no `kg_mul`.

    *Members*: `accept`, high in each cycle of phase 0, one of II; `i_valid` and one `i_<name>` per
    input, sampled at the end of a cycle with `accept`; `o_valid` and one `o_<name>` per output; one
    `p_<name>` per parameter, which has to stand while a transfer is inside.

    *Contract*: the outputs are `solver_ref.interpreter.evaluate` of the inputs, bit for bit. They
    stand in the cycle that begins with the `latency`-th clock edge, the first edge being the one
    that ends the accepting cycle; `o_valid` is high in exactly that cycle if `i_valid` was. Outputs
    come from registers, and are unspecified in other cycles. A new input every `ii` cycles. The
    reset clears phase and valid bits only, so that inputs accepted before it never come out.
    """

    def __init__(
        self, graph: g.Graph, schedule: Schedule, target: Target, *, behavioural: bool = False
    ) -> None:
        verify(graph, schedule, target)
        self.graph, self.schedule, self.target = graph, schedule, target
        self._behavioural = behavioural
        super().__init__(
            {"accept": Out(1), "i_valid": In(1), "o_valid": Out(1)}
            | {f"i_{name}": In(shape(form)) for name, form in graph.inputs.items()}
            | {f"p_{name}": parameter_port(node) for name, node in graph.parameters.items()}
            | {f"o_{name}": Out(shape(form)) for name, form in graph.output_formats.items()}
        )

    periodic = True
    """It accepts in one of II cycles only."""

    @property
    def latency(self) -> int:
        return self.schedule.latency

    @property
    def ii(self) -> int:
        return self.schedule.ii

    def elaborate(self, platform) -> Module:
        m = Module()
        _Emission(m, self, self._behavioural).emit()
        return m


class _Emission:
    """One elaboration of a pipeline."""

    def __init__(self, m: Module, pipeline: Pipeline, behavioural: bool) -> None:
        self.m, self.pipeline = m, pipeline
        self.graph, self.schedule = pipeline.graph, pipeline.schedule
        self.network = Network(self.graph, pipeline.target)
        starts = {i: self.schedule.start[i] for i in self.network.operations}
        starts[self.network.sink] = self.schedule.latency
        passing = self.schedule.passing
        self.lines = lines(self.network, starts, self.schedule.ii, passing)
        small_luts = pipeline.target.family in SMALL_LUTS
        self.phases = Phases(m, self.schedule.ii, near=small_luts)
        self.storage = Storage(m, self.phases, pipeline.target.delay_line)
        self.units = UnitEmitter(
            m,
            self.phases,
            words=self.network.words,
            lines=self.lines,
            start=self.schedule.start,
            latency=self.network.latency,
            multiplier_latency=pipeline.target.multiplier_latency,
            nodes=self.graph.nodes,
            one_hot=small_luts,
            behavioural=behavioural,
        )

    def emit(self) -> None:
        shared = [
            (f"{unit.kind}_{number}", unit)
            for number, unit in enumerate(self.schedule.units)
            if unit.nodes[0] in self.schedule.passing
        ]
        # A unit computes for many nodes: its output is read before its last operand is there.
        outputs = {name: self.units.output(name, unit) for name, unit in shared}
        results = {node: outputs[name] for name, unit in shared for node in unit.nodes}
        for position in self.network.operations:
            value = results[position] if position in results else self._result(position)
            kind = type(self.graph.nodes[position]).__name__.lower()
            self.storage.keep(position, f"{kind}_{position}", self.lines[position], value)
        for name, unit in shared:
            self.units.connect(name, unit, outputs[name], self.read)
        self._control()
        for output in self.graph.outputs:
            port = getattr(self.pipeline, f"o_{output.name}")
            word = self.read(self.network.words[output.node], self.schedule.latency)
            self.m.d.comb += port.eq(extend(word, len(port)))

    def _result(self, position: int) -> Value:
        """What an operation's last register takes, at least as wide as that register."""
        node, spans = self.graph.nodes[position], self.graph.ranges
        start = self.schedule.start[position]

        def register(value: Value) -> Value:
            inner = Signal(value.shape(), name=f"inner_{position}", reset_less=True)
            self.phases.keep(inner, value, start % self.schedule.ii)
            return inner

        if isinstance(node, g.Table):
            unit = Unit("table", (position,), (node.operands,))
            word = self.units.table(f"table_{position}", unit, self.read)
            return word if self.network.latency[position] == 1 else register(word)
        if isinstance(node, g.Input):
            operands = [getattr(self.pipeline, f"i_{node.name}")]
        else:
            operands = [self.read(self.network.words[i], start) for i in node.operands]
        cycles = self.network.latency[position]
        operand_spans = tuple(spans[i] for i in node.operands)
        context = Context(operand_spans, spans[position], cycles, register)
        return extend(result(node, context, *operands), spans[position].width)

    def _control(self) -> None:
        """Valid bits move as their data would: captured in phase 0, one stage every II cycles."""
        pipeline, ii, latency = self.pipeline, self.schedule.ii, self.schedule.latency
        self.m.d.comb += pipeline.accept.eq(self.phases.main[0])
        entered = pipeline.i_valid & self.phases.main[0]
        if latency == 1:
            valid = Signal(name="valid")
            self.m.d.sync += valid.eq(entered)
        else:
            stages = (latency - 2) // ii + 1
            line = Signal(stages, name="valid_line")
            following = Cat(pipeline.i_valid, line)[:stages]
            self.m.d.sync += line.eq(Mux(self.phases.main[0], following, line))
            valid = Signal(name="valid")
            self.m.d.sync += valid.eq(line[-1] & self.phases.main[(latency - 1) % ii])
        self.m.d.comb += pipeline.o_valid.eq(valid)

    def read(self, word: Word, cycle: int) -> Value:
        """A word's bits when it is read in a cycle."""
        parts = [self._piece(piece, cycle) for piece in word]
        return (parts[0] if len(parts) == 1 else Cat(*parts)).as_signed()

    def _piece(self, piece: Piece, cycle: int) -> Value:
        if isinstance(piece, Fixed):
            return Const(piece.value, piece.length)
        if isinstance(piece, Held):
            port = getattr(self.pipeline, f"p_{self.graph.nodes[piece.source].name}")
            return port[piece.low : piece.high]
        return self.storage.read(piece.source, piece.low, piece.high, cycle)
