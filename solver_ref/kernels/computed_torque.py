"""`computed-torque`: where an arm is and where it is wanted -> the torques that bring it there.

The accelerations that are asked of the joints, qddr + kd (qdr - qd) + kp (qr - q), held to their
limits, through the recursion of `rnea` at the measured state: `solver_ref.dynamics.control`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.dynamics.newton_euler import joint_motion
from solver_ref.dynamics.segments import chain_of
from solver_ref.dynamics.serial import torques
from solver_ref.fixed import Format
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.arm_domain import (
    ArmDomain,
    acceleration_names,
    arm_of,
    position_names,
    speed_names,
    torque_names,
    wanted_names,
)
from solver_ref.kernels.domain import Kernel
from solver_ref.kernels.kind import Choices, ColumnNames, Columns, KernelKind, stack, verdict
from solver_ref.kernels.rnea import by_joint, outputs_of
from solver_ref.robot import CLOSURES, Robot
from solver_ref.status import Status

STIFFNESS, DAMPING = Format(False, 14, 2), Format(False, 8, 4)
"""Of the gains kp (1/s^2) and kd (1/s)."""
USUAL_STIFFNESS = 100.0
"""Where columns give none; the damping is then the critical one."""
NEAR = 0.01
"""How far from the wanted state test vectors are, as a share of the joints' limits."""


def computed_torque_kernel(domain: ArmDomain) -> Kernel:
    """The torque of every joint under the control law."""
    robot = domain.robot
    m = TracedArithmetic(domain.profile, tilt=1.0, largest_tilt=1.0)  # no rotation vectors here
    gains = (m.input("kp", STIFFNESS), m.input("kd", DAMPING))
    motions = []
    segments = chain_of(arm_of(robot)).segments
    for segment, names, wanted in zip(segments, _joints(robot), _wanted(robot), strict=True):
        place, speed = (domain.port(m, name) for name in names[:2])
        due = [domain.port(m, port, like=name) for port, name in zip(wanted, names, strict=True)]
        pull = m.dot(gains, (due[0] - place, due[1] - speed), "turn")
        asked = m.clamp(due[2] + pull, *domain.spans[names[2]], "range")
        motions.append(joint_motion(m, segment, place, speed, m.round(asked, "turn")))
    outputs = outputs_of(m, domain, motions)
    return Kernel("computed-torque", robot, domain.profile, m.builder.graph("control", outputs))


class ComputedTorque(KernelKind):
    name = "computed-torque"
    what = "joint state and wanted joint motion -> torques of a serial arm under control"
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
        return computed_torque_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        place, speed, acceleration = zip(*_wanted(robot), strict=True)
        return ColumnNames(
            required=(*position_names(robot), *place),
            optional=(*speed_names(robot), *speed, *acceleration, "kp", "kd"),
            ignored=("t", "status", *torque_names(robot)),
            not_negative=("kp", "kd"),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """What no column gives is at rest; gains are the usual ones."""
        names = self.columns(robot)
        nothing = np.zeros(len(columns[names.required[0]]))
        rest = dict.fromkeys(names.optional, nothing)
        stiffness = columns.get("kp", nothing + USUAL_STIFFNESS)
        return rest | {"kp": stiffness, "kd": 2 * np.sqrt(stiffness)} | dict(columns)

    def answers(self, domain: ArmDomain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = domain.robot
        asked, found = _answers(robot, inputs)
        result = dict(zip(torque_names(robot), found.T, strict=True))
        names = [name for row in _joints(robot) for name in row]
        wanted = [name for row in _wanted(robot) for name in row]
        due = {name: inputs[port] for name, port in zip(names, wanted, strict=True)}
        state = dict(inputs) | dict(zip(acceleration_names(robot), asked.T, strict=True))
        out = domain.beyond(state) | domain.beyond(due)
        return result | {"status": verdict({Status.OUT_OF_RANGE: out})}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        """Arms near where they are wanted, so that most of what is asked is within the limits."""
        spans, drawn = ArmDomain.of(robot).spans, {}
        for names, wanted in zip(_joints(robot), _wanted(robot), strict=True):
            for name, port in zip(names, wanted, strict=True):
                low, high = spans[name]
                drawn[port] = rng.uniform(low, high, count) / 2
                off = NEAR * (high - low) * rng.uniform(-1, 1, count)
                drawn[name] = np.clip(drawn[port] + off, low, high)
            del drawn[names[2]]
        stiffness = rng.uniform(0, 2 * USUAL_STIFFNESS, count)
        return drawn | {"kp": stiffness, "kd": 2 * np.sqrt(stiffness)}

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`N m` of revolute joints, `N` of prismatic ones."""
        return by_joint(robot, stack(outputs, torque_names(robot)) - _answers(robot, inputs)[1])


def _answers(robot: Robot, inputs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The accelerations that are asked for and the torques that make them, (N, joints)."""
    names = (position_names(robot), speed_names(robot))
    place, speed = (stack(inputs, row) for row in names)
    due, rate, acceleration = (stack(inputs, row) for row in zip(*_wanted(robot), strict=True))
    kp, kd = inputs["kp"][:, None], inputs["kd"][:, None]
    asked = acceleration + kd * (rate - speed) + kp * (due - place)
    return asked, torques(arm_of(robot), place, speed, asked)


def _joints(robot: Robot) -> list[tuple[str, str, str]]:
    """The names of each joint's position, speed and acceleration."""
    rows = (position_names(robot), speed_names(robot), acceleration_names(robot))
    return list(zip(*rows, strict=True))


def _wanted(robot: Robot) -> list[tuple[str, str, str]]:
    """The ports of each joint's wanted position, speed and acceleration."""
    return list(zip(*wanted_names(robot), strict=True))
