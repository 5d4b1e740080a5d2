"""Inverse kinematics in float64: joints, Jacobians and residuals of every mechanism.

Any number of poses at once, shape (..., coordinates), in the robot's own coordinates (m, rad). The
joints are the lengths of cables (the equations of `solver_ref.cable`, run on arrays), or those of
loop equations (`solver_ref.loops`).
"""

from collections.abc import Sequence

import numpy as np

from solver_ref import cable
from solver_ref.arithmetic import FloatArithmetic, Scalar
from solver_ref.cable import CableState, Rotation
from solver_ref.mechanisms import loops_of
from solver_ref.parts import Cable
from solver_ref.pulley import Way
from solver_ref.robot import Robot

FLOAT = FloatArithmetic()


def rotation_exp(phi: np.ndarray) -> np.ndarray:
    """R = exp([phi]x), shape (..., 3) in rad to (..., 3, 3); Rodrigues' formula."""
    return _array(cable.rotation(FLOAT, _split(phi)).matrix, np.shape(phi)[:-1])


def rate_matrix(phi: np.ndarray) -> np.ndarray:
    """J_l, the left Jacobian of the rotation: omega = J_l phi_dot; (..., 3) to (..., 3, 3)."""
    return _array(cable.rotation(FLOAT, _split(phi)).rate, np.shape(phi)[:-1])


