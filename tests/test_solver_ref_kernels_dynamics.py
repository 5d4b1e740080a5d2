"""`dynamics`, bit-true: a step of KJ9 beside the saddle-point system in float64."""

from importlib import resources

import numpy as np
import pytest
from robot_kinds import built_in

from solver_ref.dynamics.kj9 import KJ9, START
from solver_ref.dynamics.planar_system import PlanarSystem
from solver_ref.fields import RobotError
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.dynamics import ANGLES, POSE, TURNING, TWIST
from solver_ref.kernels.dynamics_domain import TORQUES
from solver_ref.robot_file import loads
from solver_ref.status import Status

KIND, ROBOT = KERNELS["dynamics"], built_in("kj9")
DOMAIN = KIND.domain(ROBOT, "fine", loaded=False)
ITERATION = KIND.trace(DOMAIN).iteration
SEED = 6


def answered(values: dict[str, np.ndarray]) -> tuple[dict, dict]:
    """Inputs as the ports carry them, and the bit-true outputs."""
    codes = {name: form.encode(values[name]) for name, form in ITERATION.fields.items()}
    found, passes = evaluate_iteration(ITERATION, codes)
    assert (passes == 2).all()
    inputs = {name: form.decode(codes[name]) for name, form in ITERATION.fields.items()}
    outputs = {name: form.decode(found[name]) for name, form in ITERATION.result_formats.items()}
    return inputs, outputs | {"status": found["status"]}


def rows(**columns: object) -> dict[str, np.ndarray]:
    """Port values of columns, each a number or a list."""
    given = {name: np.atleast_1d(np.asarray(x, float)) for name, x in columns.items()}
    return KIND.port_values(ROBOT, given, None)


def test_steps_are_within_the_asked_accuracy_of_accelerations() -> None:
    inputs, outputs = answered(KIND.draw(ROBOT, 2000, np.random.default_rng(SEED)))
    assert (outputs["status"] == Status.VALID).all(), f"seed {SEED}"
    errors, asked = KIND.errors(ROBOT, inputs, outputs), ROBOT.dynamics.accuracy
    assert errors["m/s^2"] <= asked and errors["rad/s^2"] <= asked
    assert errors["rad/s^2"] > asked / 50  # formats follow the accuracy
    assert max(errors["m"], errors["rad"]) <= 2.0**-DOMAIN.profile.place.bits
    assert (KIND.answers(DOMAIN, inputs)["status"] == outputs["status"]).all()


def test_without_columns_for_them_the_legs_follow_the_platform() -> None:
    pose, twist = (
        dict(zip(POSE, START, strict=True)),
        dict(zip(TWIST, (0.1, 0.2, 3.0), strict=True)),
    )
    values = rows(**pose, **twist)
    q = PlanarSystem(KJ9).coordinates(np.array(START))
    assert [values[name][0] for name in ANGLES] == q[3:].tolist()
    system = PlanarSystem(KJ9)
    v = np.array([values[name][0] for name in (*TWIST, *TURNING)])
    assert np.abs(system.jacobian(q) @ v).max() < 1e-12
    assert all(values[name] == 0 for name in TORQUES)
    inputs, outputs = answered(values)
    assert outputs["status"] == Status.VALID
    assert outputs["x"] == pytest.approx(START[0] + 0.1 * ROBOT.dynamics.step, abs=1e-8)


def test_a_state_that_is_none_is_out_of_range() -> None:
    out_of_reach = rows(x0=0.35, y0=0.1, theta0=0.3)
    still = rows(x0=0.0, y0=0.0, theta0=0.0)
    opened = still | {"a10": still["a10"] + 0.01}
    opening = still | {"da10": np.array([0.2])}
    fast = rows(x0=0.0, y0=0.0, theta0=0.0, wz0=25.0)
    strong = still | {"tau2": np.array([20.5])}
    for values in (out_of_reach, opened, opening, fast, strong):
        inputs, outputs = answered(values)
        assert outputs["status"][0] & Status.OUT_OF_RANGE and not outputs["status"][0] & 1
        assert KIND.answers(DOMAIN, inputs)["status"][0] & Status.OUT_OF_RANGE
    assert answered(still)[1]["status"] == Status.VALID


def test_constraints_that_depend_on_each_other_have_no_solution() -> None:
    flat = dict.fromkeys(ITERATION.fields, np.zeros(1))
    inputs, outputs = answered(flat)
    for found in (outputs, KIND.answers(DOMAIN, inputs)):
        status = Status(int(found["status"][0]))
        assert Status.NO_SOLUTION | Status.NEAR_SINGULAR in status and Status.VALID not in status


def test_only_robots_with_masses_have_the_kernel() -> None:
    assert KIND.fits(ROBOT) and not KIND.fits(built_in("rrr-kj9"))
    assert not KIND.fits(built_in("two-link")) and not KIND.fits(built_in("four-cable"))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("step = 10e-6", "step = 0", "dynamics.step: is out of range"),
        ("step = 10e-6", "step = 0.01", "dynamics.step: is out of range"),
        ("step = 10e-6 # s\n", "", "dynamics.step: is missing"),
        ("speed = [2.0, 20.0]", "speed = [2.0, -1]", "dynamics.speed[2]: is out of range"),
        ("torque = 20.0", 'torque = "much"', "dynamics.torque: is no number"),
        ("torque = 20.0", "torqe = 20.0", "dynamics.torqe: is an unknown key, did you mean torque"),
        ("accuracy = 4e-3", "accuracy = 0", "dynamics.accuracy: is out of range"),
        ("{ mass = 1.1,", "{", "dynamics.active.mass: is missing"),
        ("inertia = 0.01 }", "inertia = -0.01 }", "dynamics.passive.inertia: is out of range"),
        ("inertia = 0.008\n", "", "platform.inertia: is missing"),
        ("inertia = 0.008\n", "inertia = 0.008\ncom = [0.1, 0, 0]\n", "platform.com: is out of"),
        ("mass = 2.4\n", "", "platform.mass: is missing"),
        ("distal = 0.25\nmode = -1\n\n[joints]", "distal = 0.3\nmode = -1\n\n[joints]", "chain[3]"),
        ("[dynamics]", "[dynamcis]", "dynamcis: is an unknown key, did you mean dynamics"),
    ],
)
def test_what_the_masses_cannot_be_is_refused_by_name(old: str, new: str, line: str) -> None:
    text = (resources.files("solver_ref") / "robots" / "kj9.toml").read_text()
    assert text.count(old) == 1
    with pytest.raises(RobotError) as caught:
        loads(text.replace(old, new))
    assert line in str(caught.value)
