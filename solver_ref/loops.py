"""Loop equations: mechanisms whose measured joints, mostly angles, move chains to a platform.

Equations are a module (a file of this project, or a user's own) with

- ``constraints(m, geometry, platform, joints)``: for each loop how far it is open (m, to first
  order), 0 where pose and joints agree;
- ``inverse(m, geometry, platform)``: the joints of a pose, in closed form (optional: without it
  float64 searches them, and no kernel gives them);
- ``links(m, geometry, platform, joints)``: the polylines of the links, for pictures (optional);

over a `solver_ref.dual.DualArithmetic` and a `solver_ref.moving_platform.MovingPlatform`. The
slopes of the constraints are both Jacobians: A by the platform's twist, B by the joints,
A twist + B joint rates = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.cable import Rotation, rotation, spatial
from solver_ref.dual import Dual, DualArithmetic
from solver_ref.logic import LogicArithmetic
from solver_ref.moving_platform import MovingPlatform
from solver_ref.robot import Numbers, Robot

Vector = Sequence[Scalar]

FLOAT = LogicArithmetic()
JOINTS = 6
"""The variable of the first joint; those before are the platform's twist."""


@dataclass(frozen=True)
class LoopState:
    """Loops at a pose and joints: how far each is open (m), and its slopes, each n x (...)."""

    opening: list[Scalar]
    by_twist: list[list[Scalar]]
    by_joint: list[list[Scalar]]


