"""What a pose and the measurements give, over the abstract scalar: residuals and a step's rows.

Loop equations give their openings and the openings' slopes. Of cables rows are the squared
residual's [d, J_l^T (r x d) / l] (l the characteristic length, so that a rotation counts as a
displacement); with more cables than unknowns, or with a measured rotation beside them, rows and
residuals are divided by the measured lengths.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.attitude import attitude_rows
from solver_ref.cable import (
    Rotation,
    cable_at,
    pose_row,
    rotation,
    spatial,
    squared_residual,
    squared_row,
)
from solver_ref.loops import Loops
from solver_ref.mechanisms import loops_of
from solver_ref.parts import Cable
from solver_ref.pulley import WrapLimits
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot import Robot

Vector = Sequence[Scalar]

ROW_LIMIT = 2.0
"""Where an estimate is more than so many times as far from an anchor as the measured length, the
row of that length saturates."""


@dataclass(frozen=True)
class Evaluation:
    """What a pose and the measurements give: residuals e (m) and the step's linear system.

    `residuals`: of the joints; `turned`: of a measured rotation, weighted; `sizes`: what targets
    are as multiples of the residuals (m, of squared ones), none where they are the residuals.
    """

    residuals: Vector
    rows: Sequence[Vector]
    targets: Vector
    turned: Vector = ()
    least_squares: bool = False
    sizes: Vector = ()


def evaluate(
    m: Arithmetic,
    robot: Robot,
    pose: Vector,
    joints: Vector,
    *,
    attitude: Vector = (),
    level: Scalar | None = None,
    cables: Sequence[Cable] | None = None,
    wraps: Sequence[WrapLimits | None] | None = None,
) -> Evaluation:
    """Residuals and rows at a pose. Where the flag `level` is 1 the joints do not turn the pose.

    `joints`: what is measured, lengths of cables or the joints of loop equations.
    `attitude`: the measured angles of `attitude_axes`, none where they are not known. `cables` are
    by default the robot's own; `wraps` limits their ways over their pulleys, by default those of
    `pulley_limits`.
    """
    full = spatial(pose, robot.free)
    turn = rotation(m, full[3:], length=robot.characteristic_length)
    if level is not None:
        turn = turn.held(m, level)
    weighted = len(robot.joint_names) > len(robot.free) or len(attitude) > 0
    loops = loops_of(robot)
    if loops:
        links = _loops(m, loops, full, turn, joints)
    else:
        scale = "limited" if len(attitude) else "weighted" if weighted else "squared"
        links = _cables(m, robot, full, turn, joints, scale, cables, wraps)
    residuals, rows, targets = (list(column) for column in zip(*links, strict=True))
    turned: list[Scalar] = []
    if len(attitude):
        turned, turns = attitude_rows(m, robot, pose, attitude)
        rows, targets = rows + turns, targets + turned
    sizes = () if loops or weighted else joints
    return Evaluation(residuals, rows, targets, turned, weighted, sizes)


Link = tuple[Scalar, Vector, Scalar]
"""Of one joint: its residual (m), its row, and what the row times the step shall be."""


def _loops(
    m: Arithmetic, loops: Loops, full: Vector, turn: Rotation, joints: Vector
) -> Iterator[Link]:
    state = loops.at(m, full, turn, joints)
    for opening, slopes in zip(state.opening, state.by_twist, strict=True):
        residual = m.round(opening, "residual")
        row = pose_row(m, slopes[:3], slopes[3:], turn, loops.robot.free)
        yield residual, row, residual


def _cables(
    m: Arithmetic,
    robot: Robot,
    full: Vector,
    turn: Rotation,
    lengths: Vector,
    scale: str,
    cables: Sequence[Cable] | None,
    wraps: Sequence[WrapLimits | None] | None,
) -> Iterator[Link]:
    """Rows are those of `squared` residuals, `weighted` by 1/L, or `limited` too."""
    wraps = pulley_limits(robot) if wraps is None else wraps
    for cable, limits, length in zip(cables or robot.cables, wraps, lengths, strict=True):
        state = cable_at(m, full[:3], turn, cable, limits, precise=False)
        squared = squared_residual(m, state, length)
        weight = m.reciprocal(length, "weight")
        residual = m.round(squared * weight, "residual")
        row = squared_row(m, state, turn, robot.free)
        if scale == "squared":
            yield residual, row, squared
            continue
        shares = (weight * x for x in row)
        limited = _limited(m, robot, shares) if scale == "limited" else shares
        yield residual, [m.round(x, "jacobian") for x in limited], residual


def _limited(m: Arithmetic, robot: Robot, row: Iterable[Scalar]) -> Iterator[Scalar]:
    """A weighted row held to `ROW_LIMIT` times what it is at the solution at most.

    Its place in a word is then that of a unit row: what a measured rotation leaves small pivots to
    needs the bits.
    """
    for x, top in zip(row, row_limits(robot), strict=True):
        yield x if is_zero(x) else m.limit(x, top, "row")


def row_limits(robot: Robot) -> tuple[float, ...]:
    """`ROW_LIMIT` times the largest entries of a row over its length at the solution."""
    longest = max(math.hypot(*cable.attachment) for cable in robot.cables)
    turned = ROW_LIMIT * longest / robot.characteristic_length
    return (*[ROW_LIMIT] * robot.translations, *[turned] * robot.rotations)
