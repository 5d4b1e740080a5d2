"""The stretch of a cable: the printed law's jumps, the integral against quadrature, hardware."""

import math

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from scipy.integrate import quad
from traced import run, tracer

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.elongation import LAWS, elongation
from solver_ref.fixed import Format
from solver_ref.parts import Stiffness
from solver_ref.robot_file import load
from solver_ref.symbolic import SymbolicArithmetic

FLOAT = FloatArithmetic()
CRANE = load("four-cable-full").cables[0].stiffness
# No thresholds; no growth; a rope that gets five times as stiff; thresholds that are no codes.
LAWFUL = {
    "crane": CRANE,
    "spring": Stiffness(k0=1e5),
    "growing": Stiffness(k0=3e4, alpha=2.5),
    "stepped": Stiffness(k0=1e5, static_friction=12.0, slip=500.0, k_max=2e5),
    "soft": Stiffness(k0=2e4, alpha=10.0, static_friction=7.3, slip=8000.1, k_max=2.3e5),
}
cases = pytest.mark.parametrize("stiffness", LAWFUL.values(), ids=LAWFUL)


def at(stiffness: Stiffness, tension: object, law: str = "integrated") -> np.ndarray:
    return np.asarray(elongation(FLOAT, stiffness, np.asarray(tension, float), law))


def stiffness_at(law: Stiffness, tension: float) -> float:
    """k(T) above the static friction."""
    if law.slip is not None and tension > law.slip:
        return law.k_max
    return law.k0 + law.alpha * tension


def test_the_printed_law_jumps_where_and_as_far_as_published() -> None:
    below, above = at(CRANE, [30 - 1e-9, 30 + 1e-9], "printed")
    assert below == 0
    assert above - below == pytest.approx(0.15e-3, abs=0.5e-6)
    below, above = at(CRANE, [8000 - 1e-6, 8000 + 1e-6], "printed")
    assert below - above == pytest.approx(17e-3, abs=0.05e-3)


@cases
def test_the_integrated_law_never_jumps_and_never_falls(stiffness: Stiffness) -> None:
    for edge in (stiffness.static_friction, stiffness.slip or 100.0):
        below, above = at(stiffness, [edge - 1e-6, edge + 1e-6])
        assert 0 <= above - below <= 2e-6 / stiffness.k0
    assert (np.diff(at(stiffness, np.linspace(-100, 12000, 5000))) >= 0).all()


@cases
def test_below_the_static_friction_nothing_moves(stiffness: Stiffness) -> None:
    for law in LAWS:
        assert not at(stiffness, [-50.0, 0.0, stiffness.static_friction * (1 - 1e-12)], law).any()


@cases
def test_the_integrated_law_is_the_integral(stiffness: Stiffness) -> None:
    low = stiffness.static_friction
    for tension in (low + 1e-3, low + 20.0, 480.0, 2500.0, 11000.0):
        edges = [e for e in (stiffness.slip,) if e is not None and e < tension]
        want, _ = quad(lambda t: 1 / stiffness_at(stiffness, t), low, tension, points=edges or None)
        assert at(stiffness, tension) == pytest.approx(want, rel=1e-9)


@cases
def test_the_printed_law_is_the_tension_over_the_stiffness(stiffness: Stiffness) -> None:
    tensions = np.linspace(stiffness.static_friction, 12000, 997)
    want = [t / stiffness_at(stiffness, t) for t in tensions]
    assert_allclose(at(stiffness, tensions, "printed"), want, rtol=1e-14)


def test_without_growth_the_law_is_the_limit_of_little_growth() -> None:
    tensions = np.linspace(0, 12000, 100)
    little = at(Stiffness(k0=1e5, alpha=1e-9), tensions)
    assert_allclose(at(Stiffness(k0=1e5), tensions), little, rtol=1e-9)


def test_the_derivative_is_one_over_the_stiffness_in_every_region() -> None:
    """A proof with symbols: dL/dT = 0, 1 / (k0 + alpha T), 1 / k_max."""
    t = sp.Symbol("T", real=True)
    law = Stiffness(k0=200.0, alpha=2.0, static_friction=30.0, slip=8000.0, k_max=32768.0)
    slope = sp.diff(elongation(SymbolicArithmetic(), law, t), t)
    for inside, want in ((10, 0), (1000, sp.Rational(1, 2200)), (9000, sp.Rational(1, 32768))):
        assert sp.simplify(slope.subs(t, inside) - want) == 0


@cases
@pytest.mark.parametrize("law", LAWS)
def test_symbols_and_floats_give_the_same(stiffness: Stiffness, law: str) -> None:
    t = sp.Symbol("T", real=True)
    expression = elongation(SymbolicArithmetic(), stiffness, t, law)
    for tension in (0.5, 29.0, 31.0, 700.25, 8001.5, 12000.0):
        want = float(expression.subs(t, sp.Rational(tension)).evalf(30))
        assert at(stiffness, tension, law) == pytest.approx(want, rel=1e-14, abs=1e-18)


def test_another_law_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one of integrated, printed, not 'hooke'"):
        elongation(FLOAT, CRANE, 1.0, "hooke")


def tensions_near(stiffness: Stiffness, fmt: Format, top: float) -> np.ndarray:
    """Codes over [0, top]: random ones, the ends, and all within a few of the thresholds."""
    rng = np.random.default_rng(8)
    last = math.floor(math.ldexp(top, fmt.fraction))
    edges = [0, last]
    for edge in (stiffness.static_friction, stiffness.slip or top):
        edges += [math.floor(math.ldexp(edge, fmt.fraction)) + k for k in range(-3, 4)]
    edges = [code for code in edges if 0 <= code <= last]
    return np.concatenate([edges, rng.integers(0, last, 4000, endpoint=True)])


@cases
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bits", [4, 10])
def test_hardware_is_within_its_error_everywhere(stiffness: Stiffness, law: str, bits: int) -> None:
    """Also at the jumps of the printed law: the regions are the float law's on every code."""
    m, fmt, error = tracer(), Format(False, 14, bits), 2.0**-27
    tension = m.clamp(m.input("T", fmt), 0.0, 12000.0)
    y = elongation(m, stiffness, tension, law, error=error)
    codes = tensions_near(stiffness, fmt, 12000.0)
    got = run(m, {"T": codes}, {"y": y})["y"]
    off = np.abs(got - at(stiffness, fmt.decode(codes), law))
    # Where a threshold is no code, the integral begins at the next one.
    quantum = 2.0**-bits / stiffness.k0 if law == "integrated" and stiffness.slip == 8000.1 else 0.0
    assert off.max() <= 2.5 * error + quantum


def test_hardware_has_no_regions_that_the_tension_does_not_reach() -> None:
    m = tracer()
    small = m.clamp(m.input("T", Format(False, 14, 6)), 0.0, 29.0)
    assert elongation(m, CRANE, small) == 0
    m = tracer()
    some = m.clamp(m.input("T", Format(False, 14, 6)), 0.0, 4000.0)
    codes = np.arange(0, 4000 << 6, 997)
    got = run(m, {"T": codes}, {"y": elongation(m, CRANE, some, "printed", error=2.0**-27)})["y"]
    assert np.abs(got - at(CRANE, codes / 64, "printed")).max() <= 2.0**-26


def test_a_law_that_no_polynomial_follows_is_refused() -> None:
    m = tracer()
    tension = m.clamp(m.input("T", Format(False, 14, 6)), 0.0, 12000.0)
    with pytest.raises(ValueError, match="no polynomial of degree 24 or less is within"):
        elongation(m, Stiffness(k0=10.0, alpha=100.0), tension)
