"""The joints of CASPR that a platform can have, and their coordinates as poses.

What q is of each type is said by its `words`; angles are in rad, positions in m.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver_ref.kinematics import rotation_exp, rotation_log


@dataclass(frozen=True, kw_only=True)
class JointType:
    """`motion`: that of the robot; `size`: of q; `poses`: from q (N, size) to poses; `words`: what
    q is, for a reader of the robot file; `turns`: whether the platform can turn at all."""

    motion: str
    size: int
    words: str
    poses: Callable[[np.ndarray], np.ndarray] = np.array
    turns: bool = True


def from_euler(q: np.ndarray) -> np.ndarray:
    """Poses (N, 6) with rotation vectors from positions and x-y-z Euler angles (m, rad)."""
    axes = np.eye(3)
    about_x, about_y, about_z = (rotation_exp(q[:, 3 + i, None] * axes[i]) for i in range(3))
    return np.hstack([q[:, :3], rotation_log(about_x @ about_y @ about_z)])


def from_quaternion(q: np.ndarray) -> np.ndarray:
    """Poses (N, 6) with rotation vectors from positions and quaternions of any length but zero."""
    real, vector = q[:, 3], q[:, 4:]
    flip = np.where(real < 0, -1.0, 1.0)[:, None]
    sine = np.linalg.norm(vector, axis=1)
    angle = 2 * np.arctan2(sine, np.abs(real))
    turn = flip * vector * (angle / np.where(sine > 0, sine, 1.0))[:, None]
    return np.hstack([q[:, :3], turn])


JOINT_TYPES: dict[str, JointType] = {
    "SPATIAL_EULER_XYZ": JointType(
        motion="spatial",
        size=6,
        words="(x, y, z, alpha, beta, gamma) with R = Rx(alpha) Ry(beta) Rz(gamma)",
        poses=from_euler,
    ),
    "SPATIAL_QUATERNION": JointType(
        motion="spatial",
        size=7,
        words="(x, y, z, e0, e1, e2, e3), a quaternion with its real part first",
        poses=from_quaternion,
    ),
    "PLANAR_XY": JointType(motion="planar-xy", size=3, words="(x, y, theta)"),
    "PLANAR_XZ": JointType(motion="planar-xz", size=3, words="(x, z, theta)"),
    "T_XYZ": JointType(motion="point", size=3, words="(x, y, z)", turns=False),
    "P_XY": JointType(motion="point-xy", size=2, words="(x, y)", turns=False),
    "P_XZ": JointType(motion="point-xz", size=2, words="(x, z)", turns=False),
}
