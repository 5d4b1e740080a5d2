"""The register map of the AXI shell: one description for hardware, drivers and pages.

The blocks `control` and `watch` are the same for every kernel; `inputs` and `outputs` have a
register for each word of its fields (`hdl.packing`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property

from hdl.packing import Packing, Word
from hdl.register_map import WORD_BITS, Access, Bits, Block, Register, RegisterMap
from solver_ref.status import Status

IDENTITY = 0x4B474158
"""The letters KGAX: the first thing that a driver reads."""
VERSION = (1, 0)
"""Of the block `control`: major and minor."""
SETTINGS = ("policy", "lambda")
"""Fields that a control bit takes from registers for all transfers of the stream."""
ALL_ONES = (1 << WORD_BITS) - 1

CONTROL, WATCH, INPUTS, OUTPUTS = 0x000, 0x100, 0x400, 0x800

STATUS_EVENTS = tuple(bit.name.lower() for bit in Status)
EVENTS = {
    **{bit.name.lower(): f"a result said {bit.name}" for bit in Status},
    "failed": "a result was not VALID",
    "solved": "the result of a one-shot solve stands in the block outputs",
    "short_packet": "a packet of the input stream ended inside a transfer and was dropped",
    "long_packet": "a packet of the input stream went on behind its transfer and was dropped",
    "null_bytes": "a packet of the input stream had a beat without all its bytes and was dropped",
    "unfit": "an input was no code of its field: its result says OUT_OF_RANGE",
    "late": "a latency was above latency_limit",
    "inexact": "a residual was above residual_limit",
    "geometry_fault": "a word of geometry was refused, the first one since the reset",
    "lost": "a solve or a word of geometry was asked for before the one before was done",
}

COUNTED = ("short_packet", "long_packet", "null_bytes", "unfit")


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the constant registers say of a design: 32 bits of the digests of its options and of its
    geometry, and how many words its geometry takes (none where it is built in)."""

    design: int
    geometry: int
    geometry_words: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class AxiInterface:
    """A kernel's AXI shell as it looks from outside: its packets and its registers."""

    name: str
    inputs: Packing
    outputs: Packing
    facts: Facts

    @cached_property
    def registers(self) -> RegisterMap:
        return axi_map(self.name, self.inputs, self.outputs, self.facts)


