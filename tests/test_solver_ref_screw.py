"""Screw motion between poses: SciPy's matrix exponential and logarithm say the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm, logm
from test_solver_ref_trajectory import STEP, check_derivatives

from solver_ref.domain import sample_poses
from solver_ref.kinematics import pose_matrix
from solver_ref.robot_file import load
from solver_ref.screw import screw_trajectory, screw_twist


def ends(name: str, seed: int = 4):
    robot = load(name)
    return robot, *sample_poses(robot, 2, np.random.default_rng(seed))


def hat(xi: np.ndarray) -> np.ndarray:
    x, y, z = xi[3:]
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    matrix[:3, 3] = xi[:3]
    return matrix


@pytest.mark.parametrize("name", ["stewart-paired", "dietmaier", "planar4", "hangprinter"])
def test_the_twist_is_the_logarithm_of_the_motion(name: str) -> None:
    robot, start, end = ends(name)
    first, last = pose_matrix(robot, np.stack([start, end]))
    expected = logm(last @ np.linalg.inv(first)).real
    assert_allclose(hat(screw_twist(robot, start, end)), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["stewart-paired", "dietmaier", "planar4", "hangprinter"])
def test_poses_lie_on_the_screw_between_the_ends(name: str) -> None:
    robot, start, end = ends(name)
    path = screw_trajectory(robot, start, end, rate=100)
    generator = hat(screw_twist(robot, start, end))
    first, last = pose_matrix(robot, np.stack([start, end]))
    for place in (0, 13, 50, 87):
        share = 35 * (s := place / 100) ** 4 - 84 * s**5 + 70 * s**6 - 20 * s**7
        expected = expm(share * generator) @ first
        assert_allclose(pose_matrix(robot, path.poses[place]), expected, atol=1e-9)
    assert_allclose(expm(generator) @ first, last, atol=1e-9)
    assert_allclose(path.poses[0], start, atol=1e-12)
    assert not path.twists[0].any()


@pytest.mark.parametrize("name", ["stewart-paired", "planar4", "hangprinter"])
def test_rates_and_accelerations_are_the_slopes_of_poses_and_twists(name: str) -> None:
    robot, start, end = ends(name)
    check_derivatives(screw_trajectory(robot, start, end, 1 / STEP, 0.2), 1e-8)


def test_a_motion_without_turning_is_a_straight_line() -> None:
    robot = load("stewart-paired")
    start, end = np.array([[-0.1, 0, 0.5, 0, 0, 0], [0.1, 0.05, 0.6, 0, 0, 0]])
    path = screw_trajectory(robot, start, end, rate=100)
    along = (path.poses - start) @ (end - start) / ((end - start) @ (end - start))
    assert_allclose(path.poses, start + along[:, None] * (end - start), atol=1e-12)
