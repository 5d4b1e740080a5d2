"""Where the elimination's limits come from: float64 steps on poses of the workspace, with a margin.

Intervals say nothing useful behind a division, so the limits are sampled; whatever passes them in
operation saturates and raises its status bit, so a limit costs accuracy at worst, never silence.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.attitude import attitude_axes
from solver_ref.domain import sample_poses
from solver_ref.evaluation import evaluate, row_limits
from solver_ref.fixed import next_power
from solver_ref.geometry import spread_cables
from solver_ref.kinematics import joint_values
from solver_ref.loop_limits import joint_levers
from solver_ref.measurement import ATTITUDE_WEIGHT
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import Robot
from solver_ref.step import UNBOUNDED, NearSingular, SolveBounds, solve_step

SAMPLES = 1000
MARGIN = 4.0
SCALES = (1e-3, 1e-1)
"""How far off the measured joints are (m), and a measured rotation, weighted."""


DEEPEST = 2.0**-12
"""A pose whose smallest pivot is a smaller share of the largest is near singular: it is reported,
and no limit is widened for it."""

FAINTEST = 2.0**-22
"""With steps made for poses near singular: such a share of the trace of J J^T, at a condition
number of 1,000 to 5,000."""


class _Recorder(FloatArithmetic):
    """Float arithmetic that keeps what an elimination produces, pose by pose."""

    def __init__(self) -> None:
        self.pivots: list[np.ndarray] = []
        self.sizes: dict[str, list[np.ndarray]] = {}

    def pivot(self, value, floor):
        self.pivots.append(value)
        return value

    def divide(self, value, by, limit, role, flag):
        return self._see(role, value / by)

    def _see(self, role, value):
        self.sizes.setdefault(role, []).append(np.abs(value))
        return value

    def normalise(self, values, role):
        top = np.max(np.abs(np.broadcast_arrays(*values)), axis=0)
        return [self._see("right_side", v / top) for v in values], None

    def denormalise(self, value, block, fraction):
        return self._see("step", value)

    def dot_within(self, a, b, limit, role, flag):
        return self._see(role, self.dot(a, b, role))


def solve_bounds(robot: Robot, samples: int = SAMPLES, *, loaded: bool = False) -> SolveBounds:
    """Powers of two that `MARGIN` keeps away from what regular poses of the workspace produce.

    `loaded`: with any geometry that can be loaded. ValueError for a robot that has none: its
    lengths never determine a step.
    """
    rng = np.random.default_rng(20)
    poses = np.repeat(sample_poses(robot, samples, rng), len(SCALES), axis=0)
    cables = spread_cables(robot, len(poses), 24) if loaded else robot.cables
    joints = joint_values(replace(robot, cables=cables), poses)
    scale = np.tile(SCALES, samples)[:, None]
    measured = joints + scale / joint_levers(robot) * rng.uniform(-1, 1, joints.shape)
    attitude = poses[:, attitude_axes(robot)]
    if attitude.size:
        unit = ATTITUDE_WEIGHT * robot.characteristic_length
        attitude = attitude + scale / unit * rng.uniform(-1, 1, attitude.shape)
    m = _Recorder()
    with np.errstate(all="ignore"):  # a singular pose is left out below
        at = evaluate(
            m,
            robot,
            list(poses.T),
            list(measured.T),
            attitude=list(attitude.T),
            cables=cables,
        )
        solve_step(m, at, 0.0, UNBOUNDED, 0)
    smallest, largest = np.min(m.pivots, axis=0), float(np.nanmax(m.pivots))
    regular = smallest >= DEEPEST * largest
    if not regular.any():
        raise ValueError(f"no pose of the workspace of {robot.name} has a regular Jacobian")
    limits = {
        role: next_power(MARGIN * max(float(v[regular].max()) for v in values))
        for role, values in m.sizes.items()
    }
    if len(at.sizes) and regular.mean() < 1 - mechanism_of(robot).singular_share:
        near = NearSingular(_reach(robot), row_limits(robot))
        return SolveBounds(pivot=FAINTEST, **limits, near=near)
    held = max(float(smallest[regular].min()) / MARGIN, DEEPEST * largest / MARGIN)
    return SolveBounds(pivot=2.0 ** math.floor(math.log2(held)), **limits)


def _reach(robot: Robot) -> float:
    """How far apart two poses of the workspace are in scaled coordinates, at most (m)."""
    low, high = np.array(robot.position_bounds).T
    turn = 2 * robot.tilt_bound * robot.characteristic_length
    return math.hypot(float(np.linalg.norm(high - low)), turn)
