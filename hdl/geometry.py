"""The load port of kernels whose geometry is loaded at run time, and the registers behind it.

A word has 32 bits. Address k takes the code of the k-th parameter in two's complement; the address
behind the last one takes the checksum that they are expected to have together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hdl.reorder import NO_COLLISIONS
from hdl.wires import held_width
from solver_ref.fixed import Range
from solver_ref.graph import Parameter
from solver_ref.parameters import CRC_POLYNOMIAL, WORD_BITS, words

ADDRESS_BITS = 8
INSIDE_BITS = 12
"""Of the number of transfers inside a kernel."""


def load_port(parameters: Mapping[str, Parameter]) -> dict[str, In | Out]:
    """The ports of a kernel with these parameters; none without any."""
    if not parameters:
        return {}
    return {
        "geometry_valid": In(1),
        "geometry_ready": Out(1),
        "geometry_address": In(ADDRESS_BITS),
        "geometry_data": In(WORD_BITS),
        "geometry_checksum": Out(WORD_BITS),
        "geometry_agrees": Out(1),
        "geometry_fault": Out(1),
    }


def parameter_port(parameter: Parameter) -> In:
    """A parameter's code in as few bits as it needs, by default the initial one."""
    width = held_width(Range(parameter.lo, parameter.hi, 0))
    return In(unsigned(width), init=parameter.initial & ((1 << width) - 1))


