"""Euler angles at the edges: what a robot file's convention makes of the columns of a pose.

Inside, a rotation is its vector everywhere. A convention such as ZYX names the axes of the platform
about which it turns one after the other (intrinsic): R = Rz(e1) Ry(e2) Rx(e3).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from solver_ref.robot import Robot

CONVENTIONS = tuple(
    first + second + third
    for first in "XYZ"
    for second in "XYZ"
    for third in "XYZ"
    if first != second != third
)
VECTORS = {("rx", "ry", "rz"): ("e1", "e2", "e3"), ("rx0", "ry0", "rz0"): ("e10", "e20", "e30")}
"""The columns of a rotation vector, of a pose and of a start, and of the Euler angles."""


def rotation_vectors(convention: str, angles: np.ndarray) -> np.ndarray:
    """Rotation vectors of Euler angles, (..., 3) each, rad; at most pi long."""
    return Rotation.from_euler(convention, angles).as_rotvec()


def euler_angles(convention: str, vectors: np.ndarray) -> np.ndarray:
    """Euler angles of rotation vectors, (..., 3) each, rad.

    Where the second one leaves the axes of the others parallel, the third is 0.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Gimbal lock detected")
        return Rotation.from_rotvec(vectors).as_euler(convention)


def edge_names(robot: Robot, names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns as the robot's files have them."""
    if not robot.euler:
        return tuple(names)
    renamed = {
        inside: edge
        for group, edges in VECTORS.items()
        for inside, edge in zip(group, edges, strict=True)
    }
    return tuple(renamed.get(name, name) for name in names)


def inward(robot: Robot, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns with rotation vectors in place of the robot's Euler angles."""
    found = dict(columns)
    for group, edges in VECTORS.items():
        if robot.euler and all(name in found for name in edges):
            angles = np.column_stack([found.pop(name) for name in edges])
            found |= zip(group, rotation_vectors(robot.euler, angles).T, strict=True)
    return found


def outward(robot: Robot, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns with the robot's Euler angles in place of rotation vectors, in the same order."""
    found = dict(columns)
    for group, edges in VECTORS.items():
        if robot.euler and all(name in columns for name in group):
            vectors = np.column_stack([columns[name] for name in group])
            angles = dict(zip(group, euler_angles(robot.euler, vectors).T, strict=True))
            names = dict(zip(group, edges, strict=True))
            found = {names.get(n, n): angles.get(n, column) for n, column in found.items()}
    return found
