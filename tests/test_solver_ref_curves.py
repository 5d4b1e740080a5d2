"""Functions of one variable in hardware: within the error that was asked, on every code."""

import math

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_array_equal
from traced import run, tracer

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.curves import curve, number, product, regions, scaled, within
from solver_ref.fixed import Format
from solver_ref.symbolic import SymbolicArithmetic

FLOAT = FloatArithmetic()
WORD = Format(True, 5, 9)
FUNCTIONS = {
    "line": lambda m, x: 3 - 2.7 * x,
    "root": lambda m, x: np.sqrt(25.0 + x),
    "wave": lambda m, x: np.sin(x / 4),
    "constant": lambda m, x: 0 * x + 0.3,
}


@pytest.mark.parametrize("error", [1e-3, 2.0**-20, 1e-9])
@pytest.mark.parametrize("lo, hi", [(-15.9, 15.9), (2.0, 2.5), (-0.002, 15.0), (3.0, 3.0)])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_curve_is_within_its_error(function, lo: float, hi: float, error: float) -> None:
    m = tracer()
    x = m.input("x", WORD).into(lo, hi, "saturate")
    codes = np.arange(WORD.lo, WORD.hi + 1)
    got = run(m, {"x": codes}, {"y": curve(m, x, function, error)})["y"]
    held = np.clip(codes, math.ceil(lo * 512), math.floor(hi * 512)) / 512
    assert np.max(np.abs(got - function(FLOAT, held))) <= error


def test_a_product_is_within_its_error_and_no_longer_than_that_needs() -> None:
    m, wide = tracer(), Format(True, 3, 30)
    a, b = m.input("a", wide), m.input("b", wide)
    y, z = product(m, a, b, 1e-4), scaled(m, a, 0.123456789, 1e-4)
    rng = np.random.default_rng(2)
    codes = {name: rng.integers(wide.lo, wide.hi, 5000) for name in "ab"}
    out = run(m, codes, {"y": y, "z": z})
    a, b = (wide.decode(codes[name]) for name in "ab")
    assert 1e-6 < np.max(np.abs(out["y"] - a * b)) <= 1e-4
    assert 1e-6 < np.max(np.abs(out["z"] - 0.123456789 * a)) <= 1e-4
    assert y.range.width <= 20


def test_a_number_is_within_its_error_and_zero_is_no_term() -> None:
    m = tracer()
    value = number(m, 0.1234567, 1e-5)
    code = value.range.lo
    assert abs(code * 2.0**-value.range.fraction - 0.1234567) <= 1e-5
    assert number(m, 0.0, 1e-5) == 0
    assert scaled(m, m.input("x", WORD), 0.0, 1e-5) == 0


def test_regions_are_the_same_for_floats_codes_and_symbols() -> None:
    """Edges that are codes belong to the middle; others are met by no code."""
    m = tracer()
    x = m.input("x", WORD)
    for edges in ((1.5, 3.25), (1.4999, 3.2501), (-99.0, 3.25), (1.5, math.inf)):
        codes = np.arange(WORD.lo, WORD.hi + 1)
        y = regions(m, x, edges, (m.builder.constant(5.0), x, 7.0))
        z = within(m, x, *edges)
        out = run(m, {"x": codes}, {"y": y, "z": z})
        value = WORD.decode(codes)
        assert_array_equal(out["y"], regions(FLOAT, value, edges, (5.0, value, 7.0)))
        assert np.max(np.abs(out["z"] - within(FLOAT, value, *edges))) < 2.0**-9
    s, t = SymbolicArithmetic(), sp.Symbol("t", real=True)
    piece = regions(s, t, (1.5, 3.25), (5, t, 7))
    clipped = within(s, t, 1.5, 3.25)
    for place in (1.25, 1.5, 2.0, 3.25, 3.5):
        exact = sp.Rational(place)
        assert float(piece.subs(t, exact)) == regions(FLOAT, place, (1.5, 3.25), (5, place, 7))
        assert float(clipped.subs(t, exact)) == within(FLOAT, place, 1.5, 3.25)
