"""Free swings and prescribed motions of KJ9: energy, constraints, round trips, and the guard."""

import numpy as np
import pytest
from planar_mutants import WithoutTranslation

from bench import kj9 as bench
from solver_ref.dynamics.closed_loop import Baumgarte
from solver_ref.dynamics.kj9 import KJ9, START
from solver_ref.dynamics.motion import CONDITION_LIMIT, METHODS, Stop, simulate
from solver_ref.dynamics.planar_system import PlanarSystem

SYSTEM = PlanarSystem(KJ9)


def test_a_free_swing_of_two_seconds_keeps_energy_and_constraints() -> None:
    motion = bench.swing(SYSTEM, tolerance=1e-8)
    assert motion.stop is None
    assert motion.condition < 1e3
    assert np.ptp(motion.q[:, 0]) > 0.02
    checks = bench.swing_checks(SYSTEM, motion)
    assert len(checks) == 3
    for check in checks:
        assert check.met, check


def test_passive_arms_that_are_not_carried_along_do_not_keep_the_energy() -> None:
    motion = bench.swing(WithoutTranslation(KJ9), tolerance=1e-5)
    _, kept, gaps = bench.swing_checks(SYSTEM, motion)
    assert kept.value > 1e-2
    assert not kept.met
    assert gaps.value < 1e-4


def test_torques_of_a_circle_make_the_circle() -> None:
    for check in (bench.round_trip(SYSTEM), bench.followed(SYSTEM)):
        assert check.met, check


def test_a_check_that_is_not_met_says_so() -> None:
    check = bench.Check("figure", 2.0, 1.0)
    assert not check.met
    assert str(check).endswith("NOT MET")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_integrator_makes_the_same_motion(method: str) -> None:
    q = SYSTEM.coordinates(np.array(START))
    found = simulate(SYSTEM, q, np.zeros(9), duration=0.05, method=method, tolerance=1e-8)
    best = simulate(SYSTEM, q, np.zeros(9), duration=0.05, tolerance=1e-11)
    assert found.times[-1] == best.times[-1] == 0.05
    assert np.abs(found.q[-1] - best.q[-1]).max() < 1e-6


def test_gaps_that_are_open_are_pulled_shut() -> None:
    q = SYSTEM.coordinates(np.array([0.0, 0.0, 0.0]))
    q[3:6] += 1e-3
    loose = simulate(
        SYSTEM, q, np.zeros(9), duration=0.3, tolerance=1e-6, stabilise=Baumgarte(omega=0.0)
    )
    held = simulate(
        SYSTEM, q, np.zeros(9), duration=0.3, tolerance=1e-6, stabilise=Baumgarte(omega=40.0)
    )
    start, end = (np.abs(SYSTEM.gaps(x)).max() for x in (held.q[0], held.q[-1]))
    assert np.abs(SYSTEM.gaps(loose.q[-1])).max() > start / 2
    assert end < start / 100


class Collapsing(PlanarSystem):
    """Its constraints lose their rank as the platform sinks below its start."""

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        rows = super().jacobian(q)
        rows[..., 0, :] *= max(q[1] - START[1] + 1e-4, 0.0)
        return rows


def test_a_singularity_stops_the_motion_and_is_recorded() -> None:
    system = Collapsing(KJ9)
    q = system.coordinates(np.array(START))
    motion = simulate(system, q, np.zeros(9), duration=2.0, tolerance=1e-6)
    assert isinstance(motion.stop, Stop)
    assert motion.stop.time < 2.0
    assert motion.times[-1] <= motion.stop.time
    assert motion.condition <= CONDITION_LIMIT < motion.stop.condition
    assert np.isfinite(motion.q).all()
