"""Euler angles in files: products of elementary rotations say what a convention means."""

from dataclasses import asdict

import numpy as np
import pytest
from numpy.testing import assert_allclose
from robot_texts import CRANE, edit

from kinegate import solve
from solver_ref.euler import CONVENTIONS, euler_angles, inward, outward, rotation_vectors
from solver_ref.fields import RobotError
from solver_ref.kinematics import cable_lengths, rotation_exp
from solver_ref.robot_facts import from_facts
from solver_ref.robot_file import load, loads
from solver_ref.status import Status

SEED = 8


def about(axis: str, angle: float) -> np.ndarray:
    c, s, i = np.cos(angle), np.sin(angle), "XYZ".index(axis)
    matrix = np.eye(3)
    j, k = (i + 1) % 3, (i + 2) % 3
    matrix[j, j] = matrix[k, k] = c
    matrix[j, k], matrix[k, j] = -s, s
    return matrix


def hexapod(convention: str, home: str = ""):
    text = f"""
name = "six"
kind = "stewart"
motion = "spatial"
euler = "{convention}"
[workspace]
position = [[-0.15, 0.15], [-0.15, 0.15], [0.43, 0.67]]
tilt = 0.35
{home}
start_error = [0.02, 0.02]
"""
    robot = load("stewart-paired")
    return loads(
        text
        + "".join(
            f"[[leg]]\nanchor = {a}\nattachment = {b}\n"
            for a, b in zip(robot.anchors.tolist(), robot.attachments.tolist(), strict=True)
        )
    )


def test_the_conventions_are_the_twelve() -> None:
    assert len(CONVENTIONS) == 12 and {"ZYX", "XYZ", "ZXZ"} < set(CONVENTIONS)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_convention_names_the_platforms_axes_in_turn(convention: str) -> None:
    for angles in np.random.default_rng(SEED).uniform(-1.2, 1.2, (20, 3)):
        turns = [about(axis, angle) for axis, angle in zip(convention, angles, strict=True)]
        vector = rotation_vectors(convention, angles)
        assert_allclose(rotation_exp(vector[None])[0], turns[0] @ turns[1] @ turns[2], atol=1e-12)
        again = rotation_vectors(convention, euler_angles(convention, vector))
        assert_allclose(again, vector, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_parallel_axes_leave_the_third_angle_zero() -> None:
    vector = rotation_vectors("ZYX", np.array([0.4, np.pi / 2, 0.1]))
    angles = euler_angles("ZYX", vector)
    assert angles[2] == 0
    assert_allclose(rotation_vectors("ZYX", angles), vector, atol=1e-7)


@pytest.mark.parametrize("engine", ["float", "fixed"])
def test_columns_of_a_robot_with_a_convention_are_its_angles(engine: str) -> None:
    robot, rng = hexapod("ZYX"), np.random.default_rng(SEED)
    angles = rng.uniform(-0.15, 0.15, (30, 3))
    places = robot.workspace.home[:3] + rng.uniform(-0.1, 0.1, (30, 3))
    given = dict(zip(("x", "y", "z", "e1", "e2", "e3"), np.hstack([places, angles]).T, strict=True))
    there = solve(robot, given, kernel="lengths", engine=engine)
    poses = np.hstack([places, rotation_vectors("ZYX", angles)])
    lengths = [f"L{i}" for i in range(1, 7)]
    found = np.column_stack([there.columns[name] for name in lengths])
    assert_allclose(found, cable_lengths(robot, poses), rtol=0, atol=robot.accuracy.length)
    starts = {f"{name}0": column + 0.002 for name, column in given.items()}
    back = solve(robot, {n: there.columns[n] for n in lengths} | starts, engine=engine)
    assert set(back.columns["status"]) == {Status.VALID | Status.CONVERGED}
    assert list(back.columns)[:6] == ["x", "y", "z", "e1", "e2", "e3"]
    for name, column in given.items():
        assert_allclose(back.columns[name], column, rtol=0, atol=2e-4)


def test_rotation_vectors_are_unknown_columns_there() -> None:
    pose = {"x": [0], "y": [0], "z": [0.5], "rx": [0], "ry": [0], "rz": [0]}
    with pytest.raises(ValueError, match="rows: e1: is a missing column; expected the columns x"):
        solve(hexapod("XYZ"), pose, kernel="lengths")


def test_columns_go_there_and_back() -> None:
    robot = hexapod("ZXZ")
    columns = {
        n: np.array([x]) for n, x in (("rx0", 0.3), ("ry0", 0.1), ("rz0", -0.2), ("L1", 1.0))
    }
    edge = outward(robot, columns)
    assert list(edge) == ["e10", "e20", "e30", "L1"]
    again = inward(robot, edge)
    for name, column in columns.items():
        assert_allclose(again[name], column, atol=1e-12)
    assert outward(load("stewart-paired"), columns) == columns


def test_home_is_in_the_convention_and_the_digest_is_not() -> None:
    robot = hexapod("ZYX", "home = [0, 0, 0.5, 0.1, 0.2, 0.05]")
    assert_allclose(
        robot.workspace.home[3:], rotation_vectors("ZYX", np.array([0.1, 0.2, 0.05])), atol=1e-15
    )
    assert hexapod("ZYX").digest == hexapod("XYZ").digest


def test_a_stored_robot_keeps_its_convention() -> None:
    assert from_facts(asdict(hexapod("ZYX"))).euler == "ZYX"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('euler = "ZZX"\n', "euler: is an unknown word; expected one of XYX, XYZ, "),
        ('euler = "zyx"\n', "euler: is an unknown word; expected one of XYX, XYZ, "),
    ],
)
def test_an_unknown_convention_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(RobotError) as error:
        loads(text + CRANE)
    assert said in str(error.value)


def test_a_point_has_no_convention() -> None:
    text = 'euler = "ZYX"\n' + edit(CRANE, '"spatial"', '"planar-xy"')
    with pytest.raises(RobotError, match="euler: has no meaning; expected a platform that turns"):
        loads(text)
