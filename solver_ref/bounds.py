"""Where the elimination's limits come from: float64 steps on poses of the workspace, with a margin.

Intervals say nothing useful behind a division, so the limits are sampled; whatever passes them in
operation saturates and raises its status bit, so a limit costs accuracy at worst, never silence.
"""

from __future__ import annotations

import math

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.domain import sample_poses
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Robot
from solver_ref.step import UNBOUNDED, SolveBounds, evaluate, solve_step

SAMPLES = 1000
MARGIN = 4.0


class _Recorder(FloatArithmetic):
    """Float arithmetic that keeps the extremes of what an elimination produces."""

    def __init__(self) -> None:
        self.smallest_pivot = math.inf
        self.largest: dict[str, float] = {}

    def pivot(self, value, floor):
        self.smallest_pivot = min(self.smallest_pivot, float(np.min(value)))
        return value

    def divide(self, value, by, limit, role, flag):
        return self._see(role, value / by)

    def clamp(self, value, lo, hi, flag="range"):
        return value

    def _see(self, role, value):
        size = float(np.max(np.abs(value)))
        self.largest[role] = max(self.largest.get(role, 0.0), size)
        return value

    def normalise(self, values, role):
        top = np.max(np.abs(np.broadcast_arrays(*values)), axis=0)
        return [self._see("right_side", v / top) for v in values], None

    def denormalise(self, value, block, fraction):
        return self._see("step", value)

    def dot_within(self, a, b, limit, role, flag):
        return self._see(role, self.dot(a, b, role))

    def minus_product(self, value, a, b):
        return value - a * b


def solve_bounds(robot: Robot, samples: int = SAMPLES) -> SolveBounds:
    """Powers of two that `MARGIN` keeps away from what poses of the workspace produce."""
    rng = np.random.default_rng(20)
    poses = sample_poses(robot, samples, rng)
    m = _Recorder()
    pose = list(poses.T)
    lengths = list(cable_lengths(robot, poses).T)
    for scale in (1e-3, 1e-1):
        measured = [x + scale * rng.uniform(-1, 1, samples) for x in lengths]
        at = evaluate(m, robot, pose, measured)
        solve_step(m, at, 0.0, UNBOUNDED, 0)
    pivot = 2.0 ** math.floor(math.log2(m.smallest_pivot / MARGIN))
    large = {role: 2.0 ** math.ceil(math.log2(MARGIN * x)) for role, x in m.largest.items()}
    return SolveBounds(
        pivot=pivot,
        factor=large["factor"],
        right_side=large["right_side"],
        solution=large["solution"],
        step=large["step"],
    )
