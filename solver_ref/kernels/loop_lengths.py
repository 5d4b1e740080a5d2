"""`lengths` of loop equations: pose -> joints, in closed form, and their slopes by the twist."""

from __future__ import annotations

from solver_ref.bounds import MARGIN
from solver_ref.cable import rotation, spatial
from solver_ref.fixed import next_power
from solver_ref.kernels.domain import Domain, Kernel, pose_inputs, tracer
from solver_ref.kernels.loop_joints import posed_loops
from solver_ref.kernels.ports import outside, status_word
from solver_ref.loop_limits import loop_limits
from solver_ref.status import Status


def loop_lengths_kernel(domain: Domain) -> Kernel:
    """The joints of a pose and their rates."""
    robot, profile = domain.robot, domain.profile
    m = tracer(robot, profile)
    full = spatial(pose_inputs(m, robot), robot.free)
    at = posed_loops(m, domain, full, rotation(m, full[3:]))
    values = (m.nearest(q, "pose") for q in at.joints)
    joints = dict(zip(robot.joint_names, values, strict=True))
    top = next_power(MARGIN * loop_limits(robot).rates)
    rows = {
        f"J{i + 1}_{name}": at.rate(m, i, row[index], top, "unit", "length")
        for i, row in enumerate(at.by_twist)
        for index, name in zip(robot.free, robot.coordinates, strict=True)
    }
    out = outside(m)
    status = {
        Status.VALID: m.negation(out),
        Status.NEAR_SINGULAR: m.any(at.near),
        Status.OUT_OF_RANGE: out,
    }
    outputs = joints | rows | {"status": status_word(m, status)}
    formats = dict.fromkeys(joints, domain.encoder_format())
    return Kernel("lengths", robot, profile, m.builder.graph("lengths", outputs, formats))
