"""Mechanisms with closed loops in float64: more coordinates than freedoms, and constraints.

    [M  A^T] [q'']   [Q + B u - C]
    [A   0 ] [mu ] = [-A' q' - 2 zeta omega A q' - omega^2 c]

with the gaps c of the constraints, their derivatives A and Baumgarte's stabilisation, which pulls
gaps that rounding opens shut again. B u are the motors' torques on their coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class System(Protocol):
    """A mechanism's terms at coordinates q and rates v, all of shape (..., n).

    `motors`: the coordinates that motors drive; `followers`: those that the constraints determine
    from the others, as many as there are constraints.
    """

    motors: tuple[int, ...]
    followers: tuple[int, ...]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray: ...

    def velocity_terms(self, q: np.ndarray, v: np.ndarray) -> np.ndarray: ...

    def weight(self, q: np.ndarray) -> np.ndarray: ...

    def gaps(self, q: np.ndarray) -> np.ndarray: ...

    def jacobian(self, q: np.ndarray) -> np.ndarray: ...

    def curvature(self, q: np.ndarray, v: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, kw_only=True)
class Baumgarte:
    """How gaps are closed: like a spring and damper of damping ratio `zeta` and `omega` (rad/s)."""

    zeta: float = 1.0
    omega: float = 20.0

    def pull(self, gaps: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """The second derivative (m/s^2) that is asked of gaps (m) that change (m/s)."""
        return -2 * self.zeta * self.omega * rates - self.omega**2 * gaps


def saddle_matrix(system: System, q: np.ndarray) -> np.ndarray:
    """[[M, A^T], [A, 0]], (..., n + c, n + c)."""
    mass, rows = system.mass_matrix(q), system.jacobian(q)
    zero = np.zeros((*rows.shape[:-1], rows.shape[-2]))
    upper = np.concatenate([mass, np.swapaxes(rows, -1, -2)], axis=-1)
    return np.concatenate([upper, np.concatenate([rows, zero], axis=-1)], axis=-2)


def forward_dynamics(
    system: System,
    q: np.ndarray,
    v: np.ndarray,
    torque: np.ndarray | None = None,
    *,
    stabilise: Baumgarte,
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations (..., n) and multipliers (..., c) under the motors' torques (none: free).

    The multipliers are the forces that the constraints put on the coordinates, through -A^T.
    """
    return solved(system, saddle_matrix(system, q), q, v, torque, stabilise=stabilise)


def solved(
    system: System,
    matrix: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    torque: np.ndarray | None = None,
    *,
    stabilise: Baumgarte,
) -> tuple[np.ndarray, np.ndarray]:
    """`forward_dynamics` where the saddle-point matrix is known already."""
    forces = system.weight(q) - system.velocity_terms(q, v)
    if torque is not None:
        forces[..., list(system.motors)] += torque
    rates = (system.jacobian(q) @ v[..., None])[..., 0]
    asked = stabilise.pull(system.gaps(q), rates) - system.curvature(q, v)
    right = np.concatenate([forces, asked], axis=-1)
    found = np.linalg.solve(matrix, right[..., None])[..., 0]
    count = q.shape[-1]
    return found[..., :count], found[..., count:]


def completed(
    system: System, q: np.ndarray, rates: np.ndarray, accelerations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rates and accelerations (..., n) of all coordinates from those that lead, at any q."""
    rows = system.jacobian(q)
    followers = list(system.followers)
    leaders = [i for i in range(q.shape[-1]) if i not in system.followers]
    v, a = np.zeros(q.shape), np.zeros(q.shape)
    v[..., leaders], a[..., leaders] = rates, accelerations
    inner = rows[..., followers]
    v[..., followers] = -np.linalg.solve(inner, rows @ v[..., None])[..., 0]
    due = (rows @ a[..., None])[..., 0] + system.curvature(q, v)
    a[..., followers] = -np.linalg.solve(inner, due[..., None])[..., 0]
    return v, a


def inverse_dynamics(
    system: System, q: np.ndarray, v: np.ndarray, accelerations: np.ndarray
) -> np.ndarray:
    """The motors' torques (..., motors), N m, of a motion that keeps the constraints.

    As many motors as freedoms: torques and multipliers together are as many as coordinates.
    """
    count = q.shape[-1]
    push = np.zeros((*q.shape[:-1], count, len(system.motors)))
    for i, motor in enumerate(system.motors):
        push[..., motor, i] = 1.0
    matrix = np.concatenate([push, -np.swapaxes(system.jacobian(q), -1, -2)], axis=-1)
    due = (system.mass_matrix(q) @ accelerations[..., None])[..., 0]
    due = due + system.velocity_terms(q, v) - system.weight(q)
    return np.linalg.solve(matrix, due[..., None])[..., : len(system.motors), 0]
