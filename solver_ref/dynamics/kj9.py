"""KJ9, a planar 3-RRR mechanism that is driven by its three active arms; its plane stands upright.

Published are lengths, radii, masses and moments of inertia, joints 120 degrees apart. Chosen here:
the legs are those of the built-in robot `rrr-kj9`, the second one points up, and the centres of the
arms are at half their lengths.
"""

from __future__ import annotations

import math

import numpy as np

from solver_ref.dynamics.three_rrr import Pair, Rod, ThreeRRR

BASE_RADIUS, PLATFORM_RADIUS = 0.30, 0.08
LENGTH = 0.25
ACTIVE_MASS, ABOUT_PIVOT = 1.1, 0.02
PASSIVE_MASS, ABOUT_CENTRE = 0.6, 0.01

PUBLISHED_START = (0.35, 0.1, 0.3)
"""The published start pose (m, m, rad): out of reach, the longest leg would have to span 0.587 m
(0.559 m with a first leg along x) where two arms of 0.25 m reach 0.5 m."""

START = (0.05, -0.25, 0.0)
"""A start at rest from which the constraints keep their rank in two seconds of free swing."""


def _spread(radius: float) -> tuple[Pair, Pair, Pair]:
    angles = [math.radians(-30 + 120 * leg) for leg in range(3)]
    first, second, third = ((radius * math.cos(a), radius * math.sin(a)) for a in angles)
    return first, second, third


KJ9 = ThreeRRR(
    bases=_spread(BASE_RADIUS),
    attachments=_spread(PLATFORM_RADIUS),
    active=Rod(
        length=LENGTH,
        centre=LENGTH / 2,
        mass=ACTIVE_MASS,
        inertia=ABOUT_PIVOT - ACTIVE_MASS * (LENGTH / 2) ** 2,
    ),
    passive=Rod(length=LENGTH, centre=LENGTH / 2, mass=PASSIVE_MASS, inertia=ABOUT_CENTRE),
    mass=2.4,
    inertia=0.008,
)


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
