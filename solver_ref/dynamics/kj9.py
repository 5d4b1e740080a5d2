"""KJ9, a planar 3-RRR mechanism that is driven by its three active arms; its plane stands upright.

Its numbers are those of the built-in robot `kj9`.
"""

from __future__ import annotations

import numpy as np

from solver_ref.dynamics.planar_robot import three_rrr_of
from solver_ref.robot_file import load

KJ9 = three_rrr_of(load("kj9"))

PUBLISHED_START = (0.35, 0.1, 0.3)
"""The published start pose (m, m, rad): out of reach, the longest leg would have to span 0.587 m
(0.559 m with a first leg along x) where two arms of 0.25 m reach 0.5 m."""

START = (0.05, -0.25, 0.0)
"""A start at rest from which the constraints keep their rank in two seconds of free swing."""


def circle(
    times: np.ndarray, *, radius: float = 0.05, period: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses on a circle about the origin, level, with their rates and accelerations, (..., 3)."""
    rate = 2 * np.pi / period
    angle = rate * np.asarray(times, float)
    level = np.zeros_like(angle)
    place = radius * np.stack([np.cos(angle), np.sin(angle), level], axis=-1)
    speed = radius * rate * np.stack([-np.sin(angle), np.cos(angle), level], axis=-1)
    return place, speed, -(rate**2) * place
