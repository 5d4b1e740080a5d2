"""The bit-true `forward` kernel: what it promises for the poses of a workspace."""

import dataclasses

import numpy as np
import pytest

from solver_ref.domain import perturb, sample_poses
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.forward import forward_kernel
from solver_ref.kernels.forward_pass import Policy, Tolerances
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Workspace
from solver_ref.robot_file import load
from solver_ref.status import Status

GOOD = Status.VALID | Status.CONVERGED
SEED = 11


@pytest.fixture(scope="module")
def solver():
    kernels = {}

    def get(name: str, profile: str = "fine"):
        if (name, profile) not in kernels:
            kernels[name, profile] = forward_kernel(Domain.of(load(name), profile))
        return kernels[name, profile]

    return get


def solve(kernel, starts, lengths, *, policy=Policy.MARQUARDT, damping=1e-5, cold=False):
    """Poses (m, rad) and the other results, for lengths that are quantised first."""
    fields, robot = kernel.iteration.fields, kernel.robot
    codes = {f"L{i + 1}": fields[f"L{i + 1}"].encode(x) for i, x in enumerate(lengths.T)}
    codes |= {
        f"{n}0": fields[f"{n}0"].encode(starts[:, i]) for i, n in enumerate(robot.coordinates)
    }
    rest = {"policy": policy, "lambda": damping, "cold": cold}
    codes |= {k: fields[k].encode(np.full(len(starts), v)) for k, v in rest.items()}
    out, _ = evaluate_iteration(kernel.iteration, codes)
    poses = np.column_stack([fields[f"{n}0"].decode(out[n]) for n in robot.coordinates])
    quantised = np.column_stack(
        [fields[f"L{i + 1}"].decode(codes[f"L{i + 1}"]) for i in range(len(lengths.T))]
    )
    return poses, out, quantised


def cases(robot, count, distance, angle):
    rng = np.random.default_rng(SEED)
    truth = sample_poses(robot, count, rng)
    return truth, perturb(robot, truth, distance, angle, rng), cable_lengths(robot, truth)


@pytest.mark.parametrize("profile", ["fine", "18bit"])
def test_every_solve_from_a_millimetre_meets_the_asked_accuracy(solver, profile):
    kernel = solver("four-cable", profile)
    _, starts, lengths = cases(kernel.robot, 10_000, 1e-3, 1e-3)
    poses, out, quantised = solve(kernel, starts, lengths)
    assert np.all(out["status"] == GOOD)
    assert np.max(np.abs(cable_lengths(kernel.robot, poses) - quantised)) <= 4e-6


def test_starts_of_five_centimetres_converge_or_say_why(solver):
    kernel = solver("four-cable")
    _, starts, lengths = cases(kernel.robot, 10_000, 0.05, 0.05)
    poses, out, quantised = solve(kernel, starts, lengths)
    good = (out["status"] & GOOD) == GOOD
    assert good.mean() >= 0.999
    assert np.max(np.abs(cable_lengths(kernel.robot, poses) - quantised)[good]) <= 4e-6
    faults = Status.ITERATION_LIMIT | Status.OUT_OF_RANGE | Status.NO_SOLUTION
    assert np.all((out["status"][~good] & faults) != 0)
    assert out["iterations"].mean() < 2.2


@pytest.mark.parametrize("name", ["cogiro", "planar4", "hangprinter", "nist-robocrane", "acrobot"])
def test_determined_robots_return_to_the_pose_that_made_the_lengths(solver, name):
    kernel = solver(name)
    truth, starts, lengths = cases(kernel.robot, 1000, 0.05, 0.05)
    poses, out, _ = solve(kernel, starts, lengths)
    assert np.all(out["status"] == GOOD)
    scale = np.ones(truth.shape[1])
    scale[kernel.robot.translations :] = kernel.robot.characteristic_length
    # With as many cables as unknowns the residual is within the accuracy; the pose is by the
    # conditioning farther (a factor of 5 on nist-robocrane).
    amplified = 5 if len(kernel.robot.cables) == len(kernel.robot.free) else 1.5
    assert np.max(np.abs(poses - truth) * scale) <= amplified * kernel.robot.accuracy.length


def test_the_residual_that_comes_out_is_the_one_of_the_pose(solver):
    kernel = solver("four-cable")
    _, starts, lengths = cases(kernel.robot, 500, 0.05, 0.05)
    poses, out, quantised = solve(kernel, starts, lengths)
    residual = np.max(np.abs(cable_lengths(kernel.robot, poses) - quantised), axis=1)
    reported = kernel.iteration.result_formats["residual"].decode(out["residual"])
    assert np.max(np.abs(residual - reported)) <= 1.5 * 2.0**-kernel.profile.pose.bits


