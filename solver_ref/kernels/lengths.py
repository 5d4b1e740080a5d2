"""`lengths`: pose -> cable lengths and the geometric Jacobian (inverse kinematics).

The lengths that come out are those that the encoders show: where cables stretch, warm up, have an
offset or a drum, they are corrected for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from solver_ref.cable import cable_at, rotation, spatial
from solver_ref.kernels.corrections import (
    condition_inputs,
    condition_values,
    drawn_conditions,
    is_corrected,
    lengths_shown,
    shown_length,
)
from solver_ref.kernels.domain import Domain, Kernel, pose_inputs, tracer
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    condition_columns,
    drawn_poses,
    jacobian_names,
    length_names,
    measured,
    out_of_reach,
    stack,
    unstack,
    verdict,
)
from solver_ref.kernels.loop_joints import loop_faults
from solver_ref.kernels.loop_lengths import loop_lengths_kernel
from solver_ref.kernels.ports import outside, status_word
from solver_ref.kinematics import jacobian, joint_errors, joint_values
from solver_ref.mechanisms import loops_of
from solver_ref.robot import CLOSURES, Robot
from solver_ref.status import Status


def lengths_kernel(domain: Domain) -> Kernel:
    """Cable lengths and the geometric Jacobian's unit rows [u, r x u] at a pose."""
    robot, profile = domain.robot, domain.profile
    m = tracer(robot, profile)
    full = spatial(pose_inputs(m, robot), robot.free)
    turn = rotation(m, full[3:])
    lengths, rows = {}, {}
    conditions = condition_inputs(m, robot)
    correcting = is_corrected(robot) or domain.loaded
    cables = domain.cables(m)
    ways = zip(cables, domain.wraps, domain.reach, strict=True)
    for number, (cable, limits, reach) in enumerate(ways, 1):
        state = cable_at(m, full[:3], turn, cable, limits)
        square = m.clamp(state.square, reach[0] ** 2, reach[1] ** 2, "length")
        root, inverse = m.square_root(square, "unit")
        role = "residual" if correcting else "pose"
        root = m.refined_root(square, root, inverse, "pose")
        length = m.proven(m.nearest(root, role), reach[1] * (1 + 2.0**-20))
        if correcting:
            length = shown_length(m, robot, number - 1, length, conditions, cables)
            length = m.clamp(length, *domain.encoder[number - 1], "length")
        lengths[f"L{number}"] = length
        unit = [x * inverse if x else 0 for x in state.vector]
        unit = [m.round(x, "unit") for x in unit]
        turns = ((1, 2), (2, 0), (0, 1))
        lever = [m.round(x, "unit") for x in state.lever]
        moment = [m.round(lever[j] * unit[k] - lever[k] * unit[j], "unit") for j, k in turns]
        row = [*unit, *moment]
        for index, name in zip(robot.free, robot.coordinates, strict=True):
            # An attachment at the platform origin has no moment.
            rows[f"J{number}_{name}"] = row[index] or m.builder.constant(0.0)
    out = outside(m)
    status = {Status.VALID: m.negation(out), Status.OUT_OF_RANGE: out}
    outputs = lengths | rows | {"status": status_word(m, status)}
    formats = dict.fromkeys(lengths, domain.encoder_format())
    return Kernel("lengths", robot, profile, m.builder.graph("lengths", outputs, formats))


class Lengths(KernelKind):
    name = "lengths"
    what = "pose -> cable lengths and Jacobian"
    closures = CLOSURES
    loadable = CLOSURES
    looped = True

    def trace(self, domain: Domain) -> Kernel:
        return loop_lengths_kernel(domain) if loops_of(domain.robot) else lengths_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        names = condition_columns(robot)
        return dataclasses.replace(
            names,
            required=(*robot.coordinates, *names.required),
            ignored=(*names.ignored, *jacobian_names(robot), *length_names(robot)),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        return condition_values(robot, columns, stack(columns, robot.coordinates)) | dict(columns)

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = domain.robot
        poses = stack(inputs, robot.coordinates)
        values = joint_values(robot, poses)
        shown = lengths_shown(robot, values, inputs)
        result = unstack(shown, length_names(robot))
        rows = jacobian(robot, poses).reshape(len(poses), -1)
        result |= unstack(rows, jacobian_names(robot))
        faults = loop_faults(robot, poses)
        outside = faults.get(Status.OUT_OF_RANGE, False) | beyond(robot, poses)
        outside |= out_of_reach(domain, values)
        return result | {"status": verdict(faults | {Status.OUT_OF_RANGE: outside})}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        poses = unstack(drawn_poses(robot, count, rng), robot.coordinates)
        return poses | drawn_conditions(robot, count, rng)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`m` for the lengths; `jacobian` for its rows, in their own units. Of loops `m` is how far
        they are open, and `rad` the error of the joints that are angles."""
        poses, found = stack(inputs, robot.coordinates), measured(robot, outputs)
        rows = jacobian(robot, poses).reshape(len(poses), -1)
        error = np.abs(found - lengths_shown(robot, joint_values(robot, poses), inputs))
        angles = [unit == "rad" for unit in robot.joint_units]
        opening = joint_errors(robot, poses, found) if loops_of(robot) else error
        return {
            "m": float(np.max(np.abs(opening))),
            **({"rad": float(np.max(error[:, angles]))} if any(angles) else {}),
            "jacobian": float(np.max(np.abs(stack(outputs, jacobian_names(robot)) - rows))),
        }
