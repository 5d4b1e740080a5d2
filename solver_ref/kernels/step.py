"""`step`: one Levenberg-Marquardt update of a pose estimate."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.attitude import attitude_axes, attitude_names
from solver_ref.domain import perturb
from solver_ref.evaluation import Evaluation, evaluate
from solver_ref.fixed import Format
from solver_ref.kernels.corrections import condition_values, drawn_conditions, lengths_shown
from solver_ref.kernels.domain import Domain, Kernel, pose_formats, pose_inputs, tracer
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    attitude_of,
    beyond,
    by_unit,
    condition_columns,
    drawn_poses,
    jacobian_names,
    led_astray,
    length_names,
    lengths_of,
    out_of_reach,
    stack,
    start_names,
    unstack,
    verdict,
)
from solver_ref.kernels.ports import (
    attitude_inputs,
    largest_residual,
    length_inputs,
    outside,
    status_word,
    updated_pose,
)
from solver_ref.kinematics import joint_values
from solver_ref.levenberg_marquardt import cold_starts
from solver_ref.orthogonal_step import pivot_floor, take_step
from solver_ref.robot import Robot
from solver_ref.status import Status
from solver_ref.step import UNBOUNDED, Step, solve_step

DAMPED_SHARE = 0.5
"""Share of the test vectors with a lambda above zero."""


def step_kernel(domain: Domain) -> Kernel:
    """`step`: pose estimate, lengths, lambda -> better estimate, residual, smallest pivot."""
    robot, profile = domain.robot, domain.profile
    m = tracer(robot, profile)
    pose = pose_inputs(m, robot)
    lengths = length_inputs(m, domain)
    damping = m.input("lambda", Format(False, 1, profile.damping.bits))
    damping = m.clamp(damping, 0.0, 1.0, "lambda")
    attitude = attitude_inputs(m, domain)
    at = evaluate(m, robot, pose, lengths, attitude=attitude, **domain.ways(m))
    step = take_step(m, at, damping, domain.bounds, profile.pose.bits + 3)
    moved = updated_pose(m, robot, pose, step.scaled)
    residual = largest_residual(m, at.residuals)
    out = outside(m)
    status = {
        Status.VALID: m.negation(out),
        Status.NEAR_SINGULAR: m.any(m.flagged("singular")),
        Status.OUT_OF_RANGE: out,
    }
    outputs = dict(zip(robot.coordinates, moved, strict=True))
    outputs |= {"residual": residual, "pivot": step.pivot, "status": status_word(m, status)}
    graph = m.builder.graph("step", outputs, pose_formats(robot, profile))
    return Kernel("step", robot, profile, graph)


class StepKind(KernelKind):
    name = "step"
    what = "pose estimate, lengths, lambda -> better estimate, residual, smallest pivot"
    closures = ("lengths", "minimum-norm", "attitude")
    loadable = closures
    looped = True
    damped = True

    def trace(self, domain: Domain) -> Kernel:
        return step_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        return solve_columns(robot)

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        values = solve_values(robot, columns, how)
        for name, start in zip(robot.coordinates, start_names(robot), strict=True):
            values[name] = values.pop(start)
        return values

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = domain.robot
        poses, lengths = stack(inputs, robot.coordinates), lengths_of(robot, inputs)
        attitude = attitude_of(robot, inputs)
        at, step = _float_step(robot, poses, lengths, inputs["lambda"], attitude)
        moved = poses - _unscaled(robot, step)
        outside = beyond(robot, poses) | out_of_reach(domain, lengths) | (inputs["lambda"] > 1)
        outside |= led_astray(robot, moved)
        least = pivot_floor(FloatArithmetic(), at, inputs["lambda"], domain.bounds)
        bits = {
            Status.OUT_OF_RANGE: outside,
            Status.NEAR_SINGULAR: ~(step.pivot >= least),
        }
        return unstack(moved, robot.coordinates) | {
            "residual": np.abs(np.column_stack(at.residuals)).max(axis=1),
            "pivot": step.pivot,
            "status": verdict(bits),
        }

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        starts, values = drawn_solves(robot, count, rng)
        return values | unstack(starts, robot.coordinates)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        poses, lengths = stack(inputs, robot.coordinates), lengths_of(robot, inputs)
        step = float_step(robot, poses, lengths, inputs["lambda"], attitude_of(robot, inputs))
        moved = poses - step
        return by_unit(robot, stack(outputs, robot.coordinates) - moved)


def solve_columns(robot: Robot) -> ColumnNames:
    """The columns of a solve: what is measured, perhaps a start and a lambda."""
    names = condition_columns(robot, length_names(robot))
    return dataclasses.replace(
        names,
        required=(*names.required, *attitude_names(robot)),
        optional=(*start_names(robot), "lambda", *names.optional),
        ignored=(*names.ignored, *jacobian_names(robot)),
        whole=(start_names(robot), *names.whole),
    )


def solve_values(robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
    """Measurements, start (where none is given: home, turned as measured) and lambda."""
    count = len(columns[length_names(robot)[0]])
    values = {"lambda": np.full(count, how.first_lambda)} | dict(columns)
    if how.damping == "none":
        values["lambda"] = np.zeros(count)
    starts = cold_starts(robot, count, attitude_of(robot, columns))
    for name, start in zip(start_names(robot), starts.T, strict=True):
        values.setdefault(name, start)
    return condition_values(robot, columns, stack(values, start_names(robot))) | values


def drawn_solves(robot: Robot, count: int, rng: np.random.Generator) -> tuple[np.ndarray, Columns]:
    """Starts within the start error of poses of the workspace, and what is measured there."""
    truth = drawn_poses(robot, count, rng)
    share = rng.uniform(size=(count, 1))
    far = perturb(robot, truth, *robot.workspace.start_error, rng)
    damped = rng.uniform(size=count) < DAMPED_SHARE
    damping = np.where(damped, 10.0 ** rng.uniform(-6, 0, count), 0.0)
    values = drawn_conditions(robot, count, rng)
    shown = lengths_shown(robot, joint_values(robot, truth), values)
    values |= unstack(shown, length_names(robot)) | {"lambda": damping}
    values |= unstack(truth[:, attitude_axes(robot)], attitude_names(robot))
    return truth + share * (far - truth), values


def float_step(
    robot: Robot,
    poses: np.ndarray,
    lengths: np.ndarray,
    damping: np.ndarray | float,
    attitude: np.ndarray | None = None,
) -> np.ndarray:
    """The step to subtract (m, rad), shape (N, coordinates), by the equations in float64."""
    return _unscaled(robot, _float_step(robot, poses, lengths, damping, attitude)[1])


def _float_step(
    robot: Robot,
    poses: np.ndarray,
    lengths: np.ndarray,
    damping: np.ndarray | float,
    attitude: np.ndarray | None,
) -> tuple[Evaluation, Step]:
    m = FloatArithmetic()
    angles = [] if attitude is None else list(attitude.T)
    at = evaluate(m, robot, list(poses.T), list(lengths.T), attitude=angles)
    return at, solve_step(m, at, damping, UNBOUNDED, 0)


def _unscaled(robot: Robot, step: Step) -> np.ndarray:
    change = np.column_stack(step.scaled)
    change[:, robot.translations :] /= robot.characteristic_length
    return change
