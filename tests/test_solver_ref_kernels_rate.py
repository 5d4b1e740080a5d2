"""The kernel `rate`: bit-true against float64, both ways, and what it says of bad rows."""

import numpy as np
import pytest
from robot_kinds import of_cables

from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import Choices
from solver_ref.kernels.rate_graph import rate_names
from solver_ref.rate import rates_of
from solver_ref.robot_file import load
from solver_ref.status import Status

RATE, COUNT, SEED = KERNELS["rate"], 500, 9
TWISTS = ("vx", "vy", "vz", "wx", "wy", "wz")


def traced(name, *, loaded=False):
    domain = Domain.of(load(name), "fine", loaded=loaded)
    return domain, RATE.trace(domain).iteration


def run(iteration, values):
    """The inputs as the ports carry them, the outputs, and the passes of each row."""
    codes = {name: form.encode(values[name]) for name, form in iteration.fields.items()}
    found, passes = evaluate_iteration(iteration, codes)
    outputs = {name: iteration.result_formats[name].decode(x) for name, x in found.items()}
    return (
        {name: form.decode(codes[name]) for name, form in iteration.fields.items()},
        outputs | {"status": found["status"]},
        passes,
    )


def row(robot, pose, **given):
    """Port values of one row."""
    columns = {n: np.array([x]) for n, x in zip(robot.coordinates, pose, strict=True)}
    columns |= {name: np.array([value]) for name, value in given.items()}
    return RATE.port_values(robot, columns, Choices())


@pytest.mark.parametrize("name", of_cables())
def test_rates_and_twists_are_float64s_to_a_small_part_of_the_speeds(name):
    domain, iteration = traced(name)
    robot = domain.robot
    inputs, outputs, _ = run(iteration, RATE.draw(robot, COUNT, np.random.default_rng(SEED)))
    expected = RATE.answers(domain, inputs)
    assert np.array_equal(outputs["status"], expected["status"])
    errors = RATE.errors(robot, inputs, outputs)
    # Speeds reach 2 m/s and rad/s; a twist loses what the condition number (140 of irma4u and
    # beyond the concurrent crane's level poses) takes from 25 bits.
    assert errors["m/s"] <= 1.5 * robot.accuracy.length
    assert errors["twist"] <= (5e-4 if name in ("irma4u", "four-cable-concurrent") else 3e-5)


@pytest.mark.parametrize("name", ["planar4", "hangprinter", "four-cable", "acrobot"])
def test_geometry_that_is_loaded_changes_no_answer_of_its_own(name):
    domain, iteration = traced(name, loaded=True)
    inputs, outputs, _ = run(iteration, RATE.draw(domain.robot, 100, np.random.default_rng(SEED)))
    errors = RATE.errors(domain.robot, inputs, outputs)
    assert np.all(outputs["status"] == Status.VALID)
    assert max(errors.values()) <= 5e-5


def test_the_fuse_takes_a_second_pass_and_says_so():
    domain, iteration = traced("four-cable-concurrent")
    pose = (0.5, 0.2, 2.0, 0.0, 0.0, 0.0)
    values = row(domain.robot, pose, dL1=0.1, dL2=0.2, dL3=-0.1, dL4=0.3)
    inputs, outputs, passes = run(iteration, values)
    assert passes[0] == 2
    assert outputs["status"][0] == Status.VALID | Status.NEAR_SINGULAR
    expected = RATE.answers(domain, inputs)
    for name in (*TWISTS, *rate_names(domain.robot)):
        # The rows' rounding, 1e-7 of a length, counts 1 / lambda times in the lost direction.
        assert abs(outputs[name][0] - expected[name][0]) < 1e-3
    assert abs(outputs["dL1"][0] - 0.1) > 0.01  # not the asked rates: those of the damped twist


def test_a_twist_at_a_singular_pose_has_its_rates_and_a_warning():
    domain, iteration = traced("four-cable-concurrent")
    values = row(domain.robot, (0.5, 0.2, 2.0, 0, 0, 0), **dict.fromkeys(TWISTS, 0.25))
    _, outputs, passes = run(iteration, values)
    assert passes[0] == 1 and outputs["status"][0] == Status.VALID | Status.NEAR_SINGULAR
    exact = rates_of(domain.robot, np.array([[0.5, 0.2, 2.0, 0, 0, 0]]), np.full((1, 6), 0.25))
    found = [outputs[name][0] for name in rate_names(domain.robot)]
    assert np.abs(found - exact).max() < 5e-6


@pytest.mark.parametrize(
    ("pose", "given"),
    [
        ((0, 0, 5, 0, 0, 0), {}),
        ((0, 0, 2, 0, 0, 0), {"vx": 4.1}),
        ((0, 0, 2, 0, 0, 0), {"wz": -1e9}),
        ((0, 0, 2, 0, 0, 0), {"dL1": 50.0}),
        ((0, 0, 2, 0, 0, 0), {"dL1": 9.0, "dL2": -9.0}),
    ],
)
def test_what_is_beyond_the_declared_domain_is_out_of_range(pose, given):
    domain, iteration = traced("four-cable")
    inputs, outputs, _ = run(iteration, row(domain.robot, pose, **given))
    assert outputs["status"][0] & (Status.OUT_OF_RANGE | Status.VALID) == Status.OUT_OF_RANGE
    assert RATE.answers(domain, inputs)["status"][0] == outputs["status"][0]
