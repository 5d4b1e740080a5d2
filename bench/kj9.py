"""`python -m bench.kj9`: whether the dynamics of KJ9 hold, and how well.

Energy and constraints over a free swing of two seconds, forward dynamics of the torques that a
circle takes, and two derivations beside each other. Exit status 1 where one is not met.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from solver_ref.dynamics import three_rrr_bodies
from solver_ref.dynamics.closed_loop import (
    Baumgarte,
    completed,
    forward_dynamics,
    inverse_dynamics,
)
from solver_ref.dynamics.kj9 import KJ9, PUBLISHED_START, START, circle
from solver_ref.dynamics.motion import Motion, simulate
from solver_ref.dynamics.planar_system import OutOfReach, PlanarSystem, energy

DURATION = 2.0
TIMES = np.linspace(0.0, 1.0, 200, endpoint=False)


@dataclass(frozen=True)
class Check:
    """One figure and the most that it may be."""

    name: str
    value: float
    limit: float

    @property
    def met(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        verdict = "ok" if self.met else "NOT MET"
        return f"{self.name:<62} {self.value:9.2e}   at most {self.limit:.0e}   {verdict}"


def swing(system: PlanarSystem, tolerance: float = 1e-9) -> Motion:
    """The free swing from the documented start, motors off."""
    q = system.coordinates(np.array(START))
    return simulate(system, q, np.zeros(9), duration=DURATION, tolerance=tolerance)


def swing_checks(system: PlanarSystem, motion: Motion) -> list[Check]:
    """What the swing did: that it lasted, its energy and its constraints."""
    total = energy(system.mechanism, motion.q, motion.v)
    kinetic = total - energy(system.mechanism, motion.q, np.zeros_like(motion.v))
    gaps = np.abs(system.gaps(motion.q)).max()
    return [
        Check("free swing: seconds that are missing of 2", DURATION - motion.times[-1], 0.0),
        Check("energy: largest change / largest kinetic", np.ptp(total) / kinetic.max(), 1e-6),
        Check("constraints: largest gap (m)", gaps, 1e-6),
    ]


def round_trip(system: PlanarSystem) -> Check:
    """Torques of a circle by inverse dynamics, then the accelerations that they make."""
    place, speed, acceleration = circle(TIMES)
    q = system.coordinates(place)
    v, a = completed(system, q, speed, acceleration)
    torque = inverse_dynamics(system, q, v, a)
    found, _ = forward_dynamics(system, q, v, torque, stabilise=Baumgarte())
    error = np.abs(found - a).max() / np.abs(a).max()
    return Check("circle: inverse, then forward dynamics, relative", error, 1e-9)


def followed(system: PlanarSystem) -> Check:
    """The same torques over time, from the circle's start, with nothing that corrects."""

    def torque(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        place, speed, acceleration = circle(time)
        exact = system.coordinates(place)
        return inverse_dynamics(system, exact, *completed(system, exact, speed, acceleration))

    place, speed, acceleration = circle(0.0)
    q = system.coordinates(place)
    v, _ = completed(system, q, speed, acceleration)
    motion = simulate(system, q, v, duration=1.0, torque=torque, tolerance=1e-10)
    off = np.abs(motion.q[:, :2] - circle(motion.times)[0][:, :2]).max()
    error = off if motion.stop is None else np.inf
    return Check("circle: one turn under these torques alone, off by (m)", error, 1e-6)


def derivations(system: PlanarSystem) -> Check:
    """Lagrange's equations beside the laws of the seven bodies, at any state."""
    rng, worst = np.random.default_rng(9), 0.0
    for _ in range(50):
        q, v, torque = rng.uniform(-3, 3, 9), rng.normal(size=9), rng.normal(size=3)
        found, _ = forward_dynamics(system, q, v, torque, stabilise=Baumgarte())
        other, _ = three_rrr_bodies.accelerations(KJ9, q, v, torque, stabilise=Baumgarte())
        worst = max(worst, np.abs(found - other).max() / np.abs(other).max())
    return Check("two derivations: accelerations, relative", worst, 1e-9)


def main() -> int:
    system = PlanarSystem(KJ9)
    try:
        system.coordinates(np.array(PUBLISHED_START))
    except OutOfReach as error:
        print(f"published start {PUBLISHED_START}: out of reach: {error}")
    motion = swing(system)
    print(f"start used {START}, at rest; {len(motion.times) - 1} steps, condition number", end=" ")
    print(f"of the saddle-point matrix at most {motion.condition:.0f}")
    checks = [*swing_checks(system, motion), round_trip(system), followed(system)]
    checks.append(derivations(system))
    print("\n".join(map(str, checks)))
    return 0 if all(check.met for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