@dataclass(frozen=True)
class Loops:
    """The loop equations of one robot; `equations` is the module, or whatever has its names."""

    robot: Robot
    equations: Any

    @cached_property
    def geometry(self) -> SimpleNamespace:
        """The robot's numbers by name, and its `chains`."""
        return named(self.robot.geometry, self.robot.chains)

    @property
    def inverted(self) -> bool:
        """Whether the equations have an inverse."""
        return hasattr(self.equations, "inverse")

    def platform(self, m: DualArithmetic, full: Vector, turn: Rotation) -> MovingPlatform:
        return MovingPlatform(m, full[:3], turn, self.robot.free)

    def at(
        self,
        m: Arithmetic,
        full: Vector,
        turn: Rotation,
        joints: Vector,
        *,
        coarse: str = "jacobian",
    ) -> LoopState:
        """The loops at a pose (spatial coordinates and rotation) and joints."""
        dual = DualArithmetic(m, coarse=coarse)
        measured = [Dual(dual, q, {JOINTS + i: 1.0}) for i, q in enumerate(joints)]
        platform = self.platform(dual, full, turn)
        loops = list(self.equations.constraints(dual, self.geometry, platform, measured))
        slopes = [{key: m.constant(x, coarse) for key, x in loop.slopes.items()} for loop in loops]
        return LoopState(
            opening=[loop.value for loop in loops],
            by_twist=[[row.get(k, 0) for k in range(JOINTS)] for row in slopes],
            by_joint=[[row.get(JOINTS + k, 0) for k in range(len(joints))] for row in slopes],
        )

    def joints(self, m: Arithmetic, full: Vector, turn: Rotation) -> list[Scalar]:
        """The joints of a pose; an angle lies within half a turn of the middle of its limits.

        ValueError where the equations have no inverse.
        """
        if not self.inverted:
            raise ValueError(f"the equations of {self.robot.name} have no inverse for this kernel")
        dual = DualArithmetic(m, fine="inverse")
        found = self.equations.inverse(dual, self.geometry, self.platform(dual, full, turn))
        return [
            _turned(m, q.value, joint.limits) if joint.unit == "rad" else q.value
            for q, joint in zip(found, self.robot.joints, strict=True)
        ]

    # -- float64, any number of poses of shape (..., coordinates) ----------------------------------

    def joint_values(self, poses: np.ndarray) -> np.ndarray:
        """The joints (..., n), rad or m; NaN where a pose is out of reach."""
        poses = np.asarray(poses, float)
        if not self.inverted:
            return self._searched(poses)
        full, turn = self._spatial(poses)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = _columns(self.joints(FLOAT, full, turn), full[0].shape)
        return found.reshape(*poses.shape[:-1], -1)

    def _searched(self, poses: np.ndarray) -> np.ndarray:
        """The same by Newton's method from the middle of the joints' limits."""
        limits = np.array([joint.limits for joint in self.robot.joints])
        joints = np.tile(limits.mean(axis=1), (*poses.shape[:-1], 1))
        longest = np.ptp(limits, axis=1) / 4
        for _ in range(STEPS):
            opening, _, by_joint = self.system(poses, joints)
            step = (np.linalg.pinv(by_joint) @ opening[..., None])[..., 0]
            joints = joints - np.clip(step, -longest, longest)
        opening = self.system(poses, joints)[0]
        return np.where(np.abs(opening).max(axis=-1, keepdims=True) < CLOSED, joints, np.nan)

    def system(
        self, poses: np.ndarray, joints: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Openings (..., n) in m, A (..., n, free) in m and m/rad, B (..., n, n) in m/rad or 1."""
        shape = np.broadcast_shapes(np.shape(poses)[:-1], np.shape(joints)[:-1])
        poses, joints = (np.broadcast_to(x, (*shape, np.shape(x)[-1])) for x in (poses, joints))
        full, turn = self._spatial(poses)
        state = self.at(FLOAT, full, turn, _split(joints))
        flat = full[0].shape
        openings = _columns(state.opening, flat)
        twist = np.stack(
            [_columns([row[k] for k in self.robot.free], flat) for row in state.by_twist], axis=-2
        )
        joint = np.stack([_columns(row, flat) for row in state.by_joint], axis=-2)
        found = (openings, twist, joint)
        openings, twist, joint = (x.reshape(*shape, *x.shape[1:]) for x in found)
        return openings, twist, joint

    def jacobian(self, poses: np.ndarray) -> np.ndarray:
        """Joint rates by twist, -B^-1 A, (..., n, free); NaN out of reach, or with B singular."""
        _, by_twist, by_joint = self.system(poses, self.joint_values(poses))
        eye = np.eye(by_joint.shape[-1])
        good = np.isfinite(by_joint).all(axis=(-1, -2)) & np.isfinite(by_twist).all(axis=(-1, -2))
        by_joint = np.where(good[..., None, None], by_joint, eye)
        good &= np.linalg.cond(by_joint) < SINGULAR
        rows = -np.linalg.solve(np.where(good[..., None, None], by_joint, eye), by_twist)
        return np.where(good[..., None, None], rows, np.nan)

    def lines(self, pose: np.ndarray) -> list[np.ndarray]:
        """The links at one pose, each (points, 3) in m, base frame; none where none are named."""
        if not hasattr(self.equations, "links"):
            return []
        full, turn = self._spatial(pose)
        dual = DualArithmetic(FLOAT)
        joints = [Dual(dual, q) for q in _split(self.joint_values(pose))]
        platform = self.platform(dual, full, turn)
        lines = self.equations.links(dual, self.geometry, platform, joints)
        return [np.array([[_plain(x) for x in point] for point in line]) for line in lines]

    def _spatial(self, poses: np.ndarray) -> tuple[list[Scalar], Rotation]:
        """Spatial coordinates, each of shape (N,), and the rotations.

        Arrays always: a scalar of NumPy is a number, and 0 would stand for what does not move.
        """
        full = spatial(_split(poses), self.robot.free)
        return full, rotation(FLOAT, full[3:])


def named(geometry: Numbers, chains: Sequence[Numbers]) -> SimpleNamespace:
    """Numbers as equations have them: by name, `chains` among them."""
    own = [SimpleNamespace(**dict(chain)) for chain in chains]
    return SimpleNamespace(**dict(geometry), chains=own)


STEPS = 50
"""Of Newton's method; where it converges a tenth of them is enough."""
CLOSED = 1e-9
"""A loop that is less open (m) is closed."""
SINGULAR = 1e12
"""Where B has a larger condition, a joint says nothing of the pose."""


def _turned(m: Arithmetic, angle: Scalar, limits: tuple[float, float]) -> Scalar:
    """An angle in (-pi, pi] within half a turn of the middle of its limits (rad)."""
    middle = (limits[0] + limits[1]) / 2
    if middle == 0:
        return angle
    turn = m.constant(np.copysign(2 * np.pi, middle), "inverse")
    edge = m.constant(middle - np.copysign(np.pi, middle), "inverse")
    beyond = m.less(angle, edge) if middle > 0 else m.less(edge, angle)
    return m.select(beyond, angle + turn, angle)


def _split(vectors: np.ndarray) -> list[np.ndarray]:
    """The components of vectors (..., k), each an array of shape (N,)."""
    vectors = np.asarray(vectors, float)
    return list(vectors.reshape(-1, vectors.shape[-1]).T)


def _columns(values: Vector, shape: tuple[int, ...]) -> np.ndarray:
    return np.stack([np.broadcast_to(np.asarray(x, float), shape) for x in values], axis=-1)


def _plain(x: Dual | float) -> float:
    return float(np.squeeze(x.value if isinstance(x, Dual) else x))
