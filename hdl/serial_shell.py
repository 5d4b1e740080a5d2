"""A serial line around any kernel: what a board without a processor needs to talk to a host."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Mux, ResetInserter, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdl.axi_stream import PacketReader, PacketWriter
from hdl.serial_frame import FrameReader, FrameWriter
from hdl.serial_map import DEFAULT_BAUD, QUIET_S, Kind, SerialInterface
from hdl.shell import StreamPorts
from hdl.uart import BITS, UartReceiver, UartTransmitter, bit_cycles

TAG = data.StructLayout({"sequence": unsigned(BITS), "unfit": unsigned(1)})
"""What the shell's tags carry through a kernel: the request's number, and whether an input was no
code of its field."""
TAG_BITS = TAG.size
"""Of the kernel inside."""


class SerialShell(wiring.Component):
    """A kernel behind `rx` and `tx`, with the frames of `hdl.serial_map`.

    *Parameters*: the kernel, with tags of `TAG_BITS`; the interface for its fields; the frequency
    of the clock and the bits a second of the line (ValueError where these do not fit).

    *Members*: `rx`, which may change at any time, and `tx`; `active`: a request came, and no answer
    has left since; `fault`: the last request was refused.

    *Contract*: results leave in the order of the requests. One transfer waits in front of the
    kernel; what comes while it does is refused. A transfer with a word that is no code of its field
    is solved with the lowest bits of the word, and its status says OUT_OF_RANGE and not VALID. Of
    answers that are no results one can be under way; more are lost.
    """

    def __init__(
        self,
        kernel: StreamPorts,
        interface: SerialInterface,
        *,
        clock_hz: float,
        baud: float = DEFAULT_BAUD,
    ) -> None:
        if kernel.tag_width != TAG_BITS:
            raise ValueError(f"the kernel's tags must have {TAG_BITS} bits, not {kernel.tag_width}")
        if kernel.parameters:
            raise ValueError("the serial link loads no geometry: it has to be built in")
        for own, packing in (
            (kernel.inputs, interface.inputs),
            (kernel.outputs, interface.outputs),
        ):
            if own != packing.fields:
                raise ValueError(f"the kernel's fields are {own}, not {packing.fields}")
        self.kernel, self.interface = kernel, interface
        self.divider = bit_cycles(clock_hz=clock_hz, baud=baud)
        self.quiet = round(clock_hz * QUIET_S)
        super().__init__({"rx": In(1), "tx": Out(1, init=1), "active": Out(1), "fault": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.kernel = self.kernel
        words = {Kind.IDENTIFY: 0, Kind.SOLVE: len(self.interface.inputs.words)}
        m.submodules.receiver = receiver = UartReceiver(self.divider)
        m.submodules.reader = reader = FrameReader(words, quiet=self.quiet)
        m.submodules.writer = writer = FrameWriter()
        m.submodules.transmitter = transmitter = UartTransmitter(self.divider)
        m.d.comb += [
            receiver.rx.eq(self.rx),
            reader.data.eq(receiver.data),
            reader.valid.eq(receiver.valid),
            reader.broken.eq(receiver.error),
            transmitter.data.eq(writer.data),
            transmitter.valid.eq(writer.valid),
            writer.ready.eq(transmitter.ready),
            self.tx.eq(transmitter.tx),
        ]
        with m.If(reader.good | reader.refused):
            m.d.sync += self.fault.eq(reader.refused)
        m.d.sync += self.active.eq((self.active & ~self._answer(m, reader, writer)) | reader.good)
        self._entry(m, reader)
        return m

    def _entry(self, m: Module, reader: FrameReader) -> None:
        """Words to a transfer, which waits until the kernel takes it."""
        m.submodules.packets = packets = ResetInserter(reader.begin)(
            PacketReader(self.interface.inputs)
        )
        kernel, waiting = self.kernel, Signal()
        tag = Signal(TAG)
        starts = reader.good & (reader.kind == Kind.SOLVE)
        m.d.comb += [
            # The last word stays where it is, and passes through the packet reader to the kernel.
            packets.s_axis_tdata.eq(reader.word),
            packets.s_axis_tkeep.eq(-1),
            packets.s_axis_tvalid.eq(reader.step),
            reader.full.eq(waiting),
            kernel.word("i").eq(packets.word),
            kernel.i_valid.eq(waiting),
            kernel.i_tag.eq(Cat(tag.sequence, packets.unfit)),
        ]
        m.d.sync += waiting.eq((waiting & ~kernel.i_ready) | starts)
        with m.If(starts):
            m.d.sync += tag.sequence.eq(reader.sequence)

    def _answer(self, m: Module, reader: FrameReader, writer: FrameWriter) -> Value:
        """Answers one after the other, the shell's own ones first; whether one has left."""
        result, sequence, standing, taken = self._exit(m)
        asked, kind = Signal(), Signal(BITS, init=Kind.IDENTITY)
        own_sequence, reason, own = Signal(BITS), Signal(BITS), Signal()
        index, busy, left = Signal(range(len(self.interface.identity))), Signal(), Signal()
        identity = Array(self.interface.identity)[index]
        counts = {Kind.IDENTITY: len(self.interface.identity), Kind.REFUSAL: 1}
        m.d.comb += [
            left.eq(busy & writer.idle),
            writer.begin.eq(writer.idle & ~busy & (asked | standing)),
            writer.kind.eq(Mux(own, kind, Kind.RESULT)),
            writer.sequence.eq(Mux(own, own_sequence, sequence)),
            writer.word.eq(Mux(own, Mux(kind == Kind.IDENTITY, identity, reason), result)),
            writer.count.eq(len(self.interface.outputs.words)),
            taken.eq(writer.step & ~own),
        ]
        with m.If(own):
            m.d.comb += writer.count.eq(
                Mux(kind == Kind.IDENTITY, counts[Kind.IDENTITY], counts[Kind.REFUSAL])
            )
        with m.If(writer.begin):
            m.d.sync += [own.eq(asked), busy.eq(1), index.eq(0)]
        with m.Elif(left):
            m.d.sync += busy.eq(0)
        with m.If(writer.step):
            m.d.sync += index.eq(index + 1)
        with m.If(left & own):
            m.d.sync += asked.eq(0)
        identify = reader.good & (reader.kind == Kind.IDENTIFY)
        with m.If((identify | reader.refused) & ~asked):
            m.d.sync += [
                asked.eq(1),
                kind.eq(Mux(identify, Kind.IDENTITY, Kind.REFUSAL)),
                own_sequence.eq(reader.sequence),
                reason.eq(reader.reason),
            ]
        return left

    def _exit(self, m: Module) -> tuple[Signal, Signal, Signal, Signal]:
        """The word of a result that is next, its sequence number, whether it stands there, and
        what takes it."""
        m.submodules.results = results = PacketWriter(self.interface.outputs)
        kernel, tag = self.kernel, data.View(TAG, self.kernel.o_tag)
        held, sequence, taken = Signal(), Signal(BITS), Signal()
        m.d.comb += [
            results.valid.eq(kernel.o_valid & ~held),
            results.word.eq(Cat(*(kernel.result(name, tag.unfit) for name in kernel.outputs))),
            results.ends.eq(1),
            results.m_axis_tready.eq(taken),
            kernel.o_ready.eq(results.ready & ~held),
        ]
        leaves = taken & results.m_axis_tlast
        m.d.sync += held.eq((held & ~leaves) | (kernel.o_valid & kernel.o_ready))
        with m.If(kernel.o_valid & kernel.o_ready):
            m.d.sync += sequence.eq(tag.sequence)
        return results.m_axis_tdata, sequence, results.m_axis_tvalid, taken
