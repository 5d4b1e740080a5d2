"""AXI4-Stream and AXI4-Lite around any kernel: what drops into a user's system."""

from __future__ import annotations

from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    Const,
    Module,
    Mux,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdl.axi_lite import AxiLite, lite_ports
from hdl.axi_map import COUNTED, EVENTS, SETTINGS, AxiInterface
from hdl.axi_stream import PacketReader, PacketWriter, extended, fits, stream_ports
from hdl.axi_watch import TAG, Watch
from hdl.geometry import ADDRESS_BITS
from hdl.packing import WORD_BITS
from hdl.register_file import RegisterFile
from hdl.shell import StreamPorts
from solver_ref.status import Status

TAG_BITS = TAG.size
"""Of the kernel inside."""


class AxiShell(wiring.Component):
    """A kernel behind `s_axis` and `m_axis` (AXI4-Stream), `s_axi` (AXI4-Lite) and `irq`.

    *Parameters*: the kernel, with tags of `TAG_BITS`; the interface for its fields.

    *Members*: `aclk`, `aresetn` (low, taken at the edge of `aclk`), the three interfaces and
    `irq` (high while an event that it is asked for has not been cleared).

    *Contract*: packets are those of `hdl.packing`, one transfer each; results leave in the order of
    the transfers, each as a packet. A one-shot solve goes before the stream and its result to the
    registers. A transfer with a word that is no code of its field is solved with the lowest bits of
    the word, and its status says OUT_OF_RANGE and not VALID. A register's write has its effect on
    transfers that have not been read whole. What each register is says `hdl.axi_map`.
    """

    def __init__(self, kernel: StreamPorts, interface: AxiInterface) -> None:
        if kernel.tag_width != TAG_BITS:
            raise ValueError(f"the kernel's tags must have {TAG_BITS} bits, not {kernel.tag_width}")
        for own, packing in (
            (kernel.inputs, interface.inputs),
            (kernel.outputs, interface.outputs),
        ):
            if own != packing.fields:
                raise ValueError(f"the kernel's fields are {own}, not {packing.fields}")
        self.kernel, self.facts = kernel, interface.facts
        self.inputs, self.outputs = interface.inputs, interface.outputs
        self.registers = interface.registers
        beat_bits = self.inputs.beat_bits
        super().__init__(
            {"aclk": In(1), "aresetn": In(1), "irq": Out(1)}
            | lite_ports()
            | stream_ports("s_axis", beat_bits, inward=True)
            | stream_ports("m_axis", beat_bits, inward=False)
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.domains.sync = ClockDomain()
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.kernel = self.kernel
        m.submodules.file = self.file = RegisterFile(self.registers)
        fields = {name: form.width for name, form in self.kernel.outputs.items()}
        m.submodules.watch = self.watch = Watch(self.registers["watch"], fields)
        self._bus(m)
        self._entry(m)
        self._exit(m)
        self._geometry(m)
        self._registers(m)
        return m

    def _bits(self, register: str) -> data.View:
        """A register of the block `control` by the names of its bits."""
        parts = self.registers["control"][register].bits
        layout = data.StructLayout({part.name: part.width for part in parts})
        return data.View(layout, self.file.port("control", register)[: layout.size])

    def _through(self, m: Module, part, ports: dict[str, In | Out]) -> None:
        """Ports of the shell that are those of a part inside."""
        for name, direction in ports.items():
            own, inner = getattr(self, name), getattr(part, name)
            m.d.comb += inner.eq(own) if direction.flow is In else own.eq(inner)

    def _bus(self, m: Module) -> None:
        m.submodules.lite = lite = AxiLite()
        self._through(m, lite, lite_ports())
        for name in ("write", "write_address", "write_data", "write_mask", "read_address"):
            m.d.comb += getattr(self.file, name).eq(getattr(lite, name))
        for name in ("write_good", "read_good", "read_data"):
            m.d.comb += getattr(lite, name).eq(getattr(self.file, name))

    def _entry(self, m: Module) -> None:
        """The register in front of the kernel, which a solve or a packet's transfer fills."""
        m.submodules.reader = self.reader = reader = PacketReader(self.inputs)
        kernel, mode, command = self.kernel, self._bits("mode"), self._bits("command")
        self.solving, self.paused = Signal(), Signal()
        asked, full, free, begin, closed = Signal(), Signal(), Signal(), Signal(), Signal()
        word, tag = Signal(len(reader.word), reset_less=True), Signal(TAG, reset_less=True)
        enters = Signal()
        self._through(m, reader, stream_ports("s_axis", self.inputs.beat_bits, inward=True))
        m.d.comb += [
            enters.eq(full & kernel.i_ready),
            free.eq(~full & ~closed),
            self.paused.eq(closed & ~full),
            begin.eq(asked & free),
            reader.open.eq(free & ~asked),
            reader.batch.eq(mode.batch),
        ]
        m.d.sync += [
            closed.eq(mode.pause),
            asked.eq((asked & ~begin) | (command.solve & ~self.solving)),
            full.eq((full & ~enters) | begin | reader.valid),
        ]
        solved, solved_unfit = self._solve_inputs()
        with m.If(begin):
            m.d.sync += [word.eq(solved), tag.solve.eq(1), tag.unfit.eq(solved_unfit)]
        with m.Elif(reader.valid):
            given, given_unfit = self._with_settings(mode.settings, reader)
            m.d.sync += [word.eq(given), tag.solve.eq(0), tag.unfit.eq(given_unfit)]
            m.d.sync += tag.ends.eq(reader.ends)
        m.d.comb += [
            kernel.word("i").eq(word),
            kernel.i_valid.eq(full),
            kernel.i_tag.eq(Cat(self.watch.now, tag.as_value()[len(self.watch.now) :])),
        ]

    def _solve_inputs(self) -> tuple[Value, Value]:
        """The fields in the block `inputs`, and whether one of them is no code of its field."""
        parts, unfit = [], Const(0, 1)
        for word in self.inputs.words:
            value = self.file.port("inputs", word.name)
            parts.append(value[: word.width])
            unfit = unfit | ~fits(word, value)
        return Cat(*parts), unfit

    def _with_settings(self, settings: Value, reader: PacketReader) -> tuple[Value, Value]:
        """A transfer of the stream, with the settings of the registers where that is asked."""
        parts, at, unfit = [], 0, reader.unfit
        for word in self.inputs.words:
            part = reader.word[at : at + word.width]
            at += word.width
            if word.field in SETTINGS:
                own = self.file.port("inputs", word.name)
                part = Mux(settings, own[: word.width], part)
                unfit = unfit | (settings & ~fits(word, own))
            parts.append(part)
        return Cat(*parts), unfit

    def _exit(self, m: Module) -> None:
        """Results to the block `outputs` or to the stream."""
        m.submodules.writer = writer = PacketWriter(self.outputs)
        kernel, tag = self.kernel, data.View(TAG, self.kernel.o_tag)
        self.leaves, self.solved = Signal(), Signal()
        values = [kernel.result(name, tag.unfit) for name in kernel.outputs]
        word = Signal(sum(len(value) for value in values))
        m.d.comb += [
            word.eq(Cat(*values)),
            writer.valid.eq(kernel.o_valid & ~tag.solve),
            writer.word.eq(word),
            writer.ends.eq(tag.ends),
            kernel.o_ready.eq(tag.solve | writer.ready),
            self.leaves.eq(kernel.o_valid & kernel.o_ready),
            self.solved.eq(self.leaves & tag.solve),
        ]
        self._through(m, writer, stream_ports("m_axis", self.outputs.beat_bits, inward=False))
        kept = Signal.like(word, name="solved_word")
        with m.If(self.solved):
            m.d.sync += kept.eq(word)
        for part, value in zip(self.outputs.words, extended(self.outputs, kept), strict=False):
            m.d.comb += self.file.port("outputs", part.name).eq(value)
        m.d.sync += self.solving.eq((self.solving | self._bits("command").solve) & ~self.solved)

    def _geometry(self, m: Module) -> None:
        """A word that was written waits at the kernel's load port until it is taken."""
        self.loading, self.refused = Signal(), Signal()
        self.digest, self.agrees = Const(self.facts.geometry, WORD_BITS), Const(1, 1)
        if not self.kernel.parameters:
            return
        kernel, file = self.kernel, self.file
        self.digest, self.agrees = kernel.geometry_checksum, kernel.geometry_agrees
        address, word = Signal(ADDRESS_BITS), Signal(WORD_BITS)
        asked = file.written("control", "geometry_data")
        before = Signal()
        m.d.sync += [
            self.loading.eq((self.loading & ~kernel.geometry_ready) | asked),
            before.eq(kernel.geometry_fault),
        ]
        with m.If(asked & ~self.loading):
            m.d.sync += [
                address.eq(file.port("control", "geometry_address")),
                word.eq(file.port("control", "geometry_data")),
            ]
        m.d.comb += [
            kernel.geometry_valid.eq(self.loading),
            kernel.geometry_address.eq(address),
            kernel.geometry_data.eq(word),
            self.refused.eq(kernel.geometry_fault & ~before),
        ]

    def _registers(self, m: Module) -> None:
        """What software sees: state, events and the block `watch`."""
        file, watch, kernel = self.file, self.watch, self.kernel
        tag, command = data.View(TAG, kernel.o_tag), self._bits("command")
        state = {
            "solving": self.solving,
            "paused": self.paused,
            "loading": self.loading,
            "agrees": self.agrees,
        }
        faults = {name: getattr(self.reader, name) for name in COUNTED if name != "unfit"}
        faults["unfit"] = self.leaves & tag.unfit
        lost = (command.solve & self.solving) | (
            file.written("control", "geometry_data") & self.loading
        )
        events = {bit.name.lower(): watch.said[number] for number, bit in enumerate(Status)}
        events |= faults | {name: getattr(watch, name) for name in ("failed", "late", "inexact")}
        events |= {"solved": self.solved, "geometry_fault": self.refused, "lost": lost}
        m.d.comb += [
            file.port("control", "geometry").eq(self.digest),
            file.port("control", "state").eq(Cat(*state.values())),
            file.port("control", "event").eq(Cat(*(events[name] for name in EVENTS))),
            *(getattr(watch, f"happens_{name}").eq(value) for name, value in faults.items()),
            watch.offered.eq(kernel.o_valid),
            watch.leaves.eq(self.leaves),
            watch.tag.eq(tag),
            watch.clear.eq(command.clear),
            watch.latency_limit.eq(file.port("control", "latency_limit")),
            watch.residual_limit.eq(file.port("control", "residual_limit")),
            *(
                getattr(watch, name).eq(self._observed(name, tag.unfit))
                for name in ("status", "iterations", "residual")
            ),
            *(
                file.port("watch", register.name).eq(getattr(watch, f"shows_{register.name}"))
                for register in self.registers["watch"].registers
            ),
        ]
        m.d.sync += self.irq.eq(
            (file.kept("control", "event") & file.port("control", "interrupt")).any()
        )

    def _observed(self, name: str, unfit: Value) -> Value:
        """A field of a result as a word, all ones where it does not fit; 0 without the field."""
        if name not in self.kernel.outputs:
            return Const(0, WORD_BITS)
        value = self.kernel.result(name, unfit)
        return Mux(value[WORD_BITS:].any(), -1, value[:WORD_BITS])
