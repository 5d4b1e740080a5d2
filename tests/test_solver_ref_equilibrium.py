"""The closure `equilibrium`: round trips, closed forms, elasticity, several solutions, faults."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from published_robots import robot_of
from scipy.optimize import minimize

from solver_ref.correction import true_lengths
from solver_ref.domain import perturb, sample_poses
from solver_ref.equilibrium import equilibria, equilibrium
from solver_ref.equilibrium_poses import (
    TILT,
    equilibrium_poses,
    hanging_robot,
    sample_equilibria,
)
from solver_ref.kinematics import cable_lengths, rotation_exp, scaling, spatial_poses
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.status import Status
from solver_ref.stiffness import sensitivity
from solver_ref.tension import tensions

GOOD = int(Status.VALID | Status.CONVERGED)
HANGING = ["four-cable", "irma4u", "four-cable-full"]


def has(status: np.ndarray, bits: Status) -> np.ndarray:
    return (status & int(bits)) == int(bits)


def potential(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The height of the centre of mass, against gravity (m)."""
    full = spatial_poses(robot, poses)
    centre = full[..., :3] + rotation_exp(full[..., 3:]) @ np.array(robot.platform.com)
    return -centre @ np.array(robot.gravity) / np.linalg.norm(robot.gravity)


@pytest.mark.parametrize("name", HANGING)
def test_poses_in_equilibrium_are_drawn_all_over_the_workspace(name: str) -> None:
    robot = load(name)
    poses, pulls = sample_equilibria(robot, 400, np.random.default_rng(1))
    low, high = np.array(robot.workspace.position).T
    assert ((poses[:, :3] >= low) & (poses[:, :3] <= high)).all()
    assert_allclose(poses[:, :3].min(axis=0), low, atol=0.02 * (high - low).max())
    turn = np.linalg.norm(poses[:, 3:], axis=1)
    assert turn.max() <= hanging_robot(robot).workspace.tilt
    assert turn.max() > (0.25 if name == "irma4u" else 0.95 * TILT)
    lowest, highest = robot.cables[0].tension_min, robot.cables[0].tension_max
    assert lowest <= pulls.min() < 3 * lowest and pulls.max() <= highest
    # The tensions do balance the weight, and nothing else does.
    held = tensions(robot, poses)
    assert_array_equal(held.status & ~int(Status.NEAR_SINGULAR), GOOD)
    assert np.abs(held.unbalanced / scaling(robot)).max() < 1e-6
    assert_allclose(held.tensions, pulls, rtol=0, atol=1e-4)
    # What is left open beside the position is drawn too: how the cables twist the platform.
    twist = (pulls * [1, -1, 1, -1]).sum(axis=1) / pulls.sum(axis=1)
    assert twist.min() < -0.25 and twist.max() > 0.25


@pytest.mark.parametrize("name", HANGING)
def test_the_lengths_of_a_pose_in_equilibrium_give_it_back(name: str) -> None:
    robot, rng = load(name), np.random.default_rng(2)
    poses, pulls = sample_equilibria(robot, 400, rng)
    lengths = cable_lengths(robot, poses)
    for starts in (None, perturb(robot, poses, *robot.workspace.start_error, rng)):
        found = equilibrium(robot, lengths, starts, elastic=False)
        assert_array_equal(found.status & ~int(Status.NEAR_SINGULAR), GOOD, err_msg="seed 2")
        assert_allclose(found.poses, poses, rtol=0, atol=1e-7, err_msg="seed 2")
        assert_allclose(found.tensions, pulls, rtol=0, atol=2e-3, err_msg="seed 2")
        assert found.stable.all() and found.iterations.mean() < 6
        assert found.residual.max() < 1e-10
        assert np.abs(found.unbalanced / scaling(robot)).max() < 1e-6


def test_an_elastic_cable_hangs_lower_by_its_stretch() -> None:
    """Lengths without tension, lengthened by the tensions found, are the lengths of the pose."""
    robot = load("four-cable-full")
    poses, _ = sample_equilibria(robot, 60, np.random.default_rng(3))
    slack = cable_lengths(robot, poses) - 0.002
    found = equilibrium(robot, slack)
    assert_array_equal(found.status, GOOD)
    stretched = true_lengths(robot, slack, tensions=found.tensions)
    assert_allclose(cable_lengths(robot, found.poses), stretched, rtol=0, atol=1e-9)
    assert (stretched - slack).max() > 1e-3
    rigid = equilibrium(robot, slack, elastic=False)
    assert (potential(robot, found.poses) < potential(robot, rigid.poses)).all()


def test_a_bar_on_two_ropes_finds_the_lowest_place_of_its_centre() -> None:
    """SciPy's constrained minimum of the potential, for a planar platform hung unevenly."""
    robot = robot_of(
        "swing", [[-1, 0, 2], [1.2, 0, 2]], [[-0.3, 0, 0.1], [0.4, 0, 0]], motion="planar-xz"
    )
    platform = replace(robot.platform, mass=3.0, com=(0.1, 0.0, -0.2))
    robot = replace(robot, platform=platform, closure="equilibrium")
    lengths = np.array([[1.3, 1.2], [1.6, 1.0], [1.0, 1.5]])
    found = equilibrium(robot, lengths, np.array([0.0, 0.8, 0.0]))
    assert has(found.status, Status.CONVERGED).all() and found.stable.all()
    assert (found.tensions > 0).all()
    for i, row in enumerate(lengths):
        oracle = minimize(
            lambda pose: potential(robot, pose),
            found.poses[i] + 0.05,
            constraints={"type": "eq", "fun": lambda p, r=row: cable_lengths(robot, p) - r},
            method="SLSQP",
            options={"ftol": 1e-15},
        )
        assert_allclose(found.poses[i], oracle.x, rtol=0, atol=1e-6)


