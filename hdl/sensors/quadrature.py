"""An incremental encoder's two tracks and its index, to a signed count of every edge (x4).

Latency: an edge is counted `latency` cycles after it came to the pins, if the level then stays.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

SYNCHRONISER_STAGES = 2


class GlitchFilter(wiring.Component):
    """A level that changes once its input has differed for `samples` cycles in a row.

    Members: `i`, synchronous to the clock; `o`, `samples` cycles behind it.
    """

    def __init__(self, samples: int) -> None:
        if samples < 1:
            raise ValueError(f"a glitch filter needs at least 1 sample, not {samples}")
        self.samples = samples
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        seen = Signal(range(self.samples))
        differs = self.i != self.o
        full = seen == self.samples - 1
        m.d.sync += [
            seen.eq(Mux(differs & ~full, seen + 1, 0)),
            self.o.eq(Mux(differs & full, self.i, self.o)),
        ]
        return m


class QuadratureDecoder(wiring.Component):
    """Counts up where track A leads B, down where B leads A.

    Parameters: `width`, bits of the count, which wraps; `samples` of the glitch filter.

    Members: `a`, `b`, `index`, asynchronous; `arm`, so that the next rising edge of the index makes
    the count 0; `clear`, which lowers `error`; `count`; `homed`, the index was met since `arm`;
    `error`, both tracks changed in one cycle, so that the count is lost: it stays until `clear`.

    After a reset the filters start low: the tracks' first levels are taken over uncounted, once
    they have had the time to come through.
    """

    def __init__(self, *, width: int = 32, samples: int = 4) -> None:
        if width < 2:
            raise ValueError(f"a signed count needs at least 2 bits, not {width}")
        self.width, self.samples = width, samples
        super().__init__(
            {name: In(1) for name in ("a", "b", "index", "arm", "clear")}
            | {"count": Out(signed(width)), "homed": Out(1), "error": Out(1)}
        )

    @property
    def latency(self) -> int:
        return SYNCHRONISER_STAGES + self.samples + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        filters = [GlitchFilter(self.samples) for _ in range(3)]
        m.submodules += filters
        for pin, filtered in zip((self.a, self.b, self.index), filters, strict=True):
            m.submodules += FFSynchronizer(pin, filtered.i, stages=SYNCHRONISER_STAGES)
        a, b, index = (filtered.o for filtered in filters)
        before = Signal(3)
        m.d.sync += before.eq(Cat(a, b, index))
        starting = Signal(range(self.latency + 1), init=self.latency)
        m.d.sync += starting.eq(Mux(starting == 0, 0, starting - 1))
        running = starting == 0
        moved_a, moved_b = running & (a != before[0]), running & (b != before[1])
        # A leads where, at an edge, A's new level is not B's old one.
        step = Mux(moved_a ^ moved_b, Mux(a ^ before[1], 1, -1), 0)
        waiting = Signal()
        met = running & waiting & index & ~before[2]
        m.d.sync += [
            waiting.eq(self.arm | (waiting & ~met)),
            self.homed.eq((self.homed | met) & ~self.arm),
            self.count.eq(Mux(met, 0, self.count + step)),
            self.error.eq((self.error & ~self.clear) | (moved_a & moved_b)),
        ]
        return m
