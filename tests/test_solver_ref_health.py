"""The error radius: what rounds up does, and no pose is further from the exact one than it says."""

from functools import cache

import numpy as np
import pytest
from traced import run, tracer

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.attitude import attitude_axes
from solver_ref.domain import sample_poses
from solver_ref.evaluation import evaluate
from solver_ref.fixed import Format
from solver_ref.health import error_radius
from solver_ref.iteration import Iteration, evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.equilibrium_domain import working_robot
from solver_ref.kernels.equilibrium_values import solved as equilibria
from solver_ref.kernels.forward_pass import Policy
from solver_ref.kernels.kind import attitude_of, lengths_of, residual_names, stack
from solver_ref.kernels.step import float_step
from solver_ref.kinematics import cable_lengths
from solver_ref.robot_file import load
from solver_ref.status import Status
from solver_ref.step import UNBOUNDED, solve_step

SEED = 27
WAYS = [
    ("four-cable", "minimum-norm"),
    ("four-cable", "attitude"),
    ("nist-robocrane", "lengths"),
    ("cogiro", "lengths"),
    ("hangprinter", "lengths"),
    ("planar4", "lengths"),
]


def codes(form: Format, lo: float, hi: float) -> np.ndarray:
    """Ends, powers of two and their neighbours, and random ones."""
    first, last = int(np.ceil(lo / form.quantum)), int(np.floor(hi / form.quantum))
    powers = 1 << np.arange(form.width)
    near = np.concatenate([powers - 1, powers, powers + 1])
    near = near[(near >= first) & (near <= last)]
    return np.concatenate(
        [[first, last], near, np.random.default_rng(SEED).integers(first, last, 20_000)]
    )


@pytest.mark.parametrize("lo, hi", [(4.0, 145.0), (0.01, 0.02), (2.0**-20, 260.0)])
def test_a_root_from_above_is_at_most_a_tenth_and_two_quanta_more(lo, hi):
    m, form = tracer(), Format(False, 9, 20)
    root = m.root_above(m.clamp(m.input("x", form), lo, hi))
    x = codes(form, lo, hi)
    got, exact = run(m, {"x": x}, {"root": root})["root"], np.sqrt(form.decode(x))
    assert np.all(got >= exact)
    assert np.all(got <= 1.1 * exact + 2 * 2.0**-root.range.fraction)


def test_a_value_from_above_is_at_most_a_quantum_more():
    m, form = tracer(), Format(False, 4, 30)
    above, x = m.above(m.input("x", form), "weight"), codes(form, 0.0, 15.9)
    got, quantum = run(m, {"x": x}, {"y": above})["y"], 2.0**-above.range.fraction
    assert np.all(got >= form.decode(x)) and np.all(got <= form.decode(x) + quantum)
    assert quantum > form.quantum


def test_a_quotient_from_above_is_never_less_than_the_quotient():
    m, form, limit = tracer(), Format(False, 6, 18), 64.0
    by = m.pivot(m.input("p", form), 0.25)
    quotient = m.quotient_above(m.input("x", form), by, limit, "weight", "unknown")
    rng = np.random.default_rng(SEED)
    p = codes(form, 0.25, 63.9)
    x = np.minimum(
        rng.integers(0, form.hi, len(p)), (limit * 0.99 * form.decode(p)) // form.quantum
    )
    got = run(m, {"x": x.astype(np.int64), "p": p}, {"y": quotient})["y"]
    exact = form.decode(x) / form.decode(p)
    assert np.all(got >= exact)
    assert np.all(got <= exact + 2.0**-9 * limit)


@pytest.mark.parametrize("name, closure", WAYS)
def test_no_residuals_move_a_position_by_more_than_the_radius(name, closure):
    """To first order, against LAPACK; and the radius is less than ten times what some do."""
    robot, m = load(name).with_options(closure=closure), FloatArithmetic()
    poses = sample_poses(robot, 200, np.random.default_rng(SEED))
    lengths, count = cable_lengths(robot, poses), robot.translations
    angles = list(poses[:, attitude_axes(robot)].T)
    at = evaluate(m, robot, list(poses.T), list(lengths.T), attitude=angles)
    step = solve_step(m, at, 0.0, UNBOUNDED, 0)
    radius, hidden = error_radius(m, at, step, 1.0, UNBOUNDED, count)
    assert np.all(hidden == 0)
    rows = np.stack([np.stack(np.broadcast_arrays(*row, radius)[:-1], -1) for row in at.rows], -2)
    if not at.least_squares:
        rows = rows / lengths[..., None]
    largest = np.linalg.pinv(rows)[:, :count]
    ends = np.array(np.meshgrid(*[[-1.0, 1.0]] * rows.shape[-2])).reshape(rows.shape[-2], -1)
    moved = np.linalg.norm(largest @ ends, axis=1).max(axis=1)
    assert np.all(moved <= radius)
    assert np.all(radius <= 10 * moved)


@cache
def made(name: str, closure: str, profile: str) -> tuple[Domain, Iteration]:
    domain = Domain.of(load(name).with_options(closure=closure), profile)
    return domain, KERNELS["forward"].trace(domain).iteration


def solved(name: str, closure: str, profile: str = "fine", noise: float = 0.0, count: int = 1000):
    """Test vectors, noise (m) on their lengths, through the bit-true solver: values by name."""
    domain, iteration = made(name, closure, profile)
    robot, kind = domain.robot, KERNELS["forward"]
    rng = np.random.default_rng(SEED)
    values = kind.draw(robot, count, rng)
    if "policy" in values:
        values["policy"] = np.where(values["policy"] == Policy.FIXED, 0.0, values["policy"])
    for i in range(len(robot.cables)):
        values[f"L{i + 1}"] = values[f"L{i + 1}"] + noise * rng.normal(size=count)
    inputs = {key: form.encode(values[key]) for key, form in iteration.fields.items()}
    out, _ = evaluate_iteration(iteration, inputs)
    given = {key: iteration.fields[key].decode(code) for key, code in inputs.items()}
    return robot, domain, given, {n: f.decode(out[n]) for n, f in iteration.result_formats.items()}