def test_all_equilibria_of_one_set_of_lengths_are_told_apart() -> None:
    """A bar on two ropes hangs below its anchors, and could stand above them on the ropes."""
    robot = robot_of(
        "bar", [[-1, 0, 2], [1, 0, 2]], [[-0.5, 0, 0], [0.5, 0, 0]], motion="planar-xz"
    )
    platform = replace(robot.platform, mass=3.0, com=(0.0, 0.0, -0.2))
    robot = replace(robot, platform=platform, closure="equilibrium")
    lengths = cable_lengths(robot, np.array([0.0, 0.9, 0.0]))
    rng = np.random.default_rng(4)
    starts = np.hstack([rng.uniform([-1, 0], [1, 4], (300, 2)), rng.uniform(-3, 3, (300, 1))])
    found = equilibria(robot, lengths, starts)
    gaps = np.abs(found.poses[:, None] - found.poses[None]).max(axis=-1)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 1e-4
    assert len(found.poses) >= 2, "seed 4"
    hanging = found.stable & (found.tensions > 0).all(axis=1)
    assert hanging.sum() == 1 and not found.stable.all(), "seed 4"
    assert_allclose(found.poses[hanging], [[0.0, 0.9, 0.0]], rtol=0, atol=1e-7)
    assert not has(found.status, Status.VALID)[~hanging].any()


def test_the_crane_has_one_equilibrium_near_and_the_starts_find_it() -> None:
    robot, rng = load("irma4u"), np.random.default_rng(5)
    poses, _ = sample_equilibria(robot, 1, rng)
    starts = sample_poses(robot, 100, rng)
    found = equilibria(robot, cable_lengths(robot, poses)[0], starts)
    good = has(found.status, Status.VALID)
    assert good.sum() == 1, "seed 5"
    assert_allclose(found.poses[good], poses, rtol=0, atol=1e-7, err_msg="seed 5")


def test_an_applied_wrench_is_carried_too() -> None:
    robot = load("four-cable")
    poses, _ = sample_equilibria(robot, 20, np.random.default_rng(6))
    lengths, wrench = cable_lengths(robot, poses), np.array([50.0, -20.0, 10.0, 3.0, -2.0, 1.0])
    found = equilibrium(robot, lengths, poses, wrenches=wrench)
    held = tensions(robot, found.poses, wrenches=wrench)
    assert_allclose(found.tensions, held.tensions, rtol=0, atol=1e-5)
    assert np.abs(held.unbalanced).max() < 1e-6
    # To first order the platform yields by what its stiffness allows.
    small = equilibrium(robot, lengths, poses, wrenches=1e-4 * wrench)
    free = sensitivity(robot, poses, tensions(robot, poses).tensions)
    assert (
        np.linalg.norm(small.poses - poses, axis=1).max() < 1e-4 * 100 / free.least_stiffness.min()
    )


def test_faults_are_named() -> None:
    robot = load("four-cable")
    poses, pulls = sample_equilibria(robot, 50, np.random.default_rng(7))
    lengths = cable_lengths(robot, poses)
    tight = replace(
        robot, cables=tuple(replace(c, tension_min=float(np.median(pulls))) for c in robot.cables)
    )
    slack = equilibrium(tight, lengths, poses)
    assert has(slack.status, Status.VALID | Status.SLACK).any()
    assert_array_equal(has(slack.status, Status.SLACK), (pulls < np.median(pulls)).any(axis=1))
    # One cable too short for all: no equilibrium with four taut ones is near.
    short = lengths * [0.5, 1, 1, 1]
    torn = equilibrium(robot, short, poses, limit=20)
    assert not has(torn.status, Status.VALID).any()
    few = equilibrium(
        robot, lengths, perturb(robot, poses, 0.3, 0.2, np.random.default_rng(8)), limit=1
    )
    assert has(few.status, Status.ITERATION_LIMIT).all()
    assert np.isfinite(few.poses).all()
    outside = np.array([[0.0, 0.0, 4.5]])
    drawn = equilibrium_poses(robot, np.repeat(outside, 20, axis=0), np.random.default_rng(9))
    found = equilibrium(
        robot, cable_lengths(robot, drawn.poses[drawn.good]), drawn.poses[drawn.good]
    )
    assert has(found.status, Status.CONVERGED | Status.OUT_OF_RANGE).all() and drawn.good.any()
    coarse = replace(robot, accuracy=replace(robot.accuracy, length=0.05))
    assert has(equilibrium(coarse, lengths, poses).status, Status.NEAR_SINGULAR).any()


def test_what_cannot_hang_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="8 lengths determine the pose of cogiro"):
        equilibrium(load("cogiro"), np.ones((1, 8)))
    robot = load("four-cable")
    with pytest.raises(ValueError, match="four-cable needs a mass and gravity"):
        equilibrium(replace(robot, gravity=(0.0, 0.0, 0.0)), np.ones((1, 4)))
    low = replace(
        robot,
        workspace=replace(
            robot.workspace, position=((-1, 1), (-1, 1), (7, 8)), home=(0, 0, 7.5, 0, 0, 0)
        ),
    )
    with pytest.raises(ValueError, match="four-cable hangs in equilibrium at too few poses"):
        sample_equilibria(low, 4, np.random.default_rng(10))
