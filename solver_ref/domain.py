"""Poses of a robot's declared workspace: random ones, its corners, and starts beside them.

Poses have the shape (count, coordinates), in the robot's own coordinates (m, rad).
"""

from itertools import product

import numpy as np

from solver_ref.robot import Robot


def sample_poses(
    robot: Robot,
    count: int,
    rng: np.random.Generator,
    *,
    margin: tuple[float, float] = (0.0, 0.0),
) -> np.ndarray:
    """Poses uniform over the position box and the ball of rotations |phi| <= tilt.

    `margin` (m, rad) grows both; `robot.workspace.start_error` gives the grown workspace.
    """
    low, high = np.array(robot.workspace.position).T
    positions = rng.uniform(low - margin[0], high + margin[0], (count, robot.translations))
    if not robot.rotations:
        return positions
    tilt = robot.workspace.tilt + margin[1]
    # The radius of a uniform point of a k-ball is the k-th root of a uniform number.
    radius = tilt * rng.uniform(size=(count, 1)) ** (1 / robot.rotations)
    return np.hstack([positions, radius * _directions(robot.rotations, count, rng)])


def level_poses(robot: Robot, count: int, rng: np.random.Generator) -> np.ndarray:
    """Poses uniform over the position box, without rotation."""
    poses = sample_poses(robot, count, rng)
    poses[:, robot.translations :] = 0.0
    return poses


def corner_poses(robot: Robot, *, margin: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Every corner of the position box, level and turned by the largest tilt.

    Turned about each axis and each diagonal of the rotation space, both ways; `margin` as in
    `sample_poses`. A spatial robot has 8 x (1 + 6 + 8) corners.
    """
    bounds = [(low - margin[0], high + margin[0]) for low, high in robot.workspace.position]
    tilt = robot.workspace.tilt + margin[1]
    count = robot.rotations
    turns = {(0.0,) * count}
    if count and tilt > 0:
        eye = np.eye(count)
        diagonals = np.array(list(product((-1.0, 1.0), repeat=count))) / np.sqrt(count)
        turns |= {tuple(row) for row in (tilt * np.vstack([eye, -eye, diagonals])).tolist()}
    return np.array([[*corner, *turn] for corner in product(*bounds) for turn in sorted(turns)])


def perturb(
    robot: Robot, poses: np.ndarray, distance: float, angle: float, rng: np.random.Generator
) -> np.ndarray:
    """Each pose moved by exactly `distance` (m) and `angle` (rad) in random directions.

    The norms are those of the differences of position and of rotation vector; a point ignores
    the angle.
    """
    count = len(poses)
    offsets = distance * _directions(robot.translations, count, rng)
    if robot.rotations:
        offsets = np.hstack([offsets, angle * _directions(robot.rotations, count, rng)])
    return poses + offsets


def inside(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Whether each pose (..., coordinates) lies in the grown workspace, shape (...).

    Where the lengths do not determine the pose, the answer to a start in the grown workspace may
    be one start error further out.
    """
    extra = (0.0, 0.0) if robot.determined else robot.workspace.start_error
    low, high = np.array(robot.position_bounds).T
    position, turn = np.split(np.asarray(poses), [robot.translations], axis=-1)
    good = ((position >= low - extra[0]) & (position <= high + extra[0])).all(axis=-1)
    return good & (np.linalg.norm(turn, axis=-1) <= robot.tilt_bound + extra[1])


def clipped(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The poses (..., coordinates) with their positions brought into the grown position box."""
    low, high = np.array(robot.position_bounds).T
    position, turn = np.split(poses, [robot.translations], axis=-1)
    return np.concatenate([np.clip(position, low, high), turn], axis=-1)


def _directions(size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform unit vectors, shape (count, size)."""
    vectors = rng.standard_normal((count, size))
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
