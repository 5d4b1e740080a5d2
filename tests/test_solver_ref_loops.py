"""Loop equations of any kind: spatial motion, redundant joints, equations without an inverse."""

import inspect
from importlib import resources

import numpy as np
import pytest

from kinegate import api
from solver_ref.cable import rotation, spatial
from solver_ref.domain import perturb, sample_poses
from solver_ref.dual import DualArithmetic
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.loop_lengths import loop_lengths_kernel
from solver_ref.kinematics import (
    by_pose,
    joint_errors,
    joint_values,
    rotation_exp,
    rotation_log,
    scaling,
)
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.loops import FLOAT
from solver_ref.mechanisms import loops_of, planar_3rrr
from solver_ref.moving_platform import MovingPlatform
from solver_ref.robot_file import load
from solver_ref.status import Status

GOOD = int(Status.VALID | Status.CONVERGED)

# A hexapod with rotary arms: six cranks in planes across the base, rods from them to the platform.
HEXAPOD = """
import math
JOINTS = {f"q{i}": "rad" for i in range(1, 7)}
GEOMETRY = {"crank": "m", "rod": "m"}
BASE = [(0.3 * math.cos(t), 0.3 * math.sin(t), t) for t in (0.2, 1.9, 2.3, 4.0, 4.4, 6.1)]
TOP = [(0.15 * math.cos(t), 0.15 * math.sin(t), 0.0) for t in (0.8, 1.3, 2.9, 3.4, 5.0, 5.5)]

def _place(platform, i):
    x, y, t = BASE[i]
    c, s = math.cos(t), math.sin(t)
    px, py, pz = platform.point(TOP[i])
    px, py = px - x, py - y
    return px * c + py * s, py * c - px * s, pz

def constraints(m, geometry, platform, joints):
    for i, q in enumerate(joints):
        sine, cosine = m.sine_cosine(q)
        u, v, w = _place(platform, i)
        u, w = u - geometry.crank * cosine, w - geometry.crank * sine
        yield (u * u + v * v + w * w - geometry.rod**2) * (0.5 / geometry.rod)
"""
INVERSE = """
def inverse(m, geometry, platform):
    for i in range(6):
        u, v, w = _place(platform, i)
        plane = u * u + w * w
        k = (plane + v * v + (geometry.crank**2 - geometry.rod**2)) * (0.5 / geometry.crank)
        h = m.square_root(plane - k * k)
        yield m.arctangent(w * k - u * h, u * k + w * h)
"""
ROBOT = """
name = "hexapod"
kind = "custom"
mechanism = "hexapod.py"
motion = "spatial"
geometry = { crank = 0.1, rod = 0.4 }
joints = { limits = [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 1.5], [-1.5, 1.5], [-1.5, 1.5], [-1.5, 1.5]] }

[workspace]
position = [[-0.03, 0.03], [-0.03, 0.03], [0.34, 0.4]]
tilt = 0.1
start_error = [0.005, 0.02]
"""


FOURTH = """
[[chain]]
anchor = [0.0, -0.3, 0.0]
attachment = [0.0, -0.08, 0.0]
proximal = 0.25
distal = 0.25
mode = 1

"""


@pytest.fixture
def hexapod(tmp_path):
    def made(text: str = HEXAPOD + INVERSE):
        (tmp_path / "hexapod.py").write_text(text)
        (tmp_path / "hexapod.toml").write_text(ROBOT)
        return load(tmp_path / "hexapod.toml")

    return made


def moved(poses: np.ndarray, k: int, h: float) -> np.ndarray:
    """Poses after a small displacement along, or turn about, an axis of the base frame."""
    result = poses.copy()
    if k < 3:
        result[:, k] += h
    else:
        turn = rotation_exp(h * np.eye(3)[k - 3])
        result[:, 3:] = rotation_log(turn @ rotation_exp(poses[:, 3:]))
    return result


def test_slopes_by_a_spatial_twist_are_central_differences(hexapod) -> None:
    robot, h = hexapod(), 1e-6
    loops, poses = loops_of(robot), sample_poses(robot, 50, np.random.default_rng(1))
    joints = loops.joint_values(poses)
    by_twist = loops.system(poses, joints)[1]
    for k in range(6):
        high, low = (loops.system(moved(poses, k, s * h), joints)[0] for s in (1, -1))
        np.testing.assert_allclose(by_twist[..., k], (high - low) / (2 * h), atol=1e-8)
    rows = by_pose(robot, poses, by_twist)
    for k in range(6):
        step = h * np.eye(6)[k]
        high, low = (loops.system(poses + s * step, joints)[0] for s in (1, -1))
        np.testing.assert_allclose(rows[..., k], (high - low) / (2 * h), atol=1e-8)