def rotation_log(matrix: np.ndarray) -> np.ndarray:
    """The rotation vector of R, at most pi long: (..., 3, 3) to (..., 3) in rad.

    By way of the unit quaternion, the dominant eigenvector of Bar-Itzhack's matrix (J. Guidance
    23(6), 2000), so that it is accurate from no rotation to half a turn.
    """
    r = np.asarray(matrix, float)
    k = np.empty((*r.shape[:-2], 4, 4))
    k[..., :3, :3] = r + np.swapaxes(r, -1, -2)
    trace = np.trace(r, axis1=-2, axis2=-1)
    k[..., range(3), range(3)] -= trace[..., None]
    axial = np.stack([r[..., j, i] - r[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)
    k[..., :3, 3] = k[..., 3, :3] = axial
    k[..., 3, 3] = trace
    quaternion = np.linalg.eigh(k)[1][..., -1]
    quaternion = np.where(quaternion[..., 3:] < 0, -quaternion, quaternion)
    sine, cosine = np.linalg.norm(quaternion[..., :3], axis=-1), quaternion[..., 3]
    # 2 atan(sine / cosine) / sine tends to 2 where there is no rotation.
    ratio = 2 * np.arctan2(sine, cosine) / np.where(sine > 0, sine, 1.0)
    return np.where(sine > 0, ratio, 2.0)[..., None] * quaternion[..., :3]


def spatial_poses(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The six coordinates (x, y, z, rx, ry, rz) of each pose; those that are not free are 0."""
    poses = _checked(robot, poses)
    full = np.zeros((*poses.shape[:-1], 6))
    full[..., robot.free] = poses
    return full


def pose_matrix(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """[[R, t], [0, 1]] of each pose, shape (..., 4, 4): platform frame to base frame."""
    full = spatial_poses(robot, poses)
    matrix = np.zeros((*full.shape[:-1], 4, 4))
    matrix[..., :3, :3] = rotation_exp(full[..., 3:])
    matrix[..., :3, 3] = full[..., :3]
    matrix[..., 3, 3] = 1.0
    return matrix


def scaling(robot: Robot) -> np.ndarray:
    """What turns a pose into scaled coordinates (all m): 1 for positions, else the characteristic
    length; shape (coordinates,)."""
    return np.where(np.array(robot.free) < 3, 1.0, robot.characteristic_length)


def joint_values(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """What is measured at each pose, shape (..., joints): lengths (m) or angles (rad).

    NaN where a pose is out of reach.
    """
    loops = loops_of(robot)
    return loops.joint_values(_checked(robot, poses)) if loops else cable_lengths(robot, poses)


def joint_errors(robot: Robot, poses: np.ndarray, joints: np.ndarray) -> np.ndarray:
    """How far (m) poses are from measured joints, (..., joints): length errors, open loops."""
    loops = loops_of(robot)
    if loops:
        return loops.system(_checked(robot, poses), np.asarray(joints, float))[0]
    return cable_lengths(robot, poses) - joints


def cable_lengths(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The length of each cable from its anchor on: (..., coordinates) to (..., cables), m.

    L = |t + R b - a|; with a pulley r theta + Lf (`solver_ref.pulley`), NaN, with NumPy's warning,
    where the attachment is inside the pulley.
    """
    return np.stack([_length(state) for state in _cables(robot, poses)[1]], axis=-1)


def cable_ways(robot: Robot, poses: np.ndarray) -> list[Way | None]:
    """The way of each cable over its pulley, its scalars of shape (...); None without one."""
    return [state.way for state in _cables(robot, poses)[1]]


def wrap_angles(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The angle theta (rad) over which each cable lies on its pulley, (..., cables); else 0.

    Between -pi/2 and 3 pi/2: a negative one means that the cable would not touch the pulley.
    """
    angles = [way.angle if way else 0.0 for way in cable_ways(robot, poses)]
    return _array([angles], np.shape(poses)[:-1])[..., 0, :]


def leaving_points(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Where each cable leaves its pulley, or its anchor: (..., cables, 3), m, base frame."""
    ways = zip(robot.cables, cable_ways(robot, poses), strict=True)
    points = [_leaving(item, way) if way else item.anchor for item, way in ways]
    return _array(points, np.shape(poses)[:-1])


def attachment_points(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Where the attachments are: (..., cables, 3), m, base frame."""
    frames = pose_matrix(robot, poses)
    levers = robot.attachments @ np.swapaxes(frames[..., :3, :3], -1, -2)
    return levers + frames[..., None, :3, 3]


def jacobian(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The geometric Jacobian: joint rates J (v, omega), shape (..., joints, free), base frame,
    about the platform origin; a planar robot has the columns of its plane and its axis.

    Of cables the rows are [u, r x u]: u points from anchor to attachment, behind a pulley along the
    free cable; r = R b. Units: 1 and m; of angles rad/m and 1. A cable of length zero has no
    direction: NaN, with NumPy's warning; NaN too where loops are out of reach or B is singular.
    """
    loops = loops_of(robot)
    return loops.jacobian(_checked(robot, poses)) if loops else _cable_rows(robot, poses)


def length_rows(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Rows whose product with a twist is a displacement along a link, (..., joints, free).

    The Jacobian of cables; of loops A, which tells how well joints hold the platform whatever they
    are themselves. NaN out of reach.
    """
    loops = loops_of(robot)
    if loops is None:
        return _cable_rows(robot, poses)
    poses = _checked(robot, poses)
    return loops.system(poses, loops.joint_values(poses))[1]


def jacobian_phi(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """J diag(I, J_l(phi)): the joints' derivative by the pose itself, (..., joints, free)."""
    return by_pose(robot, poses, jacobian(robot, poses))


def by_pose(robot: Robot, poses: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows by the twist as rows by the pose: rows diag(I, J_l(phi)), (..., joints, free)."""
    turns = [index - 3 for index in robot.free if index >= 3]
    rate = rate_matrix(spatial_poses(robot, poses)[..., 3:])[..., turns, :][..., turns]
    first = robot.translations
    return np.concatenate([rows[..., :first], rows[..., first:] @ rate], axis=-1)


def _cable_rows(robot: Robot, poses: np.ndarray) -> np.ndarray:
    rows = []
    for state in _cables(robot, poses)[1]:
        length = _length(state)
        row = [x / length for x in (*state.vector, *state.moment)]
        rows.append(_array([[row[index] for index in robot.free]], length.shape)[..., 0, :])
    return np.stack(rows, axis=-2)


def squared_system(
    robot: Robot, poses: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The squared residuals f = (d.d - L^2)/2 and their rows in scaled coordinates.

    Poses (..., coordinates) and lengths (..., cables) in m; returns f (..., cables) in m^2 and
    rows [d, J_l^T (r x d) / l] (..., cables, coordinates) in m, l the characteristic length.
    """
    lengths = np.asarray(lengths, float)
    if lengths.shape[-1:] != (len(robot.cables),):
        raise ValueError(
            f"{robot.name} has {len(robot.cables)} cables, so lengths have the shape "
            f"(..., {len(robot.cables)}), not {lengths.shape}"
        )
    turn, states = _cables(robot, poses, robot.characteristic_length)
    shape = np.broadcast_shapes(np.shape(poses)[:-1], lengths.shape[:-1])
    residuals = [
        cable.squared_residual(FLOAT, state, lengths[..., i]) for i, state in enumerate(states)
    ]
    rows = [cable.squared_row(FLOAT, state, turn, robot.free) for state in states]
    return _array([residuals], shape)[..., 0, :], _array(rows, shape)


def _cables(
    robot: Robot, poses: np.ndarray, length: float = 1.0
) -> tuple[Rotation, list[CableState]]:
    """The rotation (its rate matrix divided by `length`) and the state of every cable."""
    full = cable.spatial(_split(_checked(robot, poses)), robot.free)
    turn = cable.rotation(FLOAT, full[3:], length=length)
    return turn, [cable.cable_at(FLOAT, full[:3], turn, item) for item in robot.cables]


def _length(state: CableState) -> np.ndarray:
    return np.sqrt(state.square)


def _leaving(item: Cable, at: Way) -> list[Scalar]:
    """E + r ((1 - cos theta) e + sin theta s), and across a fixed pulley the arc's share of o."""
    pulley, arc = item.pulley, item.pulley.radius * at.angle
    inward, forward = pulley.radius * (1 - np.cos(at.angle)), pulley.radius * np.sin(at.angle)
    across = at.frame.across * arc / (arc + at.free)
    scale = 1.0 if at.frame.scale is None else at.frame.scale
    directions = zip(at.frame.outward, pulley.axis, pulley.axle or (0, 0, 0), strict=True)
    return [
        entry + inward * e * scale + forward * s + across * n
        for entry, (e, s, n) in zip(item.anchor, directions, strict=True)
    ]


def _checked(robot: Robot, poses: np.ndarray) -> np.ndarray:
    poses = np.asarray(poses, float)
    if poses.shape[-1:] != (len(robot.free),):
        raise ValueError(
            f"a pose of {robot.name} is ({', '.join(robot.coordinates)}), so poses have the shape "
            f"(..., {len(robot.free)}), not {poses.shape}"
        )
    return poses


def _split(vectors: np.ndarray) -> list[np.ndarray]:
    """The components of vectors of shape (..., k), each an array of shape (...)."""
    return list(np.moveaxis(np.asarray(vectors, float), -1, 0))


def _array(rows: Sequence[Sequence[Scalar]], shape: tuple[int, ...]) -> np.ndarray:
    """Scalars as one array, shape (*shape, rows, columns); plain numbers are spread."""
    result = np.empty((*shape, len(rows), len(rows[0])))
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            result[..., i, j] = value
    return result
