"""How near bad poses come to a path: poses around it, tried in many directions.

An estimate from above: what is bad in a direction between those that were tried is not seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solver_ref.kinematics import scaling
from solver_ref.robot import Robot

Judge = Callable[[np.ndarray], dict[str, np.ndarray]]

MOST_POSES = 200
"""So many poses of a path are probed, evenly."""
RADII = 8
RANDOM_DIRECTIONS = 16
HALVINGS = 10


def directions(count: int) -> np.ndarray:
    """Unit vectors (k, count): both ways along each axis, and as many random ones as help."""
    along = np.vstack([np.eye(count), -np.eye(count)])
    if count == 1:
        return along
    rng = np.random.default_rng(0)
    others = rng.standard_normal((RANDOM_DIRECTIONS, count))
    return np.vstack([along, others / np.linalg.norm(others, axis=1, keepdims=True)])


def probed_clearance(
    robot: Robot,
    poses: np.ndarray,
    judged: Judge,
    *,
    reach: float,
    axes: tuple[int, ...] | None = None,
) -> tuple[float, bool, int]:
    """The least distance (scaled m) at which a bad pose was found, up to `reach`.

    `judged`: where each criterion finds poses bad; `axes`: the coordinates that are tried. Returns
    the distance, whether it is `reach` because nothing was bad, and the number of the pose.
    """
    scale = scaling(robot)
    places = tuple(range(len(scale))) if axes is None else axes
    ways = np.zeros((len(directions(len(places))), len(scale)))
    ways[:, list(places)] = directions(len(places))
    ways /= scale
    chosen = np.unique(np.linspace(0, len(poses) - 1, MOST_POSES).round().astype(int))

    def bad(at: np.ndarray, along: np.ndarray, radius: float) -> np.ndarray:
        return np.any(list(judged(at + radius * along).values()), axis=0)

    starts = np.repeat(poses[chosen], len(ways), axis=0)
    along = np.tile(ways, (len(chosen), 1))
    for number in range(1, RADII + 1):
        low, high = reach * (number - 1) / RADII, reach * number / RADII
        hit = np.flatnonzero(bad(starts, along, high))
        if not hit.size:
            continue
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            nearer = bad(starts[hit], along[hit], middle)
            if nearer.any():
                hit, high = hit[nearer], middle
            else:
                low = middle
        return low, False, int(chosen[hit[0] // len(ways)])
    return reach, True, int(chosen[0])
