"""Tracking: micrometres from quantised samples, and every fault said within one sample."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from solver_ref import detection
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.measurement import QUANTUM, attitude_model, length_model
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.status import Status
from solver_ref.tracking import Filter, Precision, Tracker, Update, Verdict
from solver_ref.trajectory import crane_trajectory

RATE, STREAMS = 10_000, 100
CONVERGED = int(Status.CONVERGED)
VALID = int(Status.VALID) | CONVERGED
STALE, JUMP = int(Status.STALE), int(Status.JUMP)
# As hardware would keep it.
WORDS = Precision(pose=2.0**-22, rate=2.0**-28, gain_bits=18)
ROBOTS = ["nist-robocrane", "cogiro", "four-cable", "planar4", "hangprinter"]


def codes(values: np.ndarray) -> np.ndarray:
    return np.rint(values / QUANTUM) * QUANTUM


@dataclass
class Run:
    """The crane's drive in a hundred pieces at once, each begun with its true pose and rates."""

    robot: Robot
    tracker: Tracker
    poses: np.ndarray
    twists: np.ndarray
    rates: np.ndarray
    samples: np.ndarray

    def start(self) -> None:
        self.tracker.start(self.poses[:, 0], self.rates[:, 0])

    def go(self, first: int, last: int) -> Iterator[tuple[int, Update, Verdict]]:
        for k in range(first, last):
            self.tracker.prepare()
            yield k, self.tracker.correct(self.samples[:, k]), self.tracker.verify()

    def errors(self, k: int, update: Update) -> np.ndarray:
        """The largest distance and angle from the true pose, of each stream."""
        return self.norms(update.poses - self.poses[:, k])

    def norms(self, vectors: np.ndarray) -> np.ndarray:
        parts = np.split(vectors, [self.robot.translations], axis=-1)
        return np.stack([np.linalg.norm(part, axis=-1) for part in parts], axis=-1)


def run_of(name: str, rate: float = RATE, **options: object) -> Run:
    robot = load(name)
    path = crane_trajectory(robot, rate)
    samples = cable_lengths(robot, path.poses)
    model = length_model(robot) if robot.determined else attitude_model(robot)
    if not robot.determined:
        samples = np.hstack([samples, path.poses[:, robot.translations :]])
    pieces = [
        values.reshape(STREAMS, -1, values.shape[-1])
        for values in (path.poses, path.twists, path.rates, codes(samples))
    ]
    tracker = Tracker(robot, rate, model=model, **{"precision": WORDS} | options)
    run = Run(robot, tracker, *pieces)
    run.start()
    return run


@pytest.mark.parametrize("name", ROBOTS)
def test_the_pose_stays_within_ten_micrometres_of_the_truth(name: str) -> None:
    run = run_of(name)
    for k, update, verdict in run.go(1, 100):
        errors = run.errors(k, update)
        assert errors[:, 0].max() <= 2.5e-6 and errors[:, 1].max() <= 5e-6
        assert_array_equal(verdict.status, VALID)
        # The error radius bounds what the residual and the quanta leave unknown.
        assert (errors <= verdict.radius).all()
        assert verdict.radius[:, 0].max() <= 20e-6
        # The filtered velocities are good to millimetres a second in spite of 10 mm/s quanta.
        wrong = run.norms(update.twists - run.twists[:, k])
        assert wrong[:, 0].max() <= 0.008 and wrong[:, 1].max() <= 0.02


@pytest.mark.parametrize("gains", [(1.0, 0.0), (1 / 4, 0.0), (1 / 16, 0.0), (1 / 8, 1 / 128)])
def test_the_predictor_does_not_decide_the_accuracy(gains: tuple[float, float]) -> None:
    # A prediction that is off by micrometres is corrected to nanometres by one Gauss-Newton step.
    run = run_of("nist-robocrane", filter=Filter(velocity=gains[0], acceleration=gains[1]))
    for k, update, _ in run.go(1, 50):
        assert run.errors(k, update).max() <= 2.5e-6