class GeometryRegisters(wiring.Component):
    """The parameters' registers, loaded word by word while no transfer is inside the kernel.

    *Parameters*: the parameters by name, in the order of their addresses.

    *Members*: `valid`, `ready`, `address`, `data`: the stream of words; `enter` and `leave`:
    a transfer does; `busy`: the kernel works although none is inside; `closed`: none may be
    accepted; one `p_<name>` per parameter; `checksum`, `agrees`, `fault`.

    *Contract*: a word that is offered closes the kernel and is taken when it is empty; three cycles
    later the register has it. A code that its parameter cannot take and an address that nothing has
    change nothing and set `fault`, which stays until a reset. After each word, and after a reset,
    the checksum is computed anew, for 33 cycles a parameter; `agrees` is low until it is there and
    equals the expected one. Registers keep what they have through a reset; what they have at first
    are the parameters' initial codes and their checksum.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        if len(parameters) >= 1 << ADDRESS_BITS:
            raise ValueError(f"{len(parameters)} parameters are more than a load port has words")
        self.parameters = dict(parameters)
        *self._words, self._expected = words(parameters)
        super().__init__(
            {
                "valid": In(1),
                "ready": Out(1),
                "address": In(ADDRESS_BITS),
                "data": In(WORD_BITS),
                "enter": In(1),
                "leave": In(1),
                "busy": In(1),
                "closed": Out(1),
                "checksum": Out(WORD_BITS),
                "agrees": Out(1),
                "fault": Out(1),
            }
            | {f"p_{name}": parameter_port(p).flip() for name, p in parameters.items()}
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        self._bits = len(self._words).bit_length()  # of an address that something has
        self._address = Signal(ADDRESS_BITS, reset_less=True)
        self._data = Signal(signed(WORD_BITS), reset_less=True)
        write = self._judged(m, self._taken(m))
        expected = Signal(WORD_BITS, init=self._expected, reset_less=True)
        registers = [getattr(self, f"p_{name}") for name in self.parameters] + [expected]
        for number, register in enumerate(registers):
            value = register
            if register is not expected:
                value = Signal.like(register, name=f"held_{number}", reset_less=True)
                m.d.comb += register.eq(value)
            with m.If(write & (self._address == number)):
                m.d.sync += value.eq(self._data[: len(value)])
        running = self._sum(m, write)
        m.d.sync += self.agrees.eq(~running & ~write & (self.checksum == expected))
        return m

    def _taken(self, m: Module) -> Signal:
        """High in the cycle behind the one in which a word was taken out of its stream."""
        inside, taken = Signal(INSIDE_BITS), Signal()
        self._working = Signal()
        m.d.sync += [
            inside.eq(inside + self.enter - self.leave),
            self.closed.eq(self.valid | self._working),
            taken.eq(self.valid & self.ready),
        ]
        empty = (inside == 0) & ~self.busy
        m.d.comb += self.ready.eq(self.closed & empty & ~self._working)
        with m.If(self.valid & self.ready):
            m.d.sync += [self._address.eq(self.address), self._data.eq(self.data)]
        return taken

    def _judged(self, m: Module, taken: Signal) -> Value:
        """High in the cycle at whose end a word is stored; the address's limits come first."""
        depth, top = 1 << self._bits, (1 << (WORD_BITS - 1)) - 1
        limits = [(p.lo, p.hi) for p in self.parameters.values()] + [(-top - 1, top)]
        limits += [(1, 0)] * (depth - len(limits))  # no code lies between
        rows = [(lo & (2 * top + 1)) | (hi & (2 * top + 1)) << WORD_BITS for lo, hi in limits]
        m.submodules.limits = memory = Memory(shape=2 * WORD_BITS, depth=depth, init=rows)
        read = memory.read_port(domain="comb")
        m.d.comb += read.addr.eq(self._address[: self._bits])
        looked, judged, good = Signal(), Signal(), Signal()
        lo, hi = (Signal(signed(WORD_BITS), name=n, reset_less=True) for n in ("lo", "hi"))
        known = Signal(reset_less=True)
        m.d.sync += [
            Cat(lo, hi).eq(read.data),
            known.eq(self._address[self._bits :] == 0),
            looked.eq(taken),
            judged.eq(looked),
            good.eq(known & (self._data >= lo) & (self._data <= hi)),
            self.fault.eq(self.fault | (judged & ~good)),
        ]
        m.d.comb += self._working.eq(taken | looked | judged)
        return judged & good

    def _sum(self, m: Module, write: Value) -> Signal:
        """High while the checksum is computed, bit by bit from a copy of the words."""
        count = len(self._words)
        memory = Memory(shape=WORD_BITS, depth=count + 1, init=self._words, attrs=NO_COLLISIONS)
        m.submodules.words = memory
        into, read = memory.write_port(), memory.read_port()
        at, bit = Signal(range(count)), Signal(range(WORD_BITS))
        running, fetch, crc = Signal(init=1), Signal(init=1), Signal(WORD_BITS, init=-1)
        following = Signal(WORD_BITS)
        flip = crc[0] ^ read.data.bit_select(bit, 1)
        m.d.comb += [
            into.addr.eq(self._address[: len(into.addr)]),
            into.data.eq(self._data),
            into.en.eq(write),
            read.addr.eq(at),
            following.eq(crc[1:] ^ Mux(flip, CRC_POLYNOMIAL, 0)),
        ]
        with m.If(write):
            m.d.sync += [running.eq(1), fetch.eq(1), at.eq(0), bit.eq(0), crc.eq(-1)]
        with m.Elif(running & fetch):
            m.d.sync += fetch.eq(0)
        with m.Elif(running):
            m.d.sync += [crc.eq(following), bit.eq(bit + 1)]
            with m.If(bit == WORD_BITS - 1):
                m.d.sync += [fetch.eq(1), at.eq(at + 1)]
                with m.If(at == count - 1):
                    m.d.sync += [running.eq(0), self.checksum.eq(~following)]
        return running


def connect(
    m: Module, kernel, parameters: Mapping[str, Parameter], pipelines: Iterable, busy: Value | int
) -> Value:
    """Puts the registers between a kernel's load port and its pipelines.

    Returns whether the kernel may accept a transfer in this cycle.
    """
    m.submodules.geometry = registers = GeometryRegisters(parameters)
    for name in ("valid", "address", "data"):
        m.d.comb += getattr(registers, name).eq(getattr(kernel, f"geometry_{name}"))
    for name in ("ready", "checksum", "agrees", "fault"):
        m.d.comb += getattr(kernel, f"geometry_{name}").eq(getattr(registers, name))
    m.d.comb += [
        registers.enter.eq(kernel.i_valid & kernel.i_ready),
        registers.leave.eq(kernel.o_valid & kernel.o_ready),
        registers.busy.eq(busy),
    ]
    for pipeline in pipelines:
        for name in pipeline.graph.parameters:
            m.d.comb += getattr(pipeline, f"p_{name}").eq(getattr(registers, f"p_{name}"))
    return ~registers.closed
