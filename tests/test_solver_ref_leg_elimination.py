"""The reduced system of the planar 3-RRR against the whole saddle-point one, straight legs too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.dynamics.closed_loop import Baumgarte, forward_dynamics
from solver_ref.dynamics.kj9 import KJ9
from solver_ref.dynamics.leg_elimination import Accelerated, EliminationBounds, accelerations
from solver_ref.dynamics.planar_system import PlanarSystem

SYSTEM = PlanarSystem(KJ9)
HOW = Baumgarte(zeta=0.7, omega=30.0)


def reduced(q: np.ndarray, v: np.ndarray, torque: np.ndarray) -> Accelerated:
    return accelerations(
        FloatArithmetic(),
        KJ9,
        q.tolist(),
        v.tolist(),
        torque.tolist(),
        stabilise=HOW,
        bounds=EliminationBounds(),
    )


@pytest.mark.parametrize("straight", [False, True])
def test_accelerations_and_forces_are_those_of_the_saddle_point_system(straight: bool) -> None:
    rng = np.random.default_rng(12)
    for _ in range(50):
        q, v, torque = rng.uniform(-3, 3, 9), rng.normal(size=9), rng.normal(size=3)
        if straight:
            q[7] = q[4]
        exact, forces = forward_dynamics(SYSTEM, q, v, torque, stabilise=HOW)
        found = reduced(q, v, torque)
        assert_allclose(found.accelerations, exact, rtol=0, atol=1e-9 * np.abs(exact).max())
        assert_allclose(found.forces, forces, rtol=0, atol=1e-9 * np.abs(forces).max())


def test_pivots_are_positive_until_the_constraints_depend_on_each_other() -> None:
    q = SYSTEM.coordinates(np.array([0.02, 0.01, 0.1]))
    assert reduced(q, np.zeros(9), np.zeros(3)).pivot > 0.1
    # All arms along x, the platform level: nothing holds it in x twice over.
    q = np.zeros(9)
    with np.errstate(all="ignore"):
        assert not reduced(q, np.zeros(9), np.zeros(3)).pivot > 1e-9
