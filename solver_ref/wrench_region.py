"""Which wrenches cables can carry within their tension bounds, and how far the one asked is inside.

The wrenches J^T T with every tension within its bounds fill a convex region. A normal y of one of
its facets makes q = J y zero at as many cables as possible, and the wrench w is inside where

    q . T <= sum max(low_i q_i, high_i q_i)  for every such q,   T any solution of J^T T = w.

The q follow from the null space N of J^T alone (N^T q = 0), so that the test is exact, closed and
runs on arrays: one q for each choice of r + 1 cables, r the redundancy. Facets as in Bouchard,
Gosselin, Moore (J. Mech. Robot. 2(1), 2010); their distance to w is the capacity margin of Guay,
Cardou, Cruz-Ruiz, Caro (2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from solver_ref.robot import Robot

# A q this small (of at most 1) is that of cables whose choice belongs to no facet.
NO_FACET = 1e-9


@dataclass(frozen=True)
class Factors:
    """The singular values of the scaled Jacobian: J = left values right, shapes (N, cables,
    cables), (N, k) and (N, coordinates, coordinates), k = min(cables, coordinates)."""

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> Factors:
        """Those of rows (N, cables, coordinates)."""
        return cls(*np.linalg.svd(rows))


def tension_bounds(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest tension of each cable (N): 0 and infinity where the file has none."""
    low = [cable.tension_min or 0.0 for cable in robot.cables]
    high = [np.inf if cable.tension_max is None else cable.tension_max for cable in robot.cables]
    return np.array(low), np.array(high)


def wrench_margin(
    factors: Factors, wrench: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """How much the wrench may change in its worst direction before a tension leaves its bounds.

    `wrench` (N, coordinates): J^T T, moments divided by the characteristic length; bounds
    (cables,); all in N. Shape (N,): negative where no tensions within bounds exist, by at most the
    distance to the region. With fewer cables than coordinates it is that of the part of the wrench
    that cables can carry. NaN where a singular value is zero, infinity where nothing bounds it.
    """
    left, values, right = factors.left, factors.values, factors.right
    rank, cables = values.shape[-1], left.shape[-1]
    used = left[..., :rank]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = used / values[:, None, :]
        carried = (right[:, :rank] @ wrench[..., None])[..., 0]
        tensions = (inverse @ carried[..., None])[..., 0]
        metric = inverse @ np.swapaxes(inverse, -1, -2)
    margin = np.full(len(wrench), np.inf)
    for chosen, q in _facets(left[..., rank:], cables):
        lengths = np.sqrt(
            np.maximum(np.einsum("ni,nij,nj->n", q, metric[:, chosen][..., chosen], q), 0)
        )
        room = _room(q, tensions[:, chosen], low[chosen], high[chosen])
        facet = np.abs(q).max(axis=-1) > NO_FACET
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.where(facet, np.minimum(margin, room / lengths), margin)
    return np.where(values[:, -1] > 0, margin, np.nan)


def unbalanced_share(factors: Factors, wrench: np.ndarray) -> np.ndarray:
    """The part of the wrench (N, coordinates) that no tensions whatever carry, over the whole.

    Shape (N,); 0 where nothing is to be carried.
    """
    rank = factors.values.shape[-1]
    left = np.linalg.norm((factors.right[:, rank:] @ wrench[..., None])[..., 0], axis=-1)
    whole = np.linalg.norm(wrench, axis=-1)
    return np.where(whole > 0, left / np.where(whole > 0, whole, 1.0), 0.0)


def _facets(null: np.ndarray, cables: int):
    """The cables of each q and its values there (N, r + 1), from the null space (N, cables, r)."""
    redundancy = null.shape[-1]
    minors = {
        rows: np.linalg.det(null[:, rows, :]) for rows in combinations(range(cables), redundancy)
    }
    for chosen in combinations(range(cables), redundancy + 1):
        others = (chosen[:i] + chosen[i + 1 :] for i in range(redundancy + 1))
        q = [(-1) ** i * minors[rows] for i, rows in enumerate(others)]
        yield list(chosen), np.stack(q, axis=-1)


def _room(q: np.ndarray, tensions: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The least of what is left of both sides of q (N, k), the wrench being that of `tensions`."""
    with np.errstate(invalid="ignore"):
        ends = np.stack([np.where(q == 0, 0.0, q * low), np.where(q == 0, 0.0, q * high)])
        here = (q * tensions).sum(axis=-1)
        return np.minimum(
            ends.max(axis=0).sum(axis=-1) - here, here - ends.min(axis=0).sum(axis=-1)
        )
