"""Computed torque and gravity compensation, on the arm that they know and on another one."""

import dataclasses

import numpy as np
import published_arms as published
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from solver_ref.dynamics.control import computed_torque, gravity_compensation
from solver_ref.dynamics.links import Arm
from solver_ref.dynamics.serial import accelerations

MODEL = dataclasses.replace(published.puma560(), links=published.puma560().links[:3])
STIFFNESS, DAMPING = 100.0, 20.0


def wanted(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    phase = np.array([0.0, 1.0, 2.0]) + 2 * time
    return np.sin(phase), 2 * np.cos(phase), -4 * np.sin(phase)


def last_errors(plant: Arm, offset: np.ndarray, times: np.ndarray) -> np.ndarray:
    """How far the controlled plant is from what is wanted, (times, joints)."""

    def rates(time: float, state: np.ndarray) -> np.ndarray:
        position, speed = np.split(state, 2)
        torque = computed_torque(
            MODEL, position, speed, wanted(time), stiffness=STIFFNESS, damping=DAMPING
        )
        return np.concatenate([speed, accelerations(plant, position, speed, torque)])

    place, speed, _ = wanted(0.0)
    start = np.concatenate([place + offset, speed])
    found = solve_ivp(rates, (0, times[-1]), start, t_eval=times, rtol=1e-8, atol=1e-10)
    return found.y[:3].T - np.array([wanted(t)[0] for t in times])


def test_errors_die_away_like_the_oscillator_that_was_asked_for() -> None:
    offset = np.array([0.1, -0.2, 0.05])
    times = np.linspace(0.05, 0.5, 4)
    decay = (1 + 10 * times) * np.exp(-10 * times)  # e'' + 20 e' + 100 e = 0 from rest
    errors = last_errors(MODEL, offset, times)
    assert_allclose(errors, decay[:, None] * offset, rtol=0, atol=1e-6)


def test_a_plant_of_other_mass_is_followed_with_an_error_that_says_so() -> None:
    heavy = dataclasses.replace(MODEL.links[1], mass=20.0)
    plant = dataclasses.replace(MODEL, links=(MODEL.links[0], heavy, MODEL.links[2]))
    errors = np.abs(last_errors(plant, np.zeros(3), np.array([1.0])))
    assert 1e-3 < errors.max() < 0.1


def test_gravity_compensation_holds_an_arm_still() -> None:
    position = np.random.default_rng(2).uniform(-3, 3, (10, 3))
    torque = gravity_compensation(MODEL, position)
    found = accelerations(MODEL, position, np.zeros((10, 3)), torque)
    assert np.abs(torque).max() > 1
    assert_allclose(found, 0, atol=1e-12)
