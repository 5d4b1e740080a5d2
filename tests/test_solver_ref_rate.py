"""Twists and length rates, in float64: outside truth from finite differences and linear algebra."""

import dataclasses

import numpy as np
import pytest
from robot_kinds import of_cables

from solver_ref.conditioning import scaled_jacobian
from solver_ref.domain import level_poses, sample_poses
from solver_ref.kinematics import cable_lengths, rotation_exp, rotation_log, scaling
from solver_ref.rate import DAMPING, FUSE, rates_of, twists_of
from solver_ref.robot_file import load

COUNT, SEED = 200, 5


def moving(name):
    """A robot, poses of its workspace and twists."""
    robot, rng = load(name), np.random.default_rng(SEED)
    poses = sample_poses(robot, COUNT, rng)
    return robot, poses, rng.uniform(-1, 1, poses.shape)


def moved(robot, poses, twists, time):
    """Poses after moving for a time with a constant twist in the base frame."""
    later = poses.copy()
    later[:, : robot.translations] += time * twists[:, : robot.translations]
    if robot.rotations == 1:
        later[:, -1] += time * twists[:, -1]
    if robot.rotations == 3:
        turn = rotation_exp(time * twists[:, 3:]) @ rotation_exp(poses[:, 3:])
        later[:, 3:] = rotation_log(turn)
    return later


@pytest.mark.parametrize("name", of_cables())
def test_rates_are_the_lengths_central_differences(name):
    robot, poses, twists = moving(name)
    h = 1e-5
    ends = [cable_lengths(robot, moved(robot, poses, twists, time)) for time in (-h, h)]
    assert np.abs(rates_of(robot, poses, twists) - (ends[1] - ends[0]) / (2 * h)).max() < 1e-8


@pytest.mark.parametrize("name", of_cables())
def test_a_twist_is_that_of_the_pseudoinverse_in_scaled_coordinates(name):
    robot, poses, twists = moving(name)
    rates = rates_of(robot, poses, twists)
    rates += np.random.default_rng(SEED).uniform(-0.1, 0.1, rates.shape)
    found, _, blown = twists_of(robot, poses, rates)
    exact = (np.linalg.pinv(scaled_jacobian(robot, poses)) @ rates[..., None])[..., 0]
    assert not blown.any()
    assert np.abs(found * scaling(robot) - exact).max() < 1e-10


@pytest.mark.parametrize("name", of_cables())
def test_the_condition_estimate_is_near_the_condition_number_and_never_far_above(name):
    robot, poses, twists = moving(name)
    rows = scaled_jacobian(robot, poses)
    _, pivot, _ = twists_of(robot, poses, rates_of(robot, poses, twists))
    share = np.sqrt((rows**2).sum(axis=(1, 2)) / pivot) / np.linalg.cond(rows)
    rank = min(rows.shape[1:])
    assert np.all(share <= np.sqrt(rank) * (1 + 1e-12)) and np.all(share >= 0.3)


def test_a_blown_fuse_gives_the_damped_least_squares_twist():
    robot = load("four-cable-concurrent")
    poses = level_poses(robot, COUNT, np.random.default_rng(SEED))
    rates = np.random.default_rng(SEED).uniform(-1, 1, (COUNT, 4))
    found, pivot, blown = twists_of(robot, poses, rates)
    rows = scaled_jacobian(robot, poses)
    gram = rows @ rows.swapaxes(1, 2)
    trace = np.trace(gram, axis1=1, axis2=2)
    assert blown.all() and np.all(pivot * FUSE**2 < trace)
    damped = gram + (DAMPING * trace / 4)[:, None, None] * np.eye(4)
    expected = rows.swapaxes(1, 2) @ np.linalg.solve(damped, rates[..., None])
    assert np.abs(found * scaling(robot) - expected[..., 0]).max() < 1e-9


def test_a_robot_without_leverage_is_damped_instead_of_divided_by_nothing():
    robot = load("acrobot")
    cables = [dataclasses.replace(cable, attachment=(0.0, 0.0, 0.0)) for cable in robot.cables]
    robot = dataclasses.replace(robot, cables=tuple(cables))
    poses = sample_poses(robot, COUNT, np.random.default_rng(SEED))
    found, _, blown = twists_of(robot, poses, np.ones((COUNT, 8)))
    assert blown.all() and np.isfinite(found).all() and not found[:, 3:].any()
