"""A register map as data: what the hardware decodes, the drivers use and the pages show.

Registers have 32 bits and lie in blocks; the address of a register is its block's base and its
offset. `hdl.register_file` makes the hardware of a map, `boards.systemrdl` its SystemRDL.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

WORD_BITS = 32
ADDRESS_BITS = 12
"""Of a byte address: a map fills at most one page of memory."""

Access = Literal["constant", "read", "write", "event", "command"]
"""`constant`: what is read never changes; `read`: the hardware's; `write`: the software's, which it
reads back; `event`: bits that the hardware sets and writing 1 clears; `command`: writing 1 is one
pulse, and it reads as 0."""

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Bits:
    """`width` bits of a register from `low` on, what they mean, and what they are after a reset."""

    name: str
    low: int
    width: int
    text: str
    reset: int = 0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"bits need a plain name, not {self.name!r}")
        if self.low < 0 or self.width < 1 or self.low + self.width > WORD_BITS:
            raise ValueError(f"{self.name} has bits outside a word: {self.width} from {self.low}")
        if self.reset >> self.width:
            raise ValueError(f"{self.name} of {self.width} bits cannot be {self.reset} at first")


@dataclass(frozen=True)
class Register:
    """One word of a block."""

    name: str
    offset: int
    access: Access
    text: str
    bits: tuple[Bits, ...]

    def __post_init__(self) -> None:
        if self.offset % (WORD_BITS // 8):
            raise ValueError(f"{self.name} lies at {self.offset:#x}, which is no word's address")
        used = 0
        for part in self.bits:
            mask = ((1 << part.width) - 1) << part.low
            if used & mask:
                raise ValueError(f"{self.name}.{part.name} shares bits with another part")
            used |= mask

    @property
    def mask(self) -> int:
        """The bits that mean something."""
        return sum(((1 << part.width) - 1) << part.low for part in self.bits)

    @property
    def reset(self) -> int:
        return sum(part.reset << part.low for part in self.bits)

    def part(self, name: str) -> Bits:
        return next(part for part in self.bits if part.name == name)


@dataclass(frozen=True)
class Block:
    """Registers from `base` on. `common`: whether every map has just this block."""

    name: str
    base: int
    text: str
    registers: tuple[Register, ...]
    common: bool = False

    def __getitem__(self, name: str) -> Register:
        return next(register for register in self.registers if register.name == name)


@dataclass(frozen=True)
class RegisterMap:
    """All blocks. ValueError where two registers have one address, or one lies beyond the page."""

    name: str
    text: str
    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        taken: dict[int, str] = {}
        for block, register in self:
            address, path = block.base + register.offset, f"{block.name}.{register.name}"
            if address >> ADDRESS_BITS:
                raise ValueError(f"{path} lies at {address:#x}, beyond {ADDRESS_BITS} bits")
            if address in taken:
                raise ValueError(f"{path} and {taken[address]} both lie at {address:#x}")
            taken[address] = path

    def __iter__(self) -> Iterator[tuple[Block, Register]]:
        for block in self.blocks:
            for register in block.registers:
                yield block, register

    def __getitem__(self, name: str) -> Block:
        return next(block for block in self.blocks if block.name == name)

    def address(self, block: str, register: str) -> int:
        return self[block].base + self[block][register].offset

    @property
    def digest(self) -> int:
        """32 bits that change when any name, address, access or width does; not with resets."""
        facts = [
            (block.name, block.base + register.offset, register.name, register.access)
            + tuple((part.name, part.low, part.width) for part in register.bits)
            for block, register in self
        ]
        return int(hashlib.sha256(repr(facts).encode()).hexdigest()[:8], 16)
