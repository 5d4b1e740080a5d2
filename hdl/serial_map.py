"""What the frames of the serial link are: one description for hardware, host and pages.

A frame is bytes: `SYNC`, kind, sequence number, how many words follow, these words (those of
`hdl.packing`, each with its lowest byte first), and the CRC-16 of all that lies between `SYNC` and
it, its highest byte first. Every request has one answer, with its sequence number.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.lib.crc.catalog import CRC16_IBM_3740

from hdl.axi_map import Facts
from hdl.packing import WORD_BITS, Packing

SYNC = 0xA7
CRC = CRC16_IBM_3740
"""Polynomial 0x1021, all ones at first: `binascii.crc_hqx(data, 0xFFFF)`."""
IDENTITY = 0x4B475541
"""The letters KGUA: the first word of the answer to IDENTIFY."""
VERSION = (1, 0)
"""Of the frames: major and minor."""
OVERHEAD = 6
"""Bytes of a frame around its words."""
MOST_WORDS = 255
WORD_BYTES = WORD_BITS // 8
DEFAULT_BAUD = 1_000_000
QUIET_S = 0.02
"""A frame whose next byte takes longer is given up. USB bridges leave gaps of some milliseconds."""


class Kind(enum.IntEnum):
    """What a frame is. An answer is its request with the highest bit set."""

    IDENTIFY = 0x01
    SOLVE = 0x02
    IDENTITY = 0x81
    RESULT = 0x82
    REFUSAL = 0xE0


class Refusal(enum.IntEnum):
    """Why a request has no other answer: the word of a REFUSAL."""

    BAD_CRC = 1
    WRONG_LENGTH = 2
    OVERRUN = 3
    BROKEN_BYTE = 4


REFUSALS = {
    Refusal.BAD_CRC: "the frame's CRC is not that of its bytes",
    Refusal.WRONG_LENGTH: "it has not as many words as its kind takes",
    Refusal.OVERRUN: "the transfer before it still waits for the kernel",
    Refusal.BROKEN_BYTE: "a byte had no stop bit",
}

IDENTITY_WORDS = ("identity", "version", "fields", "design", "geometry", "sizes")
"""Of the answer to IDENTIFY: the letters, the version (major in the high half), a digest of the
fields and their formats, those of `hdl.axi_map.Facts`, and the words of a request (low half) and of
a result."""


@dataclass(frozen=True, kw_only=True)
class SerialInterface:
    """A kernel's serial shell as it looks from outside: its fields and what it says of itself.

    ValueError where a transfer has more words than a frame.
    """

    name: str
    inputs: Packing
    outputs: Packing
    facts: Facts

    def __post_init__(self) -> None:
        for side, packing in (("input", self.inputs), ("output", self.outputs)):
            if len(packing.words) > MOST_WORDS:
                count = len(packing.words)
                raise ValueError(
                    f"a frame has at most {MOST_WORDS} words, not the {count} of an {side}"
                )

    @property
    def fields_digest(self) -> int:
        """32 bits that change with any name or format of a field."""
        sides = [_formats(packing) for packing in (self.inputs, self.outputs)]
        return int(hashlib.sha256(repr(sides).encode()).hexdigest()[:8], 16)

    @property
    def identity(self) -> tuple[int, ...]:
        """The words of `IDENTITY_WORDS`."""
        major, minor = VERSION
        sizes = len(self.inputs.words) | len(self.outputs.words) << 16
        facts = self.facts
        version = major << 16 | minor
        return (IDENTITY, version, self.fields_digest, facts.design, facts.geometry, sizes)

    @property
    def request_bytes(self) -> int:
        return OVERHEAD + WORD_BYTES * len(self.inputs.words)

    @property
    def result_bytes(self) -> int:
        return OVERHEAD + WORD_BYTES * len(self.outputs.words)


def _formats(packing: Packing) -> Mapping[str, str]:
    return {name: str(form) for name, form in packing.fields.items()}
