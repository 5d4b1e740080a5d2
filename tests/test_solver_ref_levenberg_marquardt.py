"""LM steps and solves: their definition, SciPy, round trips, and how many steps they take."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from published_robots import robot_of
from robot_kinds import of_cables
from scipy.optimize import least_squares

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.damping import POLICIES, Damping
from solver_ref.domain import inside, level_poses, perturb, sample_poses
from solver_ref.evaluation import evaluate
from solver_ref.kinematics import cable_lengths, jacobian_phi, scaling, squared_system
from solver_ref.levenberg_marquardt import lm_solve, lm_step, solve_cold
from solver_ref.robot import Cable, Robot
from solver_ref.robot_file import load
from solver_ref.status import Status
from solver_ref.step import UNBOUNDED, solve_step

DETERMINED = ["cogiro", "ipanema1", "acrobot", "nist-robocrane", "planar4", "hangprinter"]
GOOD = int(Status.VALID | Status.CONVERGED)
# The distances of starts from the truth: m and rad, as norms.
NEAR, DECLARED, FAR = (0.001, 0.001), (0.05, 0.05), (0.3, 0.2)


def has(status: np.ndarray, bits: Status) -> np.ndarray:
    return (status & int(bits)) == int(bits)


def case(name: str, count: int, seed: int) -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray]:
    """A robot, poses of its grown workspace, their lengths, and starts one start error away."""
    robot, rng = load(name), np.random.default_rng(seed)
    poses = sample_poses(robot, count, rng, margin=robot.workspace.start_error)
    starts = perturb(robot, poses, *robot.workspace.start_error, rng)
    return robot, poses, cable_lengths(robot, poses), starts


@pytest.mark.parametrize("damping", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("name", of_cables())
def test_a_step_is_what_its_definition_says(name: str, damping: float) -> None:
    robot, _, lengths, starts = case(name, 200, seed=1)
    step = lm_step(robot, starts, lengths, damping)
    f, rows = squared_system(robot, starts, lengths)
    if len(robot.cables) > len(robot.free):
        f, rows = f / lengths, rows / lengths[..., None]
    for i in range(len(starts)):
        j = rows[i]
        # lambda counts from the mean diagonal of the smaller product; the trace is that of both.
        size = min(j.shape)
        shift = damping * np.trace(j @ j.T) / size
        # The step as the least squares of the rows and the damping, in one stacked system.
        stacked = np.vstack([j, np.sqrt(shift) * np.eye(j.shape[1])])
        target = np.concatenate([-f[i], np.zeros(j.shape[1])])
        expected = np.linalg.lstsq(stacked, target, rcond=None)[0]
        assert_allclose(step.delta[i], expected, rtol=0, atol=1e-9)
    assert_allclose(step.poses, starts + step.delta / scaling(robot), rtol=0, atol=1e-15)
    assert_allclose(step.residual, squared_system(robot, starts, lengths)[0] / lengths, atol=1e-15)


@pytest.mark.parametrize("name", of_cables())
def test_a_step_is_that_of_the_equations_that_become_hardware(name: str) -> None:
    robot, _, lengths, starts = case(name, 100, seed=2)
    m = FloatArithmetic()
    at = evaluate(m, robot, list(starts.T), list(lengths.T))
    expected = solve_step(m, at, 1e-3, UNBOUNDED, 0)
    step = lm_step(robot, starts, lengths, 1e-3)
    assert_allclose(step.delta, -np.stack(expected.scaled, axis=-1), rtol=0, atol=1e-11)
    # The smallest pivot is that of the smaller product, relative to its mean diagonal.
    rows = np.moveaxis(np.array([[*row] for row in at.rows]), -1, 0)
    mean = (rows**2).sum(axis=(1, 2)) / min(rows.shape[1:])
    assert_allclose(step.pivot, expected.pivot / mean, rtol=1e-9)


@pytest.mark.parametrize("name", ["four-cable", "cogiro"])
def test_a_step_does_not_depend_on_the_unit_of_length(name: str) -> None:
    """The same robot a thousand times as large: the same step, with the same lambda."""
    robot, _, lengths, starts = case(name, 50, seed=3)
    cables = tuple(
        Cable(anchor=tuple(1000 * robot.anchors[i]), attachment=tuple(1000 * robot.attachments[i]))
        for i in range(len(robot.cables))
    )
    unit = np.array([1000.0] * 3 + [1.0] * 3)
    large = lm_step(replace(robot, cables=cables), starts * unit, lengths * 1000, 0.01)
    small = lm_step(robot, starts, lengths, 0.01)
    assert_allclose(large.poses / unit, small.poses, rtol=0, atol=1e-12)
    assert_allclose(large.pivot, small.pivot, rtol=1e-9)


def test_a_step_with_the_attitude_held_moves_the_position_alone() -> None:
    robot, _, lengths, starts = case("four-cable", 50, seed=4)
    step = lm_step(robot, starts, lengths, 0.0, hold_attitude=True)
    assert_array_equal(step.poses[:, 3:], starts[:, 3:])
    slope = jacobian_phi(robot, starts)[..., :3]
    expected = np.linalg.pinv(slope) @ -step.residual[..., None]
    assert_allclose(step.delta[:, :3], expected[..., 0], rtol=0, atol=2e-3)


@pytest.mark.parametrize("name", DETERMINED)
def test_a_round_trip_over_the_grown_workspace_finds_the_pose_again(name: str) -> None:
    robot, poses, lengths, starts = case(name, 3000, seed=5)
    for found in (lm_solve(robot, starts, lengths), solve_cold(robot, lengths)):
        assert (found.status == GOOD).all(), "seed 5"
        error = np.abs(found.poses - poses) * scaling(robot)
        # Six cables stop with residuals up to 5 um, and the smallest singular value is 0.06.
        assert error.max() <= 5e-6 * np.sqrt(6) / 0.06, "seed 5"
        assert found.residual.max() <= robot.accuracy.length / 2


def test_a_cold_start_holds_the_attitude_for_two_steps() -> None:
    """Two more steps at most, and four lengths no longer tilt the platform out of its workspace."""
    robot, _, lengths, _ = case("four-cable", 2000, seed=16)
    cold, direct = solve_cold(robot, lengths), lm_solve(robot, robot.workspace.home, lengths)
    assert (cold.status == GOOD).mean() > 0.99, "seed 16"
    assert (direct.status == GOOD).mean() < 0.8, "seed 16"
    assert np.abs(cold.poses[:, 3:]).mean() < np.abs(direct.poses[:, 3:]).mean() / 2
    robot, _, lengths, _ = case("cogiro", 2000, seed=16)
    cold, direct = solve_cold(robot, lengths), lm_solve(robot, robot.workspace.home, lengths)
    assert cold.iterations.mean() < direct.iterations.mean() + 0.5, "seed 16"


@pytest.mark.parametrize("offset", [NEAR, DECLARED, FAR])
def test_four_lengths_are_met_from_every_start(offset: tuple[float, float]) -> None:
    robot, rng = load("four-cable"), np.random.default_rng(6)
    poses = sample_poses(robot, 3000, rng)
    lengths = cable_lengths(robot, poses)
    found = lm_solve(robot, perturb(robot, poses, *offset, rng), lengths)
    assert has(found.status, Status.CONVERGED).all(), "seed 6"
    errors = np.abs(cable_lengths(robot, found.poses) - lengths)
    assert errors.max() <= robot.accuracy.length / 2, "seed 6"
    assert_array_equal(found.residual, errors.max(axis=1))
    # The truth is not found again, as four lengths do not determine it: the start is near it.
    assert (np.abs(found.poses - poses).max(axis=1) > 1e-5).mean() > 0.9


@pytest.mark.parametrize("name", DETERMINED)
def test_noisy_lengths_give_the_pose_that_scipy_finds(name: str) -> None:
    robot, _, lengths, starts = case(name, 12, seed=7)
    redundant = len(robot.cables) > len(robot.free)
    rng = np.random.default_rng(8)
    measured = lengths + rng.normal(0, 1e-4 if redundant else 1e-3, lengths.shape)
    found = lm_solve(robot, starts, measured, tolerance=1e-12)
    assert (found.status == GOOD).all(), "seeds 7, 8"
    for i in range(len(starts)):
        oracle = least_squares(
            lambda pose, i=i: cable_lengths(robot, pose) - measured[i],
            starts[i],
            x_scale=1 / scaling(robot),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        # f / L weighs a residual e by 1 + e / (2 L): 1e-4 of the 0.1 mm, at the shortest cables.
        assert_allclose(found.poses[i], oracle.x, rtol=0, atol=2e-7, err_msg="seeds 7, 8")


STEPS = {  # mean steps from NEAR, DECLARED, FAR at a tolerance of 2 um
    "none": (1.00, 2.01, 3.00),
    "fixed": (1.00, 2.02, 3.01),
    "marquardt": (1.00, 2.01, 3.00),
    "shrink-on-failure": (4.15, 7.28, 8.61),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_reference_crane_takes_the_measured_number_of_steps(policy: str) -> None:
    robot, rng = load("four-cable"), np.random.default_rng(9)
    poses = sample_poses(robot, 5000, rng)
    lengths = cable_lengths(robot, poses)
    for offset, expected in zip((NEAR, DECLARED, FAR), STEPS[policy], strict=True):
        starts = perturb(robot, poses, *offset, rng)
        found = lm_solve(robot, starts, lengths, policy, tolerance=2e-6)
        assert has(found.status, Status.CONVERGED).all(), "seed 9"
        assert found.iterations.mean() == pytest.approx(expected, abs=0.05), "seed 9"
        assert not found.rollbacks.any()


def test_marquardt_leaves_a_singular_start_and_the_published_rule_does_not() -> None:
    """All cables meet in one point at a level start: no step of first order tilts the platform."""
    robot, rng = load("four-cable-concurrent"), np.random.default_rng(10)
    starts = level_poses(robot, 2000, rng)
    lengths = cable_lengths(robot, perturb(robot, starts, 0.05, 0.02, rng))
    adaptive = lm_solve(robot, starts, lengths, "marquardt")
    printed = lm_solve(robot, starts, lengths, "shrink-on-failure")
    assert has(adaptive.status, Status.CONVERGED).mean() > 0.99, "seed 10"
    assert has(printed.status, Status.CONVERGED).mean() < 0.6, "seed 10"
    level = lm_solve(robot, starts, cable_lengths(robot, starts))
    assert has(level.status, Status.CONVERGED | Status.NEAR_SINGULAR).all()
    assert_array_equal(level.iterations, 0)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["cogiro", "ipanema1"])
def test_a_solve_never_returns_a_worse_pose_than_its_start(name: str, policy: str) -> None:
    robot, rng = load(name), np.random.default_rng(11)
    poses, starts = sample_poses(robot, 400, rng), sample_poses(robot, 400, rng)
    lengths = cable_lengths(robot, poses)

    def cost(pose: np.ndarray) -> np.ndarray:
        return ((squared_system(robot, pose, lengths)[0] / lengths) ** 2).sum(axis=1)

    for limit in (1, 3, 10):
        found = lm_solve(robot, starts, lengths, policy, limit=limit)
        assert (cost(found.poses) <= cost(starts)).all(), "seed 11"
        assert (found.iterations <= limit).all()
        assert (found.rollbacks <= found.iterations).all()


def test_lambda_follows_its_rule() -> None:
    """From the same start, two steps of a rule are two steps with its lambdas one by one."""
    robot, _, lengths, starts = case("cogiro", 40, seed=12)
    rule = Damping(initial=0.08, on_success=1 / 8, on_failure=8.0)
    found = lm_solve(robot, starts, lengths, rule, limit=2)
    first = lm_step(robot, starts, lengths, 0.08)
    assert_allclose(found.poses, lm_step(robot, first.poses, lengths, 0.01).poses, atol=1e-15)
    # From afar some first steps overshoot: they are undone and tried again with more damping.
    robot, rng = load("cogiro"), np.random.default_rng(13)
    starts, poses = sample_poses(robot, 300, rng), sample_poses(robot, 300, rng)
    lengths = cable_lengths(robot, poses)
    rule = Damping(initial=1e-3, on_failure=10.0)
    once = lm_solve(robot, starts, lengths, rule, limit=1)
    failed = once.rollbacks == 1
    assert failed.any(), "seed 13"
    assert_array_equal(once.poses[failed], starts[failed])
    twice = lm_solve(robot, starts, lengths, rule, limit=2)
    again = failed & (twice.rollbacks == 1)  # the second step was better
    assert again.any(), "seed 13"
    second = lm_step(robot, starts, lengths, 0.01).poses
    assert_allclose(twice.poses[again], second[again], rtol=0, atol=1e-14)


def test_lengths_that_no_pose_has_say_so() -> None:
    rng = np.random.default_rng(14)
    for name in ("cogiro", "nist-robocrane", "four-cable", "hangprinter"):
        robot, _, lengths, starts = case(name, 20, seed=14)
        lengths[:, 0] *= 0.2
        found = lm_solve(robot, starts, lengths)
        assert has(found.status, Status.NO_SOLUTION).all(), f"{name}, seed 14"
        assert not (found.status & int(Status.VALID)).any()
        assert np.isfinite(found.poses).all()
    point, poses = load("hangprinter"), sample_poses(load("hangprinter"), 5, rng)
    found = lm_solve(point, poses, 2 * cable_lengths(point, poses))
    assert has(found.status, Status.CONVERGED | Status.NO_SOLUTION).all()


def test_a_pose_beyond_the_grown_workspace_is_out_of_range() -> None:
    robot = load("cogiro")
    poses = np.array([[4.44, 0, 1, 0, 0, 0], [4.46, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0.36, 0]])
    assert_array_equal(inside(robot, poses), [True, False, False])
    found = lm_solve(robot, poses, cable_lengths(robot, poses))
    out = int(Status.OUT_OF_RANGE | Status.CONVERGED)
    assert_array_equal(found.status, [GOOD, out, out])


def test_an_undamped_step_at_a_singular_pose_is_a_failure_and_no_error() -> None:
    """Four parallel cables on a platform as large as the frame: the rank is three."""
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    anchors = np.hstack([signs, np.full((4, 1), 3.0)])
    robot = robot_of("parallel", anchors.tolist(), anchors.tolist())
    start = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    for policy in ("none", "marquardt"):
        found = lm_solve(robot, start, np.array([[1.0, 1.0, 1.0, 1.001]]), policy, limit=5)
        assert np.isfinite(found.poses).all()
        assert has(found.status, Status.ITERATION_LIMIT | Status.NEAR_SINGULAR).all()


def test_rows_do_not_influence_each_other() -> None:
    robot, _, lengths, starts = case("cogiro", 30, seed=15)
    starts[::3] = robot.workspace.home
    together = lm_solve(robot, starts, lengths)
    for i in range(0, 30, 7):
        alone = lm_solve(robot, starts[i], lengths[i])
        assert_allclose(alone.poses[0], together.poses[i], rtol=0, atol=1e-13)
        assert alone.iterations[0] == together.iterations[i]
