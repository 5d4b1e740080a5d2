"""Elementary functions as graphs: their error against float64, in units of their own precision."""

import math

import numpy as np
import pytest

from solver_ref.fixed import Format
from solver_ref.functions import TracedArithmetic, rotation_polynomials
from solver_ref.interpreter import evaluate
from solver_ref.profile import Profile


def tracer(tilt: float = 0.4) -> TracedArithmetic:
    profile = Profile.choose("fine", quantum=2.0**-20, reach=10.0, radius=0.1)
    return TracedArithmetic(profile, tilt=tilt, largest_tilt=tilt)


def spread(fmt: Format, lo: float, hi: float, count: int = 20000) -> np.ndarray:
    """Codes over [lo, hi]: both ends, the powers of two and their neighbours, and random ones."""
    rng = np.random.default_rng(5)
    first, last = math.ceil(math.ldexp(lo, fmt.fraction)), math.floor(math.ldexp(hi, fmt.fraction))
    powers = 1 << np.arange(62)
    near = np.concatenate([powers - 1, powers, powers + 1])
    near = near[(near >= first) & (near <= last)]
    return np.concatenate([[first, last], near, rng.integers(first, last, count, endpoint=True)])


def run(m: TracedArithmetic, inputs: dict, outputs: dict) -> dict[str, np.ndarray]:
    """Output values (float64, exact) of the traced outputs for input codes."""
    graph = m.builder.graph("function", outputs)
    codes = evaluate(graph, inputs)
    return {name: np.ldexp(codes[name], -graph.output_formats[name].fraction) for name in outputs}


@pytest.mark.parametrize("lo, hi", [(2.0, 12.0), (0.05, 0.06), (0.5, 400.0)])
def test_a_reciprocal_is_within_two_quanta_of_its_18_bits(lo, hi):
    m, fmt = tracer(), Format(False, 10, 20)
    x = m.clamp(m.input("x", fmt), lo, hi)
    y = m.reciprocal(x, "weight")
    codes = spread(fmt, lo, hi)
    got = run(m, {"x": codes}, {"y": y})["y"]
    exact = 1 / fmt.decode(codes)
    assert np.max(np.abs(got - exact)) <= 2 * 2.0**-y.range.fraction
    assert y.range.width == 18


def test_a_reciprocal_of_a_range_that_reaches_zero_is_refused():
    m = tracer()
    with pytest.raises(ValueError, match=r"a reciprocal needs a positive range, not Range\(lo=0"):
        m.reciprocal(m.input("x", Format(False, 4, 20)), "weight")


def test_division_by_a_pivot_has_25_significant_bits_and_saturates_at_its_limit():
    m, fmt = tracer(), Format(True, 6, 18)
    x, p = m.input("x", fmt), m.input("p", fmt)
    y = m.divide(x, m.pivot(p, 0.25), 8.0, "solution", "step")
    saturated = m.any(m.flags["step"])
    rng = np.random.default_rng(6)
    xs = rng.integers(fmt.lo, fmt.hi, 30000)
    ps = np.concatenate(
        [rng.integers(fmt.lo, fmt.hi, 15000), spread(fmt, 0.25, 1.0, 15000)[:15000]]
    )
    out = run(m, {"x": xs, "p": ps}, {"y": y, "saturated": saturated})
    exact = fmt.decode(xs) / np.maximum(fmt.decode(ps), 0.25)
    inside = np.abs(exact) < 7.99
    quantum = 2.0**-y.range.fraction
    assert np.max(np.abs(out["y"] - exact)[inside]) <= 16 * quantum
    assert np.all(out["saturated"][np.abs(exact) > 8.01] == 1)
    assert np.all(out["saturated"][inside] == 0)
    assert np.all(np.abs(out["y"]) <= 8.0)


@pytest.mark.parametrize("lo, hi", [(4.0, 145.0), (0.01, 0.02), (0.09, 260.0)])
def test_roots_and_their_reciprocals_are_within_a_few_quanta(lo, hi):
    m, fmt = tracer(), Format(False, 9, 25)
    x = m.clamp(m.input("x", fmt), lo, hi)
    root, inverse = m.square_root(x, "unit")
    codes = spread(fmt, lo, hi)
    out = run(m, {"x": codes}, {"root": root, "inverse": inverse})
    exact = np.sqrt(fmt.decode(codes))
    assert np.max(np.abs(out["root"] - exact) - 2.0**-25 * exact) <= 2.0**-root.range.fraction
    assert np.max(np.abs(out["inverse"] - 1 / exact)) <= 4 * 2.0**-inverse.range.fraction


