"""The gain of a correction over the abstract scalar: how far each measurement moves the pose.

K = (J^T J)^-1 J^T of the rows in scaled coordinates, where a measured rotation is a row of its own
with the weight of the closure `attitude`. Solved by Gauss-Jordan with a right side for each
measurement, so that a measurement later costs one product for each coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.arithmetic import Arithmetic, FloatArithmetic, Scalar, is_zero
from solver_ref.attitude import attitude_axes
from solver_ref.cable import CableState, Rotation, cable_at, rotation, spatial, squared_row
from solver_ref.domain import sample_poses
from solver_ref.fixed import next_power
from solver_ref.geometry import spread_cables
from solver_ref.measurement import ATTITUDE_WEIGHT
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot import Robot
from solver_ref.step import UNBOUNDED, SolveBounds, eliminate

Vector = Sequence[Scalar]

FINEST = 2.0**-20
"""The coarsest quantum of lengths that are tracked (m)."""
SAMPLES = 1000
ROOM = 1.01
"""A unit row's entries are at most 1, and the lever's length: this much is left for rounding."""
MARGIN = 2.0
"""What the limits of the elimination keep away from the largest that was sampled."""
ATTITUDE_SHARE = 2.0**-3
"""The part of a measured rotation's right side that is solved for: the solution of the whole, up to
one over the weight, would need a longer word than those of the lengths."""


@dataclass(frozen=True)
class Gain:
    """`columns`: for each measurement (lengths, then rotations) what one metre or radian of it
    moves the coordinates by (m, rad); `pivot`: the smallest of the elimination."""

    columns: list[list[Scalar]]
    pivot: Scalar


def unit_row(
    m: Arithmetic,
    robot: Robot,
    state: CableState,
    turn: Rotation,
    inverse: Scalar,
    more: float = 0.0,
) -> list[Scalar]:
    """The length's derivative in scaled coordinates: the squared row over the length.

    `more`: how much further out than the robot's own attachments one may lie (m).
    """
    row = squared_row(m, state, turn, robot.free)
    longest = max(math.hypot(*cable.attachment) for cable in robot.cables) + more
    limits = [1.0] * robot.translations + [longest / robot.characteristic_length] * robot.rotations
    return [
        m.round(m.limit(x * inverse, ROOM * top, "row"), "jacobian") if not is_zero(x) else x
        for x, top in zip(row, limits, strict=True)
    ]


def gain(m: Arithmetic, robot: Robot, rows: Sequence[Vector], bounds: SolveBounds) -> Gain:
    """K from the cables' unit rows in scaled coordinates."""
    size, length = len(robot.free), robot.characteristic_length
    columns = [[row[k] for row in rows] for k in range(size)]
    gram = [[m.dot(columns[i], columns[j], "gram") for j in range(size)] for i in range(size)]
    rights = [list(row) for row in rows]
    axes = attitude_axes(robot)
    for axis in axes:
        square = m.constant(ATTITUDE_WEIGHT**2, "gram")
        gram[axis][axis] = m.round(gram[axis][axis] + square, "gram")
        # A row of its own: the weight in its coordinate, nothing (at a row's precision) elsewhere.
        nothing = rows[0][axis] - rows[0][axis]
        right: list[Scalar] = [nothing] * size
        right[axis] = nothing + m.constant(ATTITUDE_WEIGHT * ATTITUDE_SHARE, "jacobian")
        rights.append(right)
    found = eliminate(m, gram, rights, bounds, factor_role="solution")
    scales = [1.0] * len(rows) + [ATTITUDE_WEIGHT * length / ATTITUDE_SHARE] * len(axes)
    result = []
    for solution, scale in zip(found.solutions, scales, strict=True):
        units = [1.0] * robot.translations + [length] * robot.rotations
        factors = [m.constant(scale / unit, "weight") for unit in units]
        entries = [x * f for x, f in zip(solution, factors, strict=True)]
        result.append([m.round(m.limit(x, bounds.step, "gain"), "gain") for x in entries])
    return Gain(result, found.pivot)


class _Recorder(FloatArithmetic):
    """Float arithmetic that keeps what an elimination produces."""

    def __init__(self) -> None:
        self.pivots: list[np.ndarray] = []
        self.sizes = dict.fromkeys(("solution", "right_side", "factor", "step"), 0.0)

    def pivot(self, value, floor):
        self.pivots.append(value)
        return value

    def divide(self, value, by, limit, role, flag):
        self.sizes[role] = max(self.sizes[role], float(np.max(np.abs(value / by))))
        return value / by

    def limit(self, value, size, flag):
        role = "step" if flag == "gain" else "right_side"
        self.sizes[role] = max(self.sizes[role], float(np.max(np.abs(value))))
        return value


def gain_bounds(robot: Robot, *, loaded: bool = False) -> SolveBounds:
    """Powers of two with a margin beyond what poses of the workspace need.

    `loaded`: with any geometry that can be loaded. ValueError for a robot whose measurements do not
    determine its pose somewhere.
    """
    m = _Recorder()
    _sampled(m, robot, loaded)
    smallest = float(np.min(m.pivots))
    if not smallest > 2.0**-16:
        raise ValueError(f"the measurements do not determine the pose of {robot.name} everywhere")
    largest = {role: next_power(MARGIN * size) for role, size in m.sizes.items()}
    top = max(size for role, size in largest.items() if role != "step")
    return SolveBounds(
        pivot=2.0 ** math.floor(math.log2(smallest / MARGIN)),
        factor=top,
        right_side=top,
        solution=top,
        step=largest["step"],
    )


def tracking_quantum(robot: Robot, *, loaded: bool = False) -> float:
    """The quantum of lengths (m) at which their rounding moves a pose by the asked accuracy at
    most: |K| times a quantum, measured and predicted lengths being half a quantum off each."""
    columns = _sampled(FloatArithmetic(), robot, loaded).columns[: len(robot.cables)]
    rows = [sum(np.abs(column[k]) for column in columns) for k in range(robot.translations)]
    return min(FINEST, robot.accuracy.length / float(np.max(rows)))


def _sampled(m: FloatArithmetic, robot: Robot, loaded: bool) -> Gain:
    """The gain at poses of the grown workspace, perhaps with geometries that can be loaded."""
    rng = np.random.default_rng(22)
    poses = sample_poses(robot, SAMPLES, rng, margin=robot.workspace.start_error)
    full = spatial(list(poses.T), robot.free)
    turn = rotation(m, full[3:], length=robot.characteristic_length)
    rows = []
    cables = spread_cables(robot, SAMPLES, 25) if loaded else robot.cables
    for cable, limits in zip(cables, pulley_limits(robot), strict=True):
        state = cable_at(m, full[:3], turn, cable, limits)
        row = unit_row(m, robot, state, turn, 1 / np.sqrt(state.square))
        rows.append(np.broadcast_arrays(*row))
    with np.errstate(all="ignore"):
        return gain(m, robot, rows, UNBOUNDED)
