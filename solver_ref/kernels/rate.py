"""`rate`: twist -> length rates, and back, damped near singularities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    drawn_poses,
    out_of_reach,
    stack,
    twist_names,
    unstack,
    verdict,
    written_names,
)
from solver_ref.kernels.loop_joints import loop_faults
from solver_ref.kernels.rate_graph import TWIST, rate_kernel, rate_names
from solver_ref.kernels.rate_rows import rate_limits
from solver_ref.kinematics import joint_values, scaling
from solver_ref.loop_limits import joint_levers
from solver_ref.rate import SPEED, rates_of, twists_of
from solver_ref.robot import CLOSURES, Robot
from solver_ref.status import Status

BACK_SHARE, NOISY_SHARE = 0.6, 0.2
"""Shares of the test vectors from rates to a twist, and of those with rates of no twist."""
USUAL_SPEED, NOISE = 0.5, 0.05
"""Of the test vectors' twists, as a share of what is declared, and that noise (m/s)."""


class Rate(KernelKind):
    name = "rate"
    what = "pose and twist -> joint rates; pose and joint rates -> twist"
    closures = CLOSURES
    loadable = CLOSURES
    looped = True
    usual_ii = 8

    def trace(self, domain: Domain) -> Kernel:
        return rate_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        ways = (twist_names(robot), rate_names(robot))
        return ColumnNames(
            required=robot.coordinates,
            optional=(*ways[0], *ways[1]),
            ignored=(*written_names(robot), "t"),
            whole=ways,
            either=ways,
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """What is not given is at rest; rates that are given are the way back."""
        nothing = np.zeros(len(columns[robot.coordinates[0]]))
        back = nothing + (rate_names(robot)[0] in columns)
        rest = dict.fromkeys((*twist_names(robot), *rate_names(robot)), nothing)
        return rest | dict(columns) | {"back": back}

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot, back = domain.robot, inputs["back"] > 0
        poses, given = stack(inputs, robot.coordinates), stack(inputs, twist_names(robot))
        asked = stack(inputs, rate_names(robot))
        found, pivot, blown = twists_of(robot, poses, asked)
        twists = np.where(back[:, None], found, given)
        rates = rates_of(robot, poses, twists)
        most = np.where(back, -TWIST.lo * TWIST.quantum, SPEED)
        out = beyond(robot, poses) | (np.abs(twists) > most[:, None]).any(axis=1)
        out |= out_of_reach(domain, joint_values(robot, poses))
        out |= back & (np.abs(asked) > rate_limits(domain).joints).any(axis=1)
        result = unstack(twists, twist_names(robot))
        result |= unstack(rates, rate_names(robot))
        bits = {Status.OUT_OF_RANGE: out, Status.NEAR_SINGULAR: blown}
        for bit, where in loop_faults(robot, poses).items():
            bits[bit] = bits[bit] | where
        return result | {"pivot": pivot, "status": verdict(bits)}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        poses, size = drawn_poses(robot, count, rng), len(robot.free)
        twists = USUAL_SPEED * SPEED * rng.uniform(-1, 1, (count, size))
        noisy = rng.uniform(size=(count, 1)) < NOISY_SHARE
        rates = rates_of(robot, poses, twists)
        rates += noisy * NOISE * rng.uniform(-1, 1, rates.shape) / joint_levers(robot)
        back = rng.uniform(size=count) < BACK_SHARE
        return {
            **unstack(poses, robot.coordinates),
            **unstack(np.where(back[:, None], 0.0, twists), twist_names(robot)),
            **unstack(np.where(back[:, None], rates, 0.0), rate_names(robot)),
            "back": back.astype(float),
        }

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`m/s` (of angles `rad/s`): of the rates of the twist that came out; `twist`: of a twist
        from rates, scaled (m/s), where the fuse is whole."""
        poses, twists = stack(inputs, robot.coordinates), stack(outputs, twist_names(robot))
        rates = rates_of(robot, poses, twists)
        off, errors = np.abs(stack(outputs, rate_names(robot)) - rates), {}
        for unit in sorted(set(robot.joint_units)):
            columns = [own == unit for own in robot.joint_units]
            errors[f"{unit}/s"] = float(off[:, columns].max())
        singular = outputs["status"].astype(np.int64) & int(Status.NEAR_SINGULAR) != 0
        found, _, blown = twists_of(robot, poses, stack(inputs, rate_names(robot)))
        rows = (inputs["back"] > 0) & ~singular & ~blown
        if rows.any():
            off = (twists - found)[rows] * scaling(robot)
            errors["twist"] = float(np.abs(off).max())
        return errors
