"""Serial arms: the published torques, pinocchio as oracle, and what no friction law may do."""

import dataclasses

import numpy as np
import pinocchio
import published_arms as published
import pytest
from numpy.testing import assert_allclose

from solver_ref.dynamics.links import Arm, Friction, Limits, Link
from solver_ref.dynamics.serial import accelerations, friction_torques, mass_matrix, torques

QN = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])
ONES = np.ones(6)


def close(found: np.ndarray, expected: list, digits: float = 6e-5) -> None:
    """Equal to as many digits as were published: `digits` of the largest."""
    assert_allclose(found, expected, rtol=0, atol=digits * np.abs(expected).max())


@pytest.mark.parametrize(
    ("speed", "acceleration", "gravity", "expected"),
    [
        (0, 0, True, [0, 31.6399, 6.0351, 0, 0.0283, 0]),
        (0, 1, True, [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
        (1, 1, True, [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
        (1, 0, True, [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
        (1, 1, False, [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781]),
    ],
)
def test_the_puma_560_has_its_published_torques(
    speed: float, acceleration: float, gravity: bool, expected: list[float]
) -> None:
    found = torques(published.puma560(), QN, speed * ONES, acceleration * ONES, gravity=gravity)
    assert_allclose(found, expected, rtol=0, atol=6e-5)


def test_the_puma_560_holds_its_published_wrench() -> None:
    found = torques(published.puma560(), QN, wrench=[1, 2, 3, 1, 2, 3])
    close(found, [0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3], 2e-6)


def test_the_puma_560_has_its_published_mass_matrix_and_accelerations() -> None:
    arm = published.puma560()
    inertia = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
        [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
        [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
        [-0.0025, 0, 0, 0.1925, 0, 0],
        [0, 0.0024, 0.0015, 0, 0.1713, 0],
        [0, 0, 0, 0, 0, 0.1941],
    ]
    assert_allclose(mass_matrix(arm, QN), inertia, rtol=0, atol=6e-5)
    inertial = mass_matrix(arm, QN) @ [1, 2, 3, 1, 2, 3]
    assert_allclose(inertial, [3.1500, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823], atol=6e-5)
    speed, torque = [0.1, 0.2, 0.8, 0.2, 0.5, 1.0], [1.0, 3.2, 1.8, 0.1, 0.7, 4.6]
    found = accelerations(arm, QN, np.array(speed), torque)
    close(found, [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228], 3e-6)


def test_the_modern_robotics_arm_has_its_published_dynamics() -> None:
    arm, scale = published.modern_robotics(), published.SCREW_LENGTHS
    angle = scale * 0.1
    speed, acceleration = scale * [0.1, 0.2, 0.3], scale * [2, 1.5, 1]
    # Published wrenches have the moment first; here all six components are the same.
    found = torques(arm, angle, speed, acceleration, wrench=np.ones(6))
    assert_allclose(scale * found, [74.69616155, -33.06766016, -3.23057314], rtol=1e-8)
    weight = torques(arm, angle)
    assert_allclose(scale * weight, [28.40331262, -37.64094817, -5.4415892], rtol=1e-8)
    swirl = torques(arm, angle, speed, gravity=False)
    assert_allclose(scale * swirl, [0.26453118, -0.05505157, -0.00689132], rtol=2e-6)
    expected = [
        [22.5433380, -0.307146754, -0.00718426391],
        [-0.307146754, 1.96850717, 0.432157368],
        [-0.00718426391, 0.432157368, 0.191630858],
    ]
    found = mass_matrix(arm, angle) * np.outer(scale, scale)
    assert_allclose(found, expected, rtol=1e-8)
    torque = np.array([0.5, 0.6, 0.7])
    tip = torques(arm, angle, wrench=np.ones(6), gravity=False)
    found = accelerations(arm, angle, speed, torque / scale - tip)
    assert_allclose(found / scale, [-0.97392907, 25.58466784, -32.91499212], rtol=1e-8)


@pytest.mark.parametrize(
    ("angle", "weight"),
    [
        ([0, 0], [-2, -0.5]),
        ([0, -np.pi / 2], [-1.5, 0]),
        ([-np.pi / 2, np.pi / 2], [-0.5, -0.5]),
        ([-np.pi / 2, 0], [0, 0]),
    ],
)
def test_spongs_arm_has_its_published_weight(angle: list[float], weight: list[float]) -> None:
    found = torques(published.spong(), np.array(angle)) / 9.81
    assert_allclose(found, weight, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("speed", "expected"),
    [([1, 0], [0, -0.5]), ([0, 1], [0.5, 0]), ([1, 1], [1.5, -0.5])],
)
def test_spongs_arm_has_its_published_velocity_terms(speed: list, expected: list) -> None:
    found = torques(published.spong(), np.array([0, -np.pi / 2]), np.array(speed), gravity=False)
    assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_spongs_arm_has_its_published_mass_matrix() -> None:
    found = mass_matrix(published.spong(), np.array([0, -np.pi / 2]))
    assert_allclose(found, [[1.5, 0.25], [0.25, 0.25]], rtol=0, atol=1e-12)


def as_pinocchio(arm: Arm):
    """The same arm as a model of the other library."""
    model, joint = pinocchio.Model(), 0
    kinds = {
        "revolute": pinocchio.JointModelRevoluteUnaligned,
        "prismatic": pinocchio.JointModelPrismaticUnaligned,
    }
    for link in arm.links:
        place = pinocchio.SE3(np.array(link.rotation), np.array(link.origin))
        joint = model.addJoint(joint, kinds[link.joint](np.array(link.axis)), place, link.name)
        body = pinocchio.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
        model.appendBodyToJoint(joint, body, pinocchio.SE3.Identity())
    model.gravity.linear = np.array(arm.gravity)
    return model


def random_arm(rng: np.random.Generator, count: int) -> Arm:
    """An arm with any axes, both kinds of joints, full inertia and slanted gravity."""

    def link(i: int) -> Link:
        axis = rng.normal(size=3)
        points = rng.normal(size=(4, 3))
        spread = points.T @ points
        return Link(
            name=f"link{i}",
            joint=("revolute", "prismatic")[rng.integers(2)],
            axis=tuple((axis / np.linalg.norm(axis)).tolist()),
            origin=tuple(rng.normal(size=3).tolist()),
            rotation=published.rows(published.rpy(*rng.uniform(-3, 3, 3))),
            mass=float(rng.uniform(0.2, 3)),
            com=tuple(rng.normal(size=3).tolist()),
            inertia=published.rows(np.trace(spread) * np.eye(3) - spread),
            limits=published.ANY,
        )

    links = tuple(link(i) for i in range(count))
    return Arm(links=links, gravity=tuple(rng.normal(size=3).tolist()))


@pytest.mark.parametrize("count", range(1, 9))
def test_any_arm_agrees_with_pinocchio(count: int) -> None:
    rng = np.random.default_rng(count)
    arm = random_arm(rng, count)
    agree_with_pinocchio(arm, as_pinocchio(arm), rng)


def test_the_iiwa7_agrees_with_pinocchio() -> None:
    arm = published.iiwa7()
    agree_with_pinocchio(arm, as_pinocchio(arm), np.random.default_rng(7))


def agree_with_pinocchio(arm: Arm, model, rng: np.random.Generator) -> None:
    """Torques, mass matrix and accelerations to 1e-9 of the largest, many states at once."""
    data = model.createData()
    position, speed, acceleration = rng.uniform(-3, 3, (3, 5, len(arm.links)))
    found = torques(arm, position, speed, acceleration, losses=False)
    matrix = mass_matrix(arm, position)
    for row in range(5):
        expected = pinocchio.rnea(model, data, position[row], speed[row], acceleration[row])
        assert_allclose(found[row], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        upper = np.triu(pinocchio.crba(model, data, position[row]))
        upper = upper + np.triu(upper, 1).T
        assert_allclose(matrix[row], upper, rtol=0, atol=1e-9 * np.abs(upper).max())
    back = accelerations(arm, position, speed, found, losses=False)
    assert_allclose(back, acceleration, rtol=0, atol=1e-9 * np.linalg.cond(matrix).max())


def test_friction_opposes_motion_is_smooth_at_rest_and_falls_from_breakaway() -> None:
    law = Friction(viscous=0.3, coulomb=(2.0, 1.0), static=3.0, stribeck=0.1, smooth=0.01)
    link = Link(
        name="a",
        axis=(0.0, 0.0, 1.0),
        mass=1.0,
        friction=law,
        limits=Limits(position=(-1.0, 1.0), speed=4.0, acceleration=1.0),
    )
    arm = Arm(links=(link,))

    def at(speed: float) -> float:
        return float(friction_torques(arm, np.array([speed]))[0])

    assert at(0.0) == 0.0
    assert at(4.0) == pytest.approx(1.2 + 2 + 1 / 1601)
    assert at(-4.0) == pytest.approx(-1.2 - 1 - 2 / 1601)
    assert at(0.1) == pytest.approx(0.03 + 2.5)
    assert at(0.01) > at(0.05) > at(0.3)
    speeds = np.linspace(-5, 5, 20001)[:, None]
    losses = friction_torques(arm, speeds)
    assert (losses * speeds >= 0).all()
    assert np.abs(np.diff(losses[:, 0])).max() < 5e-4 * 1.5 * 3 / 0.01 * 1.1
    plain = dataclasses.replace(arm, links=(dataclasses.replace(link, friction=Friction()),))
    assert (friction_torques(plain, speeds) == 0).all()
