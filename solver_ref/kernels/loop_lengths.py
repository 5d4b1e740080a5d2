"""`lengths` of loop equations: pose -> joints, in closed form, and the joint rates by the twist.

The Jacobian is -B^-1 A with both as slopes of the constraints at the joints found; each loop has
its own joint, so B is diagonal. Where a link hardly moves with its joint the pose is near the
boundary of the reach: NEAR_SINGULAR, and OUT_OF_RANGE where the Jacobian could no longer be right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from solver_ref.arithmetic import is_zero
from solver_ref.bounds import MARGIN
from solver_ref.cable import rotation, spatial
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.domain import Domain, Kernel, pose_inputs, tracer
from solver_ref.kernels.ports import outside, status_word
from solver_ref.loop_limits import NEAR, loop_limits, near_boundary, within_reach
from solver_ref.loops import LoopState
from solver_ref.mechanisms import loops_of
from solver_ref.robot import Robot
from solver_ref.status import Status

HELD = 2.0**-8
"""At this share of the largest slope by a joint it is held, and the pose is out of range."""


def loop_lengths_kernel(domain: Domain) -> Kernel:
    """The joints of a pose and their rates."""
    robot, profile, loops = domain.robot, domain.profile, loops_of(domain.robot)
    m = tracer(robot, profile)
    full = spatial(pose_inputs(m, robot), robot.free)
    turn = rotation(m, full[3:])
    found = [
        m.clamp(q, low, high, "length")
        for q, (low, high) in zip(loops.joints(m, full, turn), domain.reach, strict=True)
    ]
    state = loops.at(m, full, turn, found, coarse="unit")
    values = (m.nearest(q, "pose") for q in found)
    joints = dict(zip(robot.joint_names, values, strict=True))
    near, rows = _rates(m, robot, state)
    out = outside(m)
    status = {
        Status.VALID: m.negation(out),
        Status.NEAR_SINGULAR: m.any(near),
        Status.OUT_OF_RANGE: out,
    }
    outputs = joints | rows | {"status": status_word(m, status)}
    formats = dict.fromkeys(joints, domain.encoder_format())
    return Kernel("lengths", robot, profile, m.builder.graph("lengths", outputs, formats))


def _rates(
    m: TracedArithmetic, robot: Robot, state: LoopState
) -> tuple[list[Fixed], dict[str, Fixed]]:
    """Flags of joints near the boundary, and -A / B by column name."""
    limits = loop_limits(robot)
    top = 2.0 ** math.ceil(math.log2(MARGIN * limits.rates))
    near, rows = [], {}
    for i, slope in enumerate(_own_slopes(robot, state.by_joint)):
        size, lever = m.absolute(slope), limits.levers[i]
        near.append(m.less(size, m.builder.constant(NEAR * lever, size.range.fraction)))
        size = m.clamp(size, HELD * lever, size.range.magnitude, "length")
        by = m.pivot(size, HELD * lever)
        for index, name in zip(robot.free, robot.coordinates, strict=True):
            a = state.by_twist[i][index]
            value = 0 if is_zero(a) else m.divide(a, by, top, "unit", "length")
            rows[f"J{i + 1}_{name}"] = m.select(m.less(slope, 0.0), value, -value)
    return near, rows


def _own_slopes(robot: Robot, by_joint: Sequence[Sequence[Fixed]]) -> list[Fixed]:
    """The diagonal of B. ValueError where a loop moves with another one's joint."""
    for i, row in enumerate(by_joint):
        for j, slope in enumerate(row):
            if i != j and not is_zero(slope):
                raise ValueError(
                    f"loop {i + 1} of {robot.name} moves with joint {j + 1}: the kernel lengths "
                    "needs loops with one joint each, in the order of the joints"
                )
    return [row[i] for i, row in enumerate(by_joint)]


def loop_faults(robot: Robot, poses: np.ndarray) -> dict[Status, np.ndarray]:
    """What the status of poses (N, coordinates) says of their joints, in float64."""
    held = near_boundary(robot, poses, HELD).any(axis=-1)
    return {
        Status.OUT_OF_RANGE: ~within_reach(robot, poses) | held,
        Status.NEAR_SINGULAR: near_boundary(robot, poses).any(axis=-1),
    }
