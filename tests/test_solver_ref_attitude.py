"""A measured rotation in the step and in solves: float64, and the bit-true `forward` and `step`."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.attitude import attitude_axes, attitude_names, least_squares, length_gain
from solver_ref.domain import perturb, sample_poses
from solver_ref.evaluation import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.forward import Forward
from solver_ref.kernels.kind import Choices
from solver_ref.kernels.step import StepKind, float_step
from solver_ref.kinematics import cable_lengths
from solver_ref.levenberg_marquardt import lm_solve, lm_step, solve_cold
from solver_ref.measurement import attitude_model, gain
from solver_ref.robot_file import load
from solver_ref.status import Status
from solver_ref.step import UNBOUNDED, solve_step

GOOD = Status.VALID | Status.CONVERGED
SEED = 31
CRANE = load("four-cable").with_options(closure="attitude")
TWO_AXES = replace(CRANE, sensors=("inclinometer",))
IRMA = load("irma4u").with_options(closure="attitude")


def measured(robot, count, *, noise=0.0):
    """True poses, their lengths and the measured angles."""
    rng = np.random.default_rng(SEED)
    truth = sample_poses(robot, count, rng)
    angles = truth[:, attitude_axes(robot)]
    return truth, cable_lengths(robot, truth), angles + noise * rng.standard_normal(angles.shape)


def test_an_inclinometer_measures_two_of_the_three_angles():
    assert attitude_names(CRANE) == ("mrx", "mry", "mrz")
    assert attitude_names(TWO_AXES) == ("mrx", "mry")
    assert attitude_names(load("four-cable")) == ()
    assert least_squares(TWO_AXES) and not least_squares(load("four-cable"))


@pytest.mark.parametrize("robot", [CRANE, TWO_AXES, IRMA])
def test_a_step_is_the_tracking_gain_times_the_innovation(robot):
    """`evaluate` and the closure of `solver_ref.measurement` are one least-squares problem."""
    truth, lengths, angles = measured(robot, 50)
    rng = np.random.default_rng(SEED)
    starts = perturb(robot, truth, 1e-7, 1e-7, rng)
    model = attitude_model(robot, axes=[robot.coordinates[i] for i in attitude_axes(robot)])
    expected, rows = model.rows(starts)
    innovation = np.hstack([lengths, angles]) - expected
    wanted = (gain(model, rows) @ innovation[..., None])[..., 0]
    assert_allclose(-float_step(robot, starts, lengths, 0.0, angles), wanted, atol=1e-11)


@pytest.mark.parametrize("damping", [0.0, 1e-3])
def test_the_equations_and_the_vectorised_solver_take_the_same_step(damping):
    truth, lengths, angles = measured(CRANE, 40, noise=1e-3)
    starts = perturb(CRANE, truth, 0.02, 0.02, np.random.default_rng(SEED))
    at = evaluate(
        FloatArithmetic(), CRANE, list(starts.T), list(lengths.T), attitude=list(angles.T)
    )
    step = solve_step(FloatArithmetic(), at, damping, UNBOUNDED, 0)
    found = lm_step(CRANE, starts, lengths, damping, attitude=angles)
    assert_allclose(-np.column_stack(step.scaled), found.delta, rtol=1e-9, atol=1e-13)
    assert_allclose(step.pivot, found.pivot * at_mean(at), rtol=1e-9)


def at_mean(at):
    """The mean diagonal of J^T J."""
    return sum(np.square(x) for row in at.rows for x in row) / len(at.rows[0])


@pytest.mark.parametrize("robot", [CRANE, TWO_AXES, IRMA])
def test_float_solves_find_the_pose_that_was_measured(robot):
    truth, lengths, angles = measured(robot, 300)
    starts = perturb(robot, truth, 0.05, 0.05, np.random.default_rng(SEED))
    warm = lm_solve(robot, starts, lengths, attitude=angles)
    for found in (warm, solve_cold(robot, lengths, attitude=angles)):
        assert np.all(found.status == GOOD)
        assert np.max(np.abs(found.poses - truth)) < 1e-6


def test_without_its_attitude_a_solve_has_the_lengths_alone():
    truth, lengths, _ = measured(CRANE, 50)
    starts = perturb(CRANE, truth, 0.05, 0.05, np.random.default_rng(SEED))
    plain = lm_solve(load("four-cable"), starts, lengths)
    assert np.array_equal(lm_solve(CRANE, starts, lengths).poses, plain.poses)


def test_an_attitude_that_contradicts_the_lengths_is_no_solution():
    """Along the turn that the lengths forbid; one that they leave open is believed."""
    truth, lengths, angles = measured(CRANE, 50)
    wrong = solve_cold(CRANE, lengths, attitude=angles + np.array([0.0, 0.0, 0.15]))
    assert np.all((wrong.status & Status.NO_SOLUTION) != 0)


def test_the_gain_of_lengths_bounds_how_far_a_pose_moves():
    truth, lengths, angles = measured(CRANE, 200)
    off = 1e-5 * np.random.default_rng(SEED).choice([-1.0, 1.0], lengths.shape)
    found = lm_solve(CRANE, truth, lengths + off, attitude=angles, tolerance=1e-10)
    moved = np.abs(found.poses - truth)[:, :3].max()
    assert 0.4 * length_gain(CRANE) < moved / 1e-5 < 1.01 * length_gain(CRANE)


@pytest.fixture(scope="module")
def domains():
    return {"crane": Domain.of(CRANE, "fine"), "irma": Domain.of(IRMA, "fine")}


@pytest.fixture(scope="module")
def iterations(domains):
    return {name: Forward().trace(domain).iteration for name, domain in domains.items()}


def solved(iteration, robot, columns):
    """Decoded inputs and outputs of `forward` for columns of a batch."""
    kind = Forward()
    values = kind.port_values(robot, columns, Choices())
    codes = {name: form.encode(values[name]) for name, form in iteration.fields.items()}
    out, _ = evaluate_iteration(iteration, codes)
    inputs = {name: form.decode(codes[name]) for name, form in iteration.fields.items()}
    outputs = {
        name: out[name] if name in ("status", "iterations") else form.decode(out[name])
        for name, form in iteration.result_formats.items()
    }
    return inputs, outputs


def batch(robot, lengths, angles, starts=None):
    columns = {f"L{i + 1}": x for i, x in enumerate(lengths.T)}
    columns |= dict(zip(attitude_names(robot), angles.T, strict=True))
    if starts is not None:
        columns |= {f"{n}0": x for n, x in zip(robot.coordinates, starts.T, strict=True)}
    return columns


@pytest.mark.parametrize("name", ["crane", "irma"])
@pytest.mark.parametrize("cold", [False, True])
def test_forward_returns_the_least_squares_pose_within_the_accuracy(
    domains, iterations, name, cold
):
    domain, robot = domains[name], domains[name].robot
    truth, lengths, angles = measured(robot, 150)
    starts = perturb(robot, truth, 0.05, 0.05, np.random.default_rng(SEED))
    columns = batch(robot, lengths, angles, None if cold else starts)
    inputs, outputs = solved(iterations[name], robot, columns)
    assert np.all(outputs["status"] == GOOD)
    assert Forward().errors(robot, inputs, outputs)["m"] <= robot.accuracy.length
    assert outputs["iterations"].mean() < (4.5 if cold else 3.0)
    assert np.array_equal(Forward().answers(domain, inputs)["status"], outputs["status"])


def test_forward_is_as_accurate_where_the_sensors_contradict_each_other(iterations):
    """Five milliradians off: the residuals stay, and so does their rounding."""
    truth, lengths, angles = measured(CRANE, 300, noise=5e-3)
    starts = perturb(CRANE, truth, 0.05, 0.05, np.random.default_rng(SEED))
    columns = batch(CRANE, lengths, angles, starts)
    inputs, outputs = solved(iterations["crane"], CRANE, columns)
    assert np.all(outputs["status"] == GOOD)
    assert Forward().errors(CRANE, inputs, outputs)["m"] <= 2 * CRANE.accuracy.length


def test_forward_says_that_a_contradictory_attitude_is_no_solution(iterations):
    _, lengths, angles = measured(CRANE, 30)
    wrong = angles + np.array([0.0, 0.0, 0.15])
    _, outputs = solved(iterations["crane"], CRANE, batch(CRANE, lengths, wrong))
    faults = Status.NO_SOLUTION | Status.ITERATION_LIMIT
    assert np.all((outputs["status"] & faults) != 0)
    assert not np.any(outputs["status"] & Status.VALID)
    assert np.mean((outputs["status"] & Status.NO_SOLUTION) != 0) > 0.5


def test_both_profiles_eliminate_the_small_pivots_with_long_words(domains):
    short = Domain.of(CRANE, "18bit")
    for role in ("gram", "factor", "solution", "reciprocal"):
        assert getattr(short.profile, role) == getattr(domains["crane"].profile, role)


def test_a_measured_attitude_needs_no_port_for_cold_starts(iterations):
    fields = iterations["crane"].fields
    assert "cold" not in fields and fields["mrz"].signed
    assert fields["mrz"].fraction == fields["L1"].fraction


def test_the_columns_of_a_solve_hold_the_measured_angles():
    for kind in (StepKind(), Forward()):
        assert kind.columns(CRANE).required == ("L1", "L2", "L3", "L4", "mrx", "mry", "mrz")
        assert "mrx" not in kind.columns(load("four-cable")).required


def test_no_input_breaks_a_limit_that_counts_as_proven(iterations):
    """Any code that the ports carry, its extremes most often."""
    fields, rng = iterations["crane"].fields, np.random.default_rng(SEED)
    codes = {key: rng.integers(f.lo, f.hi, 400, endpoint=True) for key, f in fields.items()}
    for key, form in fields.items():
        ends = np.where(rng.uniform(size=400) < 0.5, form.lo, form.hi)
        codes[key] = np.where(rng.uniform(size=400) < 0.5, ends, codes[key])
    codes["lambda"][::2] = 0
    evaluate_iteration(iterations["crane"], codes)
