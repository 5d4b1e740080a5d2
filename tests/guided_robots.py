"""Robots with guide pulleys of every kind, for tests."""

import dataclasses

import numpy as np
from published_robots import robot_of

from solver_ref.parts import Pulley
from solver_ref.robot import Robot


def guided(robot: Robot, pulleys: list[Pulley | None]) -> Robot:
    cables = zip(robot.cables, pulleys, strict=True)
    return dataclasses.replace(
        robot, cables=tuple(dataclasses.replace(item, pulley=pulley) for item, pulley in cables)
    )


IRMA4U_PULLEYS = [Pulley(radius=0.03, axis=(side, 0.0, 0.0)) for side in (1.0, 1.0, -1.0, -1.0)]
IRMA4U = guided(
    robot_of(
        "irma4u",
        [[1.065, -1.155, 1.839], [1.066, 1.155, 1.839], [-1.066, 1.155, 1.839]]
        + [[-1.065, -1.155, 1.839]],
        [[0.075, -0.075, 0.266], [0.075, 0.075, 0.266], [-0.075, 0.075, 0.266]]
        + [[-0.075, -0.075, 0.266]],
        position=[(-0.5, 0.5), (-0.5, 0.5), (0.4, 0.8)],
    ),
    IRMA4U_PULLEYS,
)
"""IRMA4U: entry points, radius, swivel axes and attachments as published (m)."""


def oblique(*vector: float) -> tuple[float, float, float]:
    x, y, z = np.array(vector) / np.linalg.norm(vector)
    return float(x), float(y), float(z)


def fixed(radius: float, axis: tuple, axle: tuple) -> Pulley:
    """A fixed pulley whose axle is made perpendicular to its axis."""
    axis, axle = np.array(oblique(*axis)), np.array(axle)
    return Pulley(
        radius=radius, axis=tuple(axis.tolist()), axle=oblique(*(axle - axle @ axis * axis))
    )


CRANE = guided(
    robot_of(
        "mixed-crane",
        [[-5, -4, 6], [5, -4, 6], [5, 4, 6], [-5, 4, 6]],
        [[-0.6, -0.2, 0.2], [0.6, -0.2, 0.2], [0.6, 0.2, 0.2], [-0.6, 0.2, 0.2]],
        position=[(-3.0, 3.0), (-2.5, 2.5), (0.5, 4.0)],
    ),
    [
        Pulley(radius=0.05, axis=oblique(-0.2, 0.1, 1.0)),
        fixed(0.1, (0.1, 0.0, 1.0), (-0.6, -1.0, 0.0)),
        fixed(0.2, (0.0, 0.0, 1.0), (0.6, -1.0, 0.0)),
        None,
    ],
)
"""Oblique swivel, two fixed pulleys that the cables leave across their planes, one plain anchor."""

PLANAR = guided(
    robot_of(
        "planar",
        [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]],
        [[-0.1, -0.05, 0], [0.1, -0.05, 0], [0.1, 0.05, 0], [-0.1, 0.05, 0]],
        motion="planar-xy",
        position=[(0.5, 1.5), (0.5, 1.5)],
    ),
    [
        fixed(0.04, (0, -1, 0), (0, 0, 1)),
        fixed(0.04, (0, -1, 0), (0, 0, -1)),
        Pulley(radius=0.05, axis=(0.0, 0.0, 1.0)),
        Pulley(radius=0.05, axis=(0.0, 1.0, 0.0)),
    ],
)
"""Fixed in the plane, a swivel axis across it, and one in it."""

POINT = guided(
    robot_of("point", [[3, 0, 3], [-2, 2, 3], [-2, -2, 3]], [[0, 0, 0]] * 3, motion="point"),
    [Pulley(radius=0.1, axis=(0.0, 0.0, 1.0))] * 3,
)

ROBOTS = [IRMA4U, CRANE, PLANAR, POINT]
