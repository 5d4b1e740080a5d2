"""The mass matrix of a chain by composite rigid bodies, written once over the abstract scalar.

All links beyond a joint are one body: its moments of mass about the joint give the force and moment
that a unit acceleration of the joint takes, and these are carried inwards to every joint before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.dynamics.newton_euler import JointMotion, passed_on, way_of
from solver_ref.dynamics.segments import Chain, Segment
from solver_ref.dynamics.vectors import (
    Matrix,
    Vector,
    apply,
    number,
    numbers,
    outward,
    plus,
    times,
    transposed,
)


@dataclass(frozen=True)
class Body:
    """Mass, first and second moment of mass of a body about a frame's origin, in its axes."""

    mass: Scalar
    moment: Vector
    second: Matrix


def mass_matrix(m: Arithmetic, chain: Chain, motions: Sequence[JointMotion]) -> list[list[Scalar]]:
    """The symmetric matrix M (kg m^2, kg m, kg) of a chain; rotors are not in it.

    Only sines, cosines and paths of the motions are read.
    """
    size = len(motions)
    matrix: list[list[Scalar]] = [[0] * size for _ in range(size)]
    beyond: Body | None = None
    for i in reversed(range(size)):
        body = _own(m, chain.segments[i])
        if beyond is not None:
            body = _joined(m, body, _from_outside(m, chain.segments[i + 1], motions[i + 1], beyond))
        beyond = body
        force, moment = _unit_load(body, prismatic=chain.segments[i].prismatic)
        for j in reversed(range(i + 1)):
            entry = force[2] if chain.segments[j].prismatic else moment[2]
            matrix[i][j] = matrix[j][i] = entry
            if j:
                force, moment = passed_on(m, chain.segments[j], motions[j], force, moment)
    return matrix


def _own(m: Arithmetic, segment: Segment) -> Body:
    return Body(
        number(m, segment.mass),
        numbers(m, segment.moment),
        [numbers(m, row) for row in segment.second],
    )


def _joined(m: Arithmetic, a: Body, b: Body) -> Body:
    second = [plus(m, *rows) for rows in zip(a.second, b.second, strict=True)]
    return Body(m.total([a.mass, b.mass]), plus(m, a.moment, b.moment), second)


def _from_outside(m: Arithmetic, segment: Segment, joint: JointMotion, body: Body) -> Body:
    """The body beyond a joint as the frame before the joint sees it."""

    def seen(vector: Vector) -> list[Scalar]:
        turned = outward(m, joint.sine, joint.cosine, vector, "moment")
        return apply(m, [numbers(m, row) for row in segment.rotation], turned, "moment")

    way = way_of(m, segment, joint)
    moment = seen(body.moment)
    second = transposed([seen(row) for row in transposed([seen(row) for row in body.second])])
    shifted = plus(m, moment, times(m, body.mass, way, "moment"))
    second = [
        plus(m, row, times(m, moment[i], way, "moment"), times(m, way[i], shifted, "moment"))
        for i, row in enumerate(second)
    ]
    return Body(body.mass, shifted, second)


def _unit_load(body: Body, *, prismatic: bool) -> tuple[Vector, Vector]:
    """Force and moment that a unit acceleration of the body about or along z takes."""
    first, second = body.moment, body.second
    if prismatic:
        return (0, 0, body.mass), (first[1], -first[0], 0)
    turning = (-second[0][2], -second[1][2], second[0][0] + second[1][1])
    return (-first[1], first[0], 0), turning
