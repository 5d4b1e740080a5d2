"""Fixed-point formats and the exact ranges of integer codes: value = code * 2**-fraction."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

_TEXT = re.compile(r"([SU])Q\((-?\d+), ?(-?\d+)\)")


@dataclass(frozen=True)
class Format:
    """`SQ(i, f)` or `UQ(i, f)`: `integer` bits (sign included) and `fraction` bits."""

    signed: bool
    integer: int
    fraction: int

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"a format needs at least one bit, not {self.width} ({self})")

    @classmethod
    def parse(cls, text: str) -> Format:
        """Read `SQ(5, 20)` or `UQ(3, 8)`; ValueError on anything else."""
        match = _TEXT.fullmatch(text)
        if not match:
            raise ValueError(f"expected a format like SQ(5, 20), got {text!r}")
        return cls(match[1] == "S", int(match[2]), int(match[3]))

    @property
    def width(self) -> int:
        return self.integer + self.fraction

    @property
    def quantum(self) -> float:
        return 2.0**-self.fraction

    @property
    def lo(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def hi(self) -> int:
        return (1 << (self.width - self.signed)) - 1

    def encode(self, value: np.ndarray) -> np.ndarray:
        """Nearest codes (ties to even), limited to the format's own first and last code."""
        code = np.rint(np.ldexp(np.asarray(value, float), self.fraction))
        return np.clip(code, self.lo, self.hi).astype(np.int64)

    def decode(self, code: np.ndarray) -> np.ndarray:
        return np.ldexp(np.asarray(code, float), -self.fraction)

    def __str__(self) -> str:
        return f"{'SU'[not self.signed]}Q({self.integer}, {self.fraction})"


FLAG = Format(False, 1, 0)
"""0 or 1."""


def next_power(size: float) -> float:
    """The smallest power of two that is not below a size above 0; an infinite one stays."""
    return 2.0 ** math.ceil(math.log2(size)) if math.isfinite(size) else size


def checked_codes(what: str, codes: object, form: Format) -> np.ndarray:
    """Codes as int64, shape (n,) also of a single one.

    ValueError, which begins with `what`, for numbers that are no integers and codes outside the
    format.
    """
    return codes_within(what, codes, form.lo, form.hi, str(form))


def codes_within(what: str, codes: object, lo: int, hi: int, limits: str = "") -> np.ndarray:
    """`checked_codes` within any first and last code, which a message calls `limits`."""
    found = np.atleast_1d(np.asarray(codes))
    if found.dtype.kind not in "iuO":
        raise ValueError(f"{what} must be integer codes, not {found.dtype}")
    if found.size and (found.min() < lo or found.max() > hi):
        raise ValueError(f"{what} has codes outside {limits or f'{lo}..{hi}'}")
    return found.astype(np.int64)


@dataclass(frozen=True)
class Range:
    """Every code that a value can take lies in [lo, hi]; its value is code * 2**-fraction."""

    lo: int
    hi: int
    fraction: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError(f"an empty range: lo {self.lo} > hi {self.hi}")

    @property
    def width(self) -> int:
        """Bits of the smallest two's complement word that holds the range."""
        return 1 + max(self.hi.bit_length(), (~self.lo).bit_length() if self.lo < 0 else 0)

    @property
    def magnitude(self) -> float:
        return max(abs(self.lo), abs(self.hi)) * 2.0**-self.fraction

    @property
    def format(self) -> Format:
        """The port format: unsigned where no code is negative."""
        if self.lo >= 0:
            width = max(1, self.hi.bit_length())
            return Format(False, width - self.fraction, self.fraction)
        return Format(True, self.width - self.fraction, self.fraction)
