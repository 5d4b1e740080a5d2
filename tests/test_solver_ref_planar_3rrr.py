"""The planar 3-RRR: published poses, all working modes, Jacobians, kinds of singularities."""

import itertools
import math
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from robot_kinds import of_loops

from solver_ref.analysis import analyse
from solver_ref.domain import corner_poses, perturb, sample_poses
from solver_ref.errors import InputError
from solver_ref.kinematics import joint_errors, joint_values, length_rows
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.mechanisms import loops_of, mechanism_of
from solver_ref.robot import Robot
from solver_ref.robot_file import load, loads
from solver_ref.status import Status

ROBOTS = [name for name in of_loops() if load(name).kind == "planar-3rrr"]
GOOD = int(Status.VALID | Status.CONVERGED)
FREE = ((-math.pi, math.pi),) * 3

# 4rtur1t0/ARTE, robots/example/3RRR (LGPL-3.0): the angles that are published with L = 3.
ARTE_ANGLES = (1.9948, 3.2869, -1.3998)
# Two of the poses that these angles have with L = 2.5, and four of the robot of IMES.
PUBLISHED = {
    "rrr-arte": [
        ((0.500017755, 0.499995336, 0.392637461), ARTE_ANGLES),
        ((0.583379276, 0.809524819, -1.496683009), ARTE_ANGLES),
    ],
    "rrr-imes": [
        ((0.0, 0.0, 0.0), (1.47156852, 3.56596362, -0.62282658)),
        ((0.0, 0.0, -1.286686546), (1.47156852, 3.56596362, -0.62282658)),
        ((0.1, -0.05, 0.2), (1.18726059, 3.55596832, -0.62930107)),
        ((0.095763415, 0.023544959, -1.469886982), (1.18726059, 3.55596832, -0.62930107)),
    ],
}


def changed(robot: Robot, **numbers: object) -> Robot:
    """The robot with other numbers in all its chains, and joints without limits."""
    chains = tuple(tuple((dict(chain) | numbers).items()) for chain in robot.chains)
    joints = tuple(
        replace(joint, limits=limits) for joint, limits in zip(robot.joints, FREE, strict=True)
    )
    return replace(robot, chains=chains, joints=joints)


def with_modes(robot: Robot, modes: tuple[int, ...]) -> Robot:
    chains = tuple(
        tuple((dict(chain) | {"mode": float(mode)}).items())
        for chain, mode in zip(robot.chains, modes, strict=True)
    )
    return replace(changed(robot), chains=chains)


def workspace_poses(robot: Robot, count: int = 300) -> np.ndarray:
    return np.vstack([corner_poses(robot), sample_poses(robot, count, np.random.default_rng(3))])


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_published_poses_have_the_published_angles(name: str) -> None:
    robot = load(name)
    poses, angles = (np.array(column) for column in zip(*PUBLISHED[name], strict=True))
    np.testing.assert_allclose(joint_values(robot, poses), angles, atol=1e-8)
    assert np.abs(joint_errors(robot, poses, angles)).max() < 1e-8


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_solve_stays_in_the_assembly_of_its_start(name: str) -> None:
    robot = load(name)
    poses, angles = (np.array(column) for column in zip(*PUBLISHED[name], strict=True))
    starts = poses + np.array([0.01, -0.01, 0.02])
    found = lm_solve(robot, starts, angles, tolerance=1e-10)
    np.testing.assert_allclose(found.poses, poses, atol=1e-6)


