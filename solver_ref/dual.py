"""Values with their slopes, over the abstract scalar: equations written once give derivatives too.

Loop equations of mechanisms are written over `DualArithmetic`, which stands around any other
arithmetic: float64, symbols, or the one that traces hardware. It rounds by itself: values to the
role `fine`, slopes to the role `coarse`, as a step corrects what a slope is off.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero

Slopes = Mapping[Hashable, Scalar]
"""The derivatives of a value by variable; those that are not there are 0."""

NEAREST_ZERO = 2.0**-20
"""Hardware holds what it takes the root of, or divides by, above this share of its largest value:
nearer to 0 it is out of range."""


@dataclass(frozen=True)
class Dual:
    """A value and its slopes; an operand of `+`, `-`, `*`, of `/` by a number or a `Dual`, and of
    `**` by a whole number from 1 on."""

    m: DualArithmetic = field(repr=False, compare=False)
    value: Scalar
    slopes: Slopes = field(default_factory=dict)

    __array_ufunc__ = None  # NumPy's numbers leave the operators below to this class

    def __neg__(self) -> Dual:
        return Dual(self.m, -self.value, {key: -x for key, x in self.slopes.items()})

    def __add__(self, other: Dual | float) -> Dual:
        return self.m.sum(self, other)

    __radd__ = __add__

    def __sub__(self, other: Dual | float) -> Dual:
        return self.m.sum(self, -other)

    def __rsub__(self, other: float) -> Dual:
        return self.m.sum(-self, other)

    def __mul__(self, other: Dual | float) -> Dual | int:
        return self.m.product(self, other)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Dual:
        if not isinstance(exponent, int) or exponent < 1:
            raise TypeError(f"an exponent must be a whole number from 1 on, not {exponent}")
        return self if exponent == 1 else self * self ** (exponent - 1)

    def __truediv__(self, other: Dual | float) -> Dual | int:
        if isinstance(other, Dual):
            return self * self.m.reciprocal(other)
        return self * (1.0 / other)

    def __rtruediv__(self, other: float) -> Dual | int:
        return self.m.reciprocal(self) * other


class DualArithmetic:
    """What equations may use of their arithmetic `m`: operators of `Dual` and these functions.

    A plain number stays one, and 0 stands for a term that does not exist.
    """

    def __init__(self, base: Arithmetic, *, fine: str = "loop", coarse: str = "jacobian") -> None:
        self.base, self.fine, self.coarse = base, fine, coarse

    def nearest(self, x: Dual | float) -> Dual | float:
        """The value to the nearest quantum of `fine`, which hardware needs not be exact beyond."""
        return Dual(self, self._value(x.value), x.slopes) if isinstance(x, Dual) else x

    def sum(self, a: Dual, b: Dual | float) -> Dual:
        """a + b, exact."""
        if not isinstance(b, Dual):
            return Dual(self, a.value + self.base.constant(b, self.fine), a.slopes)
        slopes = dict(a.slopes)
        for key, slope in b.slopes.items():
            slopes[key] = slope + slopes[key] if key in slopes else slope
        return Dual(self, a.value + b.value, slopes)

    def product(self, a: Dual, b: Dual | float) -> Dual | int:
        """a * b, the value to the nearest quantum of `fine`."""
        if is_zero(b):
            return 0
        if not isinstance(b, Dual):
            value = self._value(a.value * self.base.constant(b, "unit"))
            return Dual(self, value, self._scaled(a.slopes, lambda: b))
        slopes = dict(self._scaled(a.slopes, lambda: self._short(b.value)))
        for key, slope in self._scaled(b.slopes, lambda: self._short(a.value)).items():
            slopes[key] = self._short(slopes[key] + slope) if key in slopes else slope
        return Dual(self, self._value(a.value * b.value), slopes)

    def square_root(self, x: Dual | float) -> Dual | float:
        """The root; below 0, which hardware reports as out of range, float64 gives NaN.

        Error: one quantum of `fine`, and 2**-25 of the root.
        """
        if not isinstance(x, Dual):
            return np.sqrt(x)
        root, inverse = self.base.square_root(self._positive(x.value), "unit")
        slopes = self._scaled(x.slopes, lambda: self._short(inverse * 0.5))
        return Dual(self, self._value(root), slopes)

    def reciprocal(self, x: Dual) -> Dual:
        """1/x of a positive value: short, then one of Newton's steps.

        Error: 1 + 1/x quanta of `fine`, and 2**-23 of the largest result.
        """
        held = self._positive(x.value)
        first = self.base.reciprocal(held, "weight")
        error = 2.0 - self.base.proven(self._value(held * first), 2.0)
        value = self.base.nearest(first * error, "unit")
        slopes = self._scaled(x.slopes, lambda: self._short(-(self._short(value) * value)))
        return Dual(self, self._value(value), slopes)

    def sine_cosine(self, x: Dual | float) -> tuple[Scalar, Scalar]:
        """Sine and cosine of an angle (rad); error 1.5 quanta of `fine`."""
        if not isinstance(x, Dual):
            return np.sin(x), np.cos(x)
        sine, cosine = self.base.sine_cosine(x.value, self.fine)
        rising = self._scaled(x.slopes, lambda: self._short(cosine))
        falling = self._scaled(x.slopes, lambda: self._short(-sine))
        return Dual(self, sine, rising), Dual(self, cosine, falling)

    def arctangent(self, y: Dual, x: Dual) -> Dual:
        """The angle (rad) of the point (x, y) in (-pi, pi]; error 1.5 quanta of `fine`.

        It has no slope at the origin.
        """
        angle = self.base.arctangent(y.value, x.value, self.fine)
        if not (y.slopes or x.slopes):
            return Dual(self, angle)
        plain = [Dual(self, z.value) for z in (y, x)]
        share = self.reciprocal(plain[0] * plain[0] + plain[1] * plain[1]).value
        up = self._scaled(y.slopes, lambda: self._short(x.value * self._short(share)))
        down = self._scaled(x.slopes, lambda: self._short(-y.value * self._short(share)))
        return Dual(self, angle, self.sum(Dual(self, 0, up), Dual(self, 0, down)).slopes)

    def arccosine(self, x: Dual) -> Dual:
        """The angle (rad) from 0 to pi of a cosine; hardware reports one beyond +-1."""
        angle = self.base.arccosine(x.value, self.fine, "length")
        if not x.slopes:
            return Dual(self, angle)
        plain = Dual(self, x.value)
        sine = self.reciprocal(self.square_root(1.0 - plain * plain)).value
        return Dual(self, angle, self._scaled(x.slopes, lambda: self._short(-sine)))

    def _positive(self, value: Scalar) -> Scalar:
        top = self.base.magnitude(value)
        return self.base.clamp(value, top * NEAREST_ZERO, top, "length")

    def _scaled(self, slopes: Slopes, factor: Callable[[], Any]) -> dict[Hashable, Scalar]:
        """Slopes times a number or a short value, which is made where it is needed only."""
        if not slopes:
            return {}
        by = factor()
        scaled = {}
        for key, slope in slopes.items():
            if isinstance(by, int | float):
                known = isinstance(slope, int | float)
                number = self.base.constant(slope * by if known else by, self.coarse)
                scaled[key] = number if known else self._short(slope * number)
            else:
                scaled[key] = self._short(by * slope)
        return scaled

    def _value(self, value: Scalar) -> Scalar:
        return value if is_zero(value) else self.base.nearest(value, self.fine)

    def _short(self, value: Scalar) -> Scalar:
        """A slope, or a value that slopes are multiplied by."""
        return value if isinstance(value, int | float) else self.base.nearest(value, self.coarse)
