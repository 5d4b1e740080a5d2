"""Functions of angles as graphs: their error against float64, all round and beyond their span."""

import math

import numpy as np
import pytest
from traced import run, tracer

from solver_ref.angles import short_direction
from solver_ref.arithmetic import FloatArithmetic
from solver_ref.fixed import Format

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
