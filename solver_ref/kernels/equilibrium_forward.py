"""`forward` with the closure `equilibrium`: lengths and a start pose -> pose AND cable tensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from solver_ref.damping import POLICIES
from solver_ref.domain import perturb
from solver_ref.errors import InputError
from solver_ref.kernels.corrections import warming_names, warms
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.equilibrium_domain import EquilibriumDomain, working_robot
from solver_ref.kernels.equilibrium_pass import EquilibriumPass
from solver_ref.kernels.equilibrium_values import (
    drawn_equilibria,
    health,
    sensor_names,
    shown_there,
    solved,
    stretched,
)
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    by_unit,
    jacobian_names,
    length_names,
    out_of_range,
    out_of_reach,
    pull_names,
    stack,
    start_names,
    unstack,
    written_names,
)
from solver_ref.kernels.stopping import ITERATION_LIMIT
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Robot

DAMPINGS = ("marquardt", "none")
"""Policies that mean something where no step is undone: lambda shrinks, or there is none."""
COLD_SHARE = 0.1
"""Share of the test vectors that start cold from home."""
USUAL_SHARE = 0.7
"""Share of the test vectors with the default lambda; the others have any."""


def equilibrium_kernel(domain: Domain, limit: int = ITERATION_LIMIT) -> Kernel:
    """The iteration and the graph of its pass."""
    own = EquilibriumDomain.of(domain)
    iteration = EquilibriumPass(own, limit).build()
    return Kernel("forward", domain.robot, own.profile, iteration.graph, iteration)


class EquilibriumForward(KernelKind):
    name = "forward"
    what = "lengths and a start pose -> pose and tensions in equilibrium"
    closures = loadable = ("equilibrium",)
    damped: ClassVar[bool] = True

    def trace(self, domain: Domain) -> Kernel:
        return equilibrium_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        return solve_columns(robot)

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        return solve_values(robot, columns, how)

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = working_robot(domain.robot)
        starts = stack(inputs, start_names(robot))
        found = solved(robot, inputs, starts)
        lengths, status = stretched(robot, inputs, found.tensions), found.status.astype(np.int64)
        reach = Domain.of(robot, domain.profile.name)
        outside = beyond(robot, starts) | out_of_reach(reach, lengths)
        return unstack(found.poses, robot.coordinates) | {
            **unstack(found.tensions, pull_names(robot)),
            **health(reach, found, lengths),
            "iterations": found.iterations.astype(np.int64),
            "status": out_of_range(status, outside),
        }

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        truth, pulls = drawn_equilibria(robot, count, rng)
        share = rng.uniform(size=(count, 1))
        starts = truth + share * (perturb(robot, truth, *robot.workspace.start_error, rng) - truth)
        cold = rng.uniform(size=(count, 1)) < COLD_SHARE
        starts = np.where(cold, np.array(robot.workspace.home), starts)
        usual = rng.uniform(size=count) < USUAL_SHARE
        damping = POLICIES["marquardt"].initial
        values = unstack(starts, start_names(robot))
        values["lambda"] = np.where(usual, damping, 10.0 ** rng.uniform(-8, 0, count))
        return values | shown_there(robot, cable_lengths(robot, truth), pulls, rng)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """The distance to the float64 equilibrium nearby: `m`, `rad`, and `N` of the tensions."""
        poses, pulls = stack(outputs, robot.coordinates), stack(outputs, pull_names(robot))
        best = solved(working_robot(robot), inputs, poses)
        errors = by_unit(robot, poses - best.poses)
        return errors | {"N": float(np.abs(pulls - best.tensions).max())}


def solve_columns(robot: Robot) -> ColumnNames:
    """The columns of a solve: what is measured, perhaps a start and a lambda."""
    working_robot(robot)
    lengths, sensed = length_names(robot), sensor_names(robot)
    unread = () if sensed else tuple(f"S{i + 1}" for i in range(len(lengths)))
    unread += () if warms(robot) else ("dT",)
    answers = (*pull_names(robot), "unbalanced")
    return ColumnNames(
        required=(*lengths, *sensed),
        optional=(*start_names(robot), "lambda", *warming_names(robot)),
        ignored=(*written_names(robot), "t", *jacobian_names(robot), *answers, *unread),
        positive=tuple(
            name for name, cable in zip(lengths, robot.cables, strict=True) if not cable.offset
        ),
        not_negative=sensed,
        whole=(start_names(robot),),
    )


def solve_values(robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
    """Measurements, lambda and a start, without one home.

    InputError for a policy that undoes steps, or that keeps lambda: such a solve never says how far
    it still is.
    """
    if how.damping not in DAMPINGS:
        expected = f"{' or '.join(DAMPINGS)} with the closure equilibrium"
        wrong = "is no policy for this closure"
        raise InputError(robot.name, "damping", wrong=wrong, expected=expected, got=how.damping)
    count = len(columns["L1"])
    values = {"lambda": np.full(count, how.first_lambda)}
    values |= {name: np.zeros(count) for name in warming_names(robot)}
    home = zip(start_names(robot), robot.workspace.home, strict=True)
    values |= {name: np.full(count, value) for name, value in home}
    values |= dict(columns)
    return values | ({"lambda": np.zeros(count)} if how.damping == "none" else {})
