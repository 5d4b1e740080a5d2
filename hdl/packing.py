"""How the fields of a transfer lie in words of 32 bits: in AXI streams, registers and drivers.

A field takes one word, or two where its format is wider, the low one first; its code is extended
to them by its sign (by zeros where the format is unsigned). A transfer is its fields in order, with
words of zero behind them where they do not fill the last beat. So an array of int32 in memory is
the same for streams of either width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from solver_ref.fixed import Format

WORD_BITS = 32
MOST_BITS = 63  # of a code, without its sign: drivers hold it in an int64_t


@dataclass(frozen=True)
class Word:
    """`width` bits of a field's code, from `low` on, in the lowest bits of a word.

    `top`: whether they are its highest ones, so that the rest of the word extends them.
    """

    field: str
    low: int
    width: int
    top: bool
    signed: bool

    @property
    def name(self) -> str:
        """The field's name, and which half it is where there are two."""
        if self.top and not self.low:
            return self.field
        return f"{self.field}_{'high' if self.low else 'low'}"


@dataclass(frozen=True)
class Packing:
    """Fields side by side in beats of `beat_bits`."""

    fields: Mapping[str, Format]
    beat_bits: int = WORD_BITS

    def __post_init__(self) -> None:
        if self.beat_bits not in (WORD_BITS, 2 * WORD_BITS):
            raise ValueError(f"a beat has 32 or 64 bits, not {self.beat_bits}")
        for name, form in self.fields.items():
            if form.lo < -(1 << MOST_BITS) or form.hi >= 1 << MOST_BITS:
                raise ValueError(f"{name} {form} has codes that do not fit 64 bits with their sign")

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of the fields, in order, without padding."""
        return tuple(
            Word(
                field=name,
                low=low,
                width=min(WORD_BITS, form.width - low),
                top=form.width - low <= WORD_BITS,
                signed=form.signed,
            )
            for name, form in self.fields.items()
            for low in range(0, form.width, WORD_BITS)
        )

    @property
    def words_per_beat(self) -> int:
        return self.beat_bits // WORD_BITS

    @property
    def beats(self) -> int:
        """Of one transfer."""
        return -(-len(self.words) // self.words_per_beat)

    def pack(self, codes: Mapping[str, np.ndarray]) -> np.ndarray:
        """Words of transfers, uint32 of shape (n, words with padding), from columns of codes.

        ValueError for a code outside its format.
        """
        count = len(np.atleast_1d(next(iter(codes.values()))))
        packed = np.zeros((count, self.beats * self.words_per_beat), np.uint32)
        for name, form in self.fields.items():
            column = np.atleast_1d(codes[name])
            if column.size and (column.min() < form.lo or column.max() > form.hi):
                raise ValueError(f"{name} has codes outside {form}")
        for at, word in enumerate(self.words):
            column = np.atleast_1d(codes[word.field]).astype(object) >> word.low
            packed[:, at] = (column & ((1 << WORD_BITS) - 1)).astype(np.uint32)
        return packed

    def unpack(self, packed: np.ndarray) -> dict[str, np.ndarray]:
        """Columns of codes, int64, from such words."""
        codes: dict[str, np.ndarray] = {}
        for at, word in enumerate(self.words):
            part = np.asarray(packed)[:, at].astype(np.int64)
            if word.top and word.signed:
                part = part.astype(np.int32).astype(np.int64)
            codes[word.field] = codes.get(word.field, 0) + (part << word.low)
        return codes