def test_the_rotation_of_a_platform_turns_its_points() -> None:
    poses = np.random.default_rng(2).uniform(-0.5, 0.5, (20, 6))
    full = spatial(list(poses.T), range(6))
    platform = MovingPlatform(DualArithmetic(FLOAT), full[:3], rotation(FLOAT, full[3:]), range(6))
    b = (0.3, -0.2, 0.5)
    point = platform.point(b)
    for i, row in enumerate(platform.matrix):
        other = platform.position[i] + row[0] * b[0] + row[1] * b[1] + row[2] * b[2]
        np.testing.assert_allclose(point[i].value, other.value, atol=1e-15)
        for key in range(6):
            a, c = (x.slopes.get(key, 0.0) + np.zeros(20) for x in (point[i], other))
            np.testing.assert_allclose(a, c, atol=1e-15)


def test_a_solve_of_a_spatial_mechanism_leads_back(hexapod) -> None:
    robot = hexapod()
    poses = sample_poses(robot, 200, np.random.default_rng(3))
    starts = perturb(robot, poses, *robot.workspace.start_error, np.random.default_rng(4))
    found = lm_solve(robot, starts, joint_values(robot, poses), tolerance=1e-11)
    assert (found.status & GOOD == GOOD).all()
    np.testing.assert_allclose(found.poses, poses, atol=1e-7)


def test_joints_are_found_without_an_inverse_and_kernels_that_give_them_are_refused(hexapod):
    exact, robot = hexapod(), hexapod(HEXAPOD)
    poses = sample_poses(robot, 50, np.random.default_rng(5))
    np.testing.assert_allclose(joint_values(robot, poses), joint_values(exact, poses), atol=1e-9)
    assert np.isnan(joint_values(robot, np.array([0, 0, 0.9, 0, 0, 0]))).all()
    domain = Domain.of(robot, "fine")
    with pytest.raises(ValueError, match="the equations of hexapod have no inverse"):
        loop_lengths_kernel(domain)


def test_a_spatial_mechanism_is_solved_in_fixed_point(hexapod) -> None:
    robot = hexapod()
    poses = sample_poses(robot, 60, np.random.default_rng(6))
    rows = dict(zip(robot.joint_names, joint_values(robot, poses).T, strict=True))
    found = api.solve(robot, rows)
    assert found.valid.all()
    solved = np.column_stack([found.columns[name] for name in robot.coordinates])
    joints = np.column_stack(list(rows.values()))
    assert np.abs(joint_errors(robot, solved, joints)).max() <= robot.accuracy.length


def test_a_measured_attitude_joins_too_few_joints(tmp_path) -> None:
    text = (HEXAPOD + INVERSE).replace("range(1, 7)", "range(1, 6)").replace("range(6)", "range(5)")
    (tmp_path / "hexapod.py").write_text(text)
    own = ROBOT.replace("[-1.5, 1.5], ", "", 1)
    own = own.replace("motion", 'closure = "attitude"\nsensors = ["attitude"]\nmotion')
    (tmp_path / "hexapod.toml").write_text(own)
    robot = load(tmp_path / "hexapod.toml")
    assert not robot.determined
    poses = sample_poses(robot, 60, np.random.default_rng(9))
    rows = dict(zip(robot.joint_names, joint_values(robot, poses).T, strict=True))
    rows |= dict(zip(("mrx", "mry", "mrz"), poses[:, 3:].T, strict=True))
    found = api.solve(robot, rows)
    assert found.valid.all()
    solved = np.column_stack([found.columns[name] for name in robot.coordinates])
    assert (np.abs(solved - poses) * scaling(robot)).max() <= robot.accuracy.length


def test_four_chains_are_solved_by_least_squares(tmp_path) -> None:
    text = inspect.getsource(planar_3rrr)
    (tmp_path / "four.py").write_text(text.replace('"q3": "rad"', '"q3": "rad", "q4": "rad"'))
    own = (resources.files("solver_ref") / "robots" / "rrr-kj9.toml").read_text()
    own = own.replace('"planar-3rrr"', '"custom"\nmechanism = "four.py"')
    own = own.replace("[joints]", FOURTH + "[joints]").replace("2.3]]", "2.3], [1.2, 3.2]]")
    (tmp_path / "four.toml").write_text(own)
    robot = load(tmp_path / "four.toml")
    assert robot.determined and len(robot.joint_names) == 4
    poses = sample_poses(robot, 60, np.random.default_rng(7))
    joints = joint_values(robot, poses)
    noisy = joints + 1e-4 * np.random.default_rng(8).uniform(-1, 1, joints.shape)
    best = lm_solve(robot, poses, noisy, tolerance=1e-10).poses
    found = api.solve(robot, dict(zip(robot.joint_names, noisy.T, strict=True)))
    assert found.valid.all()
    solved = np.column_stack([found.columns[name] for name in robot.coordinates])
    assert (np.abs(solved - best) * scaling(robot)).max() <= robot.accuracy.length
