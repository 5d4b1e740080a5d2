"""AXI4-Stream packets to transfers and back, with `hdl.packing`'s words in them."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.choice import chosen
from hdl.packing import WORD_BITS, Packing, Word


def stream_ports(prefix: str, beat_bits: int, *, inward: bool) -> dict[str, In | Out]:
    """Members of a component with an AXI4-Stream, named as Verilog tools expect them."""
    forth, back = (In, Out) if inward else (Out, In)
    return {
        f"{prefix}_tdata": forth(beat_bits),
        f"{prefix}_tkeep": forth(beat_bits // 8),
        f"{prefix}_tlast": forth(1),
        f"{prefix}_tvalid": forth(1),
        f"{prefix}_tready": back(1),
    }


def fits(word: Word, value: Value) -> Value | Const:
    """Whether a word of 32 bits extends its part of the field as it should."""
    rest = value[word.width :]
    if not len(rest):
        return Const(1)
    return rest == (value[word.width - 1].replicate(len(rest)) if word.signed else 0)


class PacketReader(wiring.Component):
    """Packets to transfers.

    *Members*: the stream `s_axis`; `open`: a transfer may leave; `batch`: whether packets may hold
    several; `valid`, high for one cycle, with the fields of a transfer side by side in `word`,
    `unfit` (one of them is no code of its field) and `ends` (a packet ended with it);
    `short_packet`, `long_packet`, `null_bytes`: for one cycle, what was wrong with a packet.

    *Contract*: `s_axis_tready` depends on registers and `open` only. A packet that ends inside a
    transfer, goes on behind it (without `batch`), or has a beat without all its bytes is dropped
    from there to its end; with `batch` the transfers before that have left. The next packet is read
    as if nothing had been.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        super().__init__(
            stream_ports("s_axis", packing.beat_bits, inward=True)
            | {
                "open": In(1),
                "batch": In(1),
                "valid": Out(1),
                "word": Out(sum(form.width for form in packing.fields.values())),
                "unfit": Out(1),
                "ends": Out(1),
                "short_packet": Out(1),
                "long_packet": Out(1),
                "null_bytes": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        beats = self.packing.beats
        index = Signal(range(beats))
        dropping = Signal()
        spoilt = Signal()
        final, moves, whole, reading = Signal(), Signal(), Signal(), Signal()
        last, ends = self.s_axis_tlast, Signal()
        m.d.comb += [
            final.eq(index == beats - 1),
            self.s_axis_tready.eq(dropping | ~final | self.open),
            moves.eq(self.s_axis_tvalid & self.s_axis_tready),
            whole.eq(self.s_axis_tkeep.all()),
            reading.eq(moves & ~dropping & whole),
            ends.eq(last | self.batch),
            self.null_bytes.eq(moves & ~dropping & ~whole),
            self.short_packet.eq(reading & ~final & last),
            self.long_packet.eq(reading & final & ~ends),
            self.valid.eq(reading & final & ends),
            self.ends.eq(last),
        ]
        bad = self.null_bytes | self.long_packet
        m.d.sync += [
            dropping.eq((dropping | bad) & ~(moves & last)),
            index.eq(
                Mux(reading, Mux(final | last, 0, index + 1), Mux(moves & ~dropping, 0, index))
            ),
        ]
        unfit = self._collect(m, reading, index)
        m.d.comb += self.unfit.eq(unfit | spoilt)
        with m.If(moves):
            m.d.sync += spoilt.eq(reading & self.unfit & ~final & ~last)
        return m

    def _collect(self, m: Module, reading: Signal, index: Signal) -> Signal:
        """Parts of fields as their beats come (those of the last beat pass straight through), and
        whether a word of this beat is unfit."""
        per, last = self.packing.words_per_beat, self.packing.beats - 1
        parts, unfit = [], Signal()
        misfits: list[Value] = [Const(0, 1)] * (last + 1)
        for number, word in enumerate(self.packing.words):
            beat, lane = divmod(number, per)
            value = self.s_axis_tdata.word_select(lane, WORD_BITS)
            misfits[beat] = misfits[beat] | ~fits(word, value)
            part = value[: word.width]
            if beat < last:
                part = Signal(word.width, name=f"part_{word.name}", reset_less=True)
                with m.If(reading & (index == beat)):
                    m.d.sync += part.eq(value)
            parts.append(part)
        m.d.comb += [unfit.eq(chosen(index, dict(enumerate(misfits)))), self.word.eq(Cat(*parts))]
        return unfit


class PacketWriter(wiring.Component):
    """Transfers to packets.

    *Members*: `valid`, `ready`, `word` (the fields side by side) and `ends` (a packet ends with
    this transfer); the stream `m_axis`.

    *Contract*: all outputs of the stream are registers; `tkeep` is all ones. A transfer takes its
    beats and one cycle more.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        super().__init__(
            {
                "valid": In(1),
                "ready": Out(1),
                "word": In(sum(form.width for form in packing.fields.values())),
                "ends": In(1),
            }
            | stream_ports("m_axis", packing.beat_bits, inward=False)
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        beats = self.packing.beats
        index = Signal(range(beats))
        kept = Signal(len(self.word), reset_less=True)
        kept_ends = Signal(reset_less=True)
        full, goes, final = Signal(), Signal(), Signal()
        m.d.comb += [
            self.ready.eq(~full),
            goes.eq(full & (~self.m_axis_tvalid | self.m_axis_tready)),
            final.eq(index == beats - 1),
        ]
        m.d.sync += [
            full.eq(Mux(full, ~(goes & final), self.valid)),
            self.m_axis_tvalid.eq(goes | (self.m_axis_tvalid & ~self.m_axis_tready)),
        ]
        with m.If(self.valid & self.ready):
            m.d.sync += [kept.eq(self.word), kept_ends.eq(self.ends), index.eq(0)]
        with m.If(goes):
            m.d.sync += [
                index.eq(index + 1),
                self.m_axis_tdata.eq(chosen(index, self._beats(kept))),
                self.m_axis_tlast.eq(final & kept_ends),
                self.m_axis_tkeep.eq(-1),
            ]
        return m

    def _beats(self, kept: Signal) -> dict[int, Value]:
        words, per = extended(self.packing, kept), self.packing.words_per_beat
        return {
            beat: Cat(*words[beat * per : (beat + 1) * per]) for beat in range(self.packing.beats)
        }


def extended(packing: Packing, fields: Value) -> list[Value]:
    """The words of 32 bits of a transfer whose fields lie side by side in `fields`."""
    padded = [Const(0, WORD_BITS)] * (packing.beats * packing.words_per_beat)
    at = 0
    for number, word in enumerate(packing.words):
        part = fields[at : at + word.width]
        sign = part[-1] if word.signed else Const(0, 1)
        padded[number] = Cat(part, sign.replicate(WORD_BITS - word.width))
        at += word.width
    return padded
