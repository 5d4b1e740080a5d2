"""Torques that make a serial arm do what is wanted, from its model."""

from __future__ import annotations

import numpy as np

from solver_ref.dynamics.links import Arm
from solver_ref.dynamics.serial import torques


def gravity_compensation(arm: Arm, position: np.ndarray) -> np.ndarray:
    """What holds the arm still (..., n), N m or N."""
    return torques(arm, position)


def computed_torque(
    arm: Arm,
    position: np.ndarray,
    speed: np.ndarray,
    wanted: tuple[np.ndarray, np.ndarray, np.ndarray],
    *,
    stiffness: float,
    damping: float,
) -> np.ndarray:
    """M (a_d + kd (v_d - v) + kp (q_d - q)) + C v + G + friction, (..., n).

    With the true model every joint's error is an oscillator of its own, e'' + kd e' + kp e = 0.

    Parameters
    ----------
    wanted : position, speed and acceleration q_d, v_d, a_d, each (..., n)
    stiffness, damping : kp (1/s^2) and kd (1/s)
    """
    place, rate, acceleration = wanted
    asked = acceleration + damping * (rate - speed) + stiffness * (place - position)
    return torques(arm, position, speed, asked)