def test_the_acceleration_in_the_filter_pays_in_the_twist() -> None:
    worst = {}
    for gains in ((1 / 8, 0.0), (1 / 8, 1 / 128)):
        run = run_of("nist-robocrane", filter=Filter(velocity=gains[0], acceleration=gains[1]))
        # Behind the transient of a start without acceleration.
        found = [run.norms(u.twists - run.twists[:, k])[:, 0] for k, u, _ in run.go(1, 100)][60:]
        worst[gains[1]] = np.max(found)
    assert worst[1 / 128] < worst[0.0] / 3


def test_a_kilohertz_is_enough_too() -> None:
    run = run_of("cogiro", 1000, filter=Filter(velocity=1 / 2, acceleration=1 / 8))
    for k, update, verdict in run.go(1, 10):
        assert run.errors(k, update).max() <= 2.5e-6
        assert_array_equal(verdict.status, VALID)


def test_eight_bits_of_gain_are_enough_and_two_are_not() -> None:
    worst = {}
    for bits in (2, 8, 18):
        run = run_of("cogiro", precision=replace(WORDS, gain_bits=bits))
        worst[bits] = max(run.errors(k, update).max() for k, update, _ in run.go(1, 40))
    assert worst[8] <= 1.05 * worst[18] < worst[2]


@pytest.mark.parametrize("name", ["nist-robocrane", "cogiro", "four-cable"])
def test_a_frozen_encoder_is_said_in_the_sample_that_should_have_moved(name: str) -> None:
    run = run_of(name)
    for cable in (0, 3):
        run.start()
        for _ in run.go(1, 50):
            pass
        good = run.tracker.published
        lengths = run.samples[:, :, cable]
        fast = np.abs(lengths[:, 50] - lengths[:, 49]) > 8 * QUANTUM
        assert fast.sum() >= 20
        held, run.samples[:, 50:, cable] = lengths.copy(), lengths[:, 49:50]
        for k, update, verdict in run.go(50, 60):
            assert (verdict.status[fast] & STALE).all() and not (verdict.status[fast] & 1).any()
            assert_array_equal(update.poses[fast], good[fast])
            # The one that stands with its platform is not accused.
            still = np.ptp(held[:, 40:], axis=1) == 0
            assert not (verdict.status[still] & STALE).any(), k
        run.samples[:, :, cable] = held


@pytest.mark.parametrize("name", ["nist-robocrane", "cogiro", "four-cable"])
def test_a_jump_of_five_millimetres_is_said_at_once_and_forgiven_after(name: str) -> None:
    run = run_of(name)
    for sign in (1, -1):
        run.start()
        for _ in run.go(1, 50):
            pass
        good = run.tracker.published
        run.samples[:, 50, 0] += sign * 0.005
        for k, update, verdict in run.go(50, 80):
            if k == 50:
                assert_array_equal(verdict.status & (JUMP | STALE | VALID), JUMP)
                assert_array_equal(update.poses, good)
            else:
                assert_array_equal(verdict.status, VALID)
                assert run.errors(k, update).max() <= 5e-6
        run.samples[:, 50, 0] -= sign * 0.005


def test_a_jump_that_stays_is_given_up_until_a_new_start() -> None:
    run = run_of("nist-robocrane")
    run.samples[:, 50:, 2] += 0.005
    statuses = [verdict.status for _, _, verdict in run.go(1, 70)]
    assert all((status == VALID).all() for status in statuses[:49])
    known = 49 + detection.PATIENCE
    assert all((status & (JUMP | STALE | 1) == JUMP).all() for status in statuses[49:known])
    assert all((status & (STALE | 1) == STALE).all() for status in statuses[known:])
    run.samples[:, 50:, 2] -= 0.005
    run.start()
    assert all((verdict.status == VALID).all() for _, _, verdict in run.go(1, 10))


