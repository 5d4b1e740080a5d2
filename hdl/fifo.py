"""A queue in block RAM: a wide one in distributed RAM is slow to address on some chips."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hdl.reorder import NO_COLLISIONS

BLOCK = NO_COLLISIONS | {"ram_style": "block"}


class BlockFifo(wiring.Component):
    """First in, first out, for a writer that never has more than `depth` words under way.

    *Parameters*: `width`; `depth`, words in memory, beside the one that is presented.

    *Members*: `w_en` stores `w_data`; `r_rdy` (a register) says that `r_data` stands, until a cycle
    with `r_en` takes it. A word written into an empty queue in cycle t is presented in t + 2.
    """

    def __init__(self, *, width: int, depth: int) -> None:
        self.depth = depth
        super().__init__(
            {
                "w_en": In(1),
                "w_data": In(width),
                "r_rdy": Out(1),
                "r_en": In(1),
                "r_data": Out(width),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.storage = storage = Memory(
            shape=self.w_data.shape(), depth=self.depth, init=[], attrs=BLOCK
        )
        write, read = storage.write_port(), storage.read_port()
        stored = Signal(range(self.depth + 1))  # words in the memory
        some, pop = Signal(), Signal()
        level = stored + self.w_en - pop
        m.d.comb += [
            pop.eq(some & (~self.r_rdy | self.r_en)),
            write.en.eq(self.w_en),
            write.data.eq(self.w_data),
            read.en.eq(pop),
            self.r_data.eq(read.data),
        ]
        m.d.sync += [
            stored.eq(level),
            some.eq(level != 0),
            self.r_rdy.eq(pop | (self.r_rdy & ~self.r_en)),
        ]
        for port, moves in ((write, self.w_en), (read, pop)):
            following = Mux(port.addr == self.depth - 1, 0, port.addr + 1)
            at = Signal(range(self.depth))
            m.d.comb += port.addr.eq(at)
            m.d.sync += at.eq(Mux(moves, following, at))
        return m
