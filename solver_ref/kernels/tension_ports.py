"""The declared domain of `tension`: its names, its limits, and which robots have tensions at all.

Declared are poses of the grown workspace, which with the closure `equilibrium` is tilted as far as
the platform can hang, speeds up to `SPEED`, accelerations up to `ACCELERATION`, and applied forces
up to `LOAD` times the weight, moments up to that at the characteristic length. Weights are those on
earth, whatever gravity the robot has.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.equilibrium_poses import hanging_robot
from solver_ref.errors import InputError
from solver_ref.kernels.kind import free_names, stack, twist_names
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import Robot

SPEED, ACCELERATION = 4.0, 30.0
"""Declared limits of each component (m/s and rad/s, m/s^2 and rad/s^2)."""

LOAD = 2.0
"""Declared limit of each applied component, as a share of the weight."""

EARTH = 9.81
"""What a mass weighs (m/s^2)."""

UNKNOWN_LIMIT = 8.0
"""The tension that is expected at most, as a share of the weight, where no cable says."""


def check(robot: Robot) -> None:
    """InputError names what the robot's file has to say before its tensions can be known, or that
    its links, which push as well, need no such care."""
    if not mechanism_of(robot).pulls:
        wrong, expected = "has links that push", "a cable robot, whose tensions stay positive"
        raise InputError(robot.name, "kind", wrong=wrong, expected=expected, got=robot.kind)
    platform, turns = robot.platform, robot.rotations > 0
    redundant = len(robot.cables) > len(robot.free)
    highest = [cable.tension_max for cable in robot.cables]
    faults = [("platform.mass", platform.mass is None, "the mass that the cables carry, in kg")]
    inertia = "the inertia of a platform that turns, in kg m^2"
    faults.append(("platform.inertia", turns and platform.inertia is None, inertia))
    if redundant and None in highest:
        key = f"cable[{highest.index(None) + 1}].tension_max"
        faults.append((key, True, "the bounds between which redundant cables share, in N"))
    for key, missing, expected in faults:
        if missing:
            raise InputError(
                robot.name, key, wrong="is missing", expected=expected, got="no such key"
            )


def working_robot(robot: Robot) -> Robot:
    """The robot with the workspace that tensions are computed in."""
    return hanging_robot(robot) if robot.closure == "equilibrium" else robot


def earth_weight(robot: Robot) -> float:
    """What the platform weighs on earth (N)."""
    return robot.platform.mass * EARTH


def acceleration_names(robot: Robot) -> tuple[str, ...]:
    """a and alpha (m/s^2, rad/s^2)."""
    return free_names(robot, "ax ay az alx aly alz")


def wrench_names(robot: Robot) -> tuple[str, ...]:
    """The applied force and moment (N, N m), about the platform origin."""
    return free_names(robot, "fx fy fz mx my mz")


def unbalanced_names(robot: Robot) -> tuple[str, ...]:
    """W - J^T T (N, N m)."""
    return tuple(f"u{name}" for name in wrench_names(robot))


def elongation_names(robot: Robot) -> tuple[str, ...]:
    """The elongations (m) of the cables that stretch."""
    return tuple(f"e{i + 1}" for i, cable in enumerate(robot.cables) if cable.stiffness)


def motion_names(robot: Robot) -> tuple[str, ...]:
    """All that is not the pose: a CSV file may leave it out."""
    return (*twist_names(robot), *acceleration_names(robot), *wrench_names(robot))


def motion_of(robot: Robot, inputs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """Poses, twists, accelerations and applied wrenches, (N, free) each."""
    names = (robot.coordinates, twist_names, acceleration_names, wrench_names)
    return tuple(stack(inputs, n(robot) if callable(n) else n) for n in names)
