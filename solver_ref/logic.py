"""float64 with flags: what equations that decide something need beside `FloatArithmetic`.

Flags are boolean arrays; the names are those of `solver_ref.fixed_arithmetic`. A pivot is held at
its floor, as hardware does, so that one singular row stops no other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solver_ref.arithmetic import FloatArithmetic, Scalar


class LogicArithmetic(FloatArithmetic):
    """`FloatArithmetic` that compares and chooses, row by row."""

    def pivot(self, value: Scalar, floor: float) -> Scalar:
        return np.maximum(value, floor)

    def less(self, a: Scalar, b: Scalar) -> Scalar:
        """Flag: a < b."""
        return np.less(a, b)

    def select(self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """a where the flag is 1, else b."""
        return np.where(condition, a, b)

    def any(self, flags: Sequence[Scalar]) -> Scalar:
        """Logical or of flags; false of none."""
        result = np.False_
        for flag in flags:
            result = np.logical_or(result, flag)
        return result

    def every(self, *flags: Scalar) -> Scalar:
        """Logical and of flags."""
        result = np.True_
        for flag in flags:
            result = np.logical_and(result, flag)
        return result

    def negation(self, flag: Scalar) -> Scalar:
        """Logical not of a flag."""
        return np.logical_not(flag)
