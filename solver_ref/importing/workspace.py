"""A sound workspace for an imported robot: where the source moves it, or as much of that as solves.

A workspace is sound where no pose of it is nearly singular, no attachment comes near its anchor, no
leg is beyond its stroke, and every cold start finds its pose. What the source says (trajectory
points, joint ranges) is taken whole if it is sound; else it is drawn in towards home until it is.
"""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.cable_rules import frame_size, reach
from solver_ref.conditioning import conditioning
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.importing.draft import Draft
from solver_ref.kinematics import cable_lengths, scaling
from solver_ref.levenberg_marquardt import solve_cold
from solver_ref.robot import Robot, Workspace
from solver_ref.status import Status

USUAL_TILT = 0.3
"""The largest rotation (rad) where the source allows any."""

LEAST_TILT = 0.1
"""At least so much rotation (rad), also where trajectories have none."""

LARGEST_TILT = 3.0
"""Half a turn, which rotation vectors do not reach, less what a start may be off."""

LEAST_WIDTH = 0.1
"""Each side of the box has at least this share of the source's range."""

REACH = 0.25
"""Where the source has no range: so far from home, as a share of the frame's size."""

WORST_CONDITION = 100.0
"""The largest ratio of the scaled Jacobian's singular values; it is infinite where one is lost."""

SAMPLES = 400
STEPS = 20
"""A cold start that takes more of them counts as one that misses."""

SHARES = [step / 20 for step in range(1, 21)]
"""Of the wanted workspace, that can be taken."""

FIRST_BOXES = (0.5, 0.25, 0.1)


@dataclass(frozen=True)
class Derived:
    """A workspace, and in words where it comes from."""

    workspace: Workspace
    reason: str


def derive(
    robot: Robot,
    draft: Draft,
    *,
    position: Sequence[tuple[float, float]] | None = None,
    tilt: float | None = None,
) -> Derived:
    """The workspace of `robot`, whose own one says no more than its home.

    `position` and `tilt` (m, rad) are taken as they are; what is not given is derived.
    """
    box, turn, reason = _wanted(robot, draft)
    fixed_box, fixed_tilt = position is not None, tilt is not None
    if fixed_box or fixed_tilt:
        reason = f"{'position' if fixed_box else 'tilt'} as asked, the rest {reason}"
    wide = _Wanted(
        robot,
        box=np.array(position, dtype=float) if fixed_box else box,
        tilt=tilt if fixed_tilt else turn,
        whole=not conditioning(robot, np.array([robot.workspace.home])).deficient,
    )
    if fixed_box and fixed_tilt:
        return Derived(wide.workspace(1.0, 1.0), "as asked")
    side, angle = _drawn_in(
        wide,
        boxes=[1.0] if fixed_box else SHARES,
        turns=[1.0] if fixed_tilt or not robot.rotations else SHARES,
    )
    if min(side, angle) < 1:
        parts = f"{side:.0%} of their positions"
        parts += f" and {angle:.0%} of their rotations" if robot.rotations else ""
        reason += f", {parts}: beyond, not all poses can be solved"
    if not wide.whole:
        reason += "; the robot is singular at home"
    elif not wide.sound(side, angle):
        reason += "; even these are not sound"
    return Derived(wide.workspace(side, angle), reason)


def _drawn_in(
    wide: _Wanted, *, boxes: Sequence[float], turns: Sequence[float]
) -> tuple[float, float]:
    """The shares of the box and of the tilt that are sound: all, or else the most rotation that a
    box of half the size allows, and the largest box with that."""
    if wide.sound(boxes[-1], turns[-1]):
        return boxes[-1], turns[-1]
    for share in FIRST_BOXES if len(boxes) > 1 else boxes:
        angle = wide.largest_turn(turns, share)
        if wide.sound(share, angle):
            return wide.largest_side(boxes, angle), angle
    return boxes[0], turns[0]


def _largest(shares: Sequence[float], good: Callable[[float], bool]) -> float:
    """The largest share that is good, as all smaller ones are; the smallest where none is."""
    if good(shares[-1]):
        return shares[-1]
    place = bisect_left(shares, True, hi=len(shares) - 1, key=lambda part: not good(part))
    return shares[max(place - 1, 0)]


