"""`track` in its bit-true model: accuracy on a crane's movement, and every fault in one sample."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from solver_ref.errors import InputError
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import stack, twist_names
from solver_ref.kernels.track import Track, track_kernel
from solver_ref.kernels.track_values import stream_of
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.sequence import Sequence, evaluate_sequence
from solver_ref.status import Status
from solver_ref.trajectory import crane_trajectory

FINDING = 100
"""Samples at the start pose, in which it is found."""
AT = 300
"""Where a fault comes."""
GOOD = Status.VALID | Status.CONVERGED


@cache
def robot(name: str) -> Robot:
    found = load(name)
    changes = {} if found.determined else {"closure": "attitude"}
    if name == "hangprinter":
        changes["sensors"] = ("tension",)
    return dataclasses.replace(found, **changes)


@cache
def sequence(name: str) -> Sequence:
    return track_kernel(Domain.of(robot(name), "fine")).sequence


def tracked(name: str, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs of a stream, decoded; the status as integers."""
    program = sequence(name)
    codes = {field: form.encode(values[field]) for field, form in program.fields.items()}
    out = evaluate_sequence(program, codes)
    decoded = {n: form.decode(out[n]) for n, form in program.result_formats.items()}
    return decoded | {"status": out["status"]}


@cache
def movement(name: str, samples: int) -> np.ndarray:
    """The start pose for a while, then the first samples of a crane's movement."""
    poses = crane_trajectory(robot(name), rate=robot(name).sample_rate).poses
    first = len(poses) // 2  # in full movement
    return np.vstack([np.repeat(poses[first : first + 1], FINDING, axis=0), poses[first:]])[
        :samples
    ]


@pytest.mark.parametrize("name", ["nist-robocrane", "cogiro", "four-cable", "planar4"])
def test_a_pose_is_found_from_home_and_followed_within_10_um(name):
    poses = movement(name, 1000)
    out = tracked(name, stream_of(robot(name), poses))
    valid = (out["status"] & GOOD) == GOOD
    assert valid[FINDING:].all() and not valid[0]
    error = np.abs(stack(out, robot(name).coordinates) - poses)[valid]
    assert error.max() <= 10e-6