def axi_map(name: str, inputs: Packing, outputs: Packing, facts: Facts) -> RegisterMap:
    """The map of a kernel with such fields."""
    text = f"Registers of {name}: identity, control, observation, and a solve through registers."
    blocks = (
        Block("control", CONTROL, "Identity, control, state and events.", _control(facts), True),
        Block("watch", WATCH, "What was seen since the counters were cleared.", _watch(), True),
        _fields("inputs", INPUTS, "The inputs of a one-shot solve, and the settings.", inputs),
        _fields("outputs", OUTPUTS, "The outputs of the last one-shot solve.", outputs),
    )
    made = RegisterMap(name, text, blocks)
    control, *others = blocks
    found = _with_reset(control, "map", made.digest)
    shape = control["shape"]
    counts = (len(inputs.words), len(outputs.words), inputs.beat_bits // 8, facts.geometry_words)
    sizes = sum(count << part.low for count, part in zip(counts, shape.bits, strict=True))
    return RegisterMap(name, text, (_with_reset(found, "shape", sizes), *others))


def _with_reset(block: Block, name: str, reset: int) -> Block:
    """The block with other values in one of its constant registers."""

    def changed(register: Register) -> Register:
        parts = (
            dataclasses.replace(part, reset=(reset >> part.low) & ((1 << part.width) - 1))
            for part in register.bits
        )
        return dataclasses.replace(register, bits=tuple(parts))

    registers = (changed(r) if r.name == name else r for r in block.registers)
    return dataclasses.replace(block, registers=tuple(registers))


class _Column:
    """Registers one behind the other."""

    def __init__(self) -> None:
        self.registers: list[Register] = []

    def word(self, name: str, access: Access, text: str, reset: int = 0) -> None:
        """A register that is one number."""
        bits = (Bits("value", 0, WORD_BITS, text, reset),)
        self.parts(name, access, text, bits)

    def parts(self, name: str, access: Access, text: str, bits: Iterable[Bits]) -> None:
        offset = len(self.registers) * WORD_BITS // 8
        self.registers.append(Register(name, offset, access, text, tuple(bits)))

    def flags(self, name: str, access: Access, text: str, flags: dict[str, str]) -> None:
        """A register of single bits, from the lowest one on."""
        bits = (Bits(flag, low, 1, meaning) for low, (flag, meaning) in enumerate(flags.items()))
        self.parts(name, access, text, bits)


def _control(facts: Facts) -> tuple[Register, ...]:
    column = _Column()
    _identify(column, facts)
    _steer(column)
    column.flags("event", "event", "What has happened; writing 1 to a bit clears it.", EVENTS)
    text = "Which events drive the interrupt, which is high until they are cleared."
    column.flags("interrupt", "write", text, EVENTS)
    column.word("geometry_address", "write", "Which word of geometry the next one is.")
    column.word("geometry_data", "write", "Writing it, whatever the strobes, loads the word.")
    column.word("latency_limit", "write", "Cycles above which a result is late.", ALL_ONES)
    text = "Code of the residual above which a result is inexact."
    column.word("residual_limit", "write", text, ALL_ONES)
    return tuple(column.registers)


def _identify(column: _Column, facts: Facts) -> None:
    """What the hardware is."""
    column.word("identity", "constant", "The letters KGAX, in every design.", IDENTITY)
    column.parts(
        "version",
        "constant",
        "Of this block: drivers need the same major and at least their minor one.",
        (
            Bits("minor", 0, 16, "grows with what is added", VERSION[1]),
            Bits("major", 16, 16, "grows with what is changed", VERSION[0]),
        ),
    )
    column.word("map", "constant", "Digest of the names, places and widths of all registers.")
    column.word("design", "constant", "Digest of the robot and all options.", facts.design)
    column.word(
        "geometry",
        "read",
        "Digest of the geometry: the checksum of the words that are loaded, or where it is built "
        "in the first 32 bits of the robot's digest.",
    )
    column.parts(
        "shape",
        "constant",
        "Sizes.",
        (
            Bits("input_words", 0, 8, "registers of the block inputs"),
            Bits("output_words", 8, 8, "registers of the block outputs"),
            Bits("beat_bytes", 16, 8, "bytes of a beat of either stream"),
            Bits("geometry_words", 24, 8, "words of geometry that can be loaded; 0 where built in"),
        ),
    )


def _steer(column: _Column) -> None:
    """What it shall do, how, and what it is doing."""
    column.flags(
        "command",
        "command",
        "Writing 1 does it once.",
        {"solve": "solve what the block inputs has", "clear": "clear the block watch"},
    )
    column.flags(
        "mode",
        "write",
        "How it works.",
        {
            "pause": "no transfer enters the kernel, neither of the stream nor of a solve",
            "batch": "a packet may hold several transfers; its last result ends a packet out",
            "settings": "transfers of the stream take policy and lambda from the block inputs",
        },
    )
    column.flags(
        "state",
        "read",
        "What it is doing.",
        {
            "solving": "a one-shot solve is under way",
            "paused": "the pause is in force; what is in the kernel may still be under way",
            "loading": "a word of geometry waits until no transfer is inside the kernel",
            "agrees": "the geometry that is loaded has the checksum that came with it",
        },
    )


def _watch() -> tuple[Register, ...]:
    column = _Column()
    column.word("cycles_low", "read", "Clock cycles since the reset, low word.")
    column.word("cycles_high", "read", "Their high word.")
    column.word("results", "read", "Results since the counters were cleared.")
    column.word("failures", "read", "Those that were not VALID.")
    for name in STATUS_EVENTS:
        column.word(f"count_{name}", "read", f"Results that said {name.upper()}.")
    for name in COUNTED:
        column.word(f"count_{name}", "read", f"How often {EVENTS[name]}.")
    column.word("latency_last", "read", "Cycles from a transfer into the kernel to its result.")
    column.word("latency_min", "read", "The smallest one; all ones without any result.", ALL_ONES)
    column.word("latency_max", "read", "The largest one.")
    column.word("status_last", "read", "Status word of the last result.")
    column.word(
        "iterations_last", "read", "Iterations of the last result (0 without such a field)."
    )
    column.word("iterations_max", "read", "The most iterations of any result.")
    column.word("residual_last", "read", "Residual of the last result, its code (0 without one).")
    column.word("residual_max", "read", "The largest residual of any result, its code.")
    column.word("solve_latency", "read", "The latency of the last one-shot solve.")
    return tuple(column.registers)


def _fields(name: str, base: int, text: str, packing: Packing) -> Block:
    column = _Column()
    access: Access = "write" if name == "inputs" else "read"
    for word in packing.words:
        column.word(word.name, access, _meaning(packing, word))
    return Block(name, base, text, tuple(column.registers))


def _meaning(packing: Packing, word: Word) -> str:
    form = packing.fields[word.field]
    part = "" if word.name == word.field else f", bits {word.low} and above"
    return f"Code of {word.field}, {form}, worth 2^{-form.fraction}{part}."
