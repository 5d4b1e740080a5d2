"""Poses in which a platform hangs in equilibrium: the domain of the closure `equilibrium`.

Such poses are as many-sided as there are lengths: four cables on a spatial platform leave, beside a
position, one more freedom, in which the platform twists against its cables. A draw takes the
position as wanted and the other coordinates from a random attitude and random tensions by the
smallest change (scaled) that brings them into equilibrium; what is beyond the bounds is not used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from solver_ref.domain import sample_poses
from solver_ref.equilibrium_search import moved
from solver_ref.kinematics import scaling
from solver_ref.robot import Robot
from solver_ref.statics import carried_wrenches, weight_of
from solver_ref.stiffness import loaded_stiffness, pull, sensitivity

TILT = 0.65
"""How far (rad) a platform may tilt by hanging, where its workspace does not allow more anyway."""

SHARES = (0.2, 2.0)
"""The first tensions are drawn between these shares of the weight over the cables."""

BALANCED = 1e-9
"""The unbalanced wrench, moments scaled, as a share of the weight, that is none."""

STEPS, LONGEST = 30, 0.5
"""Newton steps, and the longest of them: tensions as shares of the weight, turns as displacements
at the characteristic length, as shares of the cables' mean length."""

SHIFT = 1e-12
"""What keeps a singular step finite: this share of the trace of its matrix."""

LEAST_GOOD, ROUND = 0.01, 128
"""A robot does not hang in its workspace where fewer draws are good; the smallest round of draws
after which that is judged is three of these."""


@dataclass(frozen=True, kw_only=True)
class Hanging:
    """Poses (N, free), m and rad, and tensions (N, cables), N, of a platform in equilibrium.

    `good` (N,): it is one, stable, within the tilt and the bounds of the tensions.
    """

    poses: np.ndarray
    tensions: np.ndarray
    good: np.ndarray


def hanging_robot(robot: Robot) -> Robot:
    """The same robot with the workspace that it hangs in: tilted up to `TILT` if not more."""
    tilt = max(robot.workspace.tilt, TILT) if robot.rotations else 0.0
    return replace(robot, workspace=replace(robot.workspace, tilt=tilt))


def equilibrium_poses(robot: Robot, positions: np.ndarray, rng: np.random.Generator) -> Hanging:
    """One pose in equilibrium, drawn at random, at each position (N, translations), m.

    With fewer cables than translations the position gives way too, as little as possible.
    ValueError without a mass.
    """
    count = len(positions)
    start = sample_poses(robot, count, rng)
    start[:, : robot.translations] = positions
    weight = weight_of(robot)
    shares = rng.uniform(*SHARES, (count, len(robot.cables)))
    poses, pulls = _balanced(robot, start, shares * weight / len(robot.cables), weight)
    return Hanging(poses=poses, tensions=pulls, good=_good(robot, poses, pulls, weight))


def sample_equilibria(
    robot: Robot, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Poses in equilibrium (count, free) over the position box, and their tensions.

    ValueError for a robot that does not hang there.
    """
    low, high = np.array(robot.workspace.position).T
    poses, pulls = np.empty((0, len(robot.free))), np.empty((0, len(robot.cables)))
    tries = 0
    while len(poses) < count:
        wanted = rng.uniform(low, high, (max(2 * (count - len(poses)), ROUND), len(low)))
        drawn = equilibrium_poses(robot, wanted, rng)
        inside = (drawn.poses[:, : len(low)] >= low) & (drawn.poses[:, : len(low)] <= high)
        good = drawn.good & inside.all(axis=1)
        poses = np.vstack([poses, drawn.poses[good]])
        pulls = np.vstack([pulls, drawn.tensions[good]])
        tries += len(wanted)
        if tries >= 3 * ROUND and len(poses) < LEAST_GOOD * tries:
            raise ValueError(f"{robot.name} hangs in equilibrium at too few poses of its workspace")
    return poses[:count], pulls[:count]


def _balanced(
    robot: Robot, poses: np.ndarray, pulls: np.ndarray, weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method with the smallest steps in attitude and tensions."""
    scale, poses, pulls = scaling(robot), poses.copy(), pulls.copy()
    kept = robot.translations if len(robot.cables) >= robot.translations else 0
    live = np.arange(len(poses))
    for _ in range(STEPS):
        here, pulled = poses[live], pulls[live]
        cables = pull(robot, here)
        left = _unbalanced(robot, here, cables.rows, pulled) / scale / weight
        going = np.abs(left).max(axis=1) > BALANCED / 10
        if not going.any():
            break
        reach = cables.lengths.mean(axis=1)
        hessian = loaded_stiffness(robot, here, cables, pulled) / scale[:, None] / scale
        hessian *= (reach / weight)[:, None, None]
        columns = np.swapaxes(cables.rows / scale, -1, -2)
        step = _smallest(np.concatenate([hessian[..., kept:], columns], axis=-1), -left)
        turn = np.zeros(here.shape)
        turn[:, kept:] = step[:, : len(scale) - kept] * reach[:, None]
        here = moved(robot, here, turn)
        pulled = pulled + step[:, len(scale) - kept :] * weight
        poses[live[going]], pulls[live[going]] = here[going], pulled[going]
        live = live[going]
    return poses, pulls


def _smallest(system: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The smallest step that meets the target, no component longer than `LONGEST`."""
    transposed = np.swapaxes(system, -1, -2)
    matrix = system @ transposed
    shift = SHIFT * np.trace(matrix, axis1=-2, axis2=-1)[:, None, None]
    solution = np.linalg.solve(matrix + shift * np.eye(matrix.shape[-1]), target[..., None])
    step = (transposed @ solution)[..., 0]
    size = np.abs(step).max(axis=1, keepdims=True)
    return step * np.minimum(1.0, LONGEST / np.maximum(size, LONGEST))


def _unbalanced(robot: Robot, poses: np.ndarray, rows: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    return (pulls[:, None, :] @ rows)[:, 0] - carried_wrenches(robot, poses)


def _good(robot: Robot, poses: np.ndarray, pulls: np.ndarray, weight: float) -> np.ndarray:
    rows = pull(robot, poses).rows
    left = np.abs(_unbalanced(robot, poses, rows, pulls) / scaling(robot)).max(axis=1)
    lowest = np.array([cable.tension_min or 0.0 for cable in robot.cables])
    bounds = [cable.tension_max for cable in robot.cables]
    highest = np.array([math.inf if bound is None else bound for bound in bounds])
    turn = np.linalg.norm(poses[:, robot.translations :], axis=1)
    stable = sensitivity(robot, poses, pulls).least_stiffness > 0
    good = (left <= BALANCED * weight) & stable
    good &= turn <= hanging_robot(robot).workspace.tilt
    return good & ((pulls >= lowest) & (pulls <= highest)).all(axis=1)
