"""A memory that results enter in any order and leave in the order in which places were given."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

# Tells Yosys that no memory here is read and written at one address in one cycle. Without it, block
# RAM gets logic for that case (ECP5, 128 words of 200 bits: 400 flip-flops and about 200 LUTs).
NO_COLLISIONS = {"no_rw_check": 1}


class ReorderBuffer(wiring.Component):
    """Gives out places in order, takes a result for each of them, and presents them in order.

    *Parameters*: `width` of a result, `tag_width`, `depth`: places, a power of two.

    *Members*: `room` says that a place is free (a register); `place` is the one that `take` gives
    out, together with its `take_tag`. `write` stores `result` at `at`, once per place given out.
    `o_valid`, `o_ready`, `o_result`, `o_tag`: the output stream; `o_valid` is a register. A place
    is free again when its result moves to the output register. A result written in cycle t into
    the oldest place is presented in cycle t + 2 when nothing is in front of it.
    """

    def __init__(self, *, width: int, tag_width: int, depth: int) -> None:
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 2 on, not {depth}")
        self.depth = depth
        bits = depth.bit_length() - 1
        super().__init__(
            {
                "room": Out(1),
                "place": Out(bits),
                "take": In(1),
                "take_tag": In(tag_width),
                "write": In(1),
                "at": In(bits),
                "result": In(width),
                "o_valid": Out(1),
                "o_ready": In(1),
                "o_result": Out(width),
                "o_tag": Out(tag_width),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        head = Signal.like(self.place)
        there = Signal(self.depth)  # places whose result has been written
        pop = Signal()
        m.d.comb += pop.eq(there.bit_select(head, 1) & (~self.o_valid | self.o_ready))
        m.d.sync += [
            self.place.eq(self.place + self.take),
            head.eq(head + pop),
            self.o_valid.eq(pop | (self.o_valid & ~self.o_ready)),
        ]
        with m.If(self.write):
            m.d.sync += there.bit_select(self.at, 1).eq(1)
        with m.If(pop):
            m.d.sync += there.bit_select(head, 1).eq(0)

        used = Signal(range(self.depth + 1))
        m.d.sync += used.eq(used + self.take - pop)
        m.d.comb += self.room.eq(~used[-1])

        self._store(m, "results", (self.write, self.at, self.result), (pop, head, self.o_result))
        self._store(m, "tags", (self.take, self.place, self.take_tag), (pop, head, self.o_tag))
        return m

    def _store(self, m: Module, name: str, write: tuple, read: tuple) -> None:
        """A memory with a write port and a registered read port, each (enable, address, data)."""
        memory = Memory(shape=write[2].shape(), depth=self.depth, init=[], attrs=NO_COLLISIONS)
        m.submodules[name] = memory
        w_port, r_port = memory.write_port(), memory.read_port()
        m.d.comb += [
            w_port.en.eq(write[0]),
            w_port.addr.eq(write[1]),
            w_port.data.eq(write[2]),
            r_port.en.eq(read[0]),
            r_port.addr.eq(read[1]),
            read[2].eq(r_port.data),
        ]
