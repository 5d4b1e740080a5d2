"""What a robot file says of the masses of a planar 3-RRR and of its motion in hardware."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ArmBody:
    """An arm of a leg: `mass` (kg), distance of its `centre` of mass from its inner joint (m),
    `inertia` about that centre (kg m^2)."""

    mass: float
    centre: float
    inertia: float


@dataclass(frozen=True, kw_only=True)
class LegDynamics:
    """The arms, alike in all legs, and what hardware is made for: the fixed `step` (s) of the
    integrator, the largest `speed` of positions (m/s) and angles (rad/s), the largest `torque` of a
    motor (N m), the `accuracy` asked of accelerations (m/s^2, rad/s^2)."""

    active: ArmBody
    passive: ArmBody
    step: float
    speed: tuple[float, float]
    torque: float
    accuracy: float = 0.01
