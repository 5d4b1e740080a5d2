"""The shortest way through the safe cells of a map: A*, then shortened where it is in sight."""

from __future__ import annotations

import heapq
from itertools import product

import numpy as np

Cell = tuple[int, ...]


def moves(safe: np.ndarray, spacing: np.ndarray) -> dict[Cell, tuple[float, np.ndarray]]:
    """The steps from a cell to its neighbours, diagonals too, each with its length and the cells
    (the shape of the grid) from which it is allowed.

    A diagonal is allowed where all cells of the box that it crosses are safe, so that no way slips
    between two bad cells that touch at a corner.
    """
    found = {}
    padded = np.pad(safe, 1)
    for step in product((-1, 0, 1), repeat=safe.ndim):
        if any(step):
            allowed = np.ones(safe.shape, bool)
            for part in product(*({0, move} for move in step)):
                window = tuple(
                    slice(1 + move, 1 + move + size)
                    for move, size in zip(part, safe.shape, strict=True)
                )
                allowed &= padded[window]
            found[step] = (float(np.linalg.norm(np.array(step) * spacing)), allowed)
    return found


def shortest_way(safe: np.ndarray, spacing: np.ndarray, start: Cell, goal: Cell) -> list[Cell]:
    """The cells of the shortest way over neighbours, start and goal included; empty where none is.

    A* (Hart, Nilsson, Raphael 1968) with the straight distance as its estimate: it is consistent,
    so that the first way to the goal is the shortest. `spacing`: a cell's length along each axis.
    """
    strides = np.array(safe.strides) // safe.itemsize
    steps = [
        (int(np.dot(step, strides)), length, allowed.ravel().tolist())
        for step, (length, allowed) in moves(safe, spacing).items()
    ]
    estimate = _distances(safe.shape, spacing, goal).ravel().tolist()
    first, last = (int(np.ravel_multi_index(cell, safe.shape)) for cell in (start, goal))
    if not (safe[start] and safe[goal]):
        return []
    cost, before, closed = {first: 0.0}, {}, set()
    queue = [(estimate[first], first)]
    while queue:
        _, here = heapq.heappop(queue)
        if here == last:
            break
        if here in closed:
            continue
        closed.add(here)
        for offset, length, allowed in steps:
            if allowed[here]:
                there, total = here + offset, cost[here] + length
                if total < cost.get(there, np.inf):
                    cost[there], before[there] = total, here
                    heapq.heappush(queue, (total + estimate[there], there))
    if last not in cost:
        return []
    way = [last]
    while way[-1] != first:
        way.append(before[way[-1]])
    return [tuple(map(int, np.unravel_index(cell, safe.shape))) for cell in reversed(way)]


def shortened(safe: np.ndarray, way: list[Cell]) -> list[Cell]:
    """The way with every cell left out that the one before it can see past, over safe cells."""
    kept, here = way[:1], 0
    while here < len(way) - 1:
        ahead = here + 1
        while ahead + 1 < len(way) and in_sight(safe, way[here], way[ahead + 1]):
            ahead += 1
        kept.append(way[ahead])
        here = ahead
    return kept


def in_sight(safe: np.ndarray, start: Cell, end: Cell) -> bool:
    """Whether all cells near the straight line between two cells are safe.

    The line is looked at every quarter of a cell, at the cells on either side of it.
    """
    ends = np.array([start, end], float)
    count = 4 * int(np.abs(ends[1] - ends[0]).max()) + 1
    line = ends[0] + np.linspace(0, 1, count)[:, None] * (ends[1] - ends[0])
    for side in product((np.floor, np.ceil), repeat=safe.ndim):
        cells = [np.asarray(rounded(line[:, i]), int) for i, rounded in enumerate(side)]
        if not safe[tuple(cells)].all():
            return False
    return True


def _distances(shape: Cell, spacing: np.ndarray, goal: Cell) -> np.ndarray:
    """The straight distance of every cell from the goal."""
    indices = np.indices(shape) - np.reshape(goal, (-1, *([1] * len(shape))))
    return np.linalg.norm(indices * np.reshape(spacing, (-1, *([1] * len(shape)))), axis=0)
