"""Dynamics of a serial arm in float64: arrays whose last axis are the joints."""

from __future__ import annotations

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.dynamics import composite, newton_euler
from solver_ref.dynamics.arrays import columns, stacked, stacked_rows
from solver_ref.dynamics.friction import friction
from solver_ref.dynamics.links import Arm
from solver_ref.dynamics.newton_euler import JointMotion, joint_motion
from solver_ref.dynamics.segments import Chain, chain_of

FLOAT = FloatArithmetic()


def torques(
    arm: Arm,
    position: np.ndarray,
    speed: np.ndarray | None = None,
    acceleration: np.ndarray | None = None,
    *,
    wrench: np.ndarray | None = None,
    gravity: bool = True,
    losses: bool = True,
) -> np.ndarray:
    """Inverse dynamics by recursive Newton-Euler: what the joints must give, (..., n), N m or N.

    Parameters
    ----------
    position, speed, acceleration : (..., n), rad or m and their rates; at rest where left out
    wrench : (..., 6), force (N) and moment (N m) that the tip exerts, in the tip's frame
    gravity, losses : whether the weight and the friction count
    """
    shape = np.shape(position)
    speed, acceleration = (
        np.zeros(shape) if x is None else np.broadcast_to(x, shape) for x in (speed, acceleration)
    )
    chain = chain_of(arm) if gravity else weightless(chain_of(arm))
    found = newton_euler.inverse_dynamics(
        FLOAT,
        chain,
        motions(chain, position, speed, acceleration),
        wrench=None if wrench is None else list(np.moveaxis(np.asarray(wrench, float), -1, 0)),
    )
    result = stacked(found, shape)
    result = result + acceleration * np.array([link.rotor for link in arm.links])
    return result + friction_torques(arm, speed) if losses else result


def mass_matrix(arm: Arm, position: np.ndarray) -> np.ndarray:
    """M (..., n, n) by composite rigid bodies, rotors included."""
    chain = chain_of(arm)
    still = np.zeros(np.shape(position))
    found = composite.mass_matrix(FLOAT, chain, motions(chain, position, still, still))
    return stacked_rows(found, np.shape(position)) + np.diag([link.rotor for link in arm.links])


def accelerations(
    arm: Arm,
    position: np.ndarray,
    speed: np.ndarray,
    torque: np.ndarray,
    *,
    gravity: bool = True,
    losses: bool = True,
) -> np.ndarray:
    """Forward dynamics: the accelerations (..., n) under joint torques."""
    bias = torques(arm, position, speed, gravity=gravity, losses=losses)
    right = np.asarray(torque, float) - bias
    return np.linalg.solve(mass_matrix(arm, position), right[..., None])[..., 0]


def friction_torques(arm: Arm, speed: np.ndarray) -> np.ndarray:
    """What the joints' friction takes, (..., n)."""
    laws = [link.friction for link in arm.links]
    found = [friction(FLOAT, law, v) for law, v in zip(laws, columns(speed), strict=True)]
    return stacked(found, np.shape(speed))


def motions(
    chain: Chain, position: np.ndarray, speed: np.ndarray, acceleration: np.ndarray
) -> list[JointMotion]:
    """The motion of every joint, from arrays (..., n)."""
    values = zip(columns(position), columns(speed), columns(acceleration), strict=True)
    return [joint_motion(FLOAT, s, *row) for s, row in zip(chain.segments, values, strict=True)]


def weightless(chain: Chain) -> Chain:
    """The chain without gravity."""
    return Chain(chain.segments, (0.0, 0.0, 0.0), chain.tip_rotation, chain.tip_offset)
