"""How a hanging platform answers: geometric stiffness, elasticity, and what both make of an error.

With the tensions T held, the unbalanced wrench J^T T - W changes by H (dt, dtheta) when the
platform moves by dt and turns by dtheta (base frame, left: R becomes exp([dtheta]x) R). H is the
Hessian of sum T_i L_i + potential, and symmetric in equilibrium. Lengths and equilibrium together
are the system (H, J^T; J, -C), C the compliances: its inverse says what an error of a length does
to pose and tensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver_ref.cable import CableState, Rotation, cable_at, rotation, spatial
from solver_ref.kinematics import FLOAT, scaling
from solver_ref.parts import Cable
from solver_ref.pulley import outward_of
from solver_ref.robot import Robot
from solver_ref.statics import mass_lever, weight


@dataclass(frozen=True, kw_only=True)
class Pull:
    """The cables at each pose, in the free coordinates of the robot.

    `lengths` (N, cables), m; `rows` J (N, cables, free); `force_stiffness` (N, cables, free, free):
    the change of a cable's wrench [u, r x u] by (dt, dtheta) at a tension of 1 N.
    """

    lengths: np.ndarray
    rows: np.ndarray
    force_stiffness: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What small errors do in equilibrium, each (N,) unless said otherwise.

    `pose` (N, free, cables): the change of pose by the length of each cable, (m, rad) per m, as
    (dt, dtheta); `tension` (N, cables, cables): that of the tensions, N/m. `singular_values`
    (N, free + cables): of the system with moments and rotations scaled by the characteristic length
    and forces by the sum of T / L, so that it has no unit. `least_stiffness`: the smallest
    eigenvalue of H over the motions that no length sees, in N/m of scaled coordinates: above zero
    the equilibrium is stable; infinite where the lengths see all motions. `amplification`: the
    largest distance (m) that an error of 1 m of one cable moves the platform.
    """

    pose: np.ndarray
    tension: np.ndarray
    singular_values: np.ndarray
    least_stiffness: np.ndarray
    amplification: np.ndarray


def pull(robot: Robot, poses: np.ndarray) -> Pull:
    """Lengths, Jacobian and its derivative at each pose, shape (N, free)."""
    poses = np.atleast_2d(np.asarray(poses, float))
    full = spatial(list(poses.T), robot.free)
    turn = rotation(FLOAT, full[3:])
    parts = [_cable_pull(item, full, turn, len(poses)) for item in robot.cables]
    free = np.array(robot.free)
    return Pull(
        lengths=np.stack([part[0] for part in parts], axis=1),
        rows=np.stack([part[1] for part in parts], axis=1)[..., free],
        force_stiffness=np.stack([part[2] for part in parts], axis=1)[..., free[:, None], free],
    )


def stiffness(robot: Robot, poses: np.ndarray, tensions: np.ndarray) -> np.ndarray:
    """H, shape (N, free, free): N/m, N/rad, N m/m and N m/rad, tensions (N, cables) in N.

    Gravity's moment turns with the platform; applied wrenches do not.
    """
    return loaded_stiffness(robot, poses, pull(robot, poses), tensions)


def loaded_stiffness(
    robot: Robot, poses: np.ndarray, cables: Pull, tensions: np.ndarray
) -> np.ndarray:
    """`stiffness`, where `pull` is known."""
    tensions = np.atleast_2d(tensions)
    matrix = np.einsum("nk,nkij->nij", tensions, cables.force_stiffness)
    full = spatial(list(np.atleast_2d(np.asarray(poses, float)).T), robot.free)
    lever = _array(mass_lever(FLOAT, robot, rotation(FLOAT, full[3:])), len(matrix))
    force = np.array(weight(FLOAT, robot), float)
    turned = np.zeros((len(matrix), 6, 6))
    # -(dtheta x r) x F = (r . F) dtheta - (F . dtheta) r
    turned[:, 3:, 3:] = (lever @ force)[:, None, None] * np.eye(3) - _outer(lever, force)
    free = np.array(robot.free)
    return matrix + turned[:, free[:, None], free]


def equilibrium_system(hessian: np.ndarray, rows: np.ndarray, compliance: np.ndarray) -> np.ndarray:
    """(H, J^T; J, -C), shape (N, free + cables, free + cables); `compliance` (N, cables), m/N."""
    free, cables = rows.shape[-1], rows.shape[-2]
    system = np.zeros((len(rows), free + cables, free + cables))
    system[:, :free, :free] = hessian
    system[:, :free, free:] = np.swapaxes(rows, -1, -2)
    system[:, free:, :free] = rows
    system[:, range(free, free + cables), range(free, free + cables)] = -compliance
    return system


