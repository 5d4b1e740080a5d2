"""A register map as SystemRDL, from which PeakRDL makes header, page and IP-XACT."""

from __future__ import annotations

from collections.abc import Iterator

from hdl.register_map import WORD_BITS, Bits, Block, Register, RegisterMap

COMMON = "kinegate_"
"""In front of the type of a block that every map has, so that drivers know it by name."""

_SOFTWARE = {
    "constant": "sw = r; hw = na;",
    "read": "sw = r; hw = w;",
    "write": "sw = rw; hw = r;",
    "event": "sw = rw; hw = rw; onwrite = woclr;",
    "command": "sw = w; hw = r; singlepulse;",
}


def systemrdl(registers: RegisterMap) -> str:
    """The text of a map; types of common blocks are those of the root."""
    lines = [f"// {registers.text}"]
    for block in registers.blocks:
        if block.common:
            lines += ["", f"regfile {COMMON}{block.name} {{", *_body(block), "};"]
    lines += ["", f"addrmap {registers.name} {{"]
    lines += [f"  {line}" for line in _told(registers.name, registers.text)]
    for block in registers.blocks:
        if block.common:
            lines.append(f"  {COMMON}{block.name} {block.name} @ {block.base:#x};")
        else:
            lines += ["  regfile {", *(f"  {line}" for line in _body(block))]
            lines.append(f"  }} {block.name} @ {block.base:#x};")
    return "\n".join([*lines, "};", ""])


def _told(name: str, text: str) -> list[str]:
    return [f'name = "{name}";', f'desc = "{text}";']


def _body(block: Block) -> Iterator[str]:
    yield from (f"  {line}" for line in _told(block.name, block.text))
    yield f"  default regwidth = {WORD_BITS};"
    for register in block.registers:
        yield from (f"  {line}" for line in _register(register))


def _register(register: Register) -> Iterator[str]:
    yield "reg {"
    yield from (f"  {line}" for line in _told(register.name, register.text))
    for part in register.bits:
        yield f"  field {{ {_SOFTWARE[register.access]} {_field(part)}"
    yield f"}} {register.name} @ {register.offset:#x};"


def _field(part: Bits) -> str:
    high = part.low + part.width - 1
    place = f"{part.name}[{high}:{part.low}] = {part.width}'h{part.reset:x};"
    return f'desc = "{part.text}"; }} {place}'
