"""Parameters from motions: exact without noise, within their covariance with it."""

import dataclasses

import numpy as np
import published_arms as published
import pytest
from numpy.testing import assert_allclose

from solver_ref.dynamics.excitation import drawn_excitation
from solver_ref.dynamics.identification import (
    base_parameters,
    identify,
    parameter_names,
    parameters,
    regressor,
)
from solver_ref.dynamics.serial import torques

ARM = dataclasses.replace(published.puma560(), links=published.puma560().links[:3])
TIMES = np.linspace(0, 10, 300)


def test_torques_are_linear_in_the_parameters() -> None:
    arm = published.puma560()
    position, speed, acceleration = np.random.default_rng(0).normal(size=(3, 20, 6))
    rows = regressor(arm, position, speed, acceleration)
    assert rows.shape[-1] == len(parameter_names(arm))
    due = torques(arm, position, speed, acceleration)
    assert_allclose(rows @ parameters(arm), due, rtol=0, atol=1e-12 * np.abs(due).max())


def test_the_puma_560_has_its_36_published_inertial_base_parameters() -> None:
    """Gautier and Khalil, 1990; here beside rotors, of which the first two add nothing."""
    arm = published.puma560()
    rows = regressor(arm, *np.random.default_rng(1).uniform(-3, 3, (3, 100, 6)))
    inertial = [i for i, name in enumerate(parameter_names(arm)) if i % 14 < 10]
    singular = np.linalg.svd(rows[..., inertial].reshape(600, -1), compute_uv=False)
    assert (singular > 1e-10 * singular[0]).sum() == 36


def test_without_noise_the_base_parameters_are_exact() -> None:
    rng = np.random.default_rng(2)
    base = base_parameters(ARM, rng)
    motion = drawn_excitation(ARM, rng).at(TIMES)
    found = identify(ARM, base, *motion, torques(ARM, *motion))
    assert_allclose(found.values, base.grouping @ parameters(ARM), rtol=1e-7, atol=1e-9)
    assert found.deviation < 1e-9


def test_with_noise_the_base_parameters_lie_within_their_covariance() -> None:
    """The squared error, weighted by the covariance, is chi-squared over many noises."""
    rng = np.random.default_rng(3)
    base = base_parameters(ARM, rng)
    motion = drawn_excitation(ARM, rng).at(TIMES)
    clean, truth = torques(ARM, *motion), base.grouping @ parameters(ARM)
    squares = []
    for _ in range(20):
        found = identify(ARM, base, *motion, clean + rng.normal(scale=0.5, size=clean.shape))
        error = found.values - truth
        squares.append(error @ np.linalg.solve(found.covariance, error))
        assert found.deviation == pytest.approx(0.5, rel=0.15)
    count = len(truth)
    assert np.mean(squares) == pytest.approx(count, abs=4 * np.sqrt(2 * count / 20))


def test_a_motion_stays_within_the_arms_limits() -> None:
    position, speed, acceleration = drawn_excitation(ARM, np.random.default_rng(4)).at(TIMES)
    assert np.abs(position).max() < np.pi
    assert np.abs(speed).max() < 3
    assert np.abs(acceleration).max() < 10
    step = 1e-5
    ahead, _, _ = drawn_excitation(ARM, np.random.default_rng(4)).at(TIMES + step)
    assert_allclose((ahead - position) / step, speed, atol=1e-3)


def test_a_motion_that_shows_too_little_is_refused() -> None:
    base = base_parameters(ARM, np.random.default_rng(5))
    still = np.zeros((300, 3))
    with pytest.raises(ValueError, match="do not show|does not show"):
        identify(ARM, base, still, still, still, still)
