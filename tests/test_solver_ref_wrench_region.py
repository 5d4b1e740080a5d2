"""The wrench margin: exact against linear programs, closed forms, and known robots."""

import numpy as np
import pytest
from scipy.optimize import linprog

from solver_ref.conditioning import scaled_jacobian
from solver_ref.domain import sample_poses
from solver_ref.kinematics import scaling
from solver_ref.robot_file import load
from solver_ref.statics import carried_wrenches
from solver_ref.wrench_region import Factors, tension_bounds, unbalanced_share, wrench_margin


def feasible(rows, wrench, low, high):
    """Whether a linear program finds tensions within their bounds."""
    bounds = [(a, None if b == np.inf else b) for a, b in zip(low, high, strict=True)]
    return linprog(np.zeros(len(low)), A_eq=rows.T, b_eq=wrench, bounds=bounds).status == 0


def situation(name, count, seed):
    """Jacobians, weights and bounds of a robot at random poses, and the margins."""
    robot = load(name)
    poses = sample_poses(robot, count, np.random.default_rng(seed))
    rows, wrench = scaled_jacobian(robot, poses), carried_wrenches(robot, poses) / scaling(robot)
    low, high = tension_bounds(robot)
    return rows, wrench, low, high, wrench_margin(Factors.of(rows), wrench, low, high)


@pytest.mark.parametrize("name", ["ipanema1", "nist-robocrane", "cogiro"])
def test_its_sign_is_what_a_linear_program_says(name):
    rows, wrench, low, high, margins = situation(name, 150, seed=1)
    # Lighter and heavier platforms, so that both answers come.
    for share in (0.3, 1.0, 12.0):
        margins = wrench_margin(Factors.of(rows), share * wrench, low, high)
        expected = [feasible(j, share * w, low, high) for j, w in zip(rows, wrench, strict=True)]
        assert ((margins >= 0) == expected).all(), f"seed 1, share {share}"


@pytest.mark.parametrize("redundancy", range(5))
def test_it_is_exact_at_every_redundancy(redundancy):
    rng = np.random.default_rng(redundancy)
    rows = rng.standard_normal((200, 3 + redundancy, 3))
    low, high = np.zeros(3 + redundancy), rng.uniform(1, 3, 3 + redundancy)
    wrench = 2 * rng.standard_normal((200, 3))
    margins = wrench_margin(Factors.of(rows), wrench, low, high)
    expected = [feasible(j, w, low, high) for j, w in zip(rows, wrench, strict=True)]
    assert 0 < sum(expected) < 200
    assert ((margins >= 0) == expected).all()


def test_every_wrench_nearer_than_it_is_feasible_and_one_just_beyond_is_not():
    rows, wrench, low, high, margins = situation("planar4", 20, seed=2)
    rng = np.random.default_rng(3)
    for j, w, margin in zip(rows, wrench, margins, strict=True):
        ways = rng.standard_normal((40, 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        assert all(feasible(j, w + 0.999 * margin * way, low, high) for way in ways)
        # The nearest facet: a direction y = J^+ q with q on the two cables of one choice.
        normals = [np.cross(j[a], j[b]) for a in range(4) for b in range(a)]
        ends = [sign * y / np.linalg.norm(y) for y in normals for sign in (-1, 1)]
        assert not all(feasible(j, w + 1.001 * margin * end, low, high) for end in ends)


def test_with_as_many_cables_as_coordinates_it_is_the_nearest_bound():
    rows, wrench, low, high, margins = situation("nist-robocrane", 50, seed=4)
    inverse = np.linalg.inv(np.swapaxes(rows, -1, -2))
    tensions = (inverse @ wrench[..., None])[..., 0]
    room = np.minimum(tensions - low, high - tensions) / np.linalg.norm(inverse, axis=-1)
    np.testing.assert_allclose(margins, room.min(axis=-1), rtol=1e-6, atol=1e-9)


def test_cables_without_an_upper_bound_only_have_to_pull():
    rows = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    factors, unbounded = Factors.of(rows), np.full(2, np.inf)
    found = wrench_margin(factors, np.array([[3.0, 2.0]]), np.zeros(2), unbounded)
    assert found == pytest.approx([2.0])
    assert wrench_margin(factors, np.array([[3.0, -2.0]]), np.zeros(2), unbounded) < 0


def test_nothing_is_said_where_a_singular_value_is_zero():
    rows = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    margin = wrench_margin(Factors.of(rows), np.array([[1.0, 0.0]]), np.zeros(2), np.ones(2))
    assert np.isnan(margin).all()


def test_the_unbalanced_share_is_what_least_squares_leave():
    rows, wrench, *_ = situation("four-cable", 50, seed=5)
    left = []
    for j, w in zip(rows, wrench, strict=True):
        tensions = np.linalg.lstsq(j.T, w, rcond=None)[0]
        left.append(np.linalg.norm(w - j.T @ tensions) / np.linalg.norm(w))
    np.testing.assert_allclose(unbalanced_share(Factors.of(rows), wrench), left, atol=1e-12)
    assert max(left) > 0.3


def test_nothing_is_unbalanced_where_nothing_is_to_be_carried():
    rows, wrench, *_ = situation("four-cable", 3, seed=6)
    assert (unbalanced_share(Factors.of(rows), 0 * wrench) == 0).all()
