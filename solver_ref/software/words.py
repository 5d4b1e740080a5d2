"""The integer words of the C twin: int32_t, int64_t, and two unsigned words for what is wider.

A word writes the text of each operation in portable C99: signed words never overflow because the
ranges say so, shifts to the left are products, shifts to the right go through a helper.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver_ref.fixed import Range

WIDEST = 128


@dataclass(frozen=True)
class Word:
    """A two's complement word of `bits` bits. Texts that are no name or number come in brackets."""

    bits: int

    @property
    def lo(self) -> int:
        return -(1 << (self.bits - 1))

    @property
    def hi(self) -> int:
        return (1 << (self.bits - 1)) - 1

    @property
    def native(self) -> bool:
        return self.bits <= 64

    @property
    def type(self) -> str:
        return f"int{self.bits}_t" if self.native else "struct kg_wide"

    def literal(self, code: int) -> str:
        if not self.native:
            return f"kg_wide_of{self.initialiser(code).replace('{', '(').replace('}', ')')}"
        if code == self.lo:
            return f"({self.literal(code + 1)} - 1)"
        digits = f"INT64_C({abs(code)})" if self.bits == 64 else str(abs(code))
        return f"(-{digits})" if code < 0 else digits

    def initialiser(self, code: int) -> str:
        """The code in the initialiser of an array."""
        if self.native:
            return self.literal(code)
        return f"{{UINT64_C({(code >> 64) & _MASK:#x}), UINT64_C({code & _MASK:#x})}}"

    def convert(self, text: str, source: Word) -> str:
        """A value of another word that this one holds."""
        if source == self:
            return text
        if source.native and self.native:
            return f"({self.type}){text}"
        if source.native:
            return f"kg_wide_from({text})"
        low = f"kg_wide_low({text})"
        return low if self.bits == 64 else f"({self.type}){low}"

    def add(self, a: str, b: str) -> str:
        return f"({a} + {b})" if self.native else f"kg_wide_add({a}, {b})"

    def subtract(self, a: str, b: str) -> str:
        return f"({a} - {b})" if self.native else f"kg_wide_add({a}, kg_wide_negative({b}))"

    def multiply(self, a: str, b: str) -> str:
        return f"({a} * {b})" if self.native else f"kg_wide_multiply({a}, {b})"

    def negative(self, a: str) -> str:
        return f"(-{a})" if self.native else f"kg_wide_negative({a})"

    def less(self, a: str, b: str) -> str:
        return f"({a} < {b})" if self.native else f"kg_wide_less({a}, {b})"

    def limit(self, a: str, lo: int, hi: int) -> str:
        name = f"kg_limit{self.bits}" if self.native else "kg_wide_limit"
        return f"{name}({a}, {self.literal(lo)}, {self.literal(hi)})"

    def left(self, a: str, bits: int) -> str:
        """a * 2**bits; a native word must hold 2**bits."""
        if not bits:
            return a
        return self.multiply(a, self.literal(1 << bits)) if self.native else self.left_by(a, bits)

    def left_by(self, a: str, amount: str | int) -> str:
        """a * 2**amount; a native word must hold 2**amount."""
        if self.native:
            return f"({a} * (({self.type})1 << {amount}))"
        return f"kg_wide_left({a}, {amount})"

    def right(self, a: str, bits: int) -> str:
        """floor(a / 2**bits), any number of bits."""
        return self.right_by(a, min(bits, self.bits - 1)) if bits else a

    def right_by(self, a: str, amount: str | int) -> str:
        """floor(a / 2**amount), amount below the word's bits."""
        name = f"kg_right{self.bits}" if self.native else "kg_wide_right"
        return f"{name}({a}, {amount})"

    def odd(self, a: str) -> str:
        """1 where a is odd, else 0, in this word."""
        return f"({a} & 1)" if self.native else f"kg_wide_low_bits({a}, 1)"

    def low_bits(self, a: str, bits: int) -> str:
        """a modulo 2**bits, from 0 on, in this word (bits below the word's)."""
        if self.native:
            return f"({self.type})((uint{self.bits}_t){a} & UINT{self.bits}_C({(1 << bits) - 1}))"
        return f"kg_wide_low_bits({a}, {bits})"

    def length(self, a: str) -> str:
        """The number of bits of a code that is not negative, an int32_t."""
        return f"kg_length((uint64_t){a})" if self.native else f"kg_wide_length({a})"


_MASK = (1 << 64) - 1
INT32, INT64, WIDE = Word(32), Word(64), Word(WIDEST)


def smallest_word(*codes: int) -> Word:
    """The narrowest word that holds every code; ValueError beyond 128 bits."""
    for word in (INT32, INT64, WIDE):
        if word.lo <= min(codes) and max(codes) <= word.hi:
            return word
    bits = Range(min(codes), max(codes), 0).width
    raise ValueError(f"the C twin has words of at most {WIDEST} bits, and this needs {bits}")


def word_of(span: Range) -> Word:
    """The narrowest word that holds a range."""
    return smallest_word(span.lo, span.hi)
