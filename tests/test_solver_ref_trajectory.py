"""Reference trajectories: inside the workspace, as fast as stated, and derivatives that agree."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from robot_kinds import of_cables

from solver_ref.kinematics import cable_lengths, jacobian, rotation_exp
from solver_ref.robot_file import load
from solver_ref.trajectory import (
    PERIOD,
    Trajectory,
    crane_trajectory,
    drive_scale,
    endless_trajectory,
    quasi_static_lengths,
    sample_times,
    spatial_rates,
)

STEP = 1e-4


def slope(values: np.ndarray) -> np.ndarray:
    """The central difference of eighth order of samples STEP apart; four are lost at either end."""
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    count = len(values) - 8
    return sum(w * values[i : i + count] for i, w in enumerate(weights)) / STEP


def check_derivatives(path: Trajectory, atol: float) -> None:
    inner = slice(4, -4)
    assert_allclose(slope(path.poses), path.rates[inner], rtol=0, atol=atol)
    assert_allclose(slope(path.twists), path.accelerations[inner], rtol=0, atol=50 * atol)


@pytest.mark.parametrize("name", of_cables())
def test_rates_and_accelerations_are_the_slopes_of_poses_and_twists(name: str) -> None:
    robot = load(name)
    # Between the ends of its parts, where it is a polynomial times sines.
    path = crane_trajectory(robot)
    for first, last in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
        part = slice(round(first / STEP), round(last / STEP) + 1)
        check_derivatives(Trajectory(**{k: v[part] for k, v in vars(path).items()}), 1e-9)
    check_derivatives(endless_trajectory(robot, 1 / STEP, 0.2, first=90_000), 1e-9)


def test_the_angular_rate_is_that_of_the_rotation_matrix() -> None:
    times = np.arange(9) * STEP
    phi = np.array([0.3, -1.2, 1.9]) + np.outer(np.sin(times), [0.7, 0.4, -0.9])
    first, second = (np.outer(f(times), [0.7, 0.4, -0.9]) for f in (np.cos, lambda t: -np.sin(t)))
    omega, alpha = spatial_rates(phi, first, second)
    matrix = rotation_exp(phi)
    # R_dot R^T = [omega]x
    skew = slope(matrix)[0] @ matrix[4].T
    assert_allclose([skew[2, 1], skew[0, 2], skew[1, 0]], omega[4], rtol=0, atol=1e-10)
    assert_allclose(slope(omega)[0], alpha[4], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", of_cables())
def test_the_drive_is_as_fast_as_stated_and_stays_in_the_workspace(name: str) -> None:
    robot = load(name)
    path = crane_trajectory(robot)
    low, high = np.array(robot.workspace.position).T
    position, turn = np.split(path.poses, [robot.translations], axis=1)
    assert ((position > low) & (position < high)).all()
    assert np.linalg.norm(turn, axis=1).max(initial=0) <= min(robot.workspace.tilt / 2, 0.1)
    linear = path.twists[:, : robot.translations]
    assert_allclose(linear[0], 0, atol=1e-12)
    # The speed and the harshest acceleration of the drive alone, the sway being bounded apart.
    scale, sway = drive_scale(robot), 0.03 * 2 * np.pi * np.array([1.1, 1.4, 1.7])
    speed = np.linalg.norm(linear, axis=1)[5000:7000].max()
    assert abs(speed - 1.2 * scale) <= np.linalg.norm(sway)
    harshest = np.linalg.norm(path.accelerations[:, : robot.translations], axis=1).max()
    assert abs(harshest - 11.25 * scale) <= 5
    jerk = np.diff(path.accelerations[:, : robot.translations], axis=0) / STEP
    assert np.linalg.norm(jerk, axis=1).max() <= 173 * scale + 90
    # It does stop, and sways on.
    rest = np.linalg.norm(linear[9000:], axis=1)
    assert 0.02 < rest.max() <= np.linalg.norm(sway)


def test_a_small_workspace_slows_the_drive() -> None:
    assert drive_scale(load("cogiro")) == 1
    robot = load("planar4")
    assert 0.4 < drive_scale(robot) < 0.6
    tiny = replace(robot, workspace=replace(robot.workspace, position=((0.4, 0.45), (0.4, 0.6))))
    assert drive_scale(tiny) < 0.11
    assert np.ptp(crane_trajectory(tiny).poses[:, 0]) <= 0.05


def test_an_endless_path_repeats_and_comes_in_pieces() -> None:
    robot = load("nist-robocrane")
    whole = endless_trajectory(robot, 1000, 2 * PERIOD)
    assert_allclose(whole.poses[:10_000], whole.poses[10_000:], rtol=0, atol=1e-12)
    later = endless_trajectory(robot, 1000, 0.5, first=1234)
    assert_allclose(later.poses, whole.poses[1234:1734], rtol=0, atol=0)
    low, high = np.array(robot.workspace.position).T
    assert ((whole.poses[:, :3] > low) & (whole.poses[:, :3] < high)).all()
    assert np.abs(whole.twists[:, :3]).max() <= 0.5 + 1e-12


def test_quasi_static_lengths_are_slow_and_move_in_every_direction() -> None:
    robot = load("four-cable")
    lengths, rates = quasi_static_lengths(robot, 100, 60.0)
    assert_allclose(lengths[0], cable_lengths(robot, np.array(robot.workspace.home)))
    assert np.abs(rates).max() <= 0.1
    assert_allclose(np.gradient(lengths, 0.01, axis=0)[1:-1], rates[1:-1], atol=1e-5)
    # Four independent directions of motion: none of them is a shadow of the others.
    values = np.linalg.svd(lengths - lengths.mean(axis=0), compute_uv=False)
    assert values[-1] > 0.005 * values[0]
    assert quasi_static_lengths(load("hangprinter"), 100, 1.0)[0].shape == (100, 4)


def test_length_rates_follow_from_the_twists() -> None:
    robot = load("nist-robocrane")
    path = crane_trajectory(robot)
    rates = (jacobian(robot, path.poses) @ path.twists[..., None])[..., 0]
    numeric = slope(cable_lengths(robot, path.poses))
    assert_allclose(numeric, rates[4:-4], rtol=0, atol=1e-8)


@pytest.mark.parametrize(("rate", "duration", "word"), [(0.0, 1.0, "rate"), (10.0, 0.01, "sample")])
def test_no_samples_are_refused(rate: float, duration: float, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        sample_times(rate, duration)
