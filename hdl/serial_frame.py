"""Frames of the serial link (`hdl.serial_map`) from bytes, and bytes from frames."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.choice import chosen
from hdl.packing import WORD_BITS
from hdl.serial_map import CRC, MOST_WORDS, SYNC, WORD_BYTES, Kind, Refusal
from hdl.uart import BITS


class _At(enum.IntEnum):
    """What the next byte of a frame is."""

    START = 0
    KIND = 1
    SEQUENCE = 2
    COUNT = 3
    WORDS = 4
    CRC_HIGH = 5
    CRC_LOW = 6
    END = 7


class FrameReader(wiring.Component):
    """Bytes to frames.

    *Parameters*: the words of each kind of frame that is taken; `quiet`, the clock cycles without a
    byte after which a frame is given up.

    *Members*: `data`, `valid`, `broken` (what came instead of a byte); `full`: no new frame can be
    taken; for one cycle each: `begin`, when the head of a frame was read; `step`, when a `word` is
    complete that another one follows; `good`, at the end of a frame whose CRC is right, when `word`
    is its last one; `refused`, with a `reason` (`Refusal`). `kind` and `sequence` are the frame's.

    *Contract*: a byte every third cycle at most. What is no frame is skipped, up to a `SYNC` with a
    known kind behind it. After a refusal the next `SYNC` begins a frame, be it inside the refused
    one. `word` stays until the words of the next frame, `sequence` until its head.
    """

    def __init__(self, words: Mapping[Kind, int], *, quiet: int) -> None:
        self.words, self.quiet = dict(words), quiet
        inward = ("valid", "broken", "full")
        pulses = ("begin", "step", "good", "refused")
        super().__init__(
            {"data": In(BITS)}
            | {name: In(1) for name in inward}
            | {name: Out(1) for name in pulses}
            | {"word": Out(WORD_BITS), "kind": Out(BITS), "sequence": Out(BITS)}
            | {"reason": Out(BITS)}
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC(data_width=BITS).create()
        at = Signal(_At)
        m.d.comb += [
            crc.data.eq(self.data),
            crc.valid.eq(self.valid & (at != _At.START)),
            # Of two SYNC the second one may be the true one.
            crc.start.eq((at == _At.START) | ((at == _At.KIND) & (self.data == SYNC))),
        ]
        m.d.sync += [pulse.eq(0) for pulse in (self.begin, self.step, self.good, self.refused)]
        with m.If(self.valid):
            with m.Switch(at):
                left, lane = Signal(range(MOST_WORDS + 1)), Signal(range(WORD_BYTES))
                self._head(m, at)
                self._count(m, at, left, lane)
                self._rest(m, at, left, lane)
        with m.If(at == _At.END):
            m.d.sync += [at.eq(_At.START), self.good.eq(crc.match_detected)]
            self._refuse(m, at, ~crc.match_detected, Refusal.BAD_CRC)
        self._break_off(m, at)
        return m

    def _head(self, m: Module, at: Signal) -> None:
        known = Cat(*(self.data == kind for kind in self.words)).any()
        with m.Case(_At.START):
            with m.If(self.data == SYNC):
                m.d.sync += at.eq(_At.KIND)
        with m.Case(_At.KIND):
            m.d.sync += self.kind.eq(self.data)
            with m.If(known):
                m.d.sync += at.eq(_At.SEQUENCE)
            with m.Elif(self.data != SYNC):
                m.d.sync += at.eq(_At.START)
        with m.Case(_At.SEQUENCE):
            m.d.sync += [self.sequence.eq(self.data), at.eq(_At.COUNT)]

    def _count(self, m: Module, at: Signal, left: Signal, lane: Signal) -> None:
        wrong = self.data != chosen(self.kind, self.words)
        with m.Case(_At.COUNT):
            m.d.sync += [
                left.eq(self.data),
                lane.eq(0),
                self.begin.eq(~wrong & ~self.full),
                at.eq(Mux(self.data == 0, _At.CRC_HIGH, _At.WORDS)),
            ]
            self._refuse(m, at, self.full, Refusal.OVERRUN)
            self._refuse(m, at, wrong, Refusal.WRONG_LENGTH)

    def _rest(self, m: Module, at: Signal, left: Signal, lane: Signal) -> None:
        with m.Case(_At.WORDS):
            m.d.sync += [self.word.eq(Cat(self.word[BITS:], self.data)), lane.eq(lane + 1)]
            with m.If(lane == WORD_BYTES - 1):
                m.d.sync += [left.eq(left - 1), self.step.eq(left != 1)]
                with m.If(left == 1):
                    m.d.sync += at.eq(_At.CRC_HIGH)
        with m.Case(_At.CRC_HIGH):
            m.d.sync += at.eq(_At.CRC_LOW)
        with m.Case(_At.CRC_LOW):
            m.d.sync += at.eq(_At.END)

    def _break_off(self, m: Module, at: Signal) -> None:
        """Leaves a frame whose next byte is broken, or does not come."""
        silence, over = Signal(range(self.quiet + 1)), Signal(init=1)
        # Up from zero: a value with ones would be set in registers of another kind than the rest
        # has, which breaks the carry chain on iCE40 (21 MHz).
        m.d.sync += [
            silence.eq(Mux(self.valid, 0, silence + 1)),
            over.eq(~self.valid & (over | (silence == self.quiet))),
        ]
        inside = (at != _At.START) & (at != _At.KIND) & (at != _At.SEQUENCE)
        self._refuse(m, at, self.broken & inside, Refusal.BROKEN_BYTE)
        with m.If((self.broken | over) & ~self.valid):
            m.d.sync += at.eq(_At.START)

    def _refuse(self, m: Module, at: Signal, condition, reason: Refusal) -> None:
        with m.If(condition):
            m.d.sync += [self.refused.eq(1), self.reason.eq(reason), at.eq(_At.START)]


class FrameWriter(wiring.Component):
    """Frames to bytes.

    *Members*: `begin`, for one cycle while `idle`, starts a frame with `kind`, `sequence` and
    `count` words, which stay until it is `idle` again; `word`, and for one cycle `step`, when it
    was taken: the next one has to be there in the next cycle; `data`, `valid`, `ready`: the bytes.
    """

    def __init__(self) -> None:
        super().__init__(
            {"begin": In(1), "idle": Out(1), "word": In(WORD_BITS), "step": Out(1)}
            | {"kind": In(BITS), "sequence": In(BITS), "count": In(BITS)}
            | {"data": Out(BITS), "valid": Out(1), "ready": In(1)}
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC(data_width=BITS).create()
        at, moves = Signal(_At, init=_At.END), Signal()
        left, lane = Signal(range(MOST_WORDS + 1)), Signal(range(WORD_BYTES))
        spoken = {
            _At.START: SYNC,
            _At.KIND: self.kind,
            _At.SEQUENCE: self.sequence,
            _At.COUNT: self.count,
            _At.WORDS: self.word.word_select(lane, BITS),
            _At.CRC_HIGH: crc.crc[BITS:],
            _At.CRC_LOW: crc.crc[:BITS],
        }
        last_byte = lane == WORD_BYTES - 1
        m.d.comb += [
            self.idle.eq(at == _At.END),
            self.valid.eq(~self.idle),
            self.data.eq(chosen(at, spoken)),
            moves.eq(self.valid & self.ready),
            crc.data.eq(self.data),
            crc.start.eq(at == _At.START),
            crc.valid.eq(moves & (at != _At.START) & (at != _At.CRC_HIGH)),
            self.step.eq(moves & (at == _At.WORDS) & last_byte),
        ]
        with m.If(self.begin):
            m.d.sync += [at.eq(_At.START), lane.eq(0)]
        with m.If(moves):
            m.d.sync += at.eq(at + 1)
            with m.If(at == _At.COUNT):
                m.d.sync += left.eq(self.count)
                with m.If(self.count == 0):
                    m.d.sync += at.eq(_At.CRC_HIGH)
            with m.If(at == _At.WORDS):
                m.d.sync += [at.eq(_At.WORDS), lane.eq(lane + 1)]
        with m.If(self.step):
            m.d.sync += left.eq(left - 1)
            with m.If(left == 1):
                m.d.sync += at.eq(_At.CRC_HIGH)
        return m
