"""Encoder to length and back: drums, offsets, warmth and tension, in floats, symbols, hardware."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from traced import run, tracer

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.correction import (
    actual_tension,
    measured_length,
    measured_lengths,
    true_length,
    true_lengths,
)
from solver_ref.elongation import LAWS, elongation
from solver_ref.fixed import Format
from solver_ref.parts import Cable, Drum, Pulley, Stiffness
from solver_ref.robot_file import load
from solver_ref.symbolic import SymbolicArithmetic

FLOAT = FloatArithmetic()
PLAIN = Cable(anchor=(0.0, 0.0, 6.0), attachment=(0.0, 0.0, 0.0))
CRANE = load("four-cable-full").cables[0]
DRUM = Drum(radius=0.05, build_up=1.1e-4, capacity=14.0)
CASES = {
    "plain": PLAIN,
    "crane": CRANE,
    "offset": replace(PLAIN, offset=-0.3217),
    "warm": replace(PLAIN, thermal=2.3e-5),
    "drum": replace(PLAIN, drum=DRUM),
    "cylinder": replace(PLAIN, drum=replace(DRUM, build_up=0.0)),
    # From 20 mm when empty to 43 mm when full.
    "spool": replace(PLAIN, drum=Drum(radius=0.02, build_up=1.04e-4, capacity=14.0)),
    "all": replace(CRANE, offset=0.123456, drum=DRUM, thermal=1e-4),
    "soft": replace(
        PLAIN,
        offset=1.7,
        thermal=1e-3,
        stiffness=Stiffness(k0=2e4, alpha=10.0, static_friction=7.0, slip=8000.0, k_max=2.3e5),
    ),
}
cases = pytest.mark.parametrize("cable", CASES.values(), ids=CASES)


def test_a_plain_cable_is_as_long_as_its_encoder_shows() -> None:
    assert true_length(FLOAT, PLAIN, 3.25, tension=100.0, warming=20.0) == 3.25
    assert measured_length(FLOAT, PLAIN, 3.25, tension=100.0, warming=20.0) == 3.25


def test_a_full_drum_pays_out_what_its_layers_hold() -> None:
    """dl/de = r(l)/r, integrated by SciPy from an empty encoder on."""
    shown = np.linspace(0, 12, 25)

    def slope(_: float, length: np.ndarray) -> np.ndarray:
        return np.sqrt(0.05**2 + 1.1e-4 * (14.0 - length)) / 0.05

    want = solve_ivp(slope, (0, 12), [0.0], t_eval=shown, rtol=1e-12, atol=1e-12).y[0]
    got = true_length(FLOAT, CASES["drum"], shown)
    assert_allclose(got, want, rtol=0, atol=1e-10)
    assert got[-1] > 13


def test_one_turn_pays_out_the_circumference() -> None:
    """Of a full drum at first, and of the bare one when the last metre has gone."""
    turn, tiny = 2 * math.pi * 0.05, 1e-6
    first = true_length(FLOAT, CASES["drum"], tiny * turn)
    full = math.sqrt(0.05**2 + 1.1e-4 * 14.0)
    assert first / tiny == pytest.approx(2 * math.pi * full, rel=1e-6)
    empty = measured_length(FLOAT, CASES["drum"], 14.0)
    last = 14.0 - true_length(FLOAT, CASES["drum"], empty - tiny * turn)
    assert last / tiny == pytest.approx(turn, rel=1e-6)


def test_an_offset_is_added_before_warmth_and_tension() -> None:
    cable = CASES["all"]
    paid = true_length(FLOAT, replace(PLAIN, drum=DRUM), 5.0)
    stretched = elongation(FLOAT, cable.stiffness, 900.0)
    want = (paid + 0.123456) * (1 + 1e-4 * 15) + stretched
    assert true_length(FLOAT, cable, 5.0, tension=900.0, warming=15.0) == pytest.approx(
        want, abs=1e-15
    )


def test_warmth_and_tension_of_the_crane_are_millimetres() -> None:
    warm = true_length(FLOAT, CRANE, 10.0, warming=25.0) - 10.0
    assert warm == pytest.approx(3.0e-3, rel=1e-9)
    pulled = true_length(FLOAT, CRANE, 10.0, tension=400.0) - 10.0
    assert pulled == pytest.approx(math.log(200800 / 200060) / 2, rel=1e-9)


def test_a_sensor_at_the_winch_feels_the_pulley() -> None:
    assert actual_tension(FLOAT, CRANE, 100.0) == pytest.approx(92.0)
    assert actual_tension(FLOAT, PLAIN, 100.0) == 100.0
    free = replace(CRANE, pulley=Pulley(radius=0.05, axis=(0.0, 0.0, 1.0)))
    assert actual_tension(FLOAT, free, 100.0) == 100.0


@cases
@pytest.mark.parametrize("law", LAWS)
def test_what_the_encoder_shows_is_the_exact_inverse(cable: Cable, law: str) -> None:
    rng = np.random.default_rng(4)
    lengths = rng.uniform(2, 12, 500)
    state = {"tension": rng.uniform(0, 12000, 500), "warming": rng.uniform(-40, 60, 500)}
    shown = measured_length(FLOAT, cable, lengths, **state, law=law)
    assert_allclose(true_length(FLOAT, cable, shown, **state, law=law), lengths, rtol=0, atol=1e-14)


def test_the_drum_satisfies_its_equation_in_symbols() -> None:
    """A proof: (dl/de)^2 r^2 = r^2 + b (c - l), and the inverse undoes it."""
    e = sp.Symbol("e", positive=True)
    drum = Drum(radius=0.5, build_up=0.25, capacity=1.25)  # R = 0.75, and all is exact
    cable, m = replace(PLAIN, drum=drum), SymbolicArithmetic()
    length = true_length(m, cable, e)
    r, b, c = map(sp.Rational, ("0.5", "0.25", "1.25"))
    assert sp.expand((sp.diff(length, e) * r) ** 2 - r**2 - b * (c - length)) == 0
    shown = measured_length(m, cable, length)
    for value in (sp.Rational(1, 7), sp.Rational(1, 2)):
        assert sp.simplify(shown.subs(e, value) - value) == 0


@cases
@pytest.mark.parametrize("function", [true_length, measured_length])
def test_symbols_and_floats_give_the_same(cable: Cable, function) -> None:
    x, t, w = sp.symbols("x T w", real=True)
    expression = function(SymbolicArithmetic(), cable, x, tension=t, warming=w)
    for values in ((3.5, 12.0, -20.0), (8.25, 950.5, 30.0), (6.0, 9000.0, 0.0)):
        places = dict(zip((x, t, w), map(sp.Rational, values), strict=True))
        want = float(sp.sympify(expression).subs(places).evalf(30))
        got = function(FLOAT, cable, values[0], tension=values[1], warming=values[2])
        assert got == pytest.approx(want, rel=1e-14)


LENGTH, TENSION, WARMING = Format(False, 4, 20), Format(True, 15, 8), Format(True, 8, 8)


def drawn(count: int, lo: float, hi: float) -> dict[str, np.ndarray]:
    """Codes within the limits: random, and every corner."""
    rng = np.random.default_rng(9)
    spans = {"x": (LENGTH, lo, hi), "T": (TENSION, -50, 12000), "dT": (WARMING, -60, 60)}
    corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1]), axis=-1).reshape(-1, 3).T
    result = {}
    for (name, (fmt, low, high)), corner in zip(spans.items(), corners, strict=True):
        first, last = math.ceil(low * 2**fmt.fraction), math.floor(high * 2**fmt.fraction)
        codes = rng.integers(first, last, count, endpoint=True)
        result[name] = np.concatenate([np.where(corner, last, first), codes])
    return result


@cases
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("function", [true_length, measured_length])
def test_hardware_is_within_2_to_the_minus_23_metres(cable: Cable, law: str, function) -> None:
    """Eight times finer than the reference crane's quantum of length."""
    m = tracer()
    assert m.profile.residual.bits == 23
    lo, hi = 0.5, 12.5
    measured = m.clamp(m.input("x", LENGTH), lo, hi)
    tension = m.clamp(m.input("T", TENSION), -50.0, 12000.0)
    warming = m.clamp(m.input("dT", WARMING), -60.0, 60.0)
    y = function(m, cable, measured, tension=tension, warming=warming, law=law)
    codes = drawn(4000, lo, hi)
    got = run(m, codes, {"y": y})["y"]
    x, t, w = LENGTH.decode(codes["x"]), TENSION.decode(codes["T"]), WARMING.decode(codes["dT"])
    want = function(FLOAT, cable, x, tension=t, warming=w, law=law)
    off = float(np.max(np.abs(got - want)))
    assert off <= 2.0**-23
    assert y.range.fraction <= 23


