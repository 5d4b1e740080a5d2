"""The check of a path: what is bad, where, and what margin is left."""

import numpy as np
import pytest

from solver_ref.maps.criteria import CROSSING, chosen_limits
from solver_ref.maps.path import check_path, sampled
from solver_ref.robot_file import load

ROBOT = load("hangprinter")
"""A point: its coordinates are metres, so distances are plain."""


def ball(radius):
    """A world in which a ball about the origin is out of reach."""

    def measure(poses):
        inside = np.linalg.norm(poses, axis=-1) < radius
        return {"reach": (~inside).astype(float)}

    return measure


def checked(rows, measure, **options):
    options = {"step": 0.01, "reach": 0.5} | options
    return check_path(ROBOT, np.array(rows, float), measure, chosen_limits(), **options)


def test_samples_are_near_each_other_and_hold_every_row():
    rows = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.1, 0.25, 0], [0.1, 0.25, 0]])
    poses, places = sampled(ROBOT, rows, 0.03)
    assert np.linalg.norm(np.diff(poses, axis=0), axis=1).max() <= 0.03 + 1e-12
    for number, row in enumerate(rows, 1):
        np.testing.assert_allclose(poses[places == number], [row])


def test_a_bad_stretch_between_good_rows_is_found_with_its_ends():
    found = checked([[-1, 0, 0], [1, 0, 0], [1, 1, 0]], ball(0.5))
    (crossing,) = found.crossings
    assert crossing.criterion == "reach"
    assert crossing.first == pytest.approx(1.25, abs=0.01)
    assert crossing.last == pytest.approx(1.75, abs=0.01)
    assert crossing.pose[0] == pytest.approx(-0.5, abs=0.02)
    assert not found.ok and found.bad_rows == () and found.clearance == 0


def test_bad_rows_are_named_from_one():
    assert checked([[0, 0, 0], [2, 0, 0], [0, 0.1, 0]], ball(0.5)).bad_rows == (1, 3)


@pytest.mark.parametrize("seed", range(3))
def test_the_margin_left_is_the_distance_to_what_is_bad(seed):
    rng = np.random.default_rng(seed)
    start = rng.uniform(-1, 1, 3) + [0, 0, 2.5]
    found = checked([start, start + [0.2, 0, 0]], ball(1.2), reach=3.0)
    near = np.linalg.norm(start + np.linspace(0, 0.2, 400)[:, None] * [1, 0, 0], axis=1).min() - 1.2
    # From above, by as much as the nearest way lies between those that are tried.
    assert near - 1e-6 <= found.clearance <= 1.35 * near, f"seed {seed}"
    assert not found.beyond


def test_along_an_axis_the_margin_left_is_exact():
    found = checked([[-1, 0, 0.8], [1, 0, 0.8]], ball(0.5), margin=0.25)
    assert found.clearance == pytest.approx(0.3, abs=1e-3)
    assert found.nearest == pytest.approx(1.5, abs=0.02)
    assert found.ok
    assert not checked([[-1, 0, 0.8], [1, 0, 0.8]], ball(0.5), margin=0.35).ok


def test_far_from_what_is_bad_at_least_the_reach_is_left():
    found = checked([[3, 0, 0], [4, 0, 0]], ball(0.5), reach=0.4)
    assert found.beyond and found.clearance == 0.4 and found.ok


def test_only_the_coordinates_that_are_asked_for_are_tried():
    rows = [[-1, 0, 0.8], [1, 0, 0.8]]
    assert checked(rows, ball(0.5), axes=(1,)).beyond
    assert not checked(rows, ball(0.5), axes=(2,)).beyond


def test_a_determinant_that_changes_its_sign_between_samples_is_a_crossing():
    def measure(poses):
        ones = np.ones(len(poses))
        return {
            "reach": ones,
            "log10_singular_value": 0 * ones,
            "determinant_sign": np.where(poses[:, 0] < 0.123, 1.0, -1.0),
        }

    found = checked([[0, 0, 0], [1, 0, 0]], measure)
    assert [crossing.criterion for crossing in found.crossings] == [CROSSING]
    assert found.crossings[0].pose[0] == pytest.approx(0.123, abs=0.01)


def test_the_worst_value_and_its_row_are_told():
    def measure(poses):
        return {"reach": np.ones(len(poses)), "wrench_margin": 5 - poses[:, 0]}

    found = checked([[0, 0, 0], [2, 0, 0], [1, 0, 0]], measure)
    assert found.extremes["wrench_margin"].worst == 3.0
    assert found.extremes["wrench_margin"].row == 2.0


def test_a_single_row_is_a_path():
    assert checked([[2, 0, 0]], ball(0.5)).samples == 1


def test_a_path_of_too_many_steps_is_refused():
    with pytest.raises(ValueError, match="has over 200000 steps of 0.01 m"):
        checked([[0, 0, 0], [1e6, 0, 0]], ball(0.5))
