"""Twists and joint rates: L_dot = J (v, omega), and back, over the abstract scalar and in float64.

Of loops J is A, and L_dot the rates of their links (m/s), which are those of the joints times -B.

Back is the shortest twist with these rates, or with more cables than unknowns the one with the
least squares of what is left, rotations counting at the characteristic length. The fuse: where the
estimate of J's condition number, |J|_F over the shortest rest of `solver_ref.orthogonal`, passes
`FUSE`, it is damped least squares with mu = `DAMPING` trace(M) / n, M = J J^T or J^T J.

|J|_F is at most sqrt(n) times the largest singular value of the n that J has, and no rest is
shorter than the smallest: the estimate is at most sqrt(n) times the condition number in the 2-norm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.conditioning import scaled_jacobian
from solver_ref.fixed import next_power
from solver_ref.kinematics import jacobian, scaling
from solver_ref.logic import LogicArithmetic
from solver_ref.loop_limits import reachable_poses
from solver_ref.mechanisms import loops_of
from solver_ref.orthogonal import least_norm, least_squares, orthogonalise
from solver_ref.robot import Robot

Vector = Sequence[Scalar]

FUSE = 1e4
"""The condition estimate from which on twists are damped."""
DAMPING = 1e-4
"""lambda there."""
MOST = 17
"""Binary places by which a rest may be shorter than its vector: more blow the fuse, as no vector
has more than 16 + 10 components."""
MARGIN = 1.01
"""Room for rounding."""
SAMPLES = 2000
ROOM = 1.25
"""What joints may turn faster than they do at those poses of the workspace."""
SPEED = 4.0
"""Declared limit of each component of a twist (m/s, rad/s)."""


@dataclass(frozen=True)
class RateLimits:
    """How large things get in a robot's rates.

    `rows`: the norms of the scaled rows; `twist`: that of a scaled twist (m/s); `rates`: each
    link's rate (m/s); `joints`: each joint's, of cables the same; `entries`: those of the rows of
    loops, by coordinate.
    """

    rows: tuple[float, ...]
    twist: float
    rates: tuple[float, ...]
    joints: tuple[float, ...]
    entries: tuple[float, ...] = ()

    @classmethod
    def of(cls, robot: Robot, room: float = 0.0) -> RateLimits:
        """`room`: how much further out than the robot's own attachments may lie (m)."""
        if loops_of(robot):
            return _loop_limits(robot)
        cables, length = robot.cables, robot.characteristic_length
        arms = [
            math.hypot(*cable.attachment) + room if robot.rotations else 0.0 for cable in cables
        ]
        speed, spin = (SPEED * math.sqrt(count) for count in (robot.translations, robot.rotations))
        rates = tuple(speed + spin * arm for arm in arms)
        return cls(
            rows=tuple(math.hypot(1.0, arm / length) for arm in arms),
            twist=float(np.linalg.norm(SPEED * scaling(robot))),
            rates=rates,
            joints=rates,
        )


@cache
def _loop_limits(robot: Robot) -> RateLimits:
    """Of loops: what their rows and rates are over the grown workspace, with room."""
    poses = reachable_poses(robot, SAMPLES, np.random.default_rng(28))
    speeds, count = SPEED * scaling(robot), len(robot.joint_names)
    seen = np.abs(scaled_jacobian(robot, poses)).max(axis=(0, 1))
    entries = [next_power(MARGIN * size) for size in seen]
    rates = np.abs(jacobian(robot, poses)).sum(axis=-1).max(axis=0) * SPEED
    return RateLimits(
        rows=(math.hypot(*entries),) * count,
        twist=float(np.linalg.norm(speeds)),
        rates=(float(np.dot(entries, speeds)),) * count,
        joints=tuple((ROOM * rates).tolist()),
        entries=tuple(entries),
    )


@dataclass(frozen=True)
class Solved:
    """`twist`: scaled (m/s); `pivot`: the square of the shortest rest; `blown`: whether the fuse
    is."""

    twist: Vector
    pivot: Scalar
    blown: Scalar


def solve_rates(
    m: Arithmetic, rows: Sequence[Vector], rates: Vector, damped: Scalar, limits: RateLimits
) -> Solved:
    """The scaled twist with these rates (m/s) at the scaled unit rows, damped where the flag is 1.

    The root of mu stands below the system as a diagonal of its own (beside it, with no more cables
    than unknowns), so that damped and undamped are the same sums of products.
    """
    cables, unknowns = len(rows), len(rows[0])
    size = min(cables, unknowns)
    trace = _trace(m, rows, limits)
    share = m.round(trace * m.constant(DAMPING / size, "weight"), "weight")
    root, _ = m.square_root(share, "unit")
    diagonal = m.select(damped, m.round(root, "unit"), 0)
    below = [[diagonal if i == j else 0 for i in range(size)] for j in range(size)]
    if cables > unknowns:
        columns = [[row[k] for row in rows] for k in range(unknowns)]
        vectors = [[*column, *own] for column, own in zip(columns, below, strict=True)]
        split, found = orthogonalise(m, vectors, [*rates, *[0] * size])
        twist = least_squares(m, split, found, limits.twist, MOST)
    else:
        vectors = [[*row, *own] for row, own in zip(rows, below, strict=True)]
        split, _ = orthogonalise(m, vectors)
        twist = least_norm(m, split, rates, limits.twist, MOST)[:unknowns]
    pivot = m.minimum(split.pivots)
    return Solved(twist, pivot, m.less(pivot, trace * m.constant(FUSE**-2, "weight")))


def _trace(m: Arithmetic, rows: Sequence[Vector], limits: RateLimits) -> Scalar:
    """The trace of M: the sum of the squares of J, at least 1 for each cable."""
    entries = [m.round(x, "weight") for row in rows for x in row if not m.vanishes(x)]
    trace = m.round(m.total([x * x for x in entries]), "weight")
    return m.clamp(trace, len(rows) / 2, _largest_trace(limits), "unused")


def _largest_trace(limits: RateLimits) -> float:
    return MARGIN * sum(top**2 for top in limits.rows)


class _Floats(LogicArithmetic):
    """Where a rest is 0 it has no share in anything, as in hardware."""

    def pivot(self, value: Scalar, floor: float) -> Scalar:
        return np.where(value > 0, value, 1.0)


def rates_of(robot: Robot, poses: np.ndarray, twists: np.ndarray) -> np.ndarray:
    """The joints' rates (N, joints), m/s and rad/s, of twists (N, coordinates) at poses."""
    if loops_of(robot):
        return (jacobian(robot, poses) @ twists[..., None])[..., 0]
    return (scaled_jacobian(robot, poses) @ (twists * scaling(robot))[..., None])[..., 0]


def twists_of(
    robot: Robot, poses: np.ndarray, rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The twists (N, coordinates) of joint rates (N, joints) at poses, the square of the shortest
    rest, and whether the fuse is blown and the twist damped, (N,) each."""
    loops = loops_of(robot)
    if loops:
        by_joint = loops.system(poses, loops.joint_values(poses))[2]
        rates = -(by_joint @ rates[..., None])[..., 0]
    rows = scaled_jacobian(robot, poses)
    entries = [list(row.T) for row in np.swapaxes(rows, 0, 1)]
    m, limits = _Floats(), RateLimits.of(robot)
    free = solve_rates(m, entries, list(rates.T), False, limits)
    damped = solve_rates(m, entries, list(rates.T), True, limits)
    scaled = np.where(free.blown, damped.twist, free.twist).T
    return scaled / scaling(robot), free.pivot, free.blown
