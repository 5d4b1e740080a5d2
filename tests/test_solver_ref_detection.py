"""The rules that say STALE, JUMP and SLACK, each just below and just above its threshold."""

import numpy as np
import pytest

from solver_ref.detection import (
    Limits,
    frozen,
    innovation_threshold,
    jumped,
    late,
    lost_samples,
    slack,
    unchanged_sums,
)

QUANTUM, PERIOD = 2.0**-20, 1e-4


def test_a_sample_is_late_after_one_and_a_half_periods() -> None:
    assert not late(1.49 * PERIOD, PERIOD)
    assert late(1.51 * PERIOD, PERIOD)


@pytest.mark.parametrize(("periods", "lost"), [(0.9, 0), (1.0, 0), (1.4, 0), (2.0, 1), (5.1, 4)])
def test_missing_samples_are_counted(periods: float, lost: int) -> None:
    assert lost_samples(periods * PERIOD, PERIOD) == lost


def test_an_encoder_that_stands_while_it_should_move_is_frozen_at_once() -> None:
    before, moved = np.array([5.0, 5.0, 5.0]), QUANTUM * np.array([4.5, 3.5, 4.5])
    lengths = np.array([5.0, 5.0, 5.0 + 4 * QUANTUM])
    sums = unchanged_sums(np.zeros(3), lengths, before, moved)
    assert frozen(sums, 4 * QUANTUM).tolist() == [True, False, False]


def test_a_slow_encoder_is_frozen_some_samples_later_and_one_at_rest_never() -> None:
    length, sums, slow = np.full(2, 5.0), np.zeros(2), QUANTUM * np.array([1.0, 0.1])
    found = []
    for _ in range(200):
        sums = unchanged_sums(sums, length, length, slow)
        found.append(frozen(sums, 4 * QUANTUM))
    first = np.argmax(np.array(found)[:, 0]) + 1
    assert 4 < first <= 8
    assert not np.array(found)[:, 1].any()
    assert unchanged_sums(sums, length + QUANTUM, length, slow).tolist() == [0.0, 0.0]


def test_the_largest_change_that_physics_allows_is_no_jump() -> None:
    limits = Limits(acceleration=50, speed=3)
    threshold = innovation_threshold(PERIOD, QUANTUM, limits, 1 / 8)
    # The lag of a velocity filter under 50 m/s^2: 4 um; four quanta of 2^-20 m: 3.8 um.
    assert threshold == pytest.approx(4e-6 + 3.81e-6, abs=1e-8)
    assert jumped(np.array([7.7e-6, -7.9e-6, np.nan, 5e-3]), threshold).tolist() == [
        False,
        True,
        True,
        True,
    ]


def test_the_threshold_grows_with_what_is_not_known() -> None:
    limits = Limits(acceleration=50, speed=3, noise=1e-5)
    usual = innovation_threshold(PERIOD, QUANTUM, limits, 1 / 8)
    after = innovation_threshold(PERIOD, QUANTUM, limits, 1 / 8, missed=np.array([0, 8]))
    assert after[0] == usual
    assert after[1] - usual == pytest.approx(50 * 0.8e-3**2 / 2)
    settling = innovation_threshold(PERIOD, QUANTUM, limits, 1 / 8, settling=True)
    assert settling - usual == pytest.approx(3e-4)
    # A 5 mm jump is one at any of these, at 1 kHz too.
    assert settling < 5e-3
    assert innovation_threshold(1e-3, QUANTUM, limits, 1 / 2, settling=True) < 5e-3


def test_a_tension_at_or_below_its_bound_is_slack() -> None:
    tensions = np.array([[25.0, 20.0, -0.1, np.nan]])
    assert slack(tensions, np.array([20.0, 20.0, 0.0, 0.0])).tolist() == [[False, True, True, True]]
