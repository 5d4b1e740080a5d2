"""What rows of `tension` go through: test rows, and the sizes that its formats are made for.

With the closure `equilibrium` the platform hangs at its poses, but for its motion and load. What a
row asks of the cables is moderate, mostly; the declared limits are far beyond.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from solver_ref.conditioning import scaled_jacobian
from solver_ref.equilibrium_poses import sample_equilibria
from solver_ref.geometry import recalibrated, spread_cables
from solver_ref.kernels.kind import Columns, drawn_poses, twist_names, unstack
from solver_ref.kernels.tension_ports import (
    acceleration_names,
    earth_weight,
    motion_of,
    wrench_names,
)
from solver_ref.kinematics import scaling
from solver_ref.logic import LogicArithmetic
from solver_ref.robot import Robot
from solver_ref.statics import carried_wrenches
from solver_ref.status import Status
from solver_ref.tension import BALANCE, Pass, passes, tensions
from solver_ref.tension_pass import PIVOT_FLOOR, TensionLimits

SAMPLES, REGULAR = 1000, 0.99
"""Rows that the sizes are sampled on, and the share of those with an answer that counts: the ones
farthest from being singular."""
NEARER = 0.25
"""The smallest pivot with another geometry, over that with the robot's own, with which a row still
counts."""

RESTING, LOADED, STRONG = 0.3, 0.5, 0.1
"""Shares of the rows at rest, under a load, and with `PUSH` times the usual motion and load."""
USUAL_SPEED, USUAL_ACCELERATION, USUAL_LOAD, PUSH = 0.5, 1.0, 0.1, 5.0


def drawn(robot: Robot, count: int, rng: np.random.Generator) -> Columns:
    """Rows inside the declared domain; with the closure `equilibrium` the platform hangs at its
    poses, but for its motion and load."""
    if robot.closure == "equilibrium":
        poses, _ = sample_equilibria(robot, count, rng)
    else:
        poses = drawn_poses(robot, count, rng)
    size = len(robot.free)
    push = np.where(rng.uniform(size=(count, 1)) < STRONG, PUSH, 1.0)
    moving = push * (rng.uniform(size=(count, 1)) >= RESTING)
    loaded = push * (rng.uniform(size=(count, 1)) < LOADED) * earth_weight(robot) * scaling(robot)
    twists = USUAL_SPEED * moving * rng.uniform(-1, 1, (count, size))
    accelerations = USUAL_ACCELERATION * moving * rng.uniform(-1, 1, (count, size))
    wrenches = USUAL_LOAD * loaded * rng.uniform(-1, 1, (count, size))
    return {
        **unstack(poses, robot.coordinates),
        **unstack(twists, twist_names(robot)),
        **unstack(accelerations, acceleration_names(robot)),
        **unstack(wrenches, wrench_names(robot)),
    }


@dataclass(frozen=True)
class Sizes:
    """The smallest of each pivot, and the largest of what passes limit, by their flags."""

    floors: tuple[float, ...]
    sizes: dict[str, float]


class _Recorder(LogicArithmetic):
    """Float arithmetic that keeps what one pass produces, row by row."""

    def __init__(self) -> None:
        self.pivots: list[np.ndarray] = []
        self.sizes: dict[str, list[np.ndarray]] = {}

    def pivot(self, value, floor):
        self.pivots.append(value)
        return super().pivot(value, floor)

    def divide(self, value, by, limit, role, flag):
        return self.limit(value / by, limit, flag or role)

    def limit(self, value, size, flag):
        self.sizes.setdefault(flag, []).append(np.abs(value))
        return value

    def normalise(self, values, role):
        top = np.maximum(np.max(np.abs(np.broadcast_arrays(*values)), axis=0), 1e-30)
        return [self.limit(v / top, math.inf, role) for v in values], top

    def denormalise(self, value, block, fraction):
        return value * block


@cache
def sampled(robot: Robot, loaded: bool = False) -> Sizes:
    """What the passes of test rows that have an answer go through, but for the least regular.

    `loaded`: each row with some geometry that can be loaded. ValueError where no row has an answer.
    """
    motion = motion_of(robot, drawn(robot, SAMPLES, np.random.default_rng(23)))
    answered = tensions(robot, *motion, method="bounded-step").status & int(Status.VALID) != 0
    if not answered.any():
        raise ValueError(f"the cables of {robot.name} hold it nowhere in its workspace")
    other = recalibrated(robot, spread_cables(robot, SAMPLES, 26)) if loaded else robot
    seen = list(robot_passes(other, motion, _Recorder))
    pivots = np.array([[np.broadcast_to(p, SAMPLES) for p in one.m.pivots] for one in seen])
    live = np.array([one.live for one in seen])
    smallest = np.where(live, pivots.min(axis=1), np.inf).min(axis=0)
    if loaded:
        least = NEARER * min(sampled(robot).floors)
        regular = answered & _balanced(robot, seen) & (smallest >= least)
    else:
        regular = answered & (smallest >= np.quantile(smallest[answered], 1 - REGULAR))
    counted = live & regular
    floors = np.where(counted[:, None], pivots, np.inf).min(axis=(0, 2))
    return Sizes(
        floors=tuple(np.maximum(floors, PIVOT_FLOOR).tolist()),
        sizes={
            name: max(
                float(np.max(np.broadcast_to(value, SAMPLES), where=rows, initial=0.0))
                for one, rows in zip(seen, counted, strict=True)
                for value in one.m.sizes[name]
            )
            for name in seen[0].m.sizes
        },
    )


def _balanced(robot: Robot, seen: list[Pass]) -> np.ndarray:
    """The rows (N,) that end in balance, as redundant cables have to."""
    redundant = len(robot.cables) > len(robot.free)
    most = BALANCE * max(TensionLimits.of(robot).middle) if redundant else math.inf
    ends = []
    for one in seen:
        left = np.max(np.abs(np.broadcast_arrays(*one.found.unbalanced, one.live)[:-1]), axis=0)
        ends.append(one.live & one.found.done & (left <= most))
    return np.any(ends, axis=0)


def robot_passes(
    robot: Robot,
    motion: tuple[np.ndarray, ...],
    arithmetic: type[LogicArithmetic] = LogicArithmetic,
) -> Iterator[Pass]:
    """The passes in float64, as many as hardware may take."""
    wrench = carried_wrenches(robot, *motion) / scaling(robot)
    rows = scaled_jacobian(robot, motion[0])
    return passes(rows, wrench, TensionLimits.of(robot), pass_limit(robot), arithmetic)


def pass_limit(robot: Robot) -> int:
    """The most passes of a solve: rounding makes some settle later than in floats, the more so the
    fewer cables there are to a wrench."""
    cables = len(robot.cables)
    return 8 + (cables if cables > len(robot.free) else 2 * cables)
