"""What a tracked robot measures: rows that are derivatives, a gain that is least squares."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver_ref.domain import sample_poses
from solver_ref.measurement import Model, attitude_model, gain, length_model
from solver_ref.robot_file import load

CASES: list[tuple[str, Callable[..., Model]]] = [
    ("nist-robocrane", length_model),
    ("cogiro", length_model),
    ("planar4", length_model),
    ("hangprinter", length_model),
    ("four-cable", attitude_model),
]


@pytest.mark.parametrize(("name", "model_of"), CASES)
def test_the_rows_are_the_derivatives_of_the_measurements(
    name: str, model_of: Callable[..., Model]
) -> None:
    robot = load(name)
    model = model_of(robot)
    poses = sample_poses(robot, 20, np.random.default_rng(0))
    measured, rows = model.rows(poses)
    assert rows.shape == (20, len(model.weights), len(robot.free))
    for i in range(len(robot.free)):
        step = 1e-6 * np.eye(len(robot.free))[i]
        slope = (model.rows(poses + step)[0] - model.rows(poses - step)[0]) / 2e-6
        assert_allclose(rows[..., i], slope, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("name", "model_of"), CASES)
def test_the_gain_is_the_weighted_least_squares_answer(
    name: str, model_of: Callable[..., Model]
) -> None:
    robot = load(name)
    model = model_of(robot)
    rng = np.random.default_rng(1)
    _, rows = model.rows(sample_poses(robot, 1, rng)[0])
    residual = rng.normal(size=len(model.weights))
    w = model.weights[:, None]
    expected = np.linalg.lstsq(w * rows, model.weights * residual, rcond=None)[0]
    assert_allclose(gain(model, rows) @ residual, expected, rtol=0, atol=1e-11)


def test_an_inclinometer_gives_two_rows_and_takes_the_place_of_two_lengths() -> None:
    robot = load("four-cable")
    model = attitude_model(robot, axes=("rx", "ry"))
    pose = np.array([0.1, 0.2, 1.5, 0.01, -0.02, 0.03])
    measured, rows = model.rows(pose)
    assert_allclose(measured[4:], [0.01, -0.02])
    # Six rows of six unknowns: each measurement is met, whatever the weight.
    assert_allclose(rows @ gain(model, rows), np.eye(6), atol=1e-9)


def test_lengths_that_leave_the_pose_open_are_refused() -> None:
    with pytest.raises(ValueError, match="four-cable: 4 lengths do not determine 6 coordinates"):
        length_model(load("four-cable"))


def test_attitudes_that_the_robot_does_not_have_are_refused() -> None:
    robot = load("four-cable")
    with pytest.raises(ValueError, match="must be of rx, ry, rz, not rx, z"):
        attitude_model(robot, axes=("rx", "z"))
    with pytest.raises(ValueError, match="must be of none, not none"):
        attitude_model(load("hangprinter"))
    with pytest.raises(ValueError, match="weight of the attitude must be above 0, not 0"):
        attitude_model(robot, weight=0)
    planar = replace(load("planar4"), closure="attitude")
    assert len(attitude_model(planar).weights) == 5