@dataclass(frozen=True)
class _Wanted:
    """The workspace that is wanted: a box (positions, 2) and a tilt, to be drawn in.

    `whole`: whether the lengths see everything at home that they could; of a robot where they do
    not, none of that is asked anywhere.
    """

    robot: Robot
    box: np.ndarray
    tilt: float
    whole: bool

    def workspace(self, side: float, angle: float) -> Workspace:
        own = self.robot.workspace
        home = np.array(own.home[: self.robot.translations])[:, None]
        box = self.box
        if side < 1:
            box = home + side * (box - home)
            unit = 10 ** math.floor(math.log10(np.ptp(box, axis=1).min() / 20))
            inward = unit * np.stack([np.ceil(box[:, 0] / unit), np.floor(box[:, 1] / unit)], 1)
            box = np.hstack([np.minimum(inward[:, :1], home), np.maximum(inward[:, 1:], home)])
        tilt = self.tilt if angle == 1 else math.floor(self.tilt * angle * 1e4) / 1e4
        turned = math.hypot(*own.home[self.robot.translations :])
        return dataclasses.replace(
            own,
            position=tuple((_plain(low), _plain(high)) for low, high in box),
            tilt=max(tilt, turned) if self.robot.rotations else 0.0,
        )

    def largest_turn(self, turns: Sequence[float], side: float) -> float:
        return _largest(turns, lambda turn: self.sound(side, turn))

    def largest_side(self, boxes: Sequence[float], angle: float) -> float:
        return _largest(boxes, lambda box: self.sound(box, angle))

    def sound(self, side: float, angle: float) -> bool:
        robot = dataclasses.replace(self.robot, workspace=self.workspace(side, angle))
        margin = robot.workspace.start_error[0]
        nearest, _ = reach(robot)
        radii = [cable.pulley.radius if cable.pulley else 0.0 for cable in robot.cables]
        if (nearest <= 2 * np.array(radii) + margin).any():
            return False
        if not self.whole:
            return True
        rng = np.random.default_rng(0)
        poses = np.vstack([corner_poses(robot), sample_poses(robot, SAMPLES, rng)])
        if conditioning(robot, poses).condition[2] > WORST_CONDITION:
            return False
        lengths = cable_lengths(robot, poses)
        for column, joint in zip(lengths.T, robot.joints, strict=False):
            if column.min() < joint.limits[0] or column.max() > joint.limits[1]:
                return False
        found = solve_cold(robot, lengths, limit=STEPS)
        return bool((found.status & Status.VALID).all()) and (
            not robot.determined or _same(robot, poses, found.poses)
        )


def _wanted(robot: Robot, draft: Draft) -> tuple[np.ndarray, float, str]:
    """The box, the tilt, and where they come from."""
    count = robot.translations
    home = np.array(robot.workspace.home)
    size = frame_size(robot.anchors)
    limits = np.array(draft.limits)
    around = home[:count, None] + REACH * size * np.array([-1.0, 1.0])
    limits = np.where(np.isfinite(limits), limits, around)
    inside = (
        (draft.poses[:, :count] >= limits[:, 0]) & (draft.poses[:, :count] <= limits[:, 1])
    ).all(1)
    poses = draft.poses[inside]
    turned = np.linalg.norm(poses[:, count:], axis=1)
    width = LEAST_WIDTH * np.maximum(np.ptp(limits, axis=1), LEAST_WIDTH * size)
    if len(np.unique(poses, axis=0)) > 1:
        box = _box([*poses[:, :count], home[:count]])
        tilt = min(max(math.ceil(turned.max() * 1e4) / 1e4, LEAST_TILT), LARGEST_TILT)
        reason = "from the trajectory points"
    else:
        box, tilt = _box([*limits.T, home[:count]]), min(draft.tilt, USUAL_TILT)
        ranges = np.isfinite(draft.limits).all()
        reason = "from the ranges in the source" if ranges else "around home, without ranges"
    short = np.maximum(width - np.ptp(box, axis=1), 0.0) / 2
    return box + np.outer(short, [-1.0, 1.0]), float(tilt), reason


def _box(points: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack([np.min(points, axis=0), np.max(points, axis=0)], axis=1)


def _same(robot: Robot, poses: np.ndarray, found: np.ndarray) -> bool:
    """Whether the poses are those that were looked for, and no other ones of the same lengths."""
    scale = scaling(robot)
    size = frame_size(robot.anchors)
    return bool(np.abs((poses - found) * scale).max() <= 1e-3 * size)


def _plain(value: float) -> float:
    """Without the rounding noise of a sum of decimals."""
    return float(f"{value:.9g}") + 0.0
