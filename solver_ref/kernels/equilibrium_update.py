"""`step` with the closure `equilibrium`: pose, tensions, lengths, lambda -> better pose, tensions.

The step of `forward` by itself (`solver_ref.equilibrium_step`), from tensions in newtons.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from solver_ref.damping import POLICIES
from solver_ref.domain import perturb
from solver_ref.equilibrium_equations import balance, equal_density
from solver_ref.equilibrium_step import equilibrium_step, tensions_of
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.kernels.domain import Domain, Kernel, pose_inputs
from solver_ref.kernels.equilibrium_domain import EquilibriumDomain, working_robot
from solver_ref.kernels.equilibrium_forward import solve_columns, solve_values
from solver_ref.kernels.equilibrium_graph import EquilibriumGraph
from solver_ref.kernels.equilibrium_values import (
    drawn_equilibria,
    shown_there,
    stretched,
)
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    by_unit,
    led_astray,
    out_of_reach,
    pull_names,
    stack,
    start_names,
    unstack,
    verdict,
)
from solver_ref.kernels.ports import status_word
from solver_ref.kinematics import cable_lengths
from solver_ref.logic import LogicArithmetic
from solver_ref.robot import Robot
from solver_ref.statics import weight_of
from solver_ref.status import Status

M = LogicArithmetic()
TENSION_ERROR = 0.2
"""How far, as a share, the tensions of test vectors are from those of the equilibrium."""
DAMPED_SHARE = 0.5
"""Share of the test vectors with a lambda above zero."""
OUTSIDE = ("length", "pose", "beyond", "tilt", "lambda", "step", "moved", "tension")
OUTSIDE += ("right_side", "solution")
"""Flags of values beyond the declared domain."""


class EquilibriumUpdate(EquilibriumGraph):
    """Builds the graph."""

    def build(self, domain: Domain) -> Kernel:
        m = self.m
        pose = pose_inputs(m, self.robot)
        pulls = [m.input(f"T{i}", self.own.tension_format()) for i in self.cables]
        lengths = self.lengths(pulls)
        densities = [self._density(t, x) for t, x in zip(pulls, lengths, strict=True)]
        damping = m.clamp(m.input("lambda", self.damping_format), 0.0, 1.0, "lambda")
        step = self.step(pose, densities, lengths, damping)
        out = m.any(m.flagged(*OUTSIDE))
        status = {
            Status.VALID: m.negation(out),
            Status.NEAR_SINGULAR: m.any(m.flagged("singular")),
            Status.OUT_OF_RANGE: out,
            Status.SLACK: step.slack,
        }
        here = [*step.pose, *step.tensions, step.residual, step.unbalanced]
        outputs = dict(zip(self.result_formats, here, strict=True))
        outputs |= {"pivot": step.pivot, "status": status_word(m, status)}
        graph = m.builder.graph("step", outputs, self.result_formats)
        return Kernel("step", domain.robot, self.own.profile, graph)

    def _density(self, tension: Fixed, length: Fixed) -> Fixed:
        """T / (L m |g|) (1/m)."""
        m = self.m
        share = m.nearest(tension * m.constant(1 / weight_of(self.robot), "scale"), "unit")
        density = m.nearest(share * m.reciprocal(length, "unit"), "density")
        return m.clamp(density, 0.0, self.own.bounds.density, "tension")


class EquilibriumStepKind(KernelKind):
    name = "step"
    what = "pose, tensions, lengths, lambda -> better pose and tensions in equilibrium"
    closures = loadable = ("equilibrium",)
    damped: ClassVar[bool] = True

    def trace(self, domain: Domain) -> Kernel:
        return EquilibriumUpdate(EquilibriumDomain.of(domain)).build(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        names, pulls = solve_columns(robot), pull_names(robot)
        return dataclasses.replace(
            names,
            optional=(*names.optional, *pulls),
            ignored=tuple(name for name in names.ignored if name not in pulls),
            not_negative=(*names.not_negative, *pulls),
            whole=(*names.whole, pulls),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """Without tensions all cables begin with the same force density."""
        values = solve_values(robot, columns, how)
        starts = [values.pop(name) for name in start_names(robot)]
        poses = np.column_stack(starts)
        pulls = _equal_tensions(robot, poses)
        values = unstack(pulls, pull_names(robot)) | values
        return values | dict(zip(robot.coordinates, starts, strict=True))

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = working_robot(domain.robot)
        poses, lengths = stack(inputs, robot.coordinates), _lengths(robot, inputs)
        moved, pulls, at, step = _float_step(robot, inputs)
        reach = Domain.of(robot, domain.profile.name)
        outside = beyond(robot, poses) | out_of_reach(reach, lengths) | (inputs["lambda"] > 1)
        outside |= led_astray(robot, moved)
        least = [cable.tension_min or 0.0 for cable in robot.cables]
        bits = {Status.OUT_OF_RANGE: outside, Status.SLACK: (pulls < least).any(axis=1)}
        left = np.broadcast_arrays(*at.force, *at.moment, *at.residuals)
        count = len(left) - len(robot.cables)
        return unstack(moved, robot.coordinates) | {
            **unstack(pulls, pull_names(robot)),
            "residual": np.abs(left[count:]).max(axis=0),
            "unbalanced": np.abs(left[:count]).max(axis=0),
            "pivot": step.length.pivot,
            "status": verdict(bits),
        }

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        truth, pulls = drawn_equilibria(robot, count, rng)
        share = rng.uniform(size=(count, 1))
        away = perturb(robot, truth, *robot.workspace.start_error, rng)
        poses = truth + share * (away - truth)
        known = pulls * (1 + share * TENSION_ERROR * rng.uniform(-1, 1, pulls.shape))
        damped = rng.uniform(size=count) < DAMPED_SHARE
        values = unstack(poses, robot.coordinates)
        values |= unstack(known, pull_names(robot))
        values["lambda"] = np.where(damped, POLICIES["marquardt"].initial, 0.0)
        return values | shown_there(robot, cable_lengths(robot, truth), pulls, rng)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        moved, pulls, _, _ = _float_step(working_robot(robot), inputs)
        errors = by_unit(robot, stack(outputs, robot.coordinates) - moved)
        return errors | {"N": float(np.abs(stack(outputs, pull_names(robot)) - pulls).max())}


def _lengths(robot: Robot, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    return stretched(robot, inputs, stack(inputs, pull_names(robot)))


def _float_step(robot: Robot, inputs: Mapping[str, np.ndarray]) -> tuple:
    """Poses (N, coordinates) and tensions (N, cables) behind the step, the balance, the step."""
    pose, lengths = [inputs[name] for name in robot.coordinates], _lengths(robot, inputs)
    densities = stack(inputs, pull_names(robot)) / lengths / weight_of(robot)
    at = balance(M, robot, pose, list(densities.T), list(lengths.T))
    step = equilibrium_step(M, robot, pose, list(densities.T), at, inputs["lambda"])
    pulls = tensions_of(M, robot, step.densities, list(lengths.T))
    return np.column_stack(step.pose), np.column_stack(pulls), at, step


def _equal_tensions(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Of cables that have the same force density at each pose (N, coordinates) and hold the weight
    there, (N, cables)."""
    density = np.broadcast_to(equal_density(M, robot, list(poses.T)), len(poses))
    return density[:, None] * weight_of(robot) * cable_lengths(robot, poses)
