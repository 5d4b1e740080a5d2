"""The declared states of a mechanism with closed loops: what its ports carry, and its limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.cholesky import CholeskyBounds
from solver_ref.dynamics.arm_rules import LARGEST_TURN
from solver_ref.dynamics.arrays import columns
from solver_ref.dynamics.closed_loop import Baumgarte
from solver_ref.dynamics.leg_elimination import (
    FORCES,
    Accelerated,
    EliminationBounds,
    accelerations,
)
from solver_ref.dynamics.planar_robot import three_rrr_of
from solver_ref.dynamics.planar_system import PlanarSystem, attachment_points
from solver_ref.dynamics.three_rrr import COORDINATES, LEGS, ThreeRRR
from solver_ref.fixed import Format, next_power
from solver_ref.kernels.dynamics_profile import DynamicsProfile
from solver_ref.robot import Robot

STABILISE = Baumgarte(zeta=1.0, omega=64.0)
"""Powers of two, so that pulling at the gaps takes no multiplier. A smaller omega leaves wider
gaps, a larger one pulls harder at what rounding takes for gaps."""
GAP, GAP_RATE = 2.0**-10, 2.0**-6
"""A state whose loops are open wider (m), or open faster (m/s), is none of the mechanism."""
HELD, NEAR = 2.0**-8, 2.0**-6
"""Pivots as shares of the largest diagonal entry: below the first one they are held, and the state
has no solution; below the second one it is near singular."""
SAMPLES, MARGIN, ROUNDS = 1000, 4.0, 300

RATES = ("vx", "vy", "wz", *(f"d{name}" for name in COORDINATES[3:]))
TORQUES = tuple(f"tau{leg + 1}" for leg in LEGS)


@dataclass(frozen=True)
class DynamicsDomain:
    """What `solver_ref.kernels.domain.Domain` is for kinematics; `span` of each port, SI units."""

    robot: Robot
    mechanism: ThreeRRR
    profile: DynamicsProfile
    bounds: EliminationBounds
    near: float
    spans: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, robot: Robot) -> DynamicsDomain:
        """ValueError where the robot's file names no masses."""
        mechanism, own = three_rrr_of(robot), robot.dynamics
        states = drawn_states(robot, SAMPLES, np.random.default_rng(30))
        found = _accelerated(mechanism, *states)
        force = next_power(MARGIN * float(np.abs(found.forces).max()))
        # What is left of a right side is the row's own force times at most the largest entry.
        right = next_power(force * largest_entry(mechanism))
        profile = DynamicsProfile.choose(
            mechanism, own.accuracy, step=own.step, speed=own.speed[1], torque=own.torque
        )
        bounds = EliminationBounds(
            cholesky=CholeskyBounds(
                floors=(limit_of(mechanism, HELD),) * FORCES,
                right_side=right,
                solution=force,
            ),
            gap=GAP,
            rate=GAP_RATE,
            inverse=profile.inverse,
        )
        near = limit_of(mechanism, NEAR)
        return cls(robot, mechanism, profile, bounds, near, _spans(robot))

    @cached_property
    def formats(self) -> dict[str, Format]:
        """Of every input port: signed, as wide as its span."""
        profile = self.profile
        bits = dict.fromkeys(start_names(COORDINATES), profile.place.bits)
        bits |= dict.fromkeys(start_names(RATES), profile.rate.bits)
        bits |= dict.fromkeys(TORQUES, profile.moment.bits)
        return {
            name: Format(True, math.floor(math.log2(max(map(abs, span)))) + 2, bits[name])
            for name, span in self.spans.items()
        }

    def beyond(self, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """Whether a row of port values leaves the limits."""
        outside = [
            (inputs[name] < low) | (inputs[name] > high) for name, (low, high) in self.spans.items()
        ]
        return np.any(outside, axis=0)


def start_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The ports of the state from which a step starts."""
    return tuple(f"{name}0" for name in names)


def _spans(robot: Robot) -> dict[str, tuple[float, float]]:
    own = robot.dynamics
    reach = reach_of(three_rrr_of(robot))
    sizes = dict.fromkeys(start_names(COORDINATES[:2]), reach)
    sizes |= dict.fromkeys(start_names(COORDINATES[2:]), LARGEST_TURN)
    sizes |= dict.fromkeys(start_names(RATES[:2]), own.speed[0])
    sizes |= dict.fromkeys(start_names(RATES[2:]), own.speed[1])
    sizes |= dict.fromkeys(TORQUES, own.torque)
    return {name: (-size, size) for name, size in sizes.items()}


def reach_of(mechanism: ThreeRRR) -> float:
    """How far from the base's origin the platform's may be (m)."""
    legs = zip(mechanism.bases, mechanism.attachments, strict=True)
    arms = mechanism.active.length + mechanism.passive.length
    return min(math.hypot(*base) + arms + math.hypot(*end) for base, end in legs)


def drawn_states(
    robot: Robot, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, rates (count, 9) and torques (count, 3) of closed loops within the limits.

    Elbows are any; what is near singular is left out.
    """
    mechanism, own = three_rrr_of(robot), robot.dynamics
    most = np.array([own.speed[0]] * 2 + [own.speed[1]] * 7)
    places = _drawn_coordinates(mechanism, count, rng)
    free = np.linalg.svd(PlanarSystem(mechanism).jacobian(places))[2][..., FORCES:, :]
    rates = (rng.normal(size=(count, 1, free.shape[-2])) @ free)[:, 0]
    rates *= (rng.uniform(size=count) / np.max(np.abs(rates) / most, axis=1))[:, None]
    return places, rates, own.torque * rng.uniform(-1, 1, (count, len(TORQUES)))


def _drawn_coordinates(mechanism: ThreeRRR, count: int, rng: np.random.Generator) -> np.ndarray:
    most, found = np.array([reach_of(mechanism)] * 2 + [math.pi]) / 2, np.zeros((0, 9))
    for _ in range(ROUNDS):
        elbows = tuple(rng.choice([-1, 1], len(LEGS)).tolist())
        poses = rng.uniform(-most, most, (count, 3))
        poses = poses[within_reach(mechanism, poses)]
        q = PlanarSystem(replace(mechanism, elbows=elbows)).coordinates(poses)
        good = smallest_pivots(mechanism, q) >= limit_of(mechanism, NEAR)
        found = np.vstack([found, q[good & (np.abs(q[:, 2:]).max(axis=1) <= LARGEST_TURN)]])
        if len(found) >= count:
            return rng.permutation(found)[:count]
    raise ValueError(f"of {ROUNDS * count} poses hardly any is within reach and regular")


def within_reach(mechanism: ThreeRRR, poses: np.ndarray) -> np.ndarray:
    """Whether every leg spans its distance at poses (N, 3)."""
    ways = attachment_points(mechanism, poses) - np.array(mechanism.bases)
    distances = np.linalg.norm(ways, axis=-1)
    upper, lower = mechanism.active.length, mechanism.passive.length
    return ((distances > abs(upper - lower)) & (distances < upper + lower)).all(axis=-1)


def smallest_pivots(mechanism: ThreeRRR, q: np.ndarray) -> np.ndarray:
    """The smallest pivot (1/kg) of the elimination, (N,), at coordinates (N, 9)."""
    return _accelerated(mechanism, q, np.zeros_like(q), np.zeros((len(q), len(TORQUES)))).pivot


def _accelerated(
    mechanism: ThreeRRR, q: np.ndarray, v: np.ndarray, torques: np.ndarray
) -> Accelerated:
    with np.errstate(all="ignore"):  # a singular state is left out by its pivot
        return accelerations(
            FloatArithmetic(),
            mechanism,
            columns(q),
            columns(v),
            columns(torques),
            stabilise=STABILISE,
            bounds=EliminationBounds(),
        )


def largest_entry(mechanism: ThreeRRR) -> float:
    """What no entry of A M^-1 A^T exceeds (1/kg)."""
    own, beyond = mechanism.leg_inertias
    arms = mechanism.active.length**2 * beyond + mechanism.passive.length**2 * own
    lever = max(math.hypot(*end) for end in mechanism.attachments)
    turned = arms / (own * beyond - mechanism.coupling**2)
    return turned + lever**2 / mechanism.inertia + 1 / mechanism.mass


def limit_of(mechanism: ThreeRRR, share: float) -> float:
    """A share of the largest entry, as a power of two that is not above it."""
    return 2.0 ** math.floor(math.log2(share * largest_entry(mechanism)))


def open_loops(mechanism: ThreeRRR, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Whether the loops of states (N, 9) are open too wide, or open too fast, to be any."""
    system = PlanarSystem(mechanism)
    rates = (system.jacobian(q) @ v[..., None])[..., 0]
    return (np.abs(system.gaps(q)) > GAP).any(axis=-1) | (np.abs(rates) > GAP_RATE).any(axis=-1)