def test_hardware_holds_a_drum_at_its_capacity_and_says_so() -> None:
    m = tracer()
    y = measured_length(m, CASES["drum"], m.input("x", LENGTH))
    (flag,) = m.flags["drum"]
    codes = np.array([int(13.9 * 2**20), int(14.1 * 2**20)])
    out = run(m, {"x": codes}, {"y": y, "flag": flag})
    assert list(out["flag"]) == [0, 1]
    full = measured_length(FLOAT, CASES["drum"], 14.0)
    assert out["y"][1] == pytest.approx(full, abs=2.0**-22)


def test_the_sensed_tension_in_hardware_is_as_good_as_the_stretch_needs() -> None:
    m = tracer()
    sensed = m.clamp(m.input("S", TENSION), 0.0, 12000.0)
    codes = np.random.default_rng(3).integers(0, 12000 << 8, 4000)
    got = run(m, {"S": codes}, {"T": actual_tension(m, CRANE, sensed)})["T"]
    off = np.abs(got - 0.92 * TENSION.decode(codes)).max()
    assert 0 < off <= 2.0**-27 * CRANE.stiffness.k0


def test_robots_correct_every_cable_by_its_own_numbers() -> None:
    robot = load("four-cable-full")
    cables = tuple(replace(cable, offset=0.1 * i) for i, cable in enumerate(robot.cables))
    robot = replace(robot, cables=cables)
    rng = np.random.default_rng(1)
    lengths, tensions = rng.uniform(4, 9, (7, 3, 4)), rng.uniform(20, 900, (7, 3, 4))
    warming = rng.uniform(-10, 30, (7, 3))
    state = {"tensions": tensions, "warming": warming}
    shown = measured_lengths(robot, lengths, **state)
    assert shown.shape == lengths.shape
    assert_allclose(true_lengths(robot, shown, **state), lengths, rtol=0, atol=1e-14)
    for i, cable in enumerate(cables):
        one = true_length(
            FLOAT, cable, shown[2, 1, i], tension=tensions[2, 1, i], warming=warming[2, 1]
        )
        assert one == pytest.approx(lengths[2, 1, i], abs=1e-14)
    assert_allclose(true_lengths(robot, shown), shown + 0.1 * np.arange(4), rtol=0, atol=1e-15)
    assert true_lengths(robot, shown[0, 0], warming=np.zeros(5)).shape == (5, 4)
