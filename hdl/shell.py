"""Stream ports with back-pressure around a pipeline that cannot stall.

Credits: an input is accepted only when a place for its result is reserved in the output FIFO, so
that whatever the sink does, nothing inside has to wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Cat, Module, Mux, Shape, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hdl.fifo import BlockFifo
from hdl.geometry import connect, load_port
from solver_ref.fixed import Format
from solver_ref.parameters import parameters_of
from solver_ref.status import Status

_RESERVED = ("valid", "ready", "tag")


def shape(form: Format) -> Shape:
    """The Amaranth shape that holds the codes of a format."""
    return signed(form.width) if form.signed else unsigned(form.width)


class StreamPorts(wiring.Component):
    """The stream ports that every kernel has, named as one expects to see them in Verilog.

    *Members*: `i_valid`, `i_ready`, one `i_<name>` per input field, `i_tag`; `o_valid`, `o_ready`,
    one `o_<name>` per output field, `o_tag`. A transfer takes place in a cycle in which valid and
    ready are both high; valid and the payload stay until then. `i` and `o` offer the same ports as
    `amaranth.lib.stream` interfaces, whose payload is a structure of the fields and the tag.

    Where the graphs of the `pipelines` inside have parameters, there are also `geometry_valid`,
    `_ready`, `_address`, `_data`, `_checksum`, `_agrees` and `_fault`: see `GeometryRegisters`.
    """

    def __init__(
        self,
        *,
        inputs: Mapping[str, Format],
        outputs: Mapping[str, Format],
        tag_width: int,
        pipelines: Iterable = (),
    ) -> None:
        for name in (*inputs, *outputs):
            if name in _RESERVED:
                raise ValueError(f"no field may be called {name!r}: the stream has a port of it")
        if tag_width < 1:
            raise ValueError(f"tag_width must be at least 1, not {tag_width}")
        self.inputs, self.outputs, self.tag_width = dict(inputs), dict(outputs), tag_width
        self._pipelines = tuple(pipelines)
        self.parameters = parameters_of(pipeline.graph for pipeline in self._pipelines)
        super().__init__(
            {"i_valid": In(1), "i_ready": Out(1)}
            | {f"i_{name}": In(shape(form)) for name, form in inputs.items()}
            | {"i_tag": In(tag_width), "o_valid": Out(1), "o_ready": In(1)}
            | {f"o_{name}": Out(shape(form)) for name, form in outputs.items()}
            | {"o_tag": Out(tag_width)}
            | load_port(self.parameters)
        )

    @property
    def i(self) -> stream.Interface:
        signature = stream.Signature(self._layout(self.inputs)).flip()
        return self._stream(signature, "i", self.inputs)

    @property
    def o(self) -> stream.Interface:
        return self._stream(stream.Signature(self._layout(self.outputs)), "o", self.outputs)

    def _layout(self, fields: Mapping[str, Format]) -> data.StructLayout:
        members = {name: shape(form) for name, form in fields.items()}
        return data.StructLayout(members | {"tag": unsigned(self.tag_width)})

    def _stream(self, signature, side: str, fields: Mapping[str, Format]) -> stream.Interface:
        word = Cat(*(self.port(side, name) for name in (*fields, "tag")))
        interface = signature.create()
        interface.payload = data.View(self._layout(fields), word)
        interface.valid = self.port(side, "valid")
        interface.ready = self.port(side, "ready")
        return interface

    def port(self, side: str, name: str) -> Signal:
        """The port `i_<name>` or `o_<name>`."""
        return getattr(self, f"{side}_{name}")

    def opened(self, m: Module, ready: Value, busy: Value | int = 0) -> Value:
        """`ready`, but never while geometry is loaded, which waits until no transfer is inside and
        the kernel is not `busy`. Called once: it adds the registers."""
        if not self.parameters:
            return ready
        return ready & connect(m, self, self.parameters, self._pipelines, busy)

    def word(self, side: str) -> Value:
        """All fields of the side without the tag, the first one lowest."""
        return Cat(*(self.port(side, n) for n in (self.inputs if side == "i" else self.outputs)))

    def result(self, name: str, unfit: Value) -> Value:
        """A field of a result; the status of one whose inputs were no codes of their fields
        (`unfit`) says so."""
        port = self.port("o", name)
        if name != "status":
            return port[:]
        fault = (port & ~int(Status.VALID)) | int(Status.OUT_OF_RANGE)
        return Mux(unfit, fault, port)[: len(port)]


class StreamKernel(StreamPorts):
    """A pipeline between two streams.

    *Parameters*: the pipeline (`hdl.pipeline.Pipeline`); `tag_width`, bits that travel beside each
    transfer; `block_ram`, whether results wait in block RAM. *Latency*: `latency` clock edges from
    accepting an input transfer to presenting its output, when those before it have left. *II*: the
    pipeline's, as long as the sink is ready; an input is accepted in the cycles of phase 0 only.
    `i_ready` does not depend on `i_valid`, nor `o_valid` on `o_ready`, in the same cycle. A reset
    drops everything in flight.
    """

    FIFO_LATENCY = 2  # one edge into the memory, one out of it

    def __init__(self, pipeline, *, tag_width: int = 8, block_ram: bool = False) -> None:
        self.pipeline, self._block_ram = pipeline, block_ram
        graph = pipeline.graph
        super().__init__(
            inputs=graph.inputs,
            outputs=graph.output_formats,
            tag_width=tag_width,
            pipelines=[pipeline],
        )

    @property
    def latency(self) -> int:
        return self.pipeline.latency + self.FIFO_LATENCY

    @property
    def ii(self) -> int:
        return self.pipeline.ii

    @property
    def places(self) -> int:
        """Results that may be under way or waiting: a place comes back one edge after its output
        was taken, and must have been given out again by then for full throughput."""
        return max(2, -(-(self.latency + 1) // self.ii))

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.pipeline = pipeline = self.pipeline
        width = sum(form.width for form in self.outputs.values())
        queue = BlockFifo if self._block_ram else SyncFIFOBuffered
        m.submodules.results = results = queue(width=width, depth=self.places)
        m.submodules.tags = tags = SyncFIFOBuffered(width=self.tag_width, depth=self.places)

        enter = self.i_valid & self.i_ready
        leave = self.o_valid & self.o_ready
        reserved = Signal(range(self.places + 1))
        reserved_next = Signal.like(reserved)
        full = Signal()
        m.d.comb += reserved_next.eq(reserved + enter - leave)
        m.d.sync += [reserved.eq(reserved_next), full.eq(reserved_next == self.places)]

        m.d.comb += [
            self.i_ready.eq(self.opened(m, pipeline.accept & ~full)),
            pipeline.i_valid.eq(enter),
            *(getattr(pipeline, f"i_{n}").eq(self.port("i", n)) for n in self.inputs),
            tags.w_en.eq(enter),
            tags.w_data.eq(self.i_tag),
            results.w_en.eq(pipeline.o_valid),
            results.w_data.eq(Cat(*(getattr(pipeline, f"o_{n}") for n in self.outputs))),
            # The tag went in when its input did, so it is there before the result is.
            self.o_valid.eq(results.r_rdy),
            results.r_en.eq(self.o_ready),
            tags.r_en.eq(leave),
            self.word("o").eq(results.r_data),
            self.o_tag.eq(tags.r_data),
        ]
        return m
