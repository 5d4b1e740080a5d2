"""Predicted starts: exact for the motions they stand for, and noisy as stated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver_ref.prediction import PREDICTORS, extrapolate, predict


def polynomial(order: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Poses of a polynomial motion of two streams at t = -2, -1, 0, and the one at t = 1."""
    coefficients = np.random.default_rng(order).normal(size=(order + 1, 2, 6))
    poses = [sum(c * t**k for k, c in enumerate(coefficients)) for t in (-2.0, -1.0, 0.0, 1.0)]
    return poses[:3], poses[3]


@pytest.mark.parametrize(
    ("predictor", "order"), [("none", 0), ("velocity", 1), ("acceleration", 2)]
)
def test_a_predictor_is_exact_up_to_its_order_and_not_beyond(predictor: str, order: int) -> None:
    past, following = polynomial(order)
    assert_allclose(predict(past, predictor), following, rtol=0, atol=1e-12)
    past, following = polynomial(order + 1)
    assert np.abs(predict(past, predictor) - following).min() > 1e-3


def test_too_few_poses_lower_the_order() -> None:
    past, _ = polynomial(2)
    assert_allclose(predict(past[-2:], "acceleration"), predict(past, "velocity"))
    assert_allclose(predict(past[-1:], "acceleration"), past[-1])


@pytest.mark.parametrize(("predictor", "gain"), [("velocity", 2.2), ("acceleration", 4.4)])
def test_noise_comes_out_as_stated(predictor: str, gain: float) -> None:
    noise = np.random.default_rng(0).normal(size=(3, 100_000, 1))
    assert predict(noise, predictor).std() == pytest.approx(gain, rel=0.03)


def test_known_derivatives_extend_a_pose() -> None:
    found = extrapolate(np.array([1.0]), np.array([2.0]), 0.5, np.array([4.0]))
    assert_allclose(found, [1 + 2 * 0.5 + 4 * 0.125])


def test_unknown_predictors_and_no_poses_are_refused() -> None:
    with pytest.raises(ValueError, match="one of none, velocity, acceleration, not jerk"):
        predict([np.zeros(3)], "jerk")
    with pytest.raises(ValueError, match="at least one"):
        predict([], "velocity")
    assert list(PREDICTORS) == ["none", "velocity", "acceleration"]
