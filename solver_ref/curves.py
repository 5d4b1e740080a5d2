"""Functions of one variable for every scalar: exact in floats and symbols, polynomials in hardware.

What hardware rounds is bounded by an absolute `error` that the caller names, in the unit of the
result; floats and symbols ignore it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from solver_ref.arithmetic import Arithmetic, FloatArithmetic, Scalar, is_zero
from solver_ref.fixed_arithmetic import Fixed, FixedArithmetic

FLOAT = FloatArithmetic()
HIGHEST_DEGREE = 24

Function = Callable[[Arithmetic, Scalar], Scalar]
"""An expression of an arithmetic and one scalar."""


def log1p(m: Arithmetic, value: Scalar) -> Scalar:
    """log(1 + value), for floats and symbols; hardware has it inside a `curve`."""
    if isinstance(m, FloatArithmetic):
        return np.log1p(value)
    # Loaded here, as only proofs need it and it takes long.
    import sympy

    return sympy.log(1 + value)


def curve(m: Arithmetic, value: Scalar, function: Function, error: float) -> Scalar:
    """function(m, value), smooth over the range of the value.

    In hardware a near-minimax polynomial over that range, in an argument brought to [-1, 1] so that
    no rounding is amplified. Half the error is for the fit, half for rounding. ValueError where
    degree `HIGHEST_DEGREE` does not reach it.
    """
    if not isinstance(m, FixedArithmetic):
        return function(m, value)
    span = value.range
    middle, fraction = (span.lo + span.hi) // 2, span.fraction
    centre = math.ldexp(middle, -fraction)
    size = max(span.hi - middle, middle - span.lo, 1)
    exponent = (size - 1).bit_length() - fraction
    reach = math.ldexp(size, -fraction - exponent)
    fit = _fit(
        lambda t: function(FLOAT, centre + np.ldexp(t, exponent)), reach, error / 2
    ).coef.tolist()
    argument = (value - m.builder.constant(centre, fraction)).scaled(-exponent)
    return evaluated(m, argument, fit, error / 2)


def _fit(function: Callable[[np.ndarray], np.ndarray], reach: float, error: float) -> Polynomial:
    """The polynomial of lowest degree that is within `error` of the function on +-reach."""
    grid = np.linspace(-reach, reach, 1001)
    values = function(grid)
    for degree in range(1, HIGHEST_DEGREE + 1):
        fit = Chebyshev.interpolate(function, degree, domain=[-reach, reach])
        if np.max(np.abs(fit(grid) - values)) <= error:
            return fit.convert(kind=Polynomial)
    raise ValueError(f"no polynomial of degree {HIGHEST_DEGREE} or less is within {error:.3g}")


def evaluated(
    m: FixedArithmetic, argument: Fixed, fit: Sequence[float | Fixed], error: float
) -> Fixed:
    """A polynomial, lowest power first, by Horner's rule on an argument in [-1, 1]; each factor as
    long as its product can be felt. Coefficients that are values already have to be as precise."""
    # Each of the steps may be off by two units of the last place: its product, the argument and
    # the coefficient.
    fraction = fraction_bits(error / (2 * len(fit)))

    def known(coefficient: float | Fixed) -> Fixed:
        is_value = isinstance(coefficient, Fixed)
        return coefficient if is_value else m.builder.constant(coefficient, fraction)

    value = known(fit[-1])
    for coefficient in reversed(fit[:-1]):
        value = product(m, value, argument, 1.5 * 2.0**-fraction)
        value = value + known(coefficient)
    return value


def product(m: Arithmetic, a: Scalar, b: Scalar, error: float) -> Scalar:
    """a * b; in hardware both factors are cut to what can be felt, then the product (floor)."""
    if not isinstance(m, FixedArithmetic) or is_zero(a) or is_zero(b):
        return a * b
    a, b = (_felt(x, error / (6 * max(y.range.magnitude, error))) for x, y in ((a, b), (b, a)))
    result = a * b
    return result if is_zero(result) else _felt(result, 2 * error / 3)


def _felt(value: Fixed, error: float) -> Fixed:
    """The value with as few fraction bits as an error below `error` allows (floor)."""
    return value.narrow(fraction_bits(error))


def fraction_bits(error: float) -> int:
    """The fewest fraction bits whose quantum is at most `error`."""
    return max(0, math.ceil(-math.log2(error)))


def scaled(m: Arithmetic, value: Scalar, factor: float, error: float) -> Scalar:
    """value * factor for a number that is known beforehand."""
    if not isinstance(m, FixedArithmetic):
        return value * m.constant(factor, "geometry")
    if is_zero(value) or factor == 0:
        return 0
    return product(m, value, number(m, factor, error / (4 * value.range.magnitude)), error / 2)


def number(m: Arithmetic, value: float, error: float) -> Scalar:
    """A number that is known beforehand."""
    if not isinstance(m, FixedArithmetic) or isinstance(value, Fixed):
        return m.constant(value, "geometry")
    return m.builder.constant(value, fraction_bits(error)) if value else 0


def within(m: Arithmetic, value: Scalar, low: float, high: float) -> Scalar:
    """The value brought into [low, high], which is no fault: nothing is flagged.

    In hardware the limits are the codes inside, and `high` may be infinite.
    """
    if isinstance(m, FixedArithmetic):
        top = max(math.ldexp(value.range.hi, -value.range.fraction), low)
        return value.into(low, min(high, top), "saturate")
    value = m.maximum([value, m.constant(low, "geometry")])
    return value if math.isinf(high) else m.minimum([value, m.constant(high, "geometry")])


def regions(
    m: Arithmetic, value: Scalar, edges: tuple[float, float], pieces: tuple[Scalar, Scalar, Scalar]
) -> Scalar:
    """The first piece below the first edge, the last above the second, else the middle one."""
    low, high = edges
    below, middle, above = pieces
    if isinstance(m, FixedArithmetic):
        fraction = value.range.fraction
        # The least code that is not below the first edge, the largest not above the second.
        first, last = math.ceil(math.ldexp(low, fraction)), math.ldexp(high, fraction)
        if last < value.range.hi:
            edge = m.builder.constant(math.ldexp(math.floor(last), -fraction), fraction)
            middle = m.select(m.less(edge, value), above, middle)
        if first > value.range.lo:
            edge = m.builder.constant(math.ldexp(first, -fraction), fraction)
            middle = m.select(m.less(value, edge), below, middle)
        return middle
    if isinstance(m, FloatArithmetic):
        return np.where(value < low, below, np.where(value > high, above, middle))
    import sympy

    low, high = (m.constant(edge, "geometry") for edge in edges)
    return sympy.Piecewise((below, value < low), (above, value > high), (middle, True))
