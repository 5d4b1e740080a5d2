"""The joints of a pose in a graph, and what the loops do there: both Jacobians, and their quotient.

Each loop has its own joint, so that B is diagonal. Where a link hardly moves with its joint the
pose is near the boundary of the reach; where it moves less than `HELD` allows, no quotient would be
right, and the pose is out of range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.arithmetic import is_zero
from solver_ref.cable import Rotation
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.domain import Domain
from solver_ref.loop_limits import NEAR, loop_limits, near_boundary, within_reach
from solver_ref.mechanisms import loops_of
from solver_ref.robot import Robot
from solver_ref.roots import Reciprocal
from solver_ref.status import Status

HELD = 2.0**-8
"""At this share of the largest slope by a joint it is held, and the pose is out of range."""


@dataclass(frozen=True)
class PosedLoops:
    """Loops at a pose: `joints`, fine; `by_twist`, A (..., six components); `slopes`, the diagonal
    of B, with flags of the `negative` ones, `divisors` of their sizes, and flags of poses `near`
    the boundary."""

    joints: list[Fixed]
    by_twist: list[list[Fixed]]
    slopes: list[Fixed]
    negative: list[Fixed]
    divisors: list[Reciprocal]
    near: list[Fixed]

    def rate(
        self, m: TracedArithmetic, place: int, speed: Fixed, limit: float, role: str, flag: str
    ) -> Fixed:
        """The joint's rate -speed / B that keeps its loop closed while it opens at `speed` (m/s).

        At the precision of `role`, held to +-limit under the flag.
        """
        if is_zero(speed):
            return m.builder.constant(0.0)
        size = m.divide(speed, self.divisors[place], limit, role, flag)
        return m.select(self.negative[place], size, -size)


def posed_loops(
    m: TracedArithmetic, domain: Domain, full: Sequence[Fixed], turn: Rotation
) -> PosedLoops:
    """Flag `length` where a joint is beyond its span, or its loop hardly moves with it."""
    robot, loops = domain.robot, loops_of(domain.robot)
    levers = loop_limits(robot).levers
    joints = [
        m.clamp(q, low, high, "length")
        for q, (low, high) in zip(loops.joints(m, full, turn), domain.reach, strict=True)
    ]
    state = loops.at(m, full, turn, joints, coarse="unit")
    slopes = _own_slopes(robot, state.by_joint)
    divisors, near = [], []
    for slope, lever in zip(slopes, levers, strict=True):
        size = m.absolute(slope)
        near.append(m.less(size, m.builder.constant(NEAR * lever, size.range.fraction)))
        size = m.clamp(size, HELD * lever, size.range.magnitude, "length")
        divisors.append(m.pivot(size, HELD * lever))
    negative = [m.less(slope, 0.0) for slope in slopes]
    return PosedLoops(joints, state.by_twist, slopes, negative, divisors, near)


def _own_slopes(robot: Robot, by_joint: Sequence[Sequence[Fixed]]) -> list[Fixed]:
    """The diagonal of B. ValueError where a loop moves with another one's joint."""
    for i, row in enumerate(by_joint):
        for j, slope in enumerate(row):
            if i != j and not is_zero(slope):
                raise ValueError(
                    f"loop {i + 1} of {robot.name} moves with joint {j + 1}: this kernel needs "
                    "loops with one joint each, in the order of the joints"
                )
    return [row[i] for i, row in enumerate(by_joint)]


def loop_faults(robot: Robot, poses: np.ndarray) -> dict[Status, np.ndarray]:
    """What the status of poses (N, coordinates) says of their joints, in float64."""
    if loops_of(robot) is None:
        return {}
    held = near_boundary(robot, poses, HELD).any(axis=-1)
    return {
        Status.OUT_OF_RANGE: ~within_reach(robot, poses) | held,
        Status.NEAR_SINGULAR: near_boundary(robot, poses).any(axis=-1),
    }
