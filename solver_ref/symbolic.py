"""The abstract scalar as SymPy expressions: derivatives and proofs of the same equations."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from solver_ref.arithmetic import Arithmetic, Scalar


class SymbolicArithmetic(Arithmetic):
    """Exact expressions: a float constant is the rational number that it stores.

    With `coefficients`, the entire functions sin(x)/x, (1 - cos x)/x^2 and (x - sin x)/x^3 of
    s = x^2 stay these three names, so that an expression is a polynomial; without, they are
    written out.
    """

    def __init__(self, coefficients: Sequence[sp.Expr] | None = None) -> None:
        self.coefficients = coefficients

    def constant(self, value: float | sp.Expr, role: str) -> Scalar:
        return exact(value)

    def total(self, terms: Sequence[Scalar]) -> Scalar:
        return sp.Add(*map(exact, terms))

    def rotation_coefficients(self, s: sp.Expr, scale: float = 1.0) -> tuple[sp.Expr, ...]:
        """sin(x)/x, (1 - cos x)/x^2 and scale * (x - sin x)/x^3 at x = sqrt(s)."""
        if self.coefficients is not None:
            a, b, c = self.coefficients
        else:
            x = sp.sqrt(s)
            a, b, c = sp.sin(x) / x, (1 - sp.cos(x)) / s, (x - sp.sin(x)) / (x * s)
        return a, b, exact(scale) * c

    def reciprocal(self, value: sp.Expr, role: str) -> sp.Expr:
        return 1 / exact(value)

    def square_root(self, value: sp.Expr, role: str) -> tuple[sp.Expr, sp.Expr]:
        """The root and the reciprocal of the root."""
        root = sp.sqrt(value)
        return root, 1 / root

    def angle(
        self, cosine: sp.Expr, sine: sp.Expr, span: tuple[float, float], role: str, flag: str
    ) -> sp.Expr:
        """The angle of a unit vector, within half a turn of the span's middle."""
        middle = (exact(span[0]) + exact(span[1])) / 2
        c, s = sp.cos(middle), sp.sin(middle)
        return middle + sp.atan2(sine * c - cosine * s, cosine * c + sine * s)

    def sine_cosine(self, angle: sp.Expr, role: str) -> tuple[sp.Expr, sp.Expr]:
        """Sine and cosine of an angle."""
        return sp.sin(angle), sp.cos(angle)

    def arctangent(self, y: sp.Expr, x: sp.Expr, role: str) -> sp.Expr:
        """The angle of the point (x, y)."""
        return sp.atan2(y, x)

    def arccosine(self, x: sp.Expr, role: str, flag: str) -> sp.Expr:
        """The angle of a cosine."""
        return sp.acos(x)

    def absolute(self, value: sp.Expr) -> sp.Expr:
        return sp.Abs(value)

    def maximum(self, values: Sequence[sp.Expr]) -> sp.Expr:
        return sp.Max(*values)

    def minimum(self, values: Sequence[sp.Expr]) -> sp.Expr:
        return sp.Min(*values)

    def pivot(self, value: sp.Expr, floor: float) -> sp.Expr:
        return value

    def divide(self, value: sp.Expr, by: sp.Expr, limit: float, role: str, flag: str) -> sp.Expr:
        return exact(value) / by

    def normalise(self, values: Sequence[sp.Expr], role: str) -> tuple[Sequence[sp.Expr], None]:
        return values, None

    def denormalise(self, value: sp.Expr, block: None, fraction: int) -> sp.Expr:
        return value


def exact(value: Any) -> sp.Expr:
    """The value as SymPy has it; a float as the rational number that it stores."""
    return sp.Rational(value) if isinstance(value, float) else sp.sympify(value)