def test_a_cold_start_from_home_reaches_the_whole_workspace(solver):
    kernel = solver("four-cable")
    _, starts, lengths = cases(kernel.robot, 2000, 1e-3, 1e-3)
    home = np.tile(kernel.robot.workspace.home, (len(starts), 1))
    _, out, _ = solve(kernel, home, lengths, cold=True)
    assert (out["status"] == GOOD).mean() >= 0.995


@pytest.mark.parametrize("name", ["cogiro", "ipanema1"])
def test_redundant_cables_converge_although_noise_makes_them_contradict_each_other(solver, name):
    kernel = solver(name)
    _, _, lengths = cases(kernel.robot, 1000, 1e-3, 1e-3)
    lengths = lengths + np.random.default_rng(SEED).normal(0.0, 3e-4, lengths.shape)
    home = np.tile(kernel.robot.workspace.home, (len(lengths), 1))
    _, out, _ = solve(kernel, home, lengths, cold=True)
    assert np.all((out["status"] & GOOD) == GOOD)


def test_lengths_that_no_pose_has_are_never_called_valid(solver):
    for name in ("four-cable", "cogiro", "hangprinter"):
        kernel = solver(name)
        _, starts, lengths = cases(kernel.robot, 300, 0.01, 0.01)
        rng = np.random.default_rng(SEED)
        broken = lengths.copy()
        broken[:, 0] += rng.choice([-1.0, 1.0], 300) * (2.0 if name == "four-cable" else 0.05)
        poses, out, quantised = solve(kernel, starts, broken)
        residual = np.max(np.abs(cable_lengths(kernel.robot, poses) - quantised), axis=1)
        valid = (out["status"] & Status.VALID) != 0
        assert not np.any(valid & (residual > kernel.robot.accuracy.residual_limit)), name


def test_a_start_outside_the_grown_workspace_is_reported(solver):
    kernel = solver("four-cable")
    _, starts, lengths = cases(kernel.robot, 100, 0.01, 0.01)
    starts[:, 0] = 3.2
    _, out, _ = solve(kernel, starts, lengths)
    assert np.all((out["status"] & Status.OUT_OF_RANGE) != 0)
    assert np.all((out["status"] & Status.VALID) == 0)


def test_the_published_rule_takes_more_steps_than_marquardts(solver):
    kernel = solver("four-cable")
    _, starts, lengths = cases(kernel.robot, 1000, 0.05, 0.05)
    _, ours, _ = solve(kernel, starts, lengths)
    _, printed, _ = solve(kernel, starts, lengths, policy=Policy.SHRINK_ON_FAILURE, damping=0.1)
    assert ours["iterations"].mean() < 2.5 < 6 < printed["iterations"].mean()


def test_an_accuracy_below_the_quantum_is_an_error_at_generation():
    domain = Domain.of(load("four-cable"), "fine")
    sharp = domain.robot.with_options(accuracy=2e-6)
    with pytest.raises(ValueError, match=r"no stopping tolerance within 2e-06 m at a quantum of"):
        Tolerances.of(Domain(sharp, domain.profile, domain.bounds, domain.reach))


@pytest.mark.parametrize("name, profile", [("four-cable-concurrent", "fine"), ("cogiro", "18bit")])
def test_no_input_breaks_a_limit_that_counts_as_proven(solver, name, profile):
    """Any code that the ports carry, its extremes most often; near singular ones among them."""
    kernel = solver(name, profile)
    rng = np.random.default_rng(SEED)
    fields = kernel.iteration.fields
    codes = {key: rng.integers(f.lo, f.hi, 1000, endpoint=True) for key, f in fields.items()}
    for key, f in fields.items():
        ends = np.where(rng.uniform(size=1000) < 0.5, f.lo, f.hi)
        codes[key] = np.where(rng.uniform(size=1000) < 0.5, ends, codes[key])
    codes["lambda"][::2] = 0
    evaluate_iteration(kernel.iteration, codes)


def test_a_robot_that_is_singular_wherever_it_is_level_is_flagged_and_breaks_no_limit():
    """A platform that is a small copy of its frame, as the published test_SCDM."""
    corners = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
    cogiro = load("cogiro")
    robot = dataclasses.replace(
        cogiro,
        cables=tuple(
            dataclasses.replace(cable, anchor=corner, attachment=tuple(0.1 * x for x in corner))
            for cable, corner in zip(cogiro.cables, corners, strict=True)
        ),
        workspace=Workspace(position=((-0.8, 0.8),) * 3, tilt=0.3, home=(0.0,) * 6),
    )
    kernel = forward_kernel(Domain.of(robot, "fine"))
    truth, starts, lengths = cases(robot, 500, 0.01, 0.01)
    starts[::2, 3:] = truth[::2, 3:] = 0.0
    _, out, _ = solve(kernel, starts, cable_lengths(robot, truth), damping=0.0)
    level = out["status"][::2]
    assert np.mean((level & Status.NEAR_SINGULAR) > 0) > 0.7
    assert np.mean((level & Status.VALID) > 0) < 0.05