@pytest.mark.parametrize(
    "name, closure, profile, noise",
    [
        ("four-cable", "minimum-norm", "fine", 0.0),
        ("four-cable", "minimum-norm", "18bit", 0.0),
        ("four-cable", "attitude", "fine", 0.0),
        ("four-cable-concurrent", "minimum-norm", "fine", 0.0),
        ("irma4u", "minimum-norm", "fine", 0.0),
        ("nist-robocrane", "lengths", "fine", 0.0),
        ("cogiro", "lengths", "18bit", 3e-4),
        ("hangprinter", "lengths", "fine", 1e-4),
        ("planar4", "lengths", "fine", 1e-4),
    ],
)
def test_no_valid_pose_is_further_from_the_exact_one_than_its_radius(name, closure, profile, noise):
    robot, domain, given, out = solved(name, closure, profile, noise)
    top = 1 - 2.0 ** -(domain.profile.pose.bits + 3)
    known = (out["status"].astype(int) & int(Status.VALID) != 0) & (out["radius"] < top)
    given = {key: value[known] for key, value in given.items()}
    poses, lengths = stack(out, robot.coordinates)[known], lengths_of(robot, given)
    exact = poses
    for _ in range(6):
        exact = exact - float_step(robot, exact, lengths, 0.0, attitude_of(robot, given))
    apart = np.linalg.norm((poses - exact)[:, : robot.translations], axis=1)
    assert np.all(apart <= out["radius"][known]), f"seed {SEED}"
    singular = name in ("irma4u", "four-cable-concurrent")
    assert known.mean() >= (0.8 if singular else 0.95)


@pytest.mark.parametrize("name", ["four-cable", "irma4u", "four-cable-full"])
def test_no_equilibrium_is_further_from_the_exact_one_than_its_radius(name):
    robot, domain, given, out = solved(name, "equilibrium", count=500)
    poses = stack(out, robot.coordinates)
    exact = equilibria(working_robot(robot), given, poses).poses
    apart = np.linalg.norm((poses - exact)[:, : robot.translations], axis=1)
    assert np.all(out["status"].astype(int) & int(Status.VALID) != 0)
    assert np.all(apart <= out["radius"]), f"seed {SEED}"
    amplified = 1.0 if name == "irma4u" else 1 / 4
    assert np.median(out["radius"]) <= amplified * 20 * robot.accuracy.length


def test_the_radius_of_a_converged_pose_is_a_few_times_the_accuracy():
    for name, closure in (("four-cable", "minimum-norm"), ("nist-robocrane", "lengths")):
        robot, _, _, out = solved(name, closure)
        good = out["status"].astype(int) & int(Status.VALID) != 0
        assert np.median(out["radius"][good]) <= 4 * robot.accuracy.length


def test_no_radius_is_known_where_a_solve_failed_or_damping_hides_the_gain():
    domain, iteration = made("four-cable", "minimum-norm", "fine")
    values = KERNELS["forward"].draw(domain.robot, 300, np.random.default_rng(SEED))
    values |= {"policy": np.full(300, float(Policy.FIXED)), "lambda": np.full(300, 0.5)}
    values["L1"][::2] += 1.0
    inputs = {key: form.encode(values[key]) for key, form in iteration.fields.items()}
    out, _ = evaluate_iteration(iteration, inputs)
    assert np.all(out["radius"] == iteration.result_formats["radius"].hi)


@pytest.mark.parametrize("name, closure", [("four-cable", "minimum-norm"), ("cogiro", "lengths")])
def test_each_residual_is_that_of_the_pose_and_the_largest_is_the_residual(name, closure):
    robot, domain, given, out = solved(name, closure, noise=1e-4, count=500)
    each = stack(out, residual_names(robot))
    assert np.array_equal(np.abs(each).max(axis=1), out["residual"])
    left = cable_lengths(robot, stack(out, robot.coordinates)) - lengths_of(robot, given)
    good = out["status"].astype(int) & int(Status.VALID) != 0
    step = robot.accuracy.length if len(robot.cables) > len(robot.free) else 0.0
    assert np.abs(left - each)[good].max() <= step + 1.5 * 2.0**-domain.profile.pose.bits


@pytest.mark.parametrize("name, closure", WAYS)
def test_health_in_float64_is_near_the_hardwares(name, closure):
    robot, domain, given, out = solved(name, closure, noise=1e-4, count=300)
    exact = KERNELS["forward"].answers(domain, given)
    both = (out["status"].astype(int) & exact["status"] & int(Status.VALID)) != 0
    both &= (given["policy"] == Policy.NONE) | (given["lambda"] < 1e-4)
    # Lengths that leave a pose open lead to another one by another path.
    both &= np.abs(stack(exact, robot.coordinates) - stack(out, robot.coordinates)).max(1) < 1e-3
    assert both.mean() >= 0.5
    assert np.allclose(exact["pivot"][both], out["pivot"][both], rtol=0.05, atol=0.05)
    if closure != "attitude":  # else residuals of the attitude are part of it
        missed = 1.5 * 2.0**-domain.profile.pose.bits
        gain = (exact["radius"] / exact["residual"])[both]
        own = (out["radius"] / (out["residual"] + missed))[both]
        assert np.all(gain <= 1.01 * own) and np.all(own <= 1.25 * gain)
