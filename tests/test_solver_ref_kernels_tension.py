"""`tension` bit-true against float64, published tensions, closed forms; refusals and statuses."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from published_robots import robot_of

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.elongation import elongation
from solver_ref.errors import InputError
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import Choices
from solver_ref.kernels.tension import tension_kernel
from solver_ref.kernels.tension_ports import ACCELERATION
from solver_ref.kinematics import rotation_log
from solver_ref.robot import Platform, Robot
from solver_ref.robot_file import load
from solver_ref.status import Status

GOOD = int(Status.VALID | Status.CONVERGED)
SEED = 7
TENSION = KERNELS["tension"]


@cache
def kernel(robot: Robot):
    return tension_kernel(Domain.of(robot, "fine"))


def swing() -> Robot:
    """1 kg on two ropes, in a plane."""
    robot = robot_of("swing", [[-1, 0, 2], [1, 0, 2]], [[0, 0, 0]] * 2, motion="planar-xz")
    box, inertia = ((-1.6, 1.6), (-0.2, 1.2)), tuple(map(tuple, np.eye(3)))
    return replace(
        robot,
        platform=Platform(mass=1.0, inertia=inertia),
        workspace=replace(robot.workspace, position=box, tilt=0.1),
    )


def hangprinter() -> Robot:
    """A point with as many cables as make it redundant; bounds and mass are ours."""
    robot = load("hangprinter")
    cables = tuple(replace(c, tension_min=1.0, tension_max=60.0) for c in robot.cables)
    return replace(robot, cables=cables, platform=replace(robot.platform, mass=1.0))


def solved(robot: Robot, columns: dict[str, np.ndarray]) -> tuple[dict, dict]:
    """What the ports carried in and out, as values; the status as integers."""
    iteration = kernel(robot).iteration
    values = TENSION.port_values(robot, columns, Choices())
    codes = {name: form.encode(values[name]) for name, form in iteration.fields.items()}
    found, _ = evaluate_iteration(iteration, codes)
    inputs = {name: form.decode(codes[name]) for name, form in iteration.fields.items()}
    outputs = {name: form.decode(found[name]) for name, form in iteration.result_formats.items()}
    return inputs, outputs | {"status": found["status"]}


def columns_of(robot: Robot, poses: list, **more: list) -> dict[str, np.ndarray]:
    poses = np.atleast_2d(np.array(poses, float))
    columns = dict(zip(robot.coordinates, poses.T, strict=True))
    return columns | {name: np.array(values, float) for name, values in more.items()}


def tensions_in(robot: Robot, values: dict[str, np.ndarray]) -> np.ndarray:
    return np.column_stack([values[f"T{i + 1}"] for i in range(len(robot.cables))])


def published_pose() -> list[float]:
    turn = np.eye(3)
    for axis, angle in enumerate((-0.145595, -0.154499, -0.011161)):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        step = np.eye(3)
        step[[j, k], [j, k]] = np.cos(angle)
        step[j, k], step[k, j] = -np.sin(angle), np.sin(angle)
        turn = turn @ step
    return [0.4, -0.4, 0.6, *rotation_log(turn)]


def test_the_published_tensions_of_irma4u_come_out() -> None:
    robot = load("irma4u")
    _, found = solved(robot, columns_of(robot, published_pose()))
    published = [[81.175193, 55.900918, 31.006417, 53.855798]]
    assert_allclose(tensions_in(robot, found), published, rtol=0, atol=2e-3)
    assert_array_equal(found["status"], GOOD)
    assert_array_equal(found["active"], 15)
    left = [found[name] for name in ("ufx", "ufy", "ufz", "umx", "umy", "umz")]
    assert np.abs(left).max() < 2e-3


ROBOTS = {
    "four-cable": (load("four-cable"), 0.02),
    "irma4u": (load("irma4u"), 0.05),
    "planar4": (load("planar4"), 0.02),
    "cogiro": (load("cogiro"), 0.1),
    "hangprinter": (hangprinter(), 0.02),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_tensions_are_those_of_float64(name: str) -> None:
    robot, room = ROBOTS[name]
    values = TENSION.draw(robot, 400, np.random.default_rng(SEED))
    inputs, found = solved(robot, values)
    expected = TENSION.answers(Domain.of(robot, "fine"), inputs)
    valid = (found["status"] & int(Status.VALID)) != 0
    also = (expected["status"] & int(Status.VALID)) != 0
    assert valid.sum() > 150 and np.mean(valid != also) < 0.01, f"seed {SEED}"
    rows = [{key: column[valid] for key, column in x.items()} for x in (inputs, found)]
    errors = TENSION.errors(robot, *rows)
    assert errors["N"] < room and errors["sets"] < 0.005, f"seed {SEED}: {errors}"
    slack = (found["status"] & int(Status.SLACK)) != 0
    assert_array_equal(slack[valid], (expected["status"][valid] & int(Status.SLACK)) != 0)
    assert slack.any() == (len(robot.cables) <= len(robot.free)), f"seed {SEED}"
    # The unbalanced wrench is that of the tensions: W - J^T T in float64.
    for part in ("ufx", "ufy"):
        assert np.abs(found[part] - expected[part])[valid].max() < 2 * room, f"seed {SEED}"


def test_a_cable_is_at_its_bound_or_above_or_it_is_dropped() -> None:
    robot = load("four-cable")
    _, found = solved(robot, TENSION.draw(robot, 400, np.random.default_rng(SEED)))
    pulls, active = tensions_in(robot, found), found["active"].astype(int)
    holds = (active[:, None] >> np.arange(4)) & 1 == 1
    assert_array_equal(pulls[~holds], 0.0)
    assert pulls[holds].min() >= 20.0
    assert_array_equal((found["status"] & int(Status.SLACK)) != 0, ~holds.all(axis=1))


def test_a_platform_beyond_its_frame_hangs_on_the_nearer_rope() -> None:
    robot = swing()
    _, found = solved(robot, columns_of(robot, [[0, 1, 0], [1.5, 1, 0], [-1.5, 1, 0]]))
    both, near = 9.81 / np.sqrt(2), 9.81 * 2 / np.sqrt(5)
    expected = [[both, both], [0, near], [near, 0]]
    assert_allclose(tensions_in(robot, found), expected, rtol=0, atol=1e-3)
    assert_array_equal(found["active"], [3, 2, 1])
    assert_array_equal(found["status"], [GOOD, *[GOOD | int(Status.SLACK)] * 2])
    assert_allclose(found["ufx"], np.array([0, -2, 2]) * 9.81 / 5, atol=1e-3)
    assert_allclose(found["ufz"], np.array([0, -1, -1]) * 9.81 / 5, atol=1e-3)


def test_motion_and_load_are_carried_and_may_be_left_out() -> None:
    """At rest, lifted at g, under a weight's load: each pull doubles."""
    robot = swing()
    poses = [[0.0, 1.0, 0.0]] * 3
    columns = columns_of(robot, poses, az=[0, 9.81, 0], fz=[0, 0, -9.81])
    _, found = solved(robot, columns)
    once = 9.81 / np.sqrt(2)
    expected = np.outer([1, 2, 2], [once, once])
    assert_allclose(tensions_in(robot, found), expected, rtol=0, atol=2e-3)


