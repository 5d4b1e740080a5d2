"""Values with slopes: against central differences, SymPy, and the same expressions in hardware."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from traced import run, tracer

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.dual import Dual, DualArithmetic
from solver_ref.fixed import Format
from solver_ref.profile import Fraction
from solver_ref.symbolic import SymbolicArithmetic

PORT = Format(True, 2, 22)
# Each of two numbers: x within 0.2 to 1.2, y within -0.7 to 0.9.
X, Y = (0.2, 1.2), (-0.7, 0.9)
EXPRESSIONS = {
    "sums": lambda m, x, y: 2.0 - x + 3 * y - (x - y) * 0.3 + x / 7,
    "product": lambda m, x, y: x * y - y * y * x,
    "square": lambda m, x, y: (x + y) * (x + y),
    "powers": lambda m, x, y: x**3 - (x - y) ** 2 + y**1,
    "sine": lambda m, x, y: m.sine_cosine(x - 2 * y)[0] * y,
    "cosine": lambda m, x, y: m.sine_cosine(x * y + 1.0)[1],
    "root": lambda m, x, y: m.square_root(x * x + y * y + 0.1),
    "reciprocal": lambda m, x, y: m.reciprocal(x + 0.4),
    "ratio": lambda m, x, y: y / (x + 0.5) + 1 / (x + 1.5),
    "arctangent": lambda m, x, y: m.arctangent(y, x + 0.1),
    "arccosine": lambda m, x, y: m.arccosine(0.6 * y - 0.2 * x),
}


def points(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.uniform(*X, count), rng.uniform(*Y, count)


def value_and_slopes(name: str, x, y) -> Dual:
    m = DualArithmetic(FloatArithmetic())
    return EXPRESSIONS[name](m, Dual(m, x, {"x": 1.0}), Dual(m, y, {"y": 1.0}))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_slopes_are_central_differences(name: str) -> None:
    (x, y), h = points(200), 1e-6
    found = value_and_slopes(name, x, y)
    for key, (dx, dy) in {"x": (h, 0.0), "y": (0.0, h)}.items():
        high, low = (value_and_slopes(name, x + s * dx, y + s * dy).value for s in (1, -1))
        slope = np.broadcast_to(found.slopes.get(key, 0.0), x.shape)
        np.testing.assert_allclose(slope, (high - low) / (2 * h), atol=2e-8)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_slopes_are_the_derivatives_of_the_symbols(name: str) -> None:
    x, y = sp.symbols("x y", real=True)
    m = DualArithmetic(SymbolicArithmetic())
    found = EXPRESSIONS[name](m, Dual(m, x, {"x": 1.0}), Dual(m, y, {"y": 1.0}))
    for key, symbol in {"x": x, "y": y}.items():
        slope = found.slopes.get(key, 0)
        place = {x: sp.Rational(3, 5), y: sp.Rational(-1, 4)}
        error = (sp.diff(found.value, symbol) - slope).subs(place)
        assert abs(float(sp.N(error, 30))) < 1e-14


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_hardware_is_within_a_few_quanta_of_float64(name: str) -> None:
    base = tracer()
    m = DualArithmetic(base)
    ports = [base.clamp(base.input(key, PORT), *ends) for key, ends in (("x", X), ("y", Y))]
    traced = EXPRESSIONS[name](m, Dual(m, ports[0], {"x": 1.0}), Dual(m, ports[1], {"y": 1.0}))
    slopes = {k: v for k, v in traced.slopes.items() if not isinstance(v, int | float)}
    codes = {key: PORT.encode(column) for key, column in zip("xy", points(2000), strict=True)}
    out = run(base, codes, {"value": traced.value, **slopes})
    exact = value_and_slopes(name, PORT.decode(codes["x"]), PORT.decode(codes["y"]))
    quantum = 2.0**-base.profile.loop.bits
    assert np.abs(out["value"] - exact.value).max() <= 12 * quantum
    for key in slopes:
        size = np.abs(exact.slopes[key]).max()
        assert np.abs(out[key] - exact.slopes[key]).max() <= 2.0**-12 * max(size, 1.0)


@pytest.mark.parametrize("bits", [20, 24, 28])
def test_roots_and_reciprocals_are_within_their_stated_errors(bits: int) -> None:
    base = tracer()
    base.profile = replace(base.profile, loop=Fraction(bits))
    m, fmt, low = DualArithmetic(base), Format(False, 2, 28), 2.0**-6
    x = Dual(m, base.clamp(base.input("x", fmt), low, 3.0))
    codes = fmt.encode(np.concatenate([[low, 3.0], np.random.default_rng(2).uniform(low, 3, 9998)]))
    outputs = {"root": m.square_root(x).value, "inverse": m.reciprocal(x).value}
    out, exact, quantum = run(base, {"x": codes}, outputs), fmt.decode(codes), 2.0**-bits
    root = np.abs(out["root"] - np.sqrt(exact))
    assert (root <= quantum + 2.0**-25 * np.sqrt(exact)).all()
    inverse = np.abs(out["inverse"] - 1 / exact)
    assert (inverse <= (1 + 1 / exact) * quantum + 2.0**-23 / low).all()


def test_a_root_below_zero_is_no_number_and_flagged_in_hardware() -> None:
    m = DualArithmetic(FloatArithmetic())
    with np.errstate(invalid="ignore"):
        assert np.isnan(m.square_root(Dual(m, np.array([-0.1]))).value)
    base = tracer()
    m = DualArithmetic(base)
    x = base.clamp(base.input("x", PORT), -0.5, 0.5)
    root = m.square_root(Dual(m, x))
    codes = {"x": PORT.encode(np.array([-0.4, -1e-5, 0.25]))}
    out = run(base, codes, {"root": root.value, "flag": base.any(base.flags["length"])})
    assert out["flag"].tolist() == [1, 1, 0]
    assert out["root"][2] == pytest.approx(0.5, abs=1e-6)


def test_only_whole_powers_are_known() -> None:
    x = Dual(DualArithmetic(FloatArithmetic()), np.array([0.5]))
    for exponent in (0, -1, 0.5):
        with pytest.raises(TypeError, match=f"whole number from 1 on, not {exponent}"):
            x**exponent


def test_plain_numbers_stay_numbers() -> None:
    m = DualArithmetic(FloatArithmetic())
    x = Dual(m, np.array([0.5]), {"x": 1.0})
    assert x * 0 == 0
    assert m.sine_cosine(0.0) == (0.0, 1.0)
    assert (np.float64(2.0) * x).value == 1.0
    assert math.isclose(m.square_root(4.0), 2.0)
