"""`dynamics`: state of a mechanism with closed loops, torques of its motors -> its next state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.dynamics.closed_loop import completed
from solver_ref.dynamics.integrators import stepped
from solver_ref.dynamics.planar_robot import three_rrr_of
from solver_ref.dynamics.planar_system import PlanarSystem
from solver_ref.dynamics.three_rrr import COORDINATES
from solver_ref.kernels.domain import Kernel
from solver_ref.kernels.dynamics_domain import (
    RATES,
    STABILISE,
    TORQUES,
    DynamicsDomain,
    drawn_states,
    open_loops,
    smallest_pivots,
    start_names,
    within_reach,
)
from solver_ref.kernels.dynamics_graph import STATE, dynamics_kernel
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    stack,
    unstack,
    verdict,
)
from solver_ref.robot import Robot
from solver_ref.status import Status

POSE, TWIST = start_names(COORDINATES[:3]), start_names(RATES[:3])
ANGLES, TURNING = start_names(COORDINATES[3:]), start_names(RATES[3:])
STARTS = start_names(STATE)


class Dynamics(KernelKind):
    name = "dynamics"
    what = "state of a mechanism with closed loops and torques -> its state one step later"
    closures = ("lengths",)
    usual_ii = 48
    judged = ("accelerations", "rad/s^2")

    def accuracy(self, robot: Robot) -> float:
        return robot.dynamics.accuracy

    def quantum(self, kernel: Kernel) -> float:
        return 2.0**-kernel.profile.acceleration.bits

    def fits(self, robot: Robot) -> bool:
        return robot.dynamics is not None

    def domain(self, robot: Robot, profile: str, *, loaded: bool) -> DynamicsDomain:
        return DynamicsDomain.of(robot)

    def trace(self, domain: DynamicsDomain) -> Kernel:
        return dynamics_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        return ColumnNames(
            required=POSE,
            optional=(*ANGLES, *TWIST, *TURNING, *TORQUES),
            ignored=("t", "pivot", "status", *STATE),
            whole=(ANGLES, TURNING),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """Angles that no column gives are those of the pose in the robot's working mode, their
        rates those that keep the loops closed; torques are 0. A pose out of reach has angles 0,
        with which its loops are open."""
        count = len(columns[POSE[0]])
        values = dict.fromkeys((*TWIST, *TORQUES), np.zeros(count)) | dict(columns)
        system = PlanarSystem(three_rrr_of(robot))
        pose, good = stack(values, POSE), np.ones(count, bool)
        if ANGLES[0] not in values:
            good = within_reach(system.mechanism, pose)
            q = np.zeros((count, len(COORDINATES)))
            q[good] = system.coordinates(pose[good])
            values |= unstack(q[:, 3:], ANGLES)
        if TURNING[0] not in values:
            q, twist = stack(values, (*POSE, *ANGLES))[good], stack(values, TWIST)[good]
            v = np.zeros((count, len(RATES)))
            v[good] = completed(system, q, twist, np.zeros_like(twist))[0]
            values |= unstack(v[:, 3:], TURNING)
        return values

    def answers(self, domain: DynamicsDomain, inputs: Mapping[str, np.ndarray]) -> Columns:
        """Where the constraints depend on each other the state stays as it is."""
        q, v, torques = _states(inputs)
        halfway = q + domain.robot.dynamics.step / 2 * v
        pivot = smallest_pivots(domain.mechanism, halfway)
        least = np.minimum(pivot, smallest_pivots(domain.mechanism, q))
        held = ~(least >= domain.bounds.cholesky.floors[0])
        after = np.hstack([q, v])
        after[~held] = np.hstack(_next(domain.robot, q[~held], v[~held], torques[~held]))
        reached = unstack(after, STARTS) | unstack(torques, TORQUES)
        out = domain.beyond(inputs) | domain.beyond(reached)
        out |= open_loops(domain.mechanism, q, v)
        bits = {
            Status.OUT_OF_RANGE: out,
            Status.NEAR_SINGULAR: ~(least >= domain.near),
            Status.NO_SOLUTION: held,
        }
        return unstack(after, STATE) | {"pivot": pivot, "status": verdict(bits)}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        q, v, torques = drawn_states(robot, count, rng)
        return unstack(np.hstack([q, v]), STARTS) | unstack(torques, TORQUES)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`m` and `rad` of places, `m/s^2` and `rad/s^2` of what changed the rates."""
        after = _next(robot, *_states(inputs))
        off = np.abs(stack(outputs, STATE) - np.hstack(after)).max(axis=0)
        off[len(COORDINATES) :] /= robot.dynamics.step
        return {
            "m": float(off[:2].max()),
            "rad": float(off[2:9].max()),
            "m/s^2": float(off[9:11].max()),
            "rad/s^2": float(off[11:].max()),
        }


def _states(inputs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates and rates (N, 9), torques (N, 3)."""
    return stack(inputs, STARTS[:9]), stack(inputs, STARTS[9:]), stack(inputs, TORQUES)


def _next(
    robot: Robot, q: np.ndarray, v: np.ndarray, torques: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    system = PlanarSystem(three_rrr_of(robot))
    return stepped(system, q, v, torques, robot.dynamics.step, stabilise=STABILISE)
