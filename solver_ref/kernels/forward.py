"""`forward`: lengths and a start pose -> pose, by adaptive Levenberg-Marquardt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from solver_ref.attitude import least_squares
from solver_ref.damping import POLICIES
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.forward_health import float_health
from solver_ref.kernels.forward_pass import ForwardPass, Policy
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    attitude_of,
    beyond,
    by_unit,
    length_names,
    lengths_of,
    out_of_range,
    out_of_reach,
    stack,
    start_names,
    unstack,
)
from solver_ref.kernels.step import (
    StepKind,
    drawn_solves,
    float_step,
    solve_columns,
    solve_values,
)
from solver_ref.kernels.stopping import ITERATION_LIMIT
from solver_ref.kinematics import joint_errors
from solver_ref.levenberg_marquardt import (
    Solution,
    cold_starts,
    levels_first,
    lm_solve,
    solve_cold,
)
from solver_ref.robot import Robot
from solver_ref.status import Status

COLD_SHARE = 0.1
"""Share of the test vectors that start cold from home."""
MARQUARDT_SHARE = 0.7
"""Share of the test vectors with the default policy; the others have any."""


def forward_kernel(domain: Domain, limit: int = ITERATION_LIMIT) -> Kernel:
    """The iteration and the graph of its pass."""
    iteration = ForwardPass(domain, limit).build()
    return Kernel("forward", domain.robot, domain.profile, iteration.graph, iteration)


class Forward(KernelKind):
    name = "forward"
    what = "lengths and a start pose -> pose, its error radius, iterations, status"
    closures = StepKind.closures
    loadable = StepKind.loadable
    looped = True
    damped = True

    def trace(self, domain: Domain) -> Kernel:
        return forward_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        return solve_columns(robot)

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        values = solve_values(robot, columns, how)
        count = len(columns[length_names(robot)[0]])
        cold = start_names(robot)[0] not in columns
        policy = Policy[how.damping.upper().replace("-", "_")]
        values["policy"] = np.full(count, float(policy))
        return values | _coldness(robot, np.full(count, cold))

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot, count = domain.robot, len(inputs["lambda"])
        starts, lengths = stack(inputs, start_names(robot)), lengths_of(robot, inputs)
        attitude = attitude_of(robot, inputs)
        # Rows with one policy, one lambda and one sort of start are solved together.
        cold = inputs.get("cold", np.zeros(count))
        ways = np.column_stack([inputs["policy"], inputs["lambda"], cold])
        kinds, kind_of = np.unique(ways, axis=0, return_inverse=True)
        poses = np.empty_like(starts)
        found = {name: np.empty(count) for name in ("iterations", "status")}
        for number, kind in enumerate(kinds):
            rows = kind_of.reshape(-1) == number
            angles = None if attitude is None else attitude[rows]
            solution = _solve(robot, starts[rows], lengths[rows], angles, *kind)
            poses[rows] = solution.poses
            for name, column in found.items():
                column[rows] = getattr(solution, name)
        status = found["status"].astype(np.int64)
        outside = beyond(robot, starts) | out_of_reach(domain, lengths)
        converged = status & int(Status.CONVERGED) != 0
        return unstack(poses, robot.coordinates) | {
            **float_health(domain, poses, lengths, attitude, converged),
            "iterations": found["iterations"].astype(np.int64),
            "status": out_of_range(status, outside),
        }

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        starts, values = drawn_solves(robot, count, rng)
        cold = rng.uniform(size=count) < COLD_SHARE
        home = cold_starts(robot, count, attitude_of(robot, values))
        starts = np.where(cold[:, None], home, starts)
        values |= unstack(starts, start_names(robot))
        usual = rng.uniform(size=count) < MARQUARDT_SHARE
        policy = np.where(usual, Policy.MARQUARDT, rng.integers(0, len(Policy), count))
        return values | {"policy": policy.astype(float)} | _coldness(robot, cold)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """With no more joints than unknowns, `m` is the largest residual; with more, or a
        measured attitude, `m` and `rad` are the distance to the float64 least-squares pose."""
        poses, lengths = stack(outputs, robot.coordinates), lengths_of(robot, inputs)
        if not least_squares(robot):
            return {"m": float(np.max(np.abs(joint_errors(robot, poses, lengths))))}
        best, attitude = poses, attitude_of(robot, inputs)
        for _ in range(5):
            best = best - float_step(robot, best, lengths, 0.0, attitude)
        return by_unit(robot, poses - best)


def _coldness(robot: Robot, cold: np.ndarray) -> Columns:
    """The port that says which starts hold their attitude, where any do."""
    return {"cold": cold.astype(float)} if levels_first(robot) else {}


def _solve(
    robot: Robot,
    starts: np.ndarray,
    lengths: np.ndarray,
    attitude: np.ndarray | None,
    policy: float,
    damping: float,
    cold: float,
) -> Solution:
    name = Policy(int(policy)).name.lower().replace("_", "-")
    rule = replace(POLICIES[name], initial=0.0 if name == "none" else damping)
    if cold:
        return solve_cold(robot, lengths, rule, limit=ITERATION_LIMIT)
    return lm_solve(robot, starts, lengths, rule, attitude=attitude, limit=ITERATION_LIMIT)