def sensitivity(
    robot: Robot,
    poses: np.ndarray,
    tensions: np.ndarray,
    compliance: float | np.ndarray = 0.0,
) -> Sensitivity:
    """What errors of the lengths do at poses in equilibrium with these tensions (N, cables).

    `compliance` of the cables in m/N, (N, cables) or one number; 0: they do not stretch. A singular
    row gives infinities.
    """
    cables = pull(robot, poses)
    hessian = loaded_stiffness(robot, poses, cables, tensions)
    hessian = (hessian + np.swapaxes(hessian, -1, -2)) / 2
    scale, free = scaling(robot), len(robot.free)
    unit = (tensions / cables.lengths).sum(axis=1)
    compliance = np.broadcast_to(compliance, tensions.shape)
    scaled = equilibrium_system(
        hessian / scale[:, None] / scale / unit[:, None, None],
        cables.rows / scale,
        compliance * unit[:, None],
    )
    inverse = _inverse(scaled)
    return Sensitivity(
        pose=inverse[:, :free, free:] / scale[:, None],
        amplification=np.linalg.norm(inverse[:, : robot.translations, free:], axis=1).max(axis=1),
        tension=inverse[:, free:, free:] * unit[:, None, None],
        singular_values=np.linalg.svd(scaled, compute_uv=False),
        least_stiffness=_least(hessian / scale[:, None] / scale, cables.rows / scale),
    )


def _least(hessian: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The smallest eigenvalue of N^T H N, the columns of N spanning what J does not see."""
    cables, free = rows.shape[-2:]
    if cables >= free:
        return np.full(len(rows), np.inf)
    unseen = np.swapaxes(np.linalg.svd(rows)[2][:, cables:], -1, -2)
    return np.linalg.eigvalsh(np.swapaxes(unseen, -1, -2) @ hessian @ unseen)[:, 0]


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of each matrix; infinite where it has none."""
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        if len(matrix) == 1:
            return np.full(matrix.shape, np.inf)
        return np.concatenate([_inverse(row[None]) for row in matrix])


def _cable_pull(
    item: Cable, full: list, turn: Rotation, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Length (N,), row [u, r x u] (N, 6) and its derivative (N, 6, 6) of one cable.

    With p = t + r moving by dp = dt + dtheta x r and u by N dp, the row's derivative is
    (N dp; (dtheta x r) x u + r x N dp).
    """
    state = cable_at(FLOAT, full[:3], turn, item)
    length = np.broadcast_to(np.sqrt(state.square), (count,))
    lever = _array(state.lever, count)
    unit = _array(state.vector, count) / length[:, None]
    bend = _half_square_curvature(item, state, lever + _array(full[:3], count))
    bend = (bend - _outer(unit, unit)) / length[:, None, None]
    motion = np.concatenate(
        [np.broadcast_to(np.eye(3), (count, 3, 3)), -_cross_matrix(lever)], axis=-1
    )
    force = bend @ motion
    moment = _cross_matrix(lever) @ force
    moment[..., 3:] += _outer(lever, unit) - (lever * unit).sum(-1)[:, None, None] * np.eye(3)
    row = np.concatenate([unit, np.cross(lever, unit)], axis=-1)
    return length, row, np.concatenate([force, moment], axis=1)


def _half_square_curvature(item: Cable, state: CableState, where: np.ndarray) -> np.ndarray:
    """The second derivative of L^2 / 2 by the attachment (N, 3): (N, 3, 3), I of a straight cable.

    Behind a pulley the free length Lf bends in the pulley's plane, where the way is l = r theta +
    Lf; across it a swivelling pulley turns about its axis at the distance h, and the unrolled
    cylinder of a fixed one is flat.
    """
    count = len(where)
    if item.pulley is None:
        return np.broadcast_to(np.eye(3), (count, 3, 3))
    pulley, way, axis = item.pulley, state.way, np.array(item.pulley.axis)
    offset = where - item.anchor
    beside = offset - (offset @ axis)[:, None] * axis
    height = np.linalg.norm(beside, axis=-1)
    outward = np.array(outward_of(pulley)) if pulley.axle else beside / height[:, None]
    sine, cosine = (_column(f(way.angle), count) for f in (np.sin, np.cos))
    along, normal = sine * outward + cosine * axis, cosine * outward - sine * axis
    plane = pulley.radius * way.angle + way.free
    share = 1.0 if pulley.axle else plane * np.sin(way.angle) / height
    ratio, share = (_column(x, count)[..., None] for x in (plane / way.free, share))
    across = np.eye(3) - _outer(outward, outward) - np.outer(axis, axis)
    return _outer(along, along) + ratio * _outer(normal, normal) + share * across


def _array(vector: list, count: int) -> np.ndarray:
    """Components as one array (N, 3); plain numbers are spread."""
    return np.stack([np.broadcast_to(np.asarray(x, float), (count,)) for x in vector], axis=-1)


def _column(value: float | np.ndarray, count: int) -> np.ndarray:
    return np.broadcast_to(value, (count,))[:, None]


def _outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., :, None] * b[..., None, :]


def _cross_matrix(vector: np.ndarray) -> np.ndarray:
    """[v]x, (N, 3) to (N, 3, 3)."""
    x, y, z = np.moveaxis(vector, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
