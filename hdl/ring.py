"""An iterative solver around one pipeline: several solves in flight, each of which takes as many
passes as it needs, with stream ports and outputs in input order.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory

from hdl.reorder import NO_COLLISIONS, ReorderBuffer
from hdl.shell import StreamPorts, shape
from solver_ref.fixed import Format
from solver_ref.iteration import Iteration, Ring


class RingKernel(StreamPorts):
    """Solves in flight through one pipeline, as positions of a barrel.

    *Parameters*: the iteration; a pipeline that computes its graph; `tag_width`.

    *Contract*: the results are those of `solver_ref.iteration.evaluate_iteration`, in input order,
    with the input's tag. With inputs always offered and outputs always taken, every transfer's
    cycles are those of `ring.timing(passes)`: latency and II depend on the passes, and while there
    is enough work the pipeline takes a pass every II cycles. Stalls and resets as for
    `StreamKernel`.

    *Inside*: the positions have their turns one after another, one every II cycles. In its turn a
    position's last pass, which came back by then, is either fed again or, when it was done, written
    to the reorder buffer; then, or when it was empty, the position may take a new input. What stays
    constant during a solve waits in a memory addressed by position.
    """

    def __init__(self, iteration: Iteration, pipeline, *, tag_width: int = 8) -> None:
        for ports in ("inputs", "output_formats"):
            own, given = getattr(iteration.graph, ports), getattr(pipeline.graph, ports)
            if own != given:
                raise ValueError(
                    f"the pipeline computes {pipeline.graph.name}, not {iteration.graph.name}: "
                    f"its {ports} are {_listed(given)}, not {_listed(own)}"
                )
        self.iteration, self.pipeline = iteration, pipeline
        self.ring = Ring(latency=pipeline.latency, ii=pipeline.ii)
        super().__init__(
            inputs=iteration.fields,
            outputs=iteration.result_formats,
            tag_width=tag_width,
            pipelines=[pipeline],
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.pipeline = self.pipeline
        m.submodules.reorder = reorder = ReorderBuffer(
            width=sum(form.width for form in self.outputs.values()),
            tag_width=self.tag_width,
            depth=self.ring.places,
        )
        turn, take = self._turn(m), Signal()
        back, going, finished = self._returned(m, turn)
        carried = self._carried(m, turn, take, reorder.place)
        self._feed(m, take | (turn & going), going, back, carried)
        m.d.comb += [
            self.i_ready.eq(self.opened(m, turn & ~going & reorder.room)),
            take.eq(self.i_valid & self.i_ready),
            reorder.take.eq(take),
            reorder.take_tag.eq(self.i_tag),
            reorder.write.eq(turn & finished),
            reorder.at.eq(carried.place),
            reorder.result.eq(Cat(*(back[name] for name in self.outputs))),
            self.o_valid.eq(reorder.o_valid),
            reorder.o_ready.eq(self.o_ready),
            self.word("o").eq(reorder.o_result),
            self.o_tag.eq(reorder.o_tag),
        ]
        return m

    def _turn(self, m: Module) -> Signal:
        """High in the cycle before the pipeline samples: its sampling, delayed by II - 1."""
        turn = self.pipeline.accept
        for _ in range(self.ring.ii - 1):
            later = Signal()
            m.d.sync += later.eq(turn)
            turn = later
        return turn

    def _returned(self, m: Module, turn: Signal) -> tuple[dict[str, Signal], Signal, Signal]:
        """The pass that left the pipeline, kept until its position's turn, and what is to become of
        it: another pass (`going`) or out (`finished`)."""
        pipeline, back = self.pipeline, {}
        going, finished = Signal(), Signal()
        for name, form in self.iteration.graph.output_formats.items():
            back[name] = Signal(shape(form), name=f"back_{name}", reset_less=True)
            with m.If(pipeline.o_valid):
                m.d.sync += back[name].eq(getattr(pipeline, f"o_{name}"))
        done = getattr(pipeline, f"o_{self.iteration.done}")
        m.d.sync += [
            going.eq((pipeline.o_valid & ~done) | (going & ~turn)),
            finished.eq((pipeline.o_valid & done) | (finished & ~turn)),
        ]
        return back, going, finished

    def _carried(self, m: Module, turn: Signal, take: Signal, place: Signal) -> data.View:
        """What the position whose turn it is has kept since its solve began: the constant inputs
        and the solve's place in the reorder buffer."""
        layout = data.StructLayout(
            {f"i_{name}": shape(self.inputs[name]) for name in self.iteration.inputs}
            | {"place": place.shape()}
        )
        count = self.ring.positions
        memory = Memory(shape=layout, depth=count, init=[], attrs=NO_COLLISIONS)
        m.submodules.positions = memory
        write, read = memory.write_port(), memory.read_port()
        position, ahead = Signal(range(count)), Signal(range(count))
        following = Mux(position == count - 1, 0, position + 1)
        m.d.comb += [
            # The memory reads into a register: its address is one cycle ahead.
            ahead.eq(Mux(turn, following, position)),
            read.addr.eq(ahead),
            write.addr.eq(position),
            write.en.eq(take),
            write.data.place.eq(place),
            *(write.data[f"i_{n}"].eq(self.port("i", n)) for n in self.iteration.inputs),
        ]
        m.d.sync += position.eq(ahead)
        return read.data

    def _feed(self, m: Module, valid: Value, going: Signal, back: dict, carried: data.View) -> None:
        """The register in front of the pipeline: the solve goes on, or a new one begins."""
        fed = Signal()
        m.d.sync += fed.eq(valid)
        m.d.comb += self.pipeline.i_valid.eq(fed)
        for name, form in self.iteration.graph.inputs.items():
            again, first, feed = (
                Signal(shape(form), name=f"{role}_{name}", reset_less=True)
                for role in ("again", "first", "feed")
            )
            m.d.comb += first.eq(self._first(name))
            m.d.comb += again.eq(
                back[f"next_{name}"] if name in self.iteration.state else carried[f"i_{name}"]
            )
            m.d.sync += feed.eq(Mux(going, again, first))
            m.d.comb += getattr(self.pipeline, f"i_{name}").eq(feed)

    def _first(self, name: str) -> Value:
        """A graph input in the first pass of a solve."""
        source = self.iteration.initial[name] if name in self.iteration.state else name
        if isinstance(source, int):
            return Const(source, shape(self.iteration.graph.inputs[name]))
        return self.port("i", source)


def _listed(ports: dict[str, Format]) -> str:
    return ", ".join(f"{name} {form}" for name, form in ports.items())
