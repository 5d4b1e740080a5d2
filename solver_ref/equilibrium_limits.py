"""Limits of `solver_ref.equilibrium_gain` in hardware, sampled where a robot hangs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from solver_ref.arithmetic import FloatArithmetic, Scalar
from solver_ref.domain import perturb
from solver_ref.equilibrium_equations import Balance, balance
from solver_ref.equilibrium_gain import UNLIMITED, GainBounds, equilibrium_gain
from solver_ref.equilibrium_poses import sample_equilibria
from solver_ref.equilibrium_step import EquilibriumBounds
from solver_ref.fixed import next_power
from solver_ref.geometry import cables_with, drawn
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Robot
from solver_ref.statics import weight_of
from solver_ref.step import SolveBounds

SAMPLES = 1000
GEOMETRIES = 8
"""Over how many geometries the samples are spread where any can be loaded."""
MARGIN = 4.0
"""What the limits keep away from the largest (and pivots from the smallest) that was sampled."""
NEAR = (1e-3, 1e-3)
"""How far (m, rad) the sampled poses are from equilibria."""
RARE = 0.02
"""The share of poses that limits need not reach."""
COARSEST, FINEST = 2.0**-20, 2.0**-24
"""Quanta of lengths between which the asked accuracy decides (m)."""


class _Meter(FloatArithmetic):
    """Float arithmetic that keeps, row by row, what one elimination produces."""

    def __init__(self) -> None:
        self.smallest: np.ndarray | float = math.inf
        self.largest: np.ndarray | float = 0.0

    def pivot(self, value, floor):
        self.smallest = np.minimum(self.smallest, value)
        return value

    def divide(self, value, by, limit, role, flag):
        if role == "solution":
            self.largest = np.maximum(self.largest, np.abs(value / by))
        return value / by

    def limit(self, value, size, flag):
        self.largest = np.maximum(self.largest, np.abs(value))
        return value

    def dot_within(self, a, b, limit, role, flag):
        value = self.dot(a, b, role)
        self.largest = np.maximum(self.largest, np.abs(value))
        return value

    def normalise(self, values, role):
        top = np.max(np.abs(np.broadcast_arrays(*values)), axis=0)
        return [v / top for v in values], None

    def step(self) -> float:
        """The largest step that all but `RARE` rows keep; a wide margin, as wrenches of any
        direction come."""
        return next_power(MARGIN**2 * float(np.quantile(np.asarray(self.largest), 1 - RARE)))

    def bounds(self) -> SolveBounds:
        """Limits that all but `RARE` rows keep, with a margin."""
        firm = np.asarray(self.smallest) > 0
        top = next_power(MARGIN * float(np.quantile(np.asarray(self.largest)[firm], 1 - RARE)))
        least = float(np.quantile(np.asarray(self.smallest)[firm], RARE)) / MARGIN
        return SolveBounds(
            pivot=next_power(least) / 2, factor=top, right_side=top, solution=top, step=top
        )


@cache
def gain_bounds(robot: Robot, loaded: bool = False) -> tuple[GainBounds, float]:
    """Limits with a margin from equilibria of the workspace and their neighbourhood; and the
    largest sum of |K| over the lengths, for one coordinate. Rare poses, where the platform hangs
    least firmly, are left out: hardware says NEAR_SINGULAR or OUT_OF_RANGE there.

    `loaded`: also of several geometries that can be loaded. ValueError for a robot that does not
    hang in its workspace.
    """
    rng = np.random.default_rng(23)
    others = [drawn(robot, rng) for _ in range(GEOMETRIES - 1)] if loaded else []
    robots = [robot, *others]
    parts = [_neighbours(each, SAMPLES // len(robots), rng) for each in robots]
    poses, pulls, lengths = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    count = SAMPLES // len(robots)
    cables = cables_with(robot, lambda n: np.repeat([n.of(each) for each in robots], count))
    densities = pulls / lengths / weight_of(robot)
    turn, density, m = _Meter(), _Meter(), FloatArithmetic()
    steps = _Meter()
    values = (list(columns.T) for columns in (poses, densities, lengths))
    at = balance(m, robot, *values, cables=cables if loaded else None)
    phi, meters = _rotation(robot, poses), (turn, density)
    at, sides = spread_balance(at, SAMPLES), list(lengths.T)
    found = equilibrium_gain(m, robot, phi, at, sides, UNLIMITED)
    equilibrium_gain(steps, robot, phi, at, sides, UNLIMITED, meters=meters)
    entries = np.abs(np.array([np.broadcast_arrays(*c) for c in found.columns]))
    sums, total = entries.sum(axis=0).max(axis=0), densities.sum(axis=1)
    bounds = GainBounds(
        inside=EquilibriumBounds(turn=turn.bounds(), length=density.bounds()),
        entry=next_power(2 * float(np.quantile(entries.max(axis=(0, 1)), 1 - RARE))),
        step=steps.step(),
        total=(float(total.min()) / 2, 2 * float(total.max())),
    )
    return bounds, float(np.quantile(sums, 1 - RARE))


def _neighbours(
    robot: Robot, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses (count, coordinates) near equilibria, the tensions (N) there, and their lengths (m)."""
    poses, pulls = sample_equilibria(robot, count, rng)
    poses = perturb(robot, poses, *NEAR, rng)
    return poses, pulls, cable_lengths(robot, poses)


def hanging_quantum(robot: Robot, loaded: bool = False) -> float:
    """The quantum of lengths (m) whose rounding, with that of the balance, moves a pose by at most
    half the asked accuracy, rare poses left out; from `COARSEST` to `FINEST`."""
    bound = robot.accuracy.length / 4 / gain_bounds(robot, loaded)[1]
    return min(COARSEST, max(FINEST, bound))


def _rotation(robot: Robot, poses: np.ndarray) -> list[Scalar]:
    full: list[Scalar] = [0, 0, 0]
    for column, index in zip(poses.T, robot.free, strict=True):
        if index >= 3:
            full[index - 3] = column
    return full


def spread_balance(at: Balance, count: int) -> Balance:
    """Arms and turn as arrays of one shape, so that right sides are no plain zeros."""

    def spread(rows):
        return [[np.broadcast_to(np.asarray(x, float), (count,)) for x in row] for row in rows]

    return replace(at, arms=spread(at.arms), rows=spread(at.rows), turn=spread(at.turn))
