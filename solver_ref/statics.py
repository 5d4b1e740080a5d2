"""The wrench that the cables have to carry: gravity, what is applied, and the platform's inertia.

W = W_gravity + W_ext - (M a + C v) about the platform origin, base frame, in the free coordinates,
so that equilibrium is J^T T = W. With r = R com and the acceleration of the centre of mass
a_c = a + alpha x r + omega x (omega x r):

    force = m (g - a_c),  moment = r x force - R (I alpha' + omega' x I omega'),

where alpha', omega' are those of the platform frame and I is about the centre of mass. Written once
over the abstract scalar; `carried_wrenches` runs it on arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from solver_ref.arithmetic import Arithmetic, FloatArithmetic, Scalar, is_zero
from solver_ref.cable import Rotation, rotation, spatial
from solver_ref.robot import Robot

Vector = Sequence[Scalar]
FLOAT = FloatArithmetic()


def carried_wrench(
    m: Arithmetic,
    robot: Robot,
    turn: Rotation,
    twist: Vector | None = None,
    acceleration: Vector | None = None,
    external: Vector | None = None,
) -> list[Scalar]:
    """W in the free coordinates (N, N m); what is None is zero and costs nothing.

    `twist` (v, omega), `acceleration` (a, alpha) and `external` have one component for each free
    coordinate. ValueError for a robot without mass, or one that turns without an inertia.
    """
    zeros = [0] * len(robot.free)
    omega = spatial(twist or zeros, robot.free)[3:]
    linear, alpha = _halves(spatial(acceleration or zeros, robot.free))
    lever = mass_lever(m, robot, turn)
    parts = [linear, cross(m, alpha, lever, "motion")]
    parts.append(cross(m, omega, cross(m, omega, lever, "motion"), "motion"))
    mass = m.constant(_mass(robot), "mass")
    force = [
        m.round(g - m.round(mass * m.total(a), "wrench"), "wrench")
        for g, a in zip(weight(m, robot), zip(*parts, strict=True), strict=True)
    ]
    spin = _spin(m, robot, turn, omega, alpha)
    moment = [a - b for a, b in zip(cross(m, lever, force, "wrench"), spin, strict=True)]
    full = force + moment
    applied = spatial(external or zeros, robot.free)
    return [m.round(full[i] + applied[i], "wrench") for i in robot.free]


def mass_lever(m: Arithmetic, robot: Robot, turn: Rotation) -> list[Scalar]:
    """R com: from the platform origin to the centre of mass (m), base frame."""
    com = [m.constant(x, "geometry") for x in robot.platform.com]
    return [m.dot(row, com, "lever") for row in turn.matrix]


def weight(m: Arithmetic, robot: Robot) -> list[Scalar]:
    """m g (N), base frame."""
    mass = _mass(robot)
    return [m.constant(mass * g, "wrench") for g in robot.gravity]


def weight_of(robot: Robot) -> float:
    """m |g| (N), which scales tensions and densities; 0 without a mass."""
    return (robot.platform.mass or 0.0) * math.hypot(*robot.gravity)


def cross(m: Arithmetic, a: Vector, b: Vector, role: str) -> list[Scalar]:
    """a x b at the precision of `role`."""
    turns = ((1, 2), (2, 0), (0, 1))
    return [m.dot([a[j], -a[k]], [b[k], b[j]], role) for j, k in turns]


def carried_wrenches(
    robot: Robot,
    poses: np.ndarray,
    twists: np.ndarray | None = None,
    accelerations: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
) -> np.ndarray:
    """W of every row, shape (N, free), N and N m; errors as in `carried_wrench`.

    Poses, twists (v, omega), accelerations (a, alpha) and external wrenches each have the shape
    (N, free) or (free,), base frame; None is at rest, or nothing applied.
    """
    given = [poses, twists, accelerations, wrenches]
    shape = np.broadcast_shapes(*(np.shape(x)[:-1] for x in given if x is not None))
    parts = [None if x is None else list(np.moveaxis(np.asarray(x, float), -1, 0)) for x in given]
    turn = rotation(FLOAT, spatial(parts[0], robot.free)[3:])
    values = carried_wrench(FLOAT, robot, turn, *parts[1:])
    return np.stack([np.broadcast_to(np.asarray(x, float), shape) for x in values], axis=-1)


def _spin(
    m: Arithmetic, robot: Robot, turn: Rotation, omega: Vector, alpha: Vector
) -> list[Scalar]:
    """R (I alpha' + omega' x I omega'): what turning costs (N m), base frame."""
    if all(is_zero(x) for x in (*omega, *alpha)):
        return [0, 0, 0]
    if robot.platform.inertia is None:
        raise ValueError(f"the platform of {robot.name} has no inertia, so it cannot turn freely")
    inertia = [[m.constant(x, "inertia") for x in row] for row in robot.platform.inertia]
    own = [[turn.matrix[j][i] for j in range(3)] for i in range(3)]
    slow, fast = ([m.dot(row, v, "motion") for row in own] for v in (omega, alpha))
    momentum = [m.dot(row, slow, "wrench") for row in inertia]
    gyroscopic = cross(m, slow, momentum, "wrench")
    torque = [m.dot(row, fast, "wrench") + g for row, g in zip(inertia, gyroscopic, strict=True)]
    return [m.dot(row, torque, "wrench") for row in turn.matrix]


def _halves(values: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    return values[:3], values[3:]


def _mass(robot: Robot) -> float:
    if robot.platform.mass is None:
        raise ValueError(f"the platform of {robot.name} has no mass, so nothing is known to carry")
    return robot.platform.mass
