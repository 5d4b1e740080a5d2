"""`lengths`: pose -> cable lengths and the geometric Jacobian (inverse kinematics)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.cable import cable_at, rotation, spatial
from solver_ref.kernels.domain import Domain, Kernel, pose_inputs, tracer
from solver_ref.kernels.kind import (
    WRITTEN,
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    drawn_poses,
    jacobian_names,
    length_names,
    measured,
    stack,
    verdict,
)
from solver_ref.kernels.ports import outside, status_word
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot import CLOSURES, Robot
from solver_ref.status import Status


def lengths_kernel(domain: Domain) -> Kernel:
    """Cable lengths and the geometric Jacobian's unit rows [u, r x u] at a pose."""
    robot, profile = domain.robot, domain.profile
    m = tracer(robot, profile)
    full = spatial(pose_inputs(m, robot), robot.free)
    turn = rotation(m, full[3:])
    lengths, rows = {}, {}
    ways = zip(robot.cables, pulley_limits(robot), domain.reach, strict=True)
    for number, (cable, limits, reach) in enumerate(ways, 1):
        state = cable_at(m, full[:3], turn, cable, limits)
        square = m.clamp(state.square, reach[0] ** 2, reach[1] ** 2, "length")
        root, inverse = m.square_root(square, "unit")
        lengths[f"L{number}"] = m.proven(m.nearest(root, "pose"), reach[1] * (1 + 2.0**-20))
        unit = [x * inverse if x else 0 for x in state.vector]
        unit = [m.round(x, "unit") for x in unit]
        turns = ((1, 2), (2, 0), (0, 1))
        lever = [m.round(x, "unit") for x in state.lever]
        moment = [m.round(lever[j] * unit[k] - lever[k] * unit[j], "unit") for j, k in turns]
        row = [*unit, *moment]
        for index, name in zip(robot.free, robot.coordinates, strict=True):
            rows[f"J{number}_{name}"] = row[index]
    out = outside(m)
    status = {Status.VALID: m.negation(out), Status.OUT_OF_RANGE: out}
    outputs = lengths | rows | {"status": status_word(m, status)}
    formats = dict.fromkeys(lengths, domain.length_format())
    return Kernel("lengths", robot, profile, m.builder.graph("lengths", outputs, formats))


class Lengths(KernelKind):
    name = "lengths"
    what = "pose -> cable lengths and Jacobian"
    closures = CLOSURES

    def trace(self, domain: Domain) -> Kernel:
        return lengths_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        ignored = (*WRITTEN, "t", *jacobian_names(robot), *length_names(robot))
        return ColumnNames(required=robot.coordinates, ignored=ignored)

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        return dict(columns)

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = domain.robot
        poses = stack(inputs, robot.coordinates)
        result = dict(zip(length_names(robot), cable_lengths(robot, poses).T, strict=True))
        rows = jacobian(robot, poses).reshape(len(poses), -1)
        result |= dict(zip(jacobian_names(robot), rows.T, strict=True))
        return result | {"status": verdict({Status.OUT_OF_RANGE: beyond(robot, poses)})}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        return dict(zip(robot.coordinates, drawn_poses(robot, count, rng).T, strict=True))

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`m` for the lengths; `jacobian` for its rows, in their own units."""
        poses = stack(inputs, robot.coordinates)
        rows = jacobian(robot, poses).reshape(len(poses), -1)
        return {
            "m": float(np.max(np.abs(measured(robot, outputs) - cable_lengths(robot, poses)))),
            "jacobian": float(np.max(np.abs(stack(outputs, jacobian_names(robot)) - rows))),
        }
