"""Kernels of loop equations, bit-true: round trips to the asked accuracy, status, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from kinegate import api
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.errors import InputError
from solver_ref.kinematics import jacobian, joint_errors, joint_values, scaling
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.status import Status

ROBOTS = ["rrr-kj9", "rrr-texts"]


def columns(names: tuple[str, ...], values: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(names, values.T, strict=True))


def poses_of(robot: Robot, count: int) -> np.ndarray:
    return np.vstack([corner_poses(robot), sample_poses(robot, count, np.random.default_rng(2))])


def table(answers: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    return np.column_stack([answers[name] for name in names])


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_of_lengths_is_the_pose_to_the_asked_accuracy(name: str) -> None:
    robot = load(name)
    poses = poses_of(robot, 200)
    there = api.solve(name, columns(robot.coordinates, poses), kernel="lengths")
    assert there.valid.all()
    joints = table(there.columns, robot.joint_names)
    assert np.abs(joint_errors(robot, poses, joints)).max() <= robot.accuracy.length / 2
    back = api.solve(name, columns(robot.joint_names, joints))
    assert back.valid.all()
    found = table(back.columns, robot.coordinates)
    assert np.abs(joint_errors(robot, found, joints)).max() <= robot.accuracy.length
    assert back.columns["iterations"].max() <= 10
    assert (np.abs(found - poses) * scaling(robot)).max() <= 3 * robot.accuracy.length


# The platform's origin is where a chain of rrr-arte holds it: that one does not turn it.
@pytest.mark.parametrize("name", [*ROBOTS, "rrr-arte"])
def test_joint_rates_are_those_of_float64(name: str) -> None:
    robot = load(name)
    poses = poses_of(robot, 200)
    found = api.solve(name, columns(robot.coordinates, poses), kernel="lengths").columns
    exact = jacobian(robot, poses)
    for i in range(3):
        names = tuple(f"J{i + 1}_{c}" for c in robot.coordinates)
        np.testing.assert_allclose(table(found, names), exact[:, i], atol=2e-4)


@pytest.mark.parametrize("name", ROBOTS)
def test_rates_are_those_of_float64_and_lead_back_to_the_twist(name: str) -> None:
    robot = load(name)
    poses = poses_of(robot, 100)
    twists = np.random.default_rng(6).uniform(-1, 1, poses.shape)
    there = columns(robot.coordinates, poses)
    names = ("vx", "vy", "wz")
    found = api.solve(name, there | columns(names, twists), kernel="rate")
    assert found.valid.all()
    rates = table(found.columns, ("dq1", "dq2", "dq3"))
    exact = (jacobian(robot, poses) @ twists[..., None])[..., 0]
    np.testing.assert_allclose(rates, exact, atol=3e-4)
    back = api.solve(name, there | columns(("dq1", "dq2", "dq3"), rates), kernel="rate")
    assert back.valid.all()
    scaled = (table(back.columns, names) - twists) * scaling(robot)
    assert np.abs(scaled).max() < 5e-5


def test_engines_agree_about_what_can_be_used() -> None:
    robot = load("rrr-kj9")
    poses = poses_of(robot, 100)
    rows = columns(robot.joint_names, joint_values(robot, poses))
    fixed, exact = (api.solve("rrr-kj9", rows, engine=engine) for engine in ("fixed", "float"))
    assert fixed.valid.all() and exact.valid.all()


def test_what_is_out_of_reach_says_so() -> None:
    robot = load("rrr-kj9")
    # Of the first pose the third chain is too short, the second is beyond the workspace.
    poses = np.array([[0.19, 0.19, 0.3], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for engine in ("fixed", "float"):
        rows = columns(robot.coordinates, poses)
        found = api.solve("rrr-kj9", rows, kernel="lengths", engine=engine)
        assert found.valid.tolist() == [False, False, True]
        assert (found.columns["status"][:2] & int(Status.OUT_OF_RANGE)).all()
    joints = np.tile(joint_values(robot, poses[2]), (2, 1))
    joints[0, 1] = 1.5  # beyond the limits of the second joint
    found = api.solve("rrr-kj9", columns(robot.joint_names, joints))
    assert found.valid.tolist() == [False, True]


@pytest.mark.parametrize("kernel", ["track", "tension"])
def test_kernels_for_cables_alone_are_refused_by_name(kernel: str) -> None:
    with pytest.raises(InputError, match=r"kernel: is not made for the kind planar-3rrr yet"):
        api.check("rrr-kj9", kernel=kernel)


def test_loaded_geometry_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"runtime-geometry: is not made for this kind yet"):
        api.check("rrr-kj9", runtime_geometry=True)


def test_the_boundary_of_the_reach_is_flagged_before_it_is_out_of_range() -> None:
    robot = load("rrr-kj9")
    # The second chain is straight at y = -0.28.
    far = {"position": ((-0.01, 0.01), (-0.3, -0.2)), "tilt": 0.05, "home": (0.0, -0.25, 0.0)}
    joints = tuple(replace(joint, limits=(-np.pi, np.pi)) for joint in robot.joints)
    robot = replace(robot, workspace=replace(robot.workspace, **far), joints=joints)
    poses = np.array([[0.0, y, 0.0] for y in (-0.25, -0.2795, -0.2799, -0.2799999, -0.285)])
    near, out = int(Status.NEAR_SINGULAR), int(Status.OUT_OF_RANGE)
    for kernel in ("lengths", "rate"):
        for engine in ("fixed", "float"):
            rows = columns(robot.coordinates, poses)
            if kernel == "rate":
                rows |= dict.fromkeys(("vx", "vy", "wz"), np.zeros(len(poses)))
            status = api.solve(robot, rows, kernel=kernel, engine=engine).columns["status"]
            assert (status & near != 0).tolist() == [False, False, True, True, True]
            assert (status & out != 0).tolist() == [False, False, False, True, True]
