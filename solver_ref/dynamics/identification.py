"""Parameters of a serial arm from measured motions and torques, by least squares.

Torques are linear in ten moments of mass of each link, its rotor and its friction: Y(q, q', q'') p.
Not all of p can be seen; the base parameters are those of its combinations that can, chosen by a QR
decomposition with pivots: W p = W_1 (p_1 + R_1^-1 R_2 p_2) for any p.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, solve_triangular

from solver_ref.dynamics.arrays import columns, stacked
from solver_ref.dynamics.friction import friction
from solver_ref.dynamics.links import Arm, Friction
from solver_ref.dynamics.newton_euler import inverse_dynamics
from solver_ref.dynamics.segments import Chain, Segment, chain_of
from solver_ref.dynamics.serial import FLOAT, motions

MOMENTS = ("m", "hx", "hy", "hz", "Jxx", "Jyy", "Jzz", "Jxy", "Jyz", "Jzx")
LOSSES = ("rotor", "viscous", "forward", "backward")
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
RANK = 1e-8
"""A pivot below this share of the largest is none."""


@dataclass(frozen=True)
class Base:
    """The base parameters of an arm: parameter `columns[i]` and what `grouping` (r, p) adds to it.

    Base values are grouping @ p for the parameters p (p,).
    """

    columns: np.ndarray
    grouping: np.ndarray


@dataclass(frozen=True)
class Estimate:
    """Base parameters (r,), their covariance (r, r) and the standard deviation of the torques."""

    base: Base
    values: np.ndarray
    covariance: np.ndarray
    deviation: float


def parameter_names(arm: Arm) -> list[str]:
    """The names of all parameters, `LINK.WORD`, in the order of `parameters`."""
    return [f"{link.name}.{word}" for link in arm.links for word in (*MOMENTS, *LOSSES)]


def parameters(arm: Arm) -> np.ndarray:
    """The parameters that an arm has: moments of mass, rotor and friction, link by link.

    Moments are those of `solver_ref.dynamics.segments`, in axes in which the joint is z.
    """
    values: list[float] = []
    for link, segment in zip(arm.links, chain_of(arm).segments, strict=True):
        second = [segment.second[i][j] for i, j in PLACES]
        values += [segment.mass, *segment.moment, *second]
        values += [link.rotor, link.friction.viscous, *link.friction.coulomb]
    return np.array(values)


def regressor(
    arm: Arm, position: np.ndarray, speed: np.ndarray, acceleration: np.ndarray
) -> np.ndarray:
    """Y (N, n, p) with Y p = torques, from arrays (N, n). The arm's static friction is left out."""
    chain = chain_of(arm)
    moving = motions(chain, position, speed, acceleration)
    shape = np.shape(position)
    result = np.zeros((*shape, len(arm.links) * (len(MOMENTS) + len(LOSSES))))
    column = 0
    for i, link in enumerate(arm.links):
        for k in range(len(MOMENTS)):
            torques = inverse_dynamics(FLOAT, _only(chain, i, k), moving)
            result[..., column + k] = stacked(torques, shape)
        column += len(MOMENTS)
        result[..., i, column] = acceleration[..., i]
        for k, law in enumerate(_unit_losses(link.friction), 1):
            result[..., i, column + k] = friction(FLOAT, law, columns(speed)[i])
        column += len(LOSSES)
    return result


def base_parameters(arm: Arm, rng: np.random.Generator, *, samples: int = 200) -> Base:
    """Which parameters can be told apart in the arm's motions at all, from random states."""
    low, high = np.array([link.limits.position for link in arm.links]).T
    fast = np.array([link.limits.speed for link in arm.links])
    quick = np.array([link.limits.acceleration for link in arm.links])
    shape = (samples, len(arm.links))
    spread = rng.uniform(-1, 1, (2, *shape))
    rows = regressor(arm, rng.uniform(low, high, shape), fast * spread[0], quick * spread[1])
    matrix = rows.reshape(-1, rows.shape[-1])
    triangle, order = qr(matrix, mode="r", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    rank = int((pivots > RANK * pivots[0]).sum())
    grouping = np.zeros((rank, matrix.shape[1]))
    grouping[:, order[:rank]] = np.eye(rank)
    grouping[:, order[rank:]] = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    return Base(order[:rank], grouping)


def identify(
    arm: Arm,
    base: Base,
    position: np.ndarray,
    speed: np.ndarray,
    acceleration: np.ndarray,
    torque: np.ndarray,
) -> Estimate:
    """The base parameters that explain measured torques best, all arrays (N, n).

    Only the arm's geometry, gravity and smoothing of friction are used. ValueError where the motion
    does not show every base parameter.
    """
    rows = regressor(arm, position, speed, acceleration)[..., base.columns]
    matrix = rows.reshape(-1, len(base.columns))
    scale = np.linalg.norm(matrix, axis=0)
    if len(matrix) <= len(scale) or not scale.all():
        raise ValueError(f"{len(matrix)} torques of this motion do not show {len(scale)} numbers")
    orthogonal, triangle = np.linalg.qr(matrix / scale)
    pivots = np.abs(np.diag(triangle))
    if pivots.min() < RANK:
        raise ValueError("this motion does not show every base parameter")
    right = np.asarray(torque, float).reshape(-1)
    inverse = solve_triangular(triangle, np.eye(len(scale))) / scale[:, None]
    values = inverse @ (orthogonal.T @ right)
    residual = right - matrix @ values
    variance = float(residual @ residual) / (len(right) - len(scale))
    return Estimate(base, values, variance * inverse @ inverse.T, float(np.sqrt(variance)))


def _only(chain: Chain, index: int, moment: int) -> Chain:
    """The chain in which one moment of mass of one segment is 1, and all others 0."""
    word = MOMENTS[moment]
    second = np.zeros((3, 3))
    if moment >= 4:
        i, j = PLACES[moment - 4]
        second[i, j] = second[j, i] = 1.0

    def part(i: int, segment: Segment) -> Segment:
        here = i == index
        return replace(
            segment,
            mass=float(here and word == "m"),
            moment=tuple(float(here and word == name) for name in MOMENTS[1:4]),
            second=tuple(map(tuple, (second * here).tolist())),
        )

    return replace(chain, segments=tuple(part(i, s) for i, s in enumerate(chain.segments)))


def _unit_losses(law: Friction) -> list[Friction]:
    """Laws with one loss of 1 each, smooth as the given one."""
    smooth = law.smooth
    return [
        Friction(viscous=1.0),
        Friction(coulomb=(1.0, 0.0), smooth=smooth),
        Friction(coulomb=(0.0, 1.0), smooth=smooth),
    ]
