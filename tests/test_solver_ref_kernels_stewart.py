"""Kernels of Stewart platforms, bit-true: strokes, LinuxCNC's hexapod, Dietmaier's forty poses."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from published_robots import needs_data
from test_solver_ref_stewart import LENGTHS, dietmaier_poses, yawed

from solver_ref.conditioning import scaled_jacobian
from solver_ref.domain import corner_poses, perturb, sample_poses
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import Choices, stack
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.robot import Joint, Robot
from solver_ref.robot_file import load
from solver_ref.status import Status

SEED = 31
NAMES = [f"L{i}" for i in range(1, 7)]
GOOD = Status.VALID | Status.CONVERGED


def with_strokes(limits: tuple[float, float]) -> Robot:
    joints = tuple(Joint(name=name, unit="m", limits=limits) for name in NAMES)
    return dataclasses.replace(load("stewart-paired"), joints=joints)


@cache
def iteration_of(robot: Robot):
    return KERNELS["forward"].trace(Domain.of(robot, "fine")).iteration


def answered(robot: Robot, lengths: np.ndarray, starts: np.ndarray | None = None):
    """The outputs of the bit-true solves; cold without starts."""
    iteration = iteration_of(robot)
    columns = dict(zip(NAMES, lengths.T, strict=True))
    if starts is not None:
        columns |= {f"{n}0": x for n, x in zip(robot.coordinates, starts.T, strict=True)}
    values = KERNELS["forward"].port_values(robot, columns, Choices())
    codes = {name: form.encode(values[name]) for name, form in iteration.fields.items()}
    found, _ = evaluate_iteration(iteration, codes)
    return {name: iteration.result_formats[name].decode(x) for name, x in found.items()}


def forward(robot: Robot, lengths: np.ndarray, starts: np.ndarray | None = None):
    """Poses, status and iterations of the bit-true solves."""
    outputs = answered(robot, lengths, starts)
    status = outputs["status"].astype(np.int64)
    return stack(outputs, robot.coordinates), status, outputs["iterations"]


def lengths_of(robot: Robot, poses: np.ndarray):
    """Lengths, Jacobian and status of the bit-true kernel, and what float64 says of the status."""
    kind, domain = KERNELS["lengths"], Domain.of(robot, "fine")
    graph = kind.trace(domain).graph
    columns = zip(robot.coordinates, poses.T, strict=True)
    codes = {name: graph.inputs[name].encode(column) for name, column in columns}
    found = evaluate(graph, codes)
    inputs = {name: graph.inputs[name].decode(code) for name, code in codes.items()}
    rows = [[f"J{i + 1}_{n}" for n in robot.coordinates] for i in range(6)]
    decoded = {n: form.decode(found[n]) for n, form in graph.output_formats.items()}
    return (
        np.column_stack([decoded[name] for name in NAMES]),
        np.stack([np.column_stack([decoded[n] for n in row]) for row in rows], axis=1),
        found["status"],
        kind.answers(domain, inputs)["status"],
    )


# -- strokes -----------------------------------------------------------------------------------


def test_a_pose_beyond_a_stroke_is_out_of_range() -> None:
    robot = with_strokes((0.45, 0.85))
    poses = np.vstack([corner_poses(robot), sample_poses(robot, 1000, np.random.default_rng(SEED))])
    lengths = cable_lengths(robot, poses)
    inside = ((lengths > 0.45) & (lengths < 0.85)).all(axis=1)
    near = np.abs(lengths[..., None] - [0.45, 0.85]).min(axis=(1, 2)) < 1e-6
    found, _, status, expected = lengths_of(robot, poses)
    assert 0.3 < inside.mean() < 0.9
    good = status == Status.VALID
    assert np.array_equal(good[~near], inside[~near])
    assert np.array_equal(status[~near], expected[~near])
    assert found.min() >= 0.45 - 1e-6 and found.max() <= 0.85 + 1e-6


def test_rates_beyond_a_stroke_are_out_of_range() -> None:
    robot, kind = with_strokes((0.45, 0.85)), KERNELS["rate"]
    domain = Domain.of(robot, "fine")
    iteration = kind.trace(domain).iteration
    values = kind.draw(robot, 500, np.random.default_rng(SEED))
    codes = {name: form.encode(values[name]) for name, form in iteration.fields.items()}
    status = evaluate_iteration(iteration, codes)[0]["status"]
    inputs = {name: form.decode(codes[name]) for name, form in iteration.fields.items()}
    lengths = cable_lengths(robot, stack(inputs, robot.coordinates))
    inside = ((lengths > 0.45) & (lengths < 0.85)).all(axis=1)
    assert 0.2 < inside.mean() < 0.9
    assert np.array_equal(status & Status.VALID != 0, inside)
    assert np.array_equal(status, kind.answers(domain, inputs)["status"])


@pytest.mark.parametrize("kernel", ["rate", "forward", "lengths"])
@pytest.mark.parametrize("name", ["stewart-paired", "dietmaier"])
def test_whatever_comes_no_proven_limit_is_passed(name: str, kernel: str) -> None:
    """The interpreter raises where one is; rows of legs far beyond a stroke are no unit rows."""
    robot = with_strokes((0.5, 0.55)) if name == "stewart-paired" else load(name)
    kernel = KERNELS[kernel].trace(Domain.of(robot, "fine"))
    formats = kernel.iteration.fields if kernel.iteration else kernel.graph.inputs
    rng = np.random.default_rng(SEED)
    codes = {n: rng.integers(f.lo, f.hi, 2000, endpoint=True) for n, f in formats.items()}
    found = evaluate_iteration(kernel.iteration, codes)[0] if kernel.iteration else None
    found = found or evaluate(kernel.graph, codes)
    assert (found["status"] & Status.OUT_OF_RANGE != 0).mean() > 0.9


def test_a_length_beyond_its_stroke_is_out_of_range() -> None:
    robot = with_strokes((0.4, 0.9))
    lengths = np.tile(cable_lengths(robot, np.array(robot.workspace.home)), (3, 1))
    lengths[1, 3], lengths[2, 0] = 0.901, 0.399
    _, status, _ = forward(robot, lengths)
    assert status[0] == GOOD
    assert np.all(status[1:] & (Status.VALID | Status.OUT_OF_RANGE) == Status.OUT_OF_RANGE)


def test_a_stroke_that_reaches_no_pose_is_refused() -> None:
    with pytest.raises(ValueError, match="L1 reaches no pose of the workspace"):
        Domain.of(with_strokes((5.0, 6.0)), "fine")


# -- the built-ins -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stewart-paired", "linuxcnc-hexapod", "dietmaier"])
def test_lengths_are_within_the_asked_accuracy(name: str) -> None:
    robot = load(name)
    poses = np.vstack([corner_poses(robot), sample_poses(robot, 1000, np.random.default_rng(SEED))])
    lengths, rows, status, _ = lengths_of(robot, poses)
    assert np.all(status == Status.VALID)
    assert np.abs(lengths - cable_lengths(robot, poses)).max() <= robot.accuracy.length
    # Dietmaier's legs are up to 0.14 m short within the workspace, its rows words of 25 bits.
    assert np.abs(rows - jacobian(robot, poses)).max() <= (5e-5 if name == "dietmaier" else 1e-6)


@pytest.mark.parametrize("name", ["stewart-paired", "linuxcnc-hexapod"])
def test_solves_from_a_start_error_off_come_back_to_the_asked_accuracy(name: str) -> None:
    robot, rng = load(name), np.random.default_rng(SEED)
    poses = np.vstack([corner_poses(robot), sample_poses(robot, 1000, rng)])
    starts = perturb(robot, poses, *robot.workspace.start_error, rng)
    lengths = cable_lengths(robot, poses)
    found, status, _ = forward(robot, lengths, starts)
    regular = np.linalg.cond(scaled_jacobian(robot, poses)) < 100
    assert regular.mean() > 0.98
    assert np.all(status[regular] == GOOD)
    valid = status & Status.VALID != 0
    quantum = 2.0 ** -iteration_of(robot).fields["L1"].fraction
    off = np.abs(cable_lengths(robot, found) - lengths).max(axis=1)
    assert off[valid].max() <= robot.accuracy.length + quantum
    assert np.abs(found - poses)[regular].max() < 1e-4


@pytest.mark.parametrize("name", ["stewart-paired", "linuxcnc-hexapod", "dietmaier"])
def test_rates_and_twists_are_float64s(name: str) -> None:
    kind, domain = KERNELS["rate"], Domain.of(load(name), "fine")
    iteration = kind.trace(domain).iteration
    values = kind.draw(domain.robot, 500, np.random.default_rng(SEED))
    codes = {n: form.encode(values[n]) for n, form in iteration.fields.items()}
    found = evaluate_iteration(iteration, codes)[0]
    good = found["status"] == Status.VALID
    assert good.mean() > 0.95
    inputs = {n: form.decode(codes[n])[good] for n, form in iteration.fields.items()}
    outputs = {n: form.decode(found[n])[good] for n, form in iteration.result_formats.items()}
    errors = kind.errors(domain.robot, inputs, outputs)
    # Speeds reach 2; what a twist loses is in proportion to the condition number (up to 1e4 here).
    assert errors["m/s"] < 1e-5
    assert errors["twist"] < (1e-5 if name == "stewart-paired" else 3e-2)


def test_linuxcncs_hexapod_takes_seven_steps_at_most() -> None:
    """From its home, z = 20, at yaw up to 60 degrees to a micrometre, given as a start or cold."""
    robot = load("linuxcnc-hexapod")
    poses = yawed(robot, [*range(-60, 0, 10), *range(10, 61, 10)])
    lengths = cable_lengths(robot, poses)
    home = np.tile(robot.workspace.home, (len(poses), 1))
    for starts, most in ((home, 6), (None, 7)):
        found, status, iterations = forward(robot, lengths, starts)
        assert np.all(status == GOOD)
        assert iterations.max() <= most
        assert np.linalg.norm((found - poses)[:, :3], axis=1).max() <= 1e-6


@needs_data
def test_every_one_of_dietmaiers_poses_comes_back_or_is_flagged() -> None:
    """From 1 mm, 1 mrad off: all 33 of a condition number up to 1e3 come back, to 50 um; a warning
    or a fault stands beside what does not. They reach 7e4."""
    robot, rng, count = load("dietmaier"), np.random.default_rng(SEED), 20
    truth = dietmaier_poses()
    condition = np.linalg.cond(scaled_jacobian(robot, truth))
    assert (condition <= 1e3).sum() == 33 and 7e4 < condition.max() < 8e4
    poses = np.repeat(truth, count, axis=0)
    starts = perturb(robot, poses, 1e-3, 1e-3, rng)
    found, status, iterations = forward(robot, np.tile(LENGTHS, (len(poses), 1)), starts)
    off = np.abs(found - poses).max(axis=1)
    regular = np.repeat(condition <= 1e3, count)
    assert np.all(status[regular] == GOOD)
    assert off[regular].max() < 5e-5 and iterations[regular].max() <= 6
    assert off[status == GOOD].max() < 1e-4


@needs_data
@pytest.mark.parametrize("name", ["dietmaier", "linuxcnc-hexapod"])
def test_no_pose_is_further_off_than_its_error_radius(name: str) -> None:
    robot, rng = load(name), np.random.default_rng(SEED)
    poses = dietmaier_poses() if name == "dietmaier" else sample_poses(robot, 400, rng)
    poses = np.repeat(poses, 10, axis=0) if name == "dietmaier" else poses
    starts = perturb(robot, poses, 1e-3, 1e-3, rng)
    outputs = answered(robot, cable_lengths(robot, poses), starts)
    off = np.linalg.norm(stack(outputs, robot.coordinates)[:, :3] - poses[:, :3], axis=1)
    known = outputs["radius"] < outputs["radius"].max()
    assert known.mean() > 0.6
    assert np.all(off[known] <= outputs["radius"][known])