@pytest.mark.parametrize("rate, jump", [(200.0, 20e-3), (1000.0, 4e-3), (100_000.0, 50e-6)])
def test_another_sample_rate_has_its_own_filter_and_its_own_largest_step(rate, jump):
    sampled = load("nist-robocrane").with_options(sample_rate=rate)
    program = track_kernel(Domain.of(sampled, "fine")).sequence
    motion = crane_trajectory(sampled, rate=rate)
    first, count = len(motion.poses) // 2, min(400, len(motion.poses) // 2)
    poses = motion.poses[first : first + count]
    values = stream_of(sampled, np.vstack([np.repeat(poses[:1], FINDING, axis=0), poses]))
    last = FINDING + count - 1
    values["L1"][last] += jump
    codes = {field: form.encode(values[field]) for field, form in program.fields.items()}
    out = evaluate_sequence(program, codes)
    assert ((out["status"] & GOOD) == GOOD)[FINDING:last].all()
    assert out["status"][last] & Status.JUMP
    found = {n: form.decode(out[n]) for n, form in program.result_formats.items()}
    settled = slice(FINDING + count // 2, last)
    error = stack(found, sampled.coordinates)[settled] - poses[count // 2 : -1]
    assert np.abs(error).max() <= 10e-6
    twists = motion.twists[first + count // 2 : first + count - 1]
    assert np.abs(stack(found, twist_names(sampled))[settled] - twists).max() <= 0.1
    assert np.abs(twists).max() > 0.5


def test_a_rate_so_low_that_lengths_outrun_their_words_is_named():
    hung = load("irma4u").with_options(closure="equilibrium", sample_rate=200.0)
    pattern = r"irma4u: sample-rate: is too low for quanta so fine; expected .*; got 200 Hz, .*"
    with pytest.raises(InputError, match=pattern):
        track_kernel(Domain.of(hung, "fine"))


def test_the_twist_follows_the_movement():
    name = "nist-robocrane"
    motion = crane_trajectory(robot(name), rate=robot(name).sample_rate)
    first = len(motion.poses) // 2
    out = tracked(name, stream_of(robot(name), movement(name, 600)))
    twists = stack(out, twist_names(robot(name)))[FINDING + 200 :]
    truth = motion.twists[first + 200 : first + 200 + len(twists)]
    assert np.abs(twists - truth).max() <= 0.02 < np.abs(truth).max() / 10


def moving(name: str) -> dict[str, np.ndarray]:
    """What is measured of 400 samples of the movement."""
    return stream_of(robot(name), movement(name, 400))


def faults(out: dict[str, np.ndarray], at: int) -> Status:
    return Status(int(out["status"][at]) & ~int(Status.NEAR_SINGULAR))


def test_a_jump_of_5_mm_is_flagged_at_once_and_the_pose_held():
    values = moving("nist-robocrane")
    values["L2"][AT] += 5e-3
    out = tracked("nist-robocrane", values)
    assert faults(out, AT - 1) == GOOD
    assert faults(out, AT) == Status.JUMP
    assert out["x"][AT] == out["x"][AT - 1]
    assert faults(out, AT + 1) == GOOD


def test_a_frozen_encoder_is_flagged_at_once_until_it_moves():
    values = moving("nist-robocrane")
    change = np.abs(np.diff(values["L3"]))[AT]
    assert change > 20e-6
    values["L3"][AT : AT + 4] = values["L3"][AT - 1]
    out = tracked("nist-robocrane", values)
    assert faults(out, AT - 1) == GOOD
    for late in range(4):
        assert Status.STALE in faults(out, AT + late) and Status.VALID not in faults(out, AT + late)
    assert out["x"][AT + 3] == out["x"][AT - 1]
    assert faults(out, AT + 40) == GOOD


def test_a_lost_sample_is_flagged_and_the_next_one_good_again():
    name = "nist-robocrane"
    values = {field: np.delete(column, AT) for field, column in moving(name).items()}
    out = tracked(name, values)
    assert faults(out, AT - 1) == GOOD
    assert faults(out, AT) == Status.STALE | Status.CONVERGED
    assert faults(out, AT + 1) == GOOD
    assert np.abs(out["x"][AT] - movement(name, 400)[AT + 1, 0]) <= 10e-6


def test_standstill_raises_nothing():
    name = "nist-robocrane"
    out = tracked(name, stream_of(robot(name), np.repeat(movement(name, 1), 600, axis=0)))
    assert {faults(out, i) for i in range(FINDING, 600)} == {GOOD}


def test_a_slack_cable_is_flagged_by_its_measured_tension():
    values = moving("hangprinter")
    values["S2"][AT:] = 0.0
    out = tracked("hangprinter", values)
    assert faults(out, AT - 1) == GOOD
    assert faults(out, AT) == GOOD | Status.SLACK


def test_homing_takes_the_encoders_as_they_are_for_home():
    name = "planar4"
    home = np.array(robot(name).workspace.home)
    poses = home + np.linspace(0, 1, 400)[:, None] ** 2 * np.array([0.02, -0.01, 0.01])
    values = stream_of(robot(name), poses)
    for i in range(4):  # relative encoders: any zero
        values[f"L{i + 1}"] += 0.05 * (i + 1)
    values["restart"][10] = values["homing"][10] = 1
    start = cable_lengths(robot(name), home[None])
    for i in range(4):
        values[f"L{i + 1}"][:11] = start[0, i] + 0.05 * (i + 1)
    out = tracked(name, values)
    assert (out["status"][40:] & GOOD == GOOD).all()
    assert np.abs(stack(out, robot(name).coordinates) - poses)[40:].max() <= 10e-6


def test_a_pose_outside_the_workspace_is_out_of_range():
    name = "planar4"
    inside = robot(name).workspace.position[0][1] - 0.01
    poses = np.tile(np.array(robot(name).workspace.home), (300, 1))
    poses[:150, 0] = inside
    poses[150:, 0] = inside + np.minimum(np.arange(150) * 1e-3, 0.08)  # 2 cm beyond the start error
    out = tracked(name, stream_of(robot(name), poses))
    assert out["status"][149] == GOOD
    assert Status.OUT_OF_RANGE in Status(int(out["status"][-1]))
    assert Status.VALID not in Status(int(out["status"][-1]))


def test_health_says_how_far_the_pose_can_be_off():
    name = "nist-robocrane"
    poses = movement(name, 500)
    out = tracked(name, stream_of(robot(name), poses))
    error = np.linalg.norm(np.abs(stack(out, "xyz") - poses[:, :3]), axis=1)
    # The verification of a pose is given out beside the next one.
    assert (error[FINDING:-1] <= out["radius"][FINDING + 1 :]).all()
    assert out["radius"][FINDING + 1 :].max() <= 20e-6
    assert out["residual"][FINDING + 1 :].max() <= 5e-6
    each = np.abs(stack(out, [f"r{i + 1}" for i in range(6)]))
    assert np.array_equal(each.max(axis=1), out["residual"])
    assert out["pivot"][FINDING + 1 :].min() > 0.1


def test_columns_and_float_answers():
    name = "four-cable"
    values = stream_of(robot(name), movement(name, 120)[FINDING:])
    kind = Track()
    names = kind.columns(robot(name)).required
    assert names == ("t", "L1", "L2", "L3", "L4", "mrx", "mry", "mrz")
    rate = robot(name).sample_rate
    ports = kind.port_values(
        robot(name), {n: values[n] / (rate if n == "t" else 1) for n in names}, None
    )
    assert ports["t"].tolist() == list(range(20))
    out = kind.answers(Domain.of(robot(name), "fine"), ports)
    assert (out["status"] & GOOD == GOOD).all()
    assert np.abs(stack(out, robot(name).coordinates) - movement(name, 120)[FINDING:]).max() < 1e-9