def test_the_angles_of_arte_have_no_pose_with_the_dimension_that_is_published() -> None:
    robot = load("rrr-arte")
    anchors = ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (1.5, 3.0, 0.0))
    chains = tuple(
        tuple((dict(chain) | {"anchor": anchor}).items())
        for chain, anchor in zip(robot.chains, anchors, strict=True)
    )
    published = replace(robot, chains=chains)
    starts = np.array([[x, y, t] for x in (0.3, 0.9) for y in (0.3, 0.9) for t in (-1, 0, 1)])
    found = lm_solve(published, starts, np.tile(ARTE_ANGLES, (len(starts), 1)))
    assert (found.status & int(Status.NO_SOLUTION)).all()
    assert not (found.status & int(Status.VALID)).any()
    # Two elbows are farther apart than two distal links and the platform between them reach.
    elbows = np.array(anchors)[:, :2] + np.column_stack([np.cos(ARTE_ANGLES), np.sin(ARTE_ANGLES)])
    assert np.linalg.norm(elbows[0] - elbows[1]) > 2.5


@pytest.mark.parametrize("modes", list(itertools.product((1, -1), repeat=3)))
@pytest.mark.parametrize("name", ROBOTS)
def test_all_eight_working_modes_close_the_loops_and_lead_back(name: str, modes) -> None:
    robot = with_modes(load(name), modes)
    poses = workspace_poses(robot, 100)
    angles = joint_values(robot, poses)
    assert np.abs(joint_errors(robot, poses, angles)).max() < 1e-12
    others = joint_values(with_modes(robot, tuple(-mode for mode in modes)), poses)
    assert (np.abs(np.sin((angles - others) / 2)) > 0.05).all()
    # From near a pose the solve leads back to it, where both sides of no singularity are near.
    rows = length_rows(robot, poses) / (1, 1, robot.characteristic_length)
    regular = np.linalg.cond(rows) < 8
    starts = perturb(robot, poses, 1e-3, 1e-3, np.random.default_rng(5))
    found = lm_solve(robot, starts, angles, tolerance=1e-10)
    np.testing.assert_allclose(found.poses[regular], poses[regular], atol=1e-7)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_cold_solve_finds_every_pose_of_the_workspace_from_a_declared_start(name: str) -> None:
    robot = load(name)
    poses = workspace_poses(robot)
    starts = perturb(robot, poses, *robot.workspace.start_error, np.random.default_rng(4))
    found = lm_solve(robot, starts, joint_values(robot, poses), limit=20)
    assert (found.status & GOOD == GOOD).all()
    assert found.residual.max() <= robot.accuracy.length


@pytest.mark.parametrize("name", ROBOTS)
def test_both_jacobians_are_central_differences(name: str) -> None:
    robot, h = load(name), 1e-6
    loops, poses = loops_of(robot), workspace_poses(robot, 50)
    angles = loops.joint_values(poses)
    _, by_twist, by_joint = loops.system(poses, angles)
    for k in range(3):
        step = h * np.eye(3)[k]
        by_pose = loops.system(poses + step, angles)[0] - loops.system(poses - step, angles)[0]
        by_angle = loops.system(poses, angles + step)[0] - loops.system(poses, angles - step)[0]
        np.testing.assert_allclose(by_twist[..., k], by_pose / (2 * h), atol=1e-8)
        np.testing.assert_allclose(by_joint[..., k], by_angle / (2 * h), atol=1e-8)
        rates = (loops.joint_values(poses + step) - loops.joint_values(poses - step)) / (2 * h)
        np.testing.assert_allclose(loops.jacobian(poses)[..., k], rates, atol=1e-6)
    # No loop moves with the joint of another.
    assert not by_joint[:, ~np.eye(3, dtype=bool)].any()


def test_a_chain_reaches_from_the_difference_to_the_sum_of_its_links_and_no_further() -> None:
    robot = changed(load("rrr-kj9"), proximal=0.3, distal=0.2)
    anchor, attachment = (np.array(dict(robot.chains[1])[key]) for key in ("anchor", "attachment"))
    for size, reached in ((0.0999, False), (0.1001, True), (0.4999, True), (0.5001, False)):
        pose = np.array([0.0, anchor[1] - attachment[1] - size, 0.0])
        assert np.isfinite(joint_values(robot, pose)[1]) == reached


