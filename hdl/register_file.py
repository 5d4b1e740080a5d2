"""The hardware of a register map: what software writes is kept, what it reads is chosen."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.axi_lite import WORD_ADDRESS_BITS
from hdl.choice import chosen
from hdl.register_map import WORD_BITS, Block, Register, RegisterMap


class RegisterFile(wiring.Component):
    """The registers of a map behind the accesses of `hdl.axi_lite.AxiLite`.

    *Parameters*: the map.

    *Members*: those of the accesses. `port` gives, by the block's and the register's name: of a
    `read` register what it shows (in); of an `event` the bits that happen (in) and those that have
    (out, `kept`); of a `write` register its value (out); of a `command` its pulses (out). `written`
    is high in the cycle in which a `write` register has just been written, strobes or not.

    *Contract*: bytes without a strobe keep their bits; an event that happens while it is cleared
    stays. Only reads of registers, and writes of those that can be written, are good.
    """

    _INWARD = ("read", "event")

    def __init__(self, registers: RegisterMap) -> None:
        self.registers = registers
        members = {
            "write": In(1),
            "write_address": In(WORD_ADDRESS_BITS),
            "write_data": In(WORD_BITS),
            "write_mask": In(WORD_BITS),
            "write_good": Out(1),
            "read_address": In(WORD_ADDRESS_BITS),
            "read_data": Out(WORD_BITS),
            "read_good": Out(1),
        }
        for block, register in registers:
            name = _member(block.name, register.name)
            if register.access != "constant":
                inward = register.access in self._INWARD
                members[name] = In(WORD_BITS) if inward else Out(WORD_BITS)
            if register.access == "event":
                members[f"{name}_kept"] = Out(WORD_BITS)
            if register.access == "write":
                members[f"{name}_written"] = Out(1)
        super().__init__(members)

    def port(self, block: str, register: str) -> Signal:
        return getattr(self, _member(block, register))

    def kept(self, block: str, register: str) -> Signal:
        """The events that have happened and were not cleared."""
        return getattr(self, f"{_member(block, register)}_kept")

    def written(self, block: str, register: str) -> Signal:
        return getattr(self, f"{_member(block, register)}_written")

    def elaborate(self, platform) -> Module:
        m = Module()
        shown = {}
        for block, register in self.registers:
            address = (block.base + register.offset) // (WORD_BITS // 8)
            shown[address] = self._register(m, block, register, address)
        writable = [
            (block.base + register.offset) // (WORD_BITS // 8)
            for block, register in self.registers
            if register.access not in ("constant", "read")
        ]
        m.d.comb += [
            self.read_data.eq(chosen(self.read_address, shown)),
            self.read_good.eq(Cat(self.read_address == address for address in shown).any()),
            self.write_good.eq(Cat(self.write_address == address for address in writable).any()),
        ]
        return m

    def _register(self, m: Module, block: Block, register: Register, address: int) -> Value:
        """What reading the register gives."""
        if register.access == "constant":
            return Const(register.reset, WORD_BITS)
        port = self.port(block.name, register.name)
        if register.access == "read":
            return port
        here = Signal(name=f"{block.name}_{register.name}_here")
        bits = Signal(WORD_BITS, name=f"{block.name}_{register.name}_bits")
        m.d.comb += here.eq(self.write & (self.write_address == address))
        m.d.comb += bits.eq(self.write_mask & here.replicate(WORD_BITS) & register.mask)
        if register.access == "command":
            m.d.sync += port.eq(self.write_data & bits)
            return Const(0, WORD_BITS)
        if register.access == "event":
            kept = self.kept(block.name, register.name)
            m.d.sync += kept.eq((kept & ~(self.write_data & bits)) | (port & register.mask))
            return kept
        value = Signal(WORD_BITS, name=f"{block.name}_{register.name}_value", init=register.reset)
        m.d.sync += [
            value.eq((self.write_data & bits) | (value & ~bits)),
            self.written(block.name, register.name).eq(here),
        ]
        m.d.comb += port.eq(value)
        return value


def _member(block: str, register: str) -> str:
    return f"{block}__{register}"
