"""Bytes on a serial line: 8 data bits, the lowest first, no parity, one stop bit (8N1)."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

LEAST_DIVIDER = 8
"""Clock cycles of a bit: fewer leave the middle of a bit too far from where it is sampled."""
LARGEST_DIVIDER = 1 << 16
LARGEST_BAUD_ERROR = 0.01
"""Relative, of the whole number of cycles that a bit takes. A receiver bears 5 % over a byte, which
both ends, their oscillators and the slopes on the wire share."""
BITS = 8
FRAME_BITS = BITS + 2
"""With the start and the stop bit."""


def bit_cycles(*, clock_hz: float, baud: float) -> int:
    """The clock cycles of a bit.

    ValueError where that is no whole number, within 1 %, of at least 8 and at most 65,536.
    """
    wanted = clock_hz / baud
    cycles = round(wanted)
    if not LEAST_DIVIDER <= cycles <= LARGEST_DIVIDER:
        limits = f"{clock_hz / LARGEST_DIVIDER:.0f} and {clock_hz / LEAST_DIVIDER:.0f} baud"
        raise ValueError(
            f"a clock of {clock_hz / 1e6:g} MHz carries between {limits}, not {baud:.0f}"
        )
    if abs(cycles / wanted - 1) > LARGEST_BAUD_ERROR:
        near = f"{clock_hz / (int(wanted) + 1):.0f} or {clock_hz / int(wanted):.0f} baud"
        raise ValueError(
            f"a bit of {baud:.0f} baud takes {wanted:.2f} cycles of {clock_hz / 1e6:g} MHz, more "
            f"than 1 % from a whole number, which {near} take"
        )
    return cycles


class UartReceiver(wiring.Component):
    """A line to bytes.

    *Parameters*: the clock cycles of a bit.

    *Members*: `rx`, which may change at any time; `valid`, high for one cycle, with the byte in
    `data`; `error`, high for one cycle: the stop bit of a byte was 0, and the byte is lost.

    *Contract*: a bit is the majority of three samples in a row in its middle, so a glitch of one
    cycle is not seen; a start bit that is over before its middle is none. The byte comes in the
    middle of its stop bit, and the next start bit may follow at once: an edge that comes early by
    up to half a bit is caught. After an error the line has to be 1 before the next byte.
    """

    def __init__(self, divider: int) -> None:
        self.divider = divider
        super().__init__({"rx": In(1), "data": Out(BITS), "valid": Out(1), "error": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        line = self._line(m)
        phase = Signal(range(self.divider))
        left = Signal(range(FRAME_BITS + 1))  # bits yet to be sampled; 0 between bytes
        released, sampled = Signal(init=1), Signal()
        m.d.comb += sampled.eq((left != 0) & (phase == 0))
        m.d.sync += [
            self.valid.eq(sampled & (left == 1) & line),
            self.error.eq(sampled & (left == 1) & ~line),
            released.eq(released | line),
        ]
        with m.If(left == 0):
            with m.If(~line & released):
                m.d.sync += [left.eq(FRAME_BITS), phase.eq(self.divider // 2 - 1)]
        with m.Else():
            m.d.sync += phase.eq(Mux(sampled, self.divider - 1, phase - 1))
        with m.If(sampled):
            m.d.sync += left.eq(Mux((left == FRAME_BITS) & line, 0, left - 1))
            with m.If(left == 1):
                m.d.sync += released.eq(line)
            with m.Else():
                m.d.sync += self.data.eq(Cat(self.data[1:], line))
        return m

    def _line(self, m: Module) -> Signal:
        """The line in this clock, without glitches of one cycle."""
        now, before, older = (Signal(init=1, name=name) for name in ("now", "before", "older"))
        line = Signal(init=1)
        m.submodules.synchroniser = FFSynchronizer(self.rx, now, init=1)
        m.d.sync += [before.eq(now), older.eq(before)]
        m.d.comb += line.eq((now & before) | (now & older) | (before & older))
        return line


class UartTransmitter(wiring.Component):
    """Bytes to a line.

    *Parameters*: the clock cycles of a bit.

    *Members*: `data` and `valid`, which is taken in a cycle in which `ready` is high too; `tx`.

    *Contract*: `tx` is a register. Bytes that are there in time follow each other without a gap.
    """

    def __init__(self, divider: int) -> None:
        self.divider = divider
        super().__init__({"data": In(BITS), "valid": In(1), "ready": Out(1), "tx": Out(1, init=1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        phase = Signal(range(self.divider))
        left = Signal(range(FRAME_BITS + 1))  # bits on the line and to come; 0 between bytes
        word = Signal(BITS + 1, reset_less=True)
        over = Signal()
        m.d.comb += [over.eq(phase == 0), self.ready.eq(over & (left <= 1))]
        m.d.sync += phase.eq(Mux(over, Mux(left > 1, self.divider - 1, 0), phase - 1))
        with m.If(self.valid & self.ready):
            m.d.sync += [
                self.tx.eq(0),
                word.eq(Cat(self.data, 1)),
                left.eq(FRAME_BITS),
                phase.eq(self.divider - 1),
            ]
        with m.Elif(over & (left != 0)):
            m.d.sync += [left.eq(left - 1)]
            with m.If(left > 1):
                m.d.sync += [self.tx.eq(word[0]), word.eq(word[1:])]
        return m