def test_the_elbows_are_no_rigid_triangle() -> None:
    robot = load("rrr-kj9")
    poses = workspace_poses(robot, 100)
    elbows = np.array([[line[1] for line in mechanism_of(robot).lines(robot, p)] for p in poses])
    sides = np.linalg.norm(elbows - np.roll(elbows, 1, axis=1), axis=-1)
    # Each side changes by centimetres, while every pose is a solution.
    assert (np.ptp(sides, axis=0) > 0.05).all()
    assert np.abs(joint_errors(robot, poses, joint_values(robot, poses))).max() < 1e-12


@pytest.mark.parametrize("name", ROBOTS)
def test_lines_go_by_links_of_the_given_lengths(name: str) -> None:
    robot = load(name)
    lines = mechanism_of(robot).lines(robot, np.array(robot.workspace.home))
    for line, chain in zip(lines, map(dict, robot.chains), strict=True):
        sizes = np.linalg.norm(np.diff(line, axis=0), axis=1)
        np.testing.assert_allclose(sizes, [chain["proximal"], chain["distal"]], rtol=1e-12)


def named(robot: Robot) -> dict[str, str]:
    return {finding.name: finding.text for finding in analyse(robot, samples=1000).findings}


@pytest.mark.parametrize("name", ROBOTS)
def test_the_built_in_workspaces_are_free_of_all_singularities(name: str) -> None:
    assert named(load(name)) == {}


def test_check_tells_the_three_kinds_of_singularities_apart() -> None:
    robot = changed(load("rrr-kj9"))
    far = {"position": ((-0.01, 0.01), (-0.3, -0.2)), "tilt": 0.05, "home": (0.0, -0.25, 0.0)}
    boundary = named(replace(robot, workspace=replace(robot.workspace, **far)))
    assert {"boundary-singularity", "out-of-reach"} <= set(boundary)
    assert "nearly straight or folded" in boundary["boundary-singularity"]
    assert not {"architectural-singularity", "interior-singularity"} & set(boundary)
    turned = replace(robot, workspace=replace(robot.workspace, tilt=1.5))
    interior = named(turned)
    assert "moves though all joints are held" in interior["interior-singularity"]
    assert not {"architectural-singularity", "boundary-singularity"} & set(interior)
    point = replace(changed(robot, attachment=(0.0, 0.0, 0.0)), ends=((0.0, 0.0, 0.0),))
    architectural = named(point)
    assert "no chain can turn the platform" in architectural["architectural-singularity"]


BAD = {
    "proximal = 0.25": ("proximal = 0", "chain[1].proximal: is out of range; expected above 0 m"),
    "mode = 1": ("mode = 0", "chain[1].mode: is out of range; expected 1 or -1; got 0.0"),
    "distal = 0.25": ("distal = 0.01", "workspace.home: is out of reach"),
    "[-3.2, -1.9]": ("[-1.9, -3.2]", "joints.limits[1]: is out of range"),
    "[-1.1, 0.3]": ("[0.1, 0.3]", "workspace.home: is beyond the limits of q2"),
    "0.08, 0.0]": ("0.08, 0.1]", "chain[2].attachment: leaves the plane"),
    'motion = "planar-xy"': ('motion = "spatial"', "motion: is an unknown word"),
}


@pytest.mark.parametrize("old", BAD)
def test_a_bad_robot_is_refused_by_name(old: str, tmp_path) -> None:
    new, want = BAD[old]
    text = (resources.files("solver_ref") / "robots" / "rrr-kj9.toml").read_text()
    assert old in text
    file = tmp_path / "bad.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        load(file)
    assert want in str(error.value)


def test_the_robot_of_the_documentation_is_one() -> None:
    text = (Path(__file__).parents[1] / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(name = \"my-3rrr\".*?)```", text, re.DOTALL)
    robot = loads(block)
    assert named(robot) == {}
    assert robot.joints[1].limits == (-1.1, 0.3)
