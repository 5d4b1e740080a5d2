"""Robot files of serial arms: the built-ins' published numbers, units, and what is refused."""

import dataclasses
import re

import numpy as np
import published_arms as published
import pytest
from numpy.testing import assert_allclose
from robot_kinds import built_in, of_links

from solver_ref.dynamics.serial import mass_matrix, torques
from solver_ref.robot_facts import from_facts
from solver_ref.robot_file import RobotError, loads
from solver_ref.robot_rules import InertiaWarning

ARM = """
name = "arm"
kind = "serial"
gravity = [0, 0, -10]

[accuracy]
torque = 0.02

[[link]]
name = "shoulder"
axis = [0, 0, 2]
mass = 2
com = [0.1, 0, 0]
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
limits = { position = [-1, 2], speed = 3, acceleration = 4, effort = 5 }
friction = { viscous = 0.5, coulomb = 0.2, static = 0.3 }

[[link]]
joint = "prismatic"
axis = [1, 0, 0]
origin = [0.5, 0, 0]
rotation = [0, 0.3, 0]
mass = 1
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
limits = { position = [0, 0.5], speed = 1, acceleration = 2 }
"""


def test_the_builtin_puma_560_is_the_published_one() -> None:
    arm, exact = built_in("puma560").arm, published.puma560()
    state = np.random.default_rng(0).uniform(-2, 2, (3, 50, 6))
    due = torques(exact, *state)
    assert_allclose(torques(arm, *state), due, rtol=0, atol=1e-12 * np.abs(due).max())
    assert_allclose(mass_matrix(arm, state[0]), mass_matrix(exact, state[0]), atol=1e-12)


def test_the_builtin_two_link_arm_is_spongs() -> None:
    state = np.random.default_rng(0).uniform(-2, 2, (3, 50, 2))
    found, due = (torques(arm, *state) for arm in (built_in("two-link").arm, published.spong()))
    assert_allclose(found, due, rtol=0, atol=1e-12)


def test_the_builtin_pendulum_is_a_cylinder() -> None:
    (link,) = built_in("pendulum").arm.links
    moments = np.diag(link.inertia)
    radius, length = 0.01, 1.0
    across = link.mass * (3 * radius**2 + length**2) / 12
    assert_allclose(moments, [across, across, link.mass * radius**2 / 2], atol=1e-9)


def test_a_file_means_what_it_says() -> None:
    robot = loads(ARM)
    arm, (shoulder, slide) = robot.arm, robot.arm.links
    assert (robot.kind, robot.motion, arm.gravity, arm.accuracy) == (
        "serial",
        "spatial",
        (0.0, 0.0, -10.0),
        0.02,
    )
    assert shoulder.axis == (0.0, 0.0, 1.0)
    assert shoulder.friction.coulomb == (0.2, 0.2)
    assert shoulder.limits.position == (-1.0, 2.0)
    assert (slide.name, slide.joint, slide.origin) == ("link2", "prismatic", (0.5, 0.0, 0.0))
    assert_allclose(slide.rotation, published.rpy(0, 0.3, 0))
    assert robot.joint_names == ("q1", "q2")
    assert robot.joint_units == ("rad", "m")


