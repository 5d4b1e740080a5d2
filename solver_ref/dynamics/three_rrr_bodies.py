"""The planar 3-RRR mechanism once more, from Newton's and Euler's laws of its seven bodies.

Nothing is shared with Lagrange's equations: the unknowns are the accelerations of all bodies (three
each) and the forces in all nine pins, the equations the laws of the bodies and that two points in a
pin accelerate alike.
"""

from __future__ import annotations

import numpy as np

from solver_ref.dynamics.closed_loop import Baumgarte
from solver_ref.dynamics.planar_system import attachment_points
from solver_ref.dynamics.three_rrr import LEGS, ThreeRRR

PLATFORM = 0
BODIES = 7
PINS = 9
SIZE = 3 * BODIES + 2 * PINS


class _Balance:
    """The linear system of one state, filled body by body and pin by pin."""

    def __init__(self) -> None:
        self.matrix = np.zeros((SIZE, SIZE))
        self.right = np.zeros(SIZE)

    def body(self, body: int, mass: float, inertia: float, gravity: np.ndarray) -> None:
        """m a = forces + m g; I alpha = moments."""
        rows = slice(3 * body, 3 * body + 3)
        self.matrix[rows, rows] = np.diag([mass, mass, inertia])
        self.right[3 * body : 3 * body + 2] = mass * gravity

    def pin(self, pin: int, sides: list[tuple[int, float, np.ndarray, float]]) -> None:
        """A pin that pushes bodies with +-its force, at levers from their centres, which it makes
        accelerate alike. `sides`: body, sign, lever (m), rate of turning (rad/s)."""
        force = 3 * BODIES + 2 * pin
        for body, sign, lever, rate in sides:
            first = 3 * body
            push = np.array([[1, 0], [0, 1], [-lever[1], lever[0]]]) * sign
            self.matrix[first : first + 3, force : force + 2] -= push
            self.matrix[force : force + 2, first : first + 3] += push.T
            self.right[force : force + 2] += sign * lever * rate**2


def accelerations(
    mechanism: ThreeRRR,
    q: np.ndarray,
    v: np.ndarray,
    torque: np.ndarray | None = None,
    *,
    stabilise: Baumgarte,
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations (9,) of the coordinates and forces (3, 2), N, of the legs on the platform.

    One state: q, v of shape (9,), the motors' torques (3,), N m.
    """
    gravity, balance = np.array(mechanism.gravity), _Balance()
    active, passive = mechanism.active, mechanism.passive
    balance.body(PLATFORM, mechanism.mass, mechanism.inertia, gravity)
    ends = attachment_points(mechanism, q[:3])
    for leg in LEGS:
        first, second = 1 + leg, 4 + leg
        balance.body(first, active.mass, active.inertia, gravity)
        balance.body(second, passive.mass, passive.inertia, gravity)
        along = np.array([np.cos(q[3 + leg]), np.sin(q[3 + leg])])
        beyond = np.array([np.cos(q[6 + leg]), np.sin(q[6 + leg])])
        turning, following = v[3 + leg], v[6 + leg]
        inner, outer = -active.centre * along, (active.length - active.centre) * along
        near, far = -passive.centre * beyond, (passive.length - passive.centre) * beyond
        lever = ends[leg] - q[:2]
        balance.pin(leg, [(first, 1.0, inner, turning)])
        balance.pin(3 + leg, [(second, 1.0, near, following), (first, -1.0, outer, turning)])
        balance.pin(6 + leg, [(PLATFORM, 1.0, lever, v[2]), (second, -1.0, far, following)])
        # The gap is the leg's end less the platform's point; the pin's row has the opposite sign.
        gap = mechanism.bases[leg] + active.length * along + passive.length * beyond - ends[leg]
        rate = (
            active.length * turning * np.array([-along[1], along[0]])
            + passive.length * following * np.array([-beyond[1], beyond[0]])
            - v[:2]
            - v[2] * np.array([-lever[1], lever[0]])
        )
        row = 3 * BODIES + 2 * (6 + leg)
        balance.right[row : row + 2] -= stabilise.pull(gap, rate)
        if torque is not None:
            balance.right[3 * first + 2] += torque[leg]
    found = np.linalg.solve(balance.matrix, balance.right)
    turned = [3 * body + 2 for body in range(1, BODIES)]
    return found[[0, 1, 2, *turned]], found[-6:].reshape(3, 2)
