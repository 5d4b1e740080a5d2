"""The planar 3-RRR mechanism in float64: a system with constraints, its poses and its energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.dynamics import three_rrr
from solver_ref.dynamics.arrays import columns, stacked, stacked_rows
from solver_ref.dynamics.three_rrr import LEGS, Directions, ThreeRRR

FLOAT = FloatArithmetic()


class OutOfReach(ValueError):
    """A pose to which a leg is too short; the text says which and by how much."""


@dataclass(frozen=True)
class PlanarSystem:
    """`solver_ref.dynamics.closed_loop.System` of a mechanism; arrays are (..., 9), see
    `solver_ref.dynamics.three_rrr.COORDINATES`."""

    mechanism: ThreeRRR
    motors: ClassVar[tuple[int, ...]] = (3, 4, 5)
    followers: ClassVar[tuple[int, ...]] = (3, 4, 5, 6, 7, 8)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        return stacked_rows(three_rrr.mass_matrix(FLOAT, self.mechanism, _at(q)), q.shape)

    def velocity_terms(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        terms = three_rrr.velocity_terms(FLOAT, self.mechanism, _at(q), columns(v))
        return stacked(terms, q.shape)

    def weight(self, q: np.ndarray) -> np.ndarray:
        return stacked(three_rrr.weight(FLOAT, self.mechanism, _at(q)), q.shape)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        gaps = three_rrr.constraint(FLOAT, self.mechanism, _at(q), columns(q)[:2])
        return stacked(gaps, q.shape)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        return stacked_rows(three_rrr.jacobian(FLOAT, self.mechanism, _at(q)), q.shape)

    def curvature(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return stacked(three_rrr.curvature(FLOAT, self.mechanism, _at(q), columns(v)), q.shape)

    def coordinates(self, pose: np.ndarray) -> np.ndarray:
        """All nine coordinates at poses (..., 3): the legs' angles, elbows as the mechanism has.

        Raises OutOfReach where a leg cannot span its distance.
        """
        mechanism = self.mechanism
        pose = np.asarray(pose, float)
        upper, lower = mechanism.active.length, mechanism.passive.length
        q = np.zeros((*pose.shape[:-1], 9))
        q[..., :3] = pose
        for leg in LEGS:
            way = attachment_points(mechanism, pose)[..., leg, :] - mechanism.bases[leg]
            distance = np.hypot(way[..., 0], way[..., 1])
            bent = (distance**2 - upper**2 - lower**2) / (2 * upper * lower)
            if (np.abs(bent) > 1).any():
                span = f"{abs(upper - lower):.3f} to {upper + lower:.3f} m"
                raise OutOfReach(f"leg {leg + 1} must span {np.max(distance):.3f} m, not {span}")
            elbow = mechanism.elbows[leg] * np.arccos(bent)
            inner = np.arctan2(lower * np.sin(elbow), upper + lower * np.cos(elbow))
            q[..., 3 + leg] = np.arctan2(way[..., 1], way[..., 0]) - inner
            q[..., 6 + leg] = q[..., 3 + leg] + elbow
        return q


def attachment_points(mechanism: ThreeRRR, pose: np.ndarray) -> np.ndarray:
    """Where the platform's joints are, (..., 3, 2), m."""
    cosine, sine = np.cos(pose[..., 2, None]), np.sin(pose[..., 2, None])
    x, y = np.array(mechanism.attachments).T
    levers = np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=-1)
    return pose[..., None, :2] + levers


def energy(mechanism: ThreeRRR, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy (J), (...), body by body from where each is and moves.

    No mass matrix is involved, so a wrong one shows in a free swing.
    """
    active, passive = mechanism.active, mechanism.passive
    total = _body_energy(mechanism, mechanism.mass, q[..., :2], v[..., :2])
    total = total + mechanism.inertia * v[..., 2] ** 2 / 2
    for leg in LEGS:
        first, second = q[..., 3 + leg], q[..., 6 + leg]
        turning, following = v[..., 3 + leg], v[..., 6 + leg]
        base = np.array(mechanism.bases[leg])
        inner, inner_rate = _swung(active.centre, first, turning)
        elbow, elbow_rate = _swung(active.length, first, turning)
        outer, outer_rate = _swung(passive.centre, second, following)
        total = total + _body_energy(mechanism, active.mass, base + inner, inner_rate)
        total = total + _body_energy(
            mechanism, passive.mass, base + elbow + outer, elbow_rate + outer_rate
        )
        total = total + (active.inertia * turning**2 + passive.inertia * following**2) / 2
    return total


def _body_energy(
    mechanism: ThreeRRR, mass: float, place: np.ndarray, rate: np.ndarray
) -> np.ndarray:
    return mass * ((rate * rate).sum(axis=-1) / 2 - place @ np.array(mechanism.gravity))


def _swung(radius: float, angle: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a point at a radius is, and its velocity."""
    place = radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return place, np.stack([-place[..., 1], place[..., 0]], axis=-1) * rate[..., None]


def _at(q: np.ndarray) -> Directions:
    return three_rrr.directions(FLOAT, columns(q))