def test_units_scale_what_has_length_or_angle_in_it() -> None:
    text = ARM.replace(
        'kind = "serial"', 'kind = "serial"\nunits = { length = "mm", angle = "deg" }'
    )
    for old, new in (
        ("gravity = [0, 0, -10]", "gravity = [0, 0, -10000]"),
        ("com = [0.1, 0, 0]", "com = [100, 0, 0]"),
        ("origin = [0.5, 0, 0]", "origin = [500, 0, 0]"),
        ("[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]", "[[1e5, 0, 0], [0, 1e5, 0], [0, 0, 1e5]]"),
        (
            "position = [0, 0.5], speed = 1, acceleration = 2",
            "position = [0, 500], speed = 1000, acceleration = 2000",
        ),
        ("rotation = [0, 0.3, 0]", f"rotation = [0, {np.degrees(0.3):.17g}, 0]"),
        (
            "position = [-1, 2], speed = 3",
            "position = [{}, {}], speed = {}".format(*np.degrees([-1, 2, 3]).tolist()),
        ),
        ("acceleration = 4", f"acceleration = {np.degrees(4):.17g}"),
    ):
        assert old in text
        text = text.replace(old, new)
    found, due = loads(text).arm, loads(ARM).arm
    state = np.random.default_rng(1).uniform(-1, 1, (3, 10, 2))
    assert_allclose(torques(found, *state), torques(due, *state), rtol=1e-12)
    for link, other in zip(found.links, due.links, strict=True):
        assert_allclose(link.limits.position, other.limits.position)
        assert link.limits.speed == pytest.approx(other.limits.speed)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("mass = 2\n", "", "link[1].mass: is missing; expected the mass (kg); got nothing"),
        (
            "mass = 1\ninertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]\n",
            "mass = 1\n",
            "link[2].inertia: is missing; expected the inertia about the centre of mass, "
            "3 lists of 3 numbers (kg m^2); got nothing",
        ),
        (
            "[0, 0, 0.1]]\nlim",
            "[0, 0, 0.3]]\nlim",
            "link[1].inertia: breaks the triangle inequality",
        ),
        (
            "[[0.1, 0, 0]",
            "[[0.1, 0.2, 0]",
            "link[1].inertia: is out of range; expected a symmetric",
        ),
        ("axis = [0, 0, 2]", "axis = [0, 0, 0]", "link[1].axis: has no direction"),
        ("[-1, 2]", "[2, -1]", "link[1].limits.position: is an empty interval"),
        (
            "[-1, 2]",
            "[-7, 2]",
            "link[1].limits.position: is out of range; expected within +-6.3 rad",
        ),
        (
            "speed = 3",
            "speed = 0",
            "link[1].limits.speed: is out of range; expected above 0; got 0",
        ),
        ("mass = 2", "mass = -2", "link[1].mass: is out of range; expected 0 kg or more; got -2.0"),
        ("static = 0.3", "static = 0.1", "link[1].friction.static: is out of range"),
        ("viscous = 0.5", "viscous = -1", "link[1].friction.viscous: is out of range"),
        ("torque = 0.02", "torque = 0", "accuracy.torque: is out of range; expected above 0 N m"),
        ('joint = "prismatic"', 'joint = "ball"', "link[2].joint: is an unknown word"),
        ("mass = 1\n", 'mass = 1\nname = "shoulder"\n', "link[2].name: is taken"),
        ("[accuracy]", "[workspace]\n[accuracy]", "workspace: is an unknown key"),
        ("mass = 2", "mass = 2\nweight = 3", "link[1].weight: is an unknown key"),
    ],
)
def test_a_bad_arm_is_refused_by_name(old: str, new: str, line: str) -> None:
    assert old in ARM
    with pytest.raises(RobotError) as caught:
        loads(ARM.replace(old, new, 1), file="arm.toml")
    assert str(caught.value).startswith(f"arm.toml: {line}")


def test_a_published_inertia_that_no_body_has_needs_its_reason_and_warns() -> None:
    text = ARM.replace(
        "[0, 0, 0.1]]\nlim", '[0, 0, 0.3]]\nallow_nonphysical_inertia = "so it is"\nlim', 1
    )
    want = re.escape("link[1].inertia: breaks the triangle inequality; accepted because: so it is")
    with pytest.warns(InertiaWarning, match=want):
        loads(text)


@pytest.mark.parametrize("name", of_links())
def test_an_arm_survives_its_facts(name: str) -> None:
    robot = built_in(name)
    again = from_facts(dataclasses.asdict(robot))
    assert again == robot
    assert again.digest == robot.digest
    other = dataclasses.replace(robot.arm, accuracy=1.0)
    assert dataclasses.replace(robot, arm=other).digest != robot.digest
