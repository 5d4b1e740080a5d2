"""The wrench that the cables carry: clouds of point masses, planar and point robots, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from solver_ref.arithmetic import FloatArithmetic, is_zero
from solver_ref.cable import rotation
from solver_ref.kinematics import rotation_exp, spatial_poses
from solver_ref.robot import Platform, Robot
from solver_ref.robot_file import load
from solver_ref.statics import carried_wrench, carried_wrenches
from solver_ref.trajectory import crane_trajectory

RATE = 1000.0
# Central second differences of eighth order.
STENCIL = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
GRAVITY = np.array([0.4, -0.3, -9.81])


def cloud(motion: str) -> tuple[np.ndarray, np.ndarray]:
    """Point masses (kg) and where they are on the platform (m)."""
    rng = np.random.default_rng(1)
    points = rng.uniform(-0.5, 0.7, (12, 3)) * {"planar-xy": [1, 1, 0], "point": 0}.get(motion, 1)
    return rng.uniform(0.2, 2.0, 12), points


def body_of(robot: Robot) -> Robot:
    """The robot with the cloud as its platform, and a gravity that is not along an axis."""
    masses, points = cloud(robot.motion)
    com = masses @ points / masses.sum()
    r = points - com
    inertia = np.einsum("n,nij->ij", masses, np.eye(3) * (r**2).sum(1)[:, None, None])
    inertia -= np.einsum("n,ni,nj->ij", masses, r, r)
    platform = Platform(
        mass=masses.sum(), com=tuple(com), inertia=tuple(map(tuple, inertia.tolist()))
    )
    return replace(robot, platform=platform, gravity=tuple(GRAVITY))


@pytest.mark.parametrize("name", ["four-cable", "planar4", "hangprinter"])
def test_a_moving_platform_is_carried_like_the_masses_that_it_is_made_of(name: str) -> None:
    robot = body_of(load(name))
    masses, points = cloud(robot.motion)
    path = crane_trajectory(robot, RATE)
    full = spatial_poses(robot, path.poses)
    lever = np.einsum("nij,kj->nki", rotation_exp(full[:, 3:]), points)
    where = full[:, None, :3] + lever
    second = sum(c * where[i : len(where) - 8 + i] for i, c in enumerate(STENCIL)) * RATE**2
    force = masses[:, None] * (GRAVITY - second)
    moment = np.cross(lever[4:-4], force)
    expected = np.concatenate([force, moment], axis=-1).sum(axis=1)[:, robot.free]
    external = np.linspace(-5, 5, len(robot.free))
    found = carried_wrenches(robot, path.poses, path.twists, path.accelerations, external)
    # Where a ramp ends the fourth derivative jumps, and the differences see it.
    assert_allclose(found[4:-4], expected + external, rtol=0, atol=1e-3)
    assert np.ptp(expected, axis=0).min() > 2.0


def test_at_rest_only_gravity_and_what_is_applied_are_carried() -> None:
    robot = load("four-cable")
    poses = np.array([[1.0, -2.0, 3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.5 * np.pi, 0.0, 0.0]])
    weight = 85.0 * 9.81
    expected = [[0, 0, -weight, 0, 0, 0], [0, 0, -weight, 0.1 * weight, 0, 0]]
    assert_allclose(carried_wrenches(robot, poses), expected, rtol=0, atol=1e-12)
    still = np.zeros((2, 6))
    assert_allclose(carried_wrenches(robot, poses, still, still), expected, rtol=0, atol=1e-12)
    assert_array_equal(
        carried_wrenches(robot, poses[0], wrenches=[1, 2, 3, 4, 5, 6]),
        carried_wrenches(robot, poses[0]) + [1, 2, 3, 4, 5, 6],
    )


def test_a_vertical_plane_turns_about_its_own_normal() -> None:
    """Planar-xz: a mass on +x pulls theta about +y forward, until it hangs below the origin."""
    flat = replace(
        load("planar4"),
        motion="planar-xz",
        gravity=(0.0, 0.0, -9.81),
        platform=Platform(mass=2.0, com=(0.5, 0.0, 0.0)),
    )
    found = carried_wrenches(flat, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, np.pi / 2]]))
    assert_allclose(found, [[0, -19.62, 0.5 * 19.62], [0, -19.62, 0]], rtol=0, atol=1e-12)


def test_what_is_absent_is_the_plain_zero_so_that_a_graph_has_no_term_for_it() -> None:
    """Gravity along z and the centre of mass on the platform's z axis: no moment about z."""
    m = FloatArithmetic()
    turn = rotation(m, np.array([0.1, 0.2, 0.3]))
    wrench = carried_wrench(m, load("four-cable"), turn)
    assert [is_zero(x) for x in wrench] == [True, True, False, False, False, True]
    assert wrench[2] == pytest.approx(-833.85)


def test_what_a_robot_does_not_say_is_refused_in_words() -> None:
    massless = load("hangprinter")
    with pytest.raises(ValueError, match="platform of hangprinter has no mass"):
        carried_wrenches(massless, np.zeros((1, 3)))
    crane = load("four-cable")
    heavy = replace(crane, platform=replace(crane.platform, inertia=None))
    poses = np.zeros((1, 6))
    assert carried_wrenches(heavy, poses)[0, 2] == pytest.approx(-85 * 9.81)
    with pytest.raises(ValueError, match="platform of four-cable has no inertia"):
        carried_wrenches(heavy, poses, np.ones((1, 6)))