def test_falling_freely_leaves_nothing_to_hold() -> None:
    robot = swing()
    _, found = solved(robot, columns_of(robot, [[0.0, 1.0, 0.0]], az=[-12.0]))
    assert_array_equal(tensions_in(robot, found), [[0, 0]])
    assert_array_equal(found["status"] & GOOD, int(Status.CONVERGED) & 0)
    assert found["status"][0] & int(Status.NO_SOLUTION)


def test_what_is_beyond_the_declared_limits_is_out_of_range() -> None:
    robot = swing()
    poses = [[0, 1, 0], [0, 1, 0], [0, 1.3, 0], [0, 1, 0], [0, 1, 0]]
    motion = {"ax": [0, ACCELERATION + 1, 0, 0, 0], "my": [0, 0, 0, 100, 0]}
    inputs, found = solved(robot, columns_of(robot, poses, **motion, vx=[0, 0, 0, 0, 5]))
    out = (found["status"] & int(Status.OUT_OF_RANGE)) != 0
    # A speed beyond its limit is beyond what the port carries: the batch says so, not the graph.
    assert_array_equal(out, [False, True, True, True, False])
    assert inputs["vx"][4] < 5
    assert_array_equal((found["status"] & int(Status.VALID)) != 0, ~out)


@pytest.mark.parametrize("law", ["integrated", "printed"])
def test_elongations_are_those_of_the_tensions(law: str) -> None:
    robot = load("four-cable-full").with_options(elongation=law)
    inputs, found = solved(robot, TENSION.draw(robot, 100, np.random.default_rng(SEED)))
    for number, cable in enumerate(robot.cables, 1):
        expected = elongation(FloatArithmetic(), cable.stiffness, found[f"T{number}"], law)
        assert_allclose(found[f"e{number}"], expected, rtol=0, atol=2e-7)
        assert expected.max() > 1e-3
    assert (found["status"] == GOOD).sum() > 80, f"seed {SEED}"
    assert TENSION.errors(robot, inputs, found)["m"] < 2e-7


def test_redundant_cables_that_cannot_hold_the_load_say_so() -> None:
    robot = hangprinter()
    load_n = 2 * 9.81
    columns = columns_of(robot, [[0.0, 0.0, 0.5]] * 2, fx=[0, load_n], fy=[0, load_n])
    _, found = solved(robot, columns)
    pulls = tensions_in(robot, found)
    assert (pulls >= 1.0).all() and (pulls <= 60.0).all()
    none = (found["status"] & int(Status.NO_SOLUTION)) != 0
    assert_array_equal(none, (found["status"] & int(Status.VALID)) == 0)


@pytest.mark.parametrize(
    ("key", "robot"),
    [
        ("platform.mass", load("hangprinter")),
        ("platform.inertia", replace(swing(), platform=Platform(mass=1.0))),
        (
            r"cable\[1\].tension_max",
            replace(load("hangprinter"), platform=Platform(mass=1.0)),
        ),
    ],
)
def test_a_robot_whose_load_is_not_known_is_refused_by_the_key(key: str, robot: Robot) -> None:
    line = rf"^{robot.name}: {key}: is missing; expected .*; got no such key$"
    with pytest.raises(InputError, match=line):
        tension_kernel(Domain.of(robot, "fine"))
    with pytest.raises(InputError, match=line):
        TENSION.columns(robot)


def test_columns_are_those_of_the_free_coordinates() -> None:
    names = TENSION.columns(load("planar4"))
    assert names.required == ("x", "y", "theta")
    assert names.optional == ("vx", "vy", "wz", "ax", "ay", "alz", "fx", "fy", "mz")