@pytest.mark.parametrize("count", [1, 3])
def test_lost_samples_are_said_and_bridged(count: int) -> None:
    run = run_of("four-cable")
    for _ in run.go(1, 50):
        pass
    good = run.tracker.published
    for _ in range(count):
        run.tracker.prepare()
        update = run.tracker.coast()
        assert_array_equal(update.status, STALE)
        assert_array_equal(update.poses, good)
        assert_array_equal(run.tracker.verify().status & ~int(Status.OUT_OF_RANGE), STALE)
    for k, update, verdict in run.go(50 + count, 60 + count):
        # The next sample is good and used, but the gap before it is said.
        assert run.errors(k, update).max() <= 5e-6
        gap = k == 50 + count
        assert_array_equal(verdict.status & (STALE | VALID), STALE | CONVERGED if gap else VALID)


def test_rates_that_are_not_known_at_the_start_are_no_fault() -> None:
    run = run_of("cogiro")
    run.tracker.start(run.poses[:, 0])
    for k, update, verdict in run.go(1, 100):
        assert_array_equal(verdict.status, VALID)
        assert run.errors(k, update).max() <= 5e-6


def test_lengths_that_contradict_each_other_are_no_solution_but_no_jump() -> None:
    # What no movement of the platform does to its eight lengths, as bad calibration would.
    run = run_of("cogiro")
    wrong = np.linalg.svd(jacobian(run.robot, run.poses[50, 0]))[0][:, -1]
    wrong /= np.abs(wrong).max()
    samples = run.samples
    for size, bits in ((0.8e-3, VALID), (3e-3, int(Status.NO_SOLUTION))):
        run.start()
        run.samples = samples + codes(size * wrong)
        for _, _, verdict in run.go(1, 30):
            assert_array_equal(verdict.status & ~CONVERGED, bits & ~CONVERGED)


def test_a_pose_beyond_the_workspace_is_out_of_range() -> None:
    run = run_of("nist-robocrane")
    box = tuple((low, high) for low, high in run.robot.workspace.position)
    run.tracker.robot = replace(
        run.robot, workspace=replace(run.robot.workspace, position=((5.0, 6.0), *box[1:]))
    )
    for _, _, verdict in run.go(1, 3):
        assert (verdict.status & int(Status.OUT_OF_RANGE)).all() and not (verdict.status & 1).any()


def test_noise_of_the_attitude_stays_out_of_the_lengths() -> None:
    run = run_of("four-cable", limits=detection.Limits(noise=50e-6))
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(STREAMS, 100, 3))
    run.samples[..., 4:] += noise
    for k, update, verdict in run.go(1, 100):
        # Lengths count 16 times as much: they are met to 30 um where the attitude is 1 mrad off,
        assert np.abs(verdict.residual[..., :4]).max() <= 30e-6
        # and what they leave open is as wrong as the sensor is.
        assert run.errors(k, update)[:, 1].max() <= 6e-3


def test_lengths_alone_are_refused_where_they_do_not_determine_the_pose() -> None:
    with pytest.raises(ValueError, match="do not determine"):
        Tracker(load("four-cable"), RATE)


def test_rates_and_gains_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="sample rate must be above 0 Hz, not 0"):
        Tracker(load("cogiro"), 0)
    with pytest.raises(ValueError, match="velocity's gain must be above 0 and at most 1, not 2"):
        Filter(velocity=2)


def test_tracking_is_the_same_for_one_stream_as_for_many() -> None:
    run = run_of("nist-robocrane")
    alone = Tracker(run.robot, RATE, precision=WORDS)
    alone.start(run.poses[7, 0], run.rates[7, 0])
    for k, update, _ in run.go(1, 10):
        alone.prepare()
        single = alone.correct(run.samples[7, k])
        assert_allclose(single.poses, update.poses[7], rtol=0, atol=2.0**-22)