@pytest.mark.parametrize("lo, hi", [(4.0, 145.0), (0.01, 0.02), (0.09, 260.0)])
def test_a_short_root_and_its_reciprocal_are_within_2_to_the_minus_19(lo, hi):
    m, fmt = tracer(), Format(False, 9, 25)
    root, inverse = m.square_root(m.clamp(m.input("x", fmt), lo, hi), "guide")
    codes = spread(fmt, lo, hi)
    out = run(m, {"x": codes}, {"root": root, "inverse": inverse})
    exact = np.sqrt(fmt.decode(codes))
    assert m.profile.guide.bits < 25 and inverse.range.width == m.profile.guide.bits
    error = np.abs(out["root"] - exact) - 2.0**-root.range.fraction
    assert np.max(error / exact) <= 2.0**-19
    error = np.abs(out["inverse"] - 1 / exact) - 2.0**-inverse.range.fraction
    assert np.max(error * exact) <= 2.0**-19


@pytest.mark.parametrize("tilt", [0.1, 0.4, 1.0, 3.0])
def test_rotation_coefficients_follow_their_functions_up_to_the_tilt(tilt):
    m = tracer(tilt)
    fmt = Format(False, 5, 26)
    a, b, c = m.rotation_coefficients(m.input("s", fmt), 1.25)
    codes = spread(fmt, 0.0, tilt**2)
    out = run(m, {"s": codes}, {"a": a, "b": b, "c": c})
    x = np.sqrt(np.minimum(fmt.decode(codes), tilt**2)) + 1e-9
    exact = {
        "a": np.sin(x) / x,
        "b": 2 * (np.sin(x / 2) / x) ** 2,
        "c": 1.25 * np.where(x < 0.05, 1 / 6 - x**2 / 120, (x - np.sin(x)) / x**3),
    }
    assert np.max(np.abs(out["a"] - exact["a"])) <= 2 * 2.0**-m.profile.rotation.bits
    assert np.max(np.abs(out["b"] - exact["b"])) <= 2 * 2.0**-m.profile.rotation.bits
    assert np.max(np.abs(out["c"] - exact["c"])) <= 2.0**-15


def test_a_higher_precision_takes_a_higher_degree():
    coarse = rotation_polynomials(0.16, (1e-3, 1e-3, 1e-3))
    fine = rotation_polynomials(0.16, (1e-9, 1e-9, 1e-9))
    assert all(a.degree() < b.degree() for a, b in zip(coarse, fine, strict=True))


def test_a_block_is_normalised_to_its_largest_value_and_back():
    m, fmt = tracer(), Format(True, 5, 22)
    xs = [m.input(name, fmt) for name in "pqr"]
    normal, block = m.normalise(xs, "right_side")
    back = [m.denormalise(x, block, 22) for x in normal]
    rng = np.random.default_rng(7)
    size = np.ldexp(1.0, rng.integers(-22, 4, 5000))
    codes = {name: fmt.encode(rng.uniform(-1, 1, 5000) * size) for name in "pqr"}
    codes["p"][0] = codes["q"][0] = codes["r"][0] = 0
    outputs = {f"n{i}": x for i, x in enumerate(normal)} | {f"b{i}": x for i, x in enumerate(back)}
    out = run(m, codes, outputs)
    largest = np.max(np.abs([out[f"n{i}"] for i in range(3)]), axis=0)
    assert np.all(
        (largest[1:] >= 0.5) | (np.max(np.abs([codes[k][1:] for k in "pqr"]), axis=0) == 0)
    )
    for i, name in enumerate("pqr"):
        exact = fmt.decode(codes[name])
        allowed = 2.0**-22 + 2.0**-23 * np.max(
            [np.abs(fmt.decode(codes[k])) for k in "pqr"], axis=0
        )
        assert np.all(np.abs(out[f"b{i}"] - exact) <= allowed)
