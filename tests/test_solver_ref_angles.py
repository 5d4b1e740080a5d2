"""Functions of angles as graphs: their error against float64, all round and beyond their span."""

import dataclasses
import math

import numpy as np
import pytest
from traced import run, tracer

from solver_ref.angles import FEW, short_direction
from solver_ref.arithmetic import FloatArithmetic
from solver_ref.fixed import Format
from solver_ref.profile import Fraction

FLOAT = FloatArithmetic()
UNIT = Format(True, 2, 23)


def circle(count: int) -> np.ndarray:
    """Angles all round, among them every multiple of a quarter turn."""
    return np.linspace(-math.pi, math.pi, count, endpoint=False)


@pytest.mark.parametrize(
    "span", [(1.0, 2.6), (-0.4, 0.4), (2.9, 3.9), (-2.0, 0.3), (1.5, 1.7), (0.0, 0.6), (4.0, 4.5)]
)
def test_an_angle_is_within_its_stated_error_and_flagged_outside_its_span(span) -> None:
    m = tracer()
    cosine, sine = (m.clamp(m.input(name, UNIT), -1.001, 1.001) for name in "cs")
    angle = m.angle(cosine, sine, span, "wrap", "far")
    flag = m.any(m.flags["far"])
    codes = {"c": UNIT.encode(np.cos(circle(100000))), "s": UNIT.encode(np.sin(circle(100000)))}
    out = run(m, codes, {"angle": angle, "flag": flag})
    middle = (span[0] + span[1]) / 2
    exact = FLOAT.angle(UNIT.decode(codes["c"]), UNIT.decode(codes["s"]), span, "wrap", "far")
    assert np.all(np.abs(exact - middle) <= math.pi)
    inside = (exact > span[0] + 1e-6) & (exact < span[1] - 1e-6)
    outside = (exact < span[0] - 1e-6) | (exact > span[1] + 1e-6)
    assert not out["flag"][inside].any() and out["flag"][outside].all()
    error = np.abs(out["angle"] - exact)[inside]
    allowed = 1.5 * 2.0**-m.profile.wrap.bits + 2.0**-23 / np.cos(exact[inside] - middle)
    assert np.all(error <= allowed)
    assert np.all((out["angle"] >= span[0] - 1e-6) & (out["angle"] <= span[1] + 1e-6))


def test_an_angle_of_too_wide_a_span_is_refused() -> None:
    m = tracer()
    with pytest.raises(ValueError, match=r"a span of at most 2.4 rad, not \(0.0, 2.6\)"):
        m.angle(m.input("c", UNIT), m.input("s", UNIT), (0.0, 2.6), "wrap", "far")


def test_short_directions_are_near_every_angle() -> None:
    for angle in np.linspace(-7.0, 7.0, 500):
        c, s, near = short_direction(float(angle))
        assert max(abs(c), abs(s)) <= 8 and abs(near - angle) <= 0.063
        assert math.cos(near) * math.hypot(c, s) == pytest.approx(c, abs=1e-12)
        assert math.sin(near) * math.hypot(c, s) == pytest.approx(s, abs=1e-12)


@pytest.mark.parametrize("most", [0.3, 1.6, 3.2, 6.3])
def test_sine_and_cosine_are_within_one_and_a_half_quanta(most) -> None:
    m, fmt = tracer(), Format(True, 4, 22)
    sine, cosine = m.sine_cosine(m.clamp(m.input("a", fmt), -most, most), "wrap")
    rng = np.random.default_rng(14)
    angles = np.concatenate([np.linspace(-most, most, 30001), rng.uniform(-most, most, 30000)])
    codes = fmt.encode(np.clip(angles, -most + 2e-6, most - 2e-6))
    out = run(m, {"a": codes}, {"sine": sine, "cosine": cosine})
    for name, exact in zip(
        ("sine", "cosine"), FLOAT.sine_cosine(fmt.decode(codes), ""), strict=True
    ):
        assert np.max(np.abs(out[name] - exact)) <= 1.5 * 2.0**-m.profile.wrap.bits
        assert np.max(np.abs(out[name])) <= 1


@pytest.mark.parametrize("bits", [14, 18, 19, 22, 30])
def test_an_arctangent_is_right_all_round_at_every_distance(bits: int) -> None:
    m, fmt = tracer(), Format(True, 4, 20)
    m.profile = dataclasses.replace(m.profile, wrap=Fraction(bits))
    angle = m.arctangent(m.input("y", fmt), m.input("x", fmt), "wrap")
    rng = np.random.default_rng(15)
    around = np.concatenate([circle(40000), rng.uniform(-math.pi, math.pi, 40000)])
    size = 2.0 ** rng.uniform(-20, 2.99, around.size)
    codes = {"x": fmt.encode(size * np.cos(around)), "y": fmt.encode(size * np.sin(around))}
    edges = np.array([0, 0, 1, -1, fmt.lo, fmt.hi, fmt.lo, fmt.lo, 0, 0])
    codes["x"][:10], codes["y"][:10] = (
        edges,
        np.array([0, 1, 0, 0, fmt.lo, 1, 0, -1, fmt.lo, fmt.hi]),
    )
    out = run(m, codes, {"angle": angle})
    exact = FLOAT.arctangent(fmt.decode(codes["y"]), fmt.decode(codes["x"]), "")
    error = np.abs(out["angle"] - exact)
    assert np.max(error) <= 1.5 * 2.0**-bits + (2.0**-20 if bits <= FEW else 0.0)


def test_an_arccosine_is_exact_at_its_ends_and_flagged_beyond() -> None:
    m, fmt = tracer(), Format(True, 2, 21)
    angle = m.arccosine(m.input("x", fmt), "wrap", "far")
    flag = m.any(m.flags["far"])
    one = 1 << 21
    codes = np.unique(np.concatenate([np.arange(-one - 40, one + 40, 97), [-one, one, 0, one - 1]]))
    out = run(m, {"x": codes}, {"angle": angle, "flag": flag})
    inside = np.abs(codes) <= one
    assert np.array_equal(out["flag"] == 0, inside)
    exact = FLOAT.arccosine(np.clip(fmt.decode(codes), -1, 1), "", "")
    assert np.max(np.abs(out["angle"] - exact)) <= 2 * 2.0**-m.profile.wrap.bits
    assert out["angle"][codes == one] == 0
