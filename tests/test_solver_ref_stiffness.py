"""Geometric stiffness and sensitivity: finite differences of wrenches, and of whole equilibria."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from published_robots import robot_of

from solver_ref.domain import sample_poses
from solver_ref.equilibrium import equilibrium
from solver_ref.equilibrium_poses import sample_equilibria
from solver_ref.equilibrium_search import moved
from solver_ref.kinematics import cable_lengths, jacobian, scaling
from solver_ref.parts import Pulley
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.statics import carried_wrenches
from solver_ref.stiffness import pull, sensitivity, stiffness

STEP, SMALL = 1e-5, 2e-6


def with_fixed_pulleys() -> Robot:
    """The reference crane with pulleys on fixed axles across the way to the middle."""
    robot = load("four-cable")
    cables = []
    for cable in robot.cables:
        across = np.array([cable.anchor[1], -cable.anchor[0], 0.0])
        axle = tuple(across / np.linalg.norm(across))
        pulley = Pulley(radius=0.2, axis=(0.0, 0.0, 1.0), axle=axle)
        cables.append(replace(cable, pulley=pulley))
    return replace(robot, cables=tuple(cables))


ROBOTS = {
    name: lambda name=name: load(name)
    for name in ("four-cable", "irma4u", "four-cable-full", "cogiro", "planar4", "hangprinter")
} | {"fixed pulleys": with_fixed_pulleys}


@pytest.mark.parametrize("name", ROBOTS)
def test_the_stiffness_is_the_derivative_of_the_unbalanced_wrench(name: str) -> None:
    robot, rng = ROBOTS[name](), np.random.default_rng(1)
    if robot.platform.mass is None:
        robot = replace(robot, platform=replace(robot.platform, mass=2.0))
    poses = sample_poses(robot, 40, rng)
    pulls = rng.uniform(10, 100, (len(poses), len(robot.cables)))

    def unbalanced(at: np.ndarray) -> np.ndarray:
        return (pulls[:, None] @ jacobian(robot, at))[:, 0] - carried_wrenches(robot, at)

    columns = []
    for k, unit in enumerate(scaling(robot)):
        step = np.zeros(poses.shape)
        step[:, k] = STEP * unit  # `moved` takes turns as displacements
        ends = (unbalanced(moved(robot, poses, sign * step)) for sign in (1, -1))
        columns.append(np.subtract(*ends) / (2 * STEP))
    expected = np.stack(columns, axis=-1)
    found = stiffness(robot, poses, pulls)
    assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max(), err_msg="seed 1")
    cables = pull(robot, poses)
    assert_allclose(cables.rows, jacobian(robot, poses), rtol=0, atol=1e-12)
    assert_allclose(cables.lengths, cable_lengths(robot, poses), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["four-cable", "irma4u"])
def test_the_sensitivity_is_the_derivative_of_the_equilibrium(name: str) -> None:
    robot, rng = load(name), np.random.default_rng(2)
    poses, pulls = sample_equilibria(robot, 20, rng)
    lengths, found = cable_lengths(robot, poses), sensitivity(robot, poses, pulls)
    hessian = stiffness(robot, poses, pulls)
    assert_allclose(hessian, np.swapaxes(hessian, 1, 2), rtol=0, atol=1e-5)
    for i in range(len(robot.cables)):
        ends = []
        for sign in (1, -1):
            changed = lengths.copy()
            changed[:, i] += sign * SMALL
            ends.append(equilibrium(robot, changed, poses, elastic=False, tolerance=1e-13))
        shift = (ends[0].poses - ends[1].poses)[:, :3] / (2 * SMALL)
        pulled = (ends[0].tensions - ends[1].tensions) / (2 * SMALL)
        assert_allclose(found.pose[:, :3, i], shift, rtol=2e-3, atol=2e-3, err_msg="seed 2")
        scale = np.abs(found.tension).max(axis=(1, 2))[:, None]
        assert_allclose(found.tension[..., i] / scale, pulled / scale, atol=2e-3, err_msg="seed 2")
        assert (np.linalg.norm(shift, axis=1) <= found.amplification * 1.002).all()


def test_a_millimetre_of_cable_moves_the_real_robot_by_many() -> None:
    """Medians over its equilibria; a real one moves by 6 to 12 mm, 1 to 2 degrees and 21 to 87 N;
    the reference crane, whose cables are far apart on its platform, moves by less than 2 mm."""
    rng = np.random.default_rng(3)
    real = sensitivity(load("irma4u"), *sample_equilibria(load("irma4u"), 300, rng))
    assert 6.0 < np.median(real.amplification) < 12.0
    turn = np.linalg.norm(real.pose[:, 3:], axis=1).max(axis=1)
    assert 1.0 < np.degrees(np.median(turn)) * 1e-3 < 3.0
    assert 21.0 < np.median(np.abs(real.tension).max(axis=(1, 2))) * 1e-3 < 87.0
    crane = sensitivity(load("four-cable"), *sample_equilibria(load("four-cable"), 300, rng))
    assert 0.7 < crane.amplification.min() and crane.amplification.max() < 2.0


def test_a_pendulum_is_as_stiff_as_its_closed_form_says() -> None:
    """A point on one rope: m g / L across it, and the rope's own elasticity along it."""
    robot = robot_of("pendulum", [[0, 0, 3]], [[0, 0, 0]], motion="point")
    robot = replace(robot, platform=replace(robot.platform, mass=2.0))
    pose, weight = np.array([[0.0, 0.0, 1.0]]), np.array([[19.62]])
    found = sensitivity(robot, pose, weight, compliance=1e-3)
    assert_allclose(found.least_stiffness, [19.62 / 2])
    assert_allclose(found.pose[0, :, 0], [0, 0, -1], atol=1e-12)
    assert_allclose(found.tension, 0.0, atol=1e-12)
    assert_allclose(found.amplification, 1.0)
    above = sensitivity(robot, np.array([[0.0, 0.0, 5.0]]), -weight)
    assert above.least_stiffness[0] == pytest.approx(-19.62 / 2)


def test_one_singular_row_leaves_the_others_alone() -> None:
    robot = load("four-cable-concurrent")
    level = np.array([[0.0, 0.0, 2.0, 0, 0, 0], [0.5, 0.2, 2.0, 0.1, 0.2, 0.1]])
    pulls = np.full((2, 4), 300.0)
    found = sensitivity(robot, level, pulls)
    assert found.amplification[0] > 1e9 and found.amplification[1] < 1e3
