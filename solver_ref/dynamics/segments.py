"""Links as the recursions take them: turned so that every joint moves about its own z axis.

Inertia is kept as the moments of mass about the link's origin, in which torques are linear: mass,
first moment h = m c (kg m) and second moment J = sum of m r r^T (kg m^2). The usual inertia is
I = trace(J) 1 - J.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from solver_ref.dynamics.links import Arm, Link, Matrix
from solver_ref.parts import Vector

EXACT = 1e-15
"""An axis this near to a coordinate axis is that axis."""

QUARTER = 1e-10
"""So far from 0 and 1 rotations by quarter turns are, where files give them 11 digits."""


@dataclass(frozen=True)
class Segment:
    """One link: `rotation` and `offset` (m) of its frame in that of the segment before it, the
    moments of its mass, and whether its joint is prismatic."""

    rotation: Matrix
    offset: Vector
    mass: float
    moment: Vector
    second: Matrix
    prismatic: bool = False


@dataclass(frozen=True)
class Chain:
    """The segments of an arm; `tip_rotation`, `tip_offset` (m): its tip in the last segment."""

    segments: tuple[Segment, ...]
    lift: Vector
    tip_rotation: Matrix
    tip_offset: Vector


@cache
def chain_of(arm: Arm) -> Chain:
    """The arm with every joint about z; `lift` is the acceleration that stands for gravity."""
    before, segments = np.eye(3), []
    for link in arm.links:
        after = turned_to_z(link.axis)
        segments.append(_segment(link, before, after))
        before = after
    return Chain(
        tuple(segments),
        tuple(-x for x in arm.gravity),
        _rows(before.T @ np.array(arm.tip.rotation)),
        tuple((before.T @ np.array(arm.tip.origin)).tolist()),
    )


def _segment(link: Link, before: np.ndarray, after: np.ndarray) -> Segment:
    com = after.T @ np.array(link.com)
    inertia = after.T @ np.array(link.inertia) @ after
    second = np.trace(inertia) / 2 * np.eye(3) - inertia + link.mass * np.outer(com, com)
    return Segment(
        rotation=_rows(_quarters(before.T @ np.array(link.rotation) @ after)),
        offset=tuple((before.T @ np.array(link.origin)).tolist()),
        mass=link.mass,
        moment=tuple((link.mass * com).tolist()),
        second=_rows(second),
        prismatic=link.joint == "prismatic",
    )


def turned_to_z(axis: Vector) -> np.ndarray:
    """A rotation A with A z along `axis`: one that only renames the axes where that is enough."""
    z = np.array(axis) / np.linalg.norm(axis)
    largest = int(np.argmax(np.abs(z)))
    if abs(abs(z[largest]) - 1) < EXACT:
        z = np.sign(z[largest]) * np.eye(3)[largest]
    x = np.eye(3)[(largest + 1) % 3]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _quarters(rotation: np.ndarray) -> np.ndarray:
    """The rotation, its entries exact where they are those of quarter turns."""
    whole = np.round(rotation)
    return np.where(np.abs(rotation - whole) < QUARTER, whole, rotation)


def _rows(matrix: np.ndarray) -> Matrix:
    return tuple(tuple(row) for row in (matrix + 0.0).tolist())
