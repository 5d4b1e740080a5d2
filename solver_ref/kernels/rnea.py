"""`rnea`: joint positions, speeds and accelerations -> joint torques of a serial arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from solver_ref.dynamics.friction import friction
from solver_ref.dynamics.newton_euler import JointMotion, inverse_dynamics, joint_motion
from solver_ref.dynamics.segments import chain_of
from solver_ref.dynamics.serial import torques
from solver_ref.dynamics.vectors import number
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.arm_domain import (
    ArmDomain,
    acceleration_names,
    arm_of,
    position_names,
    speed_names,
    torque_names,
)
from solver_ref.kernels.domain import Kernel
from solver_ref.kernels.kind import Choices, ColumnNames, Columns, KernelKind, stack, verdict
from solver_ref.kernels.ports import outside, status_word
from solver_ref.robot import CLOSURES, Robot
from solver_ref.status import Status

CORNER_SHARE = 0.25
"""Of the test vectors, those whose ports are at their limits or 0."""


def rnea_kernel(domain: ArmDomain) -> Kernel:
    """The torque of every joint, friction and rotor included."""
    robot, profile = domain.robot, domain.profile
    arm = arm_of(robot)
    chain = chain_of(arm)
    m = TracedArithmetic(profile, tilt=1.0, largest_tilt=1.0)  # no rotation vectors here
    ports = {name: domain.port(m, name) for name in domain.spans}
    names = (position_names(robot), speed_names(robot), acceleration_names(robot))
    states = [tuple(ports[name] for name in row) for row in zip(*names, strict=True)]
    motions = [
        joint_motion(m, segment, *state)
        for segment, state in zip(chain.segments, states, strict=True)
    ]
    return Kernel("rnea", robot, profile, m.builder.graph("rnea", outputs_of(m, domain, motions)))


def outputs_of(
    m: TracedArithmetic, domain: ArmDomain, motions: Sequence[JointMotion]
) -> dict[str, Fixed]:
    """The torque of every joint in motion, friction and rotor included, and the status."""
    arm, names = arm_of(domain.robot), torque_names(domain.robot)
    moved = inverse_dynamics(m, chain_of(arm), motions, bounds=domain.limits.bounds)
    outputs = {}
    for name, link, torque, motion in zip(names, arm.links, moved, motions, strict=True):
        rotor = m.dot([number(m, link.rotor)], [motion.acceleration], "moment")
        total = m.total([torque, rotor, friction(m, link.friction, motion.speed)])
        # A joint that nothing loads has the plain number 0, which is no port yet.
        outputs[name] = m.nearest(m.builder.constant(0.0) + total, "torque")
    out = outside(m)
    status = {Status.VALID: m.negation(out), Status.OUT_OF_RANGE: out}
    return outputs | {"status": status_word(m, status)}


class Rnea(KernelKind):
    name = "rnea"
    what = "joint positions, speeds and accelerations -> joint torques of a serial arm"
    closures = CLOSURES
    serial = True
    usual_ii = 12
    judged = ("torques", "N m")

    def accuracy(self, robot: Robot) -> float:
        return arm_of(robot).accuracy

    def quantum(self, kernel: Kernel) -> float:
        return 2.0**-kernel.profile.torque.bits

    def domain(self, robot: Robot, profile: str, *, loaded: bool) -> ArmDomain:
        return ArmDomain.of(robot)

    def trace(self, domain: ArmDomain) -> Kernel:
        return rnea_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        return ColumnNames(
            required=position_names(robot),
            optional=(*speed_names(robot), *acceleration_names(robot)),
            ignored=("t", "status", *torque_names(robot)),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """Joints of which a column says nothing are at rest."""
        still = np.zeros(len(columns[position_names(robot)[0]]))
        rest = dict.fromkeys((*speed_names(robot), *acceleration_names(robot)), still)
        return rest | dict(columns)

    def answers(self, domain: ArmDomain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = domain.robot
        result = dict(zip(torque_names(robot), _torques(robot, inputs).T, strict=True))
        return result | {"status": verdict({Status.OUT_OF_RANGE: domain.beyond(inputs)})}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        spans = ArmDomain.of(robot).spans
        drawn = {}
        corners = max(1, int(CORNER_SHARE * count))
        for name, (low, high) in spans.items():
            values = rng.uniform(low, high, count)
            values[:corners] = rng.choice([low, min(max(low, 0.0), high), high], corners)
            drawn[name] = values
        return drawn

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`N m` of revolute joints, `N` of prismatic ones."""
        return by_joint(robot, stack(outputs, torque_names(robot)) - _torques(robot, inputs))


def by_joint(robot: Robot, errors: np.ndarray) -> dict[str, float]:
    """The largest of torques' errors (N, joints) of revolute (`N m`) and prismatic joints (`N`)."""
    result: dict[str, float] = {}
    off = np.abs(errors).max(axis=0).tolist()
    for link, error in zip(arm_of(robot).links, off, strict=True):
        unit = "N" if link.joint == "prismatic" else "N m"
        result[unit] = max(error, result.get(unit, 0.0))
    return result


def _torques(robot: Robot, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    names = (position_names(robot), speed_names(robot), acceleration_names(robot))
    return torques(arm_of(robot), *(stack(inputs, row) for row in names))
