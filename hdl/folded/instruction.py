"""What one instruction of the folded core does.

Y = ((C << lift) op X) >> drop, where X = source >> shift of the operands A and B. Every value is an
integer code; binary points are the compiler's affair. All operations of a graph come down to these
(`hdl.folded.lowering`, `hdl.folded.selection`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

WORD = 64
"""Bits of the word in which leading zeros are counted."""


class Source(IntEnum):
    """What is shifted: A, A * B, A << word, the zeros above A's first one, or a table's entry."""

    PASS = 0
    PRODUCT = 1
    LEFT = 2
    ZEROS = 3
    TABLE = 4


class Operation(IntEnum):
    """How C and X give the result. SELECT: X where bit 0 of B is set, else C; LIMIT: X, but B where
    it is less than that and C where it is more than that."""

    ADD = 0
    SUBTRACT = 1
    REVERSE = 2
    MINIMUM = 3
    MAXIMUM = 4
    LESS = 5
    DIFFERS = 6
    SELECT = 7
    LIMIT = 8


@dataclass(frozen=True)
class Instruction:
    """One instruction over values by name (later: by memory cell).

    *Fields*

    - ``a``, ``b``, ``c``: the operands; None where none is read.
    - ``shift``: how far the source moves right; of LEFT how far A moves left, of TABLE which table.
    - ``varying``: the shift is B's code instead.
    - ``even``: what is shifted out rounds to the nearest, ties to even, instead of to floor.
    - ``lift``: C counts twice; ``drop``: the result is halved, to floor.
    """

    result: int
    operation: Operation
    source: Source = Source.PASS
    a: int | None = None
    b: int | None = None
    c: int | None = None
    shift: int = 0
    varying: bool = False
    even: bool = False
    lift: bool = False
    drop: bool = False

    @property
    def operands(self) -> tuple[int, ...]:
        """The values it reads, each once."""
        return tuple(dict.fromkeys(v for v in (self.a, self.b, self.c) if v is not None))


def execute(
    instruction: Instruction,
    a: int,
    b: int,
    c: int,
    *,
    tables: tuple[tuple[int, ...], ...] = (),
) -> int:
    """The result's code from its operands', exactly."""
    x = _shifted(instruction, a, b, tables)
    c = c << instruction.lift
    match instruction.operation:
        case Operation.ADD:
            y = c + x
        case Operation.SUBTRACT:
            y = c - x
        case Operation.REVERSE:
            y = x - c
        case Operation.MINIMUM:
            y = min(c, x)
        case Operation.MAXIMUM:
            y = max(c, x)
        case Operation.LESS:
            y = int(c < x)
        case Operation.DIFFERS:
            y = int(c != x)
        case Operation.SELECT:
            y = x if b & 1 else c
        case Operation.LIMIT:
            y = min(max(x, b), c)
    return y >> instruction.drop


def _shifted(instruction: Instruction, a: int, b: int, tables: tuple[tuple[int, ...], ...]) -> int:
    amount = b if instruction.varying else instruction.shift
    match instruction.source:
        case Source.LEFT:
            return a << amount
        case Source.ZEROS:
            return WORD - a.bit_length()
        case Source.TABLE:
            return tables[instruction.shift][a]
        case Source.PRODUCT:
            a = a * b
    rest = a & ((1 << amount) - 1)
    half = 1 << amount >> 1
    up = instruction.even and half and (rest > half or (rest == half and a >> amount & 1))
    return (a >> amount) + int(bool(up))
