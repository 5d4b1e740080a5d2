"""The equations of a serial arm by Lagrange, in SymPy: M(q) q'' + C(q, q') q' + G(q) = torques.

M comes from the links' velocities, C from Christoffel's symbols (so that M' - 2 C is skew), G from
the potential energy. Nothing is shared with the recursions. Made for one or two links; the
expressions of more grow long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from solver_ref.dynamics.links import Arm, Link
from solver_ref.symbolic import exact


@dataclass(frozen=True)
class Equations:
    """`angles`, `rates`: the symbols of q and q'; `mass`: M; `coriolis`: C; `weight`: G."""

    angles: tuple[sp.Symbol, ...]
    rates: tuple[sp.Symbol, ...]
    mass: sp.Matrix
    coriolis: sp.Matrix
    weight: sp.Matrix


def equations(arm: Arm) -> Equations:
    """The equations of an arm, whose numbers may be SymPy expressions; rotors count, friction not.

    Floats are taken as the rational numbers that they store.
    """
    count = len(arm.links)
    angles = sp.symbols(f"q1:{count + 1}", real=True)
    rates = sp.symbols(f"v1:{count + 1}", real=True)
    gravity = _matrix(arm.gravity)
    mass = sp.diag(*[exact(link.rotor) for link in arm.links])
    potential = sp.Integer(0)
    turn, place, axes = sp.eye(3), sp.zeros(3, 1), sp.zeros(3, count)
    for i, (link, angle) in enumerate(zip(arm.links, angles, strict=True)):
        place += turn * _matrix(link.origin)
        turn = turn * _matrix(link.rotation)
        axis = turn * _matrix(link.axis)
        if link.joint == "prismatic":
            place += axis * angle
        else:
            axes[:, i] = axis
            turn = turn * _turned(link, angle)
        centre = place + turn * _matrix(link.com)
        speed = centre.jacobian(angles)
        inertia = turn * _matrix(link.inertia) * turn.T
        mass += exact(link.mass) * speed.T * speed + axes.T * inertia * axes
        potential -= exact(link.mass) * gravity.dot(centre)
    mass = mass.applyfunc(lambda x: sp.trigsimp(sp.expand(x)))
    weight = sp.Matrix([potential.diff(angle) for angle in angles])
    return Equations(angles, rates, mass, christoffel(mass, angles, rates), weight)


def christoffel(
    mass: sp.Matrix, angles: Sequence[sp.Symbol], rates: Sequence[sp.Symbol]
) -> sp.Matrix:
    """C of the velocity terms C q': C_ij = sum over k of (M_ij,k + M_ik,j - M_jk,i) q'_k / 2."""

    def entry(i: int, j: int) -> sp.Expr:
        return sp.Add(
            *(
                (
                    mass[i, j].diff(angles[k])
                    + mass[i, k].diff(angles[j])
                    - mass[j, k].diff(angles[i])
                )
                * rate
                / 2
                for k, rate in enumerate(rates)
            )
        )

    return sp.Matrix(*mass.shape, entry)


def _turned(link: Link, angle: sp.Symbol) -> sp.Matrix:
    """Rodrigues' formula about the link's axis."""
    x, y, z = _matrix(link.axis)
    cross = sp.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return sp.eye(3) + sp.sin(angle) * cross + (1 - sp.cos(angle)) * cross * cross


def _matrix(values: Sequence) -> sp.Matrix:
    """A vector or the rows of a matrix; SymPy itself would keep floats."""
    rows = [value if isinstance(value, list | tuple) else [value] for value in values]
    return sp.Matrix([[exact(value) for value in row] for row in rows])
