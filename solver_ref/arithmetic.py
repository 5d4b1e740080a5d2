"""The abstract scalar: what the equations may use, and its float64 meaning.

An equation is a function of an arithmetic `m` and scalars. Scalars know `+`, `-`, `*` and unary
minus; the plain number 0 stands for a coordinate or product that does not exist. Everything else is
a method of `m`. `FloatArithmetic` runs equations on NumPy arrays (vectorised over rows), SymPy
symbols run through `solver_ref.symbolic`, and `solver_ref.fixed_arithmetic` traces them to a graph.
The `role` of a rounded value names the precision that a profile gives it; floats ignore it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add
from typing import Any

import numpy as np

Scalar = Any
"""A float, a NumPy array, a SymPy expression or a traced fixed-point value."""


class Arithmetic:
    """The shared part: sums of products written with the scalar's own operators."""

    def constant(self, value: float, role: str) -> Scalar:
        """A number of the robot or of the method, at the precision of `role`.

        One that is a scalar already, such as a parameter of the graph, stays what it is.
        """
        return value

    def round(self, value: Scalar, role: str) -> Scalar:
        """The value at the precision of `role` (rounded to floor in hardware)."""
        return value

    def nearest(self, value: Scalar, role: str) -> Scalar:
        """The value at the precision of `role`, ties to even."""
        return value

    def above(self, value: Scalar, role: str) -> Scalar:
        """The value at the precision of `role`, never less; at most a quantum more."""
        return value

    def clamp(self, value: Scalar, lo: float, hi: float, flag: str = "range") -> Scalar:
        """The value limited to [lo, hi]; hardware remembers under `flag` that it had to."""
        return value

    def limit(self, value: Scalar, size: float, flag: str) -> Scalar:
        """`clamp` to the two's complement word of +-size."""
        return value

    def report_below(self, value: Scalar, limit: Scalar, flag: str) -> None:
        """Hardware remembers under `flag` that the value is below the limit."""

    def difference(self, a: Scalar, b: Scalar, size: float) -> Scalar:
        """a - b, which hardware saturates to +-size."""
        return a - b

    def turned(self, value: Scalar, size: float) -> Scalar:
        """An entry of a matrix that makes nothing longer than `size` times what it was."""
        return value

    def proven(self, value: Scalar, limit: float) -> Scalar:
        """The value, known by a theorem to lie within +-limit."""
        return value

    def bounded(self, value: Scalar, limit: float) -> Scalar:
        """The value, within +-limit by exact arithmetic; rounding may take it to the edge."""
        return value

    def rounding(self) -> float:
        """How far rounding may take an entry of an elimination, of its largest diagonal entry."""
        return 0.0

    def vanishes(self, value: Scalar) -> bool:
        """Whether the value is known to be 0 whatever the inputs are."""
        return is_zero(value)

    def magnitude(self, value: Scalar) -> float:
        """The largest absolute value that the declared domain allows; infinite for floats."""
        return float("inf")

    def minus_product(self, value: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """value - a * b at the precision of value."""
        return value - a * b

    def dot_within(
        self, a: Sequence[Scalar], b: Sequence[Scalar], limit: float, role: str, flag: str
    ) -> Scalar:
        """`dot`, limited to +-limit: the precision of `role` is that of the limit."""
        return self.dot(a, b, role)

    def dot(self, a: Sequence[Scalar], b: Sequence[Scalar], role: str) -> Scalar:
        """Sum of a[i] * b[i] at the precision of `role`; guard bits inside."""
        return self.total([x * y for x, y in zip(a, b, strict=True)])

    def total(self, terms: Sequence[Scalar]) -> Scalar:
        """The sum of the terms, as a balanced tree."""
        terms = [term for term in terms if not is_zero(term)]
        return balanced(terms, add) if terms else 0


class FloatArithmetic(Arithmetic):
    """float64 over NumPy arrays of one shape; no rounding to roles, no limits."""

    def rotation_coefficients(self, s: Scalar, scale: float = 1.0) -> tuple[Scalar, ...]:
        """sin(x)/x, (1 - cos x)/x^2 and scale * (x - sin x)/x^3 at x = sqrt(s)."""
        s = np.asarray(s, float)
        small = s < 1e-2
        x2 = np.where(small, 1.0, s)
        x = np.sqrt(x2)
        series = (_series(s, 1), _series(s, 2), _series(s, 3))
        closed = (np.sin(x) / x, (1 - np.cos(x)) / x2, (x - np.sin(x)) / (x2 * x))
        a, b, c = (np.where(small, p, q) for p, q in zip(series, closed, strict=True))
        return a, b, scale * c

    def reciprocal(self, value: Scalar, role: str) -> Scalar:
        return 1.0 / value

    def square_root(self, value: Scalar, role: str) -> tuple[Scalar, Scalar]:
        """The root and the reciprocal of the root."""
        root = np.sqrt(value)
        return root, 1.0 / root

    def root_above(self, value: Scalar) -> Scalar:
        """The root of a positive value, or up to a tenth more in hardware."""
        return np.sqrt(value)

    def angle(
        self, cosine: Scalar, sine: Scalar, span: tuple[float, float], role: str, flag: str
    ) -> Scalar:
        """The angle (rad) of a unit vector, found within half a turn of the span's middle.

        Hardware holds it within the span, which is then less than half a turn wide.
        """
        middle = (span[0] + span[1]) / 2
        c, s = np.cos(middle), np.sin(middle)
        return middle + np.arctan2(sine * c - cosine * s, cosine * c + sine * s)

    def sine_cosine(self, angle: Scalar, role: str) -> tuple[Scalar, Scalar]:
        """Sine and cosine of an angle (rad)."""
        return np.sin(angle), np.cos(angle)

    def arctangent(self, y: Scalar, x: Scalar, role: str) -> Scalar:
        """The angle (rad) of the point (x, y) in (-pi, pi]."""
        return np.arctan2(y, x)

    def arccosine(self, x: Scalar, role: str, flag: str) -> Scalar:
        """The angle (rad) from 0 to pi of a cosine; hardware holds the cosine to +-1."""
        return np.arccos(x)

    def pivot(self, value: Scalar, floor: float) -> Scalar:
        """What `divide` divides by; hardware keeps it at or above `floor`."""
        return value

    def divide(self, value: Scalar, by: Scalar, limit: float, role: str, flag: str) -> Scalar:
        """value / pivot; hardware limits the result to +-limit."""
        return value / by

    def quotient_above(
        self, value: Scalar, by: Scalar, limit: float, role: str, flag: str
    ) -> Scalar:
        """`divide` of a value that is not negative, never less than the quotient."""
        return value / by

    def normalise(self, values: Sequence[Scalar], role: str) -> tuple[Sequence[Scalar], None]:
        """The values divided by a shared power of two (hardware only), and that power."""
        return values, None

    def denormalise(self, value: Scalar, block: None, fraction: int) -> Scalar:
        """The value times the shared power of two."""
        return value

    def over_block(self, value: Scalar, block: None, limit: float, most: int, flag: str) -> Scalar:
        """The value over the shared power of two; hardware limits the result to +-limit, and what
        it multiplies by to 2**most."""
        return value

    def block_square(self, square: Scalar, block: None) -> Scalar:
        """The square of normalised values times that of the shared power of two."""
        return square

    def absolute(self, value: Scalar) -> Scalar:
        return np.abs(value)

    def maximum(self, values: Sequence[Scalar]) -> Scalar:
        return np.max(np.broadcast_arrays(*values), axis=0)

    def minimum(self, values: Sequence[Scalar]) -> Scalar:
        return np.min(np.broadcast_arrays(*values), axis=0)


def balanced(values: Sequence[Scalar], join: Callable[[Scalar, Scalar], Scalar]) -> Scalar:
    """All values (one at least) joined two by two, as a balanced tree: the fewest in a row."""
    rest = list(values)
    while len(rest) > 1:
        pairs = [join(rest[i], rest[i + 1]) for i in range(0, len(rest) - 1, 2)]
        rest = pairs + rest[len(rest) - len(rest) % 2 :]
    return rest[0]


def is_zero(value: Scalar) -> bool:
    """Whether the value is the plain number 0: a term that does not exist."""
    return isinstance(value, int | float) and value == 0


def _series(s: np.ndarray, first: int) -> np.ndarray:
    """sum over k of (-s)^k / (first + 2k)!: the entire functions above near zero."""
    total, term = np.zeros_like(s), np.ones_like(s)
    for n in range(1, first + 1):
        term = term / n
    for k in range(8):
        total = total + term
        n = first + 2 * k
        term = -term * s / ((n + 1) * (n + 2))
    return total
