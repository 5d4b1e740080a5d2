"""Tensions of redundant cables inside their bounds, in float64: a closed form and the optimum.

Both look for the T nearest to the bounds' middles Tm with J^T T = w, T within [low, high]. Shapes:
J (N, cables, unknowns), w (N, unknowns), bounds (cables,); units as the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Newton steps and halvings of one step: many times what regular rows take.
NEWTON_LIMIT, HALVINGS = 60, 50
# The dual's Hessian is singular where too few cables are free; this share of its trace is added.
SHIFT = 1e-8
# The gradient (the unbalanced wrench), relative to the middles, at which the dual counts as solved.
SOLVED = 1e-10


@dataclass(frozen=True)
class Distribution:
    """Tensions (N, cables), within bounds unless `found` (N,) is false, and the cables (N, cables)
    that are not at a bound."""

    tensions: np.ndarray
    free: np.ndarray
    found: np.ndarray


def closed_form(
    rows: np.ndarray, wrench: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Distribution:
    """T = Tm + A^+ (w - A Tm), A = J^T; the cable furthest beyond a bound is fixed there and the
    rest solved again: the improved closed form of Pott (Cable-Driven Parallel Robots, 2014).

    Fast and nearly always successful, never released: a cable once fixed may turn out to be wrong.
    """
    count, cables = rows.shape[:2]
    middle, each = (low + high) / 2, np.arange(count)
    fixed = np.full((count, cables), np.nan)
    free = np.isnan(fixed)
    tensions = np.broadcast_to(middle, free.shape)
    for _ in range(cables):
        start = np.where(free, middle, fixed)
        inverse = np.linalg.pinv(np.swapaxes(rows * free[..., None], -1, -2), rcond=1e-9)
        tensions = start + _apply(inverse, wrench - _wrench(rows, start))
        excess = np.where(free, np.maximum(low - tensions, tensions - high), 0.0)
        worst = excess.argmax(axis=1)
        over = excess[each, worst] > SOLVED * high.max()
        if not over.any():
            break
        bound = np.where(tensions[each, worst] < middle[worst], low[worst], high[worst])
        fixed[each[over], worst[over]] = bound[over]
        free = np.isnan(fixed)
    inside = (tensions >= low - SOLVED * high.max()) & (tensions <= high + SOLVED * high.max())
    return Distribution(tensions, free, inside.all(axis=1) & _balanced(rows, wrench, tensions, 1e3))


def nearest_to_middle(
    rows: np.ndarray, wrench: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Distribution:
    """The optimum, by Newton's method on the dual.

    T(y) = Tm + J y held to the bounds maximises the Lagrangian; the dual's gradient is w - J^T T(y)
    and where it is zero T(y) is the optimum, which proves itself. Where no distribution exists the
    dual has no maximum: `found` is false and the tensions are those of the smallest gradient seen.
    """
    dual = np.zeros(wrench.shape)
    best, least = dual.copy(), np.full(len(dual), np.inf)
    live = np.arange(len(dual))
    middle = (low + high) / 2
    for _ in range(NEWTON_LIMIT):
        j, w, y = rows[live], wrench[live], dual[live]
        wanted = middle + _apply(j, y)
        gradient = w - _wrench(j, np.clip(wanted, low, high))
        size = np.abs(gradient).max(axis=1)
        better = size < least[live]
        best[live[better]], least[live[better]] = y[better], size[better]
        going = size > SOLVED * middle.max()
        live, j, w, y = live[going], j[going], w[going], y[going]
        if not live.size:
            break
        free = ((wanted >= low) & (wanted <= high))[going]
        step = _newton(j, free, gradient[going])
        dual[live] = y + _searched(j, w, y, step, low, high)[:, None] * step
    wanted = middle + _apply(rows, best)
    free = (wanted >= low) & (wanted <= high)
    return Distribution(np.clip(wanted, low, high), free, least <= SOLVED * middle.max())


def _newton(rows: np.ndarray, free: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    matrix = np.swapaxes(rows, -1, -2) @ (rows * free[..., None])
    trace = np.trace(np.swapaxes(rows, -1, -2) @ rows, axis1=-2, axis2=-1)
    shift = SHIFT * trace[:, None, None] * np.eye(matrix.shape[-1])
    return np.linalg.solve(matrix + shift, gradient[..., None])[..., 0]


def _searched(
    rows: np.ndarray,
    wrench: np.ndarray,
    dual: np.ndarray,
    step: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """The longest of 1, 1/2, 1/4, ... of each step (N,) with the dual not falling steeply there.

    The dual is concave: along a step it falls ever faster once it is beyond its top.
    """
    share, middle = np.ones(len(dual)), (low + high) / 2

    def slope(at: np.ndarray) -> np.ndarray:
        tensions = np.clip(middle + _apply(rows, at), low, high)
        return ((wrench - _wrench(rows, tensions)) * step).sum(axis=1)

    first = slope(dual)
    for _ in range(HALVINGS):
        falling = slope(dual + share[:, None] * step) < -0.5 * first
        if not falling.any():
            break
        share = np.where(falling, share / 2, share)
    return share


def _balanced(
    rows: np.ndarray, wrench: np.ndarray, tensions: np.ndarray, room: float = 1.0
) -> np.ndarray:
    error = np.abs(wrench - _wrench(rows, tensions)).max(axis=1)
    return error <= room * SOLVED * np.abs(tensions).max(axis=1, initial=1.0)


def _wrench(rows: np.ndarray, tensions: np.ndarray) -> np.ndarray:
    """J^T T."""
    return (tensions[:, None, :] @ rows)[:, 0, :]


def _apply(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return (matrix @ vector[..., None])[..., 0]
