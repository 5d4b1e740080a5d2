"""Screw motion from one pose to another: the shortest way in SE(3), at a smooth speed.

T(s) = exp(s xi) T_0 with xi = log(T_1 T_0^-1), a twist (v, omega) of the base frame's origin: the
platform turns about one fixed axis and moves along it. s goes from 0 to 1 by a polynomial with
three derivatives zero at both ends.
"""

from __future__ import annotations

import numpy as np

from solver_ref.kinematics import rate_matrix, rotation_exp, rotation_log, spatial_poses
from solver_ref.robot import Robot
from solver_ref.trajectory import SMOOTH_STEP, Trajectory, ramp, sample_times


def screw_twist(robot: Robot, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The twist xi (v, omega) (6,), m and rad, of the base frame that takes one pose to the other
    in unit time; poses (coordinates,). It turns by at most half a turn."""
    first, last = (spatial_poses(robot, np.asarray(pose, float)) for pose in (start, end))
    turn = rotation_exp(last[3:]) @ rotation_exp(first[3:]).T
    omega = rotation_log(turn)
    shift = np.linalg.solve(rate_matrix(omega[None])[0], last[:3] - turn @ first[:3])
    return np.concatenate([shift, omega])


def screw_trajectory(
    robot: Robot, start: np.ndarray, end: np.ndarray, rate: float = 10_000, duration: float = 1.0
) -> Trajectory:
    """Samples at `rate` (Hz) of a motion of `duration` (s) that starts and ends at rest; the last
    one is one period short of the end.

    Poses in between may leave the workspace: `solver_ref.domain.inside` tells.
    """
    times = sample_times(rate, duration)
    way = ramp(times, duration, SMOOTH_STEP)
    share, speed, push = (x[:, None] for x in (way.value, way.first, way.second))
    first = spatial_poses(robot, np.asarray(start, float))
    xi = screw_twist(robot, start, end)
    shift, omega = xi[:3], xi[3:]
    turns = rotation_exp(share * omega)
    moved = (rate_matrix(share * omega) @ shift[:, None])[..., 0] * share
    positions = turns @ first[:3] + moved
    phi = rotation_log(turns @ rotation_exp(first[3:]))
    flow = shift + np.cross(omega, positions)  # what unit speed makes of the platform's origin
    linear, angular = speed * flow, speed * omega
    linear_push = push * flow + np.cross(angular, linear)
    turning = np.linalg.solve(rate_matrix(phi), angular[..., None])[..., 0]
    free = list(robot.free)
    return Trajectory(
        times=times,
        poses=np.hstack([positions, phi])[:, free],
        rates=np.hstack([linear, turning])[:, free],
        twists=np.hstack([linear, angular])[:, free],
        accelerations=np.hstack([linear_push, push * omega])[:, free],
    )
