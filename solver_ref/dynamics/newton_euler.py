"""Recursive Newton-Euler for a chain of links, written once over the abstract scalar.

Outwards, each link in its own frame, R and p from the frame of the link before it:

    omega = R^T omega_p + z qd,  alpha = R^T (alpha_p + omega_p x R z qd) + z qdd,
    S = [alpha]x + [omega]x [omega]x,  a = R^T (a_p + S_p p),
    F = m a + S h,  N = axial(S J) + h x a,

with the moments of mass of `solver_ref.dynamics.segments`. Inwards f and n, the force and moment
about the link's origin that move this link and all beyond it; the joint feels their z component. A
prismatic joint adds z q to p, and 2 omega x z qd + z qdd to a. Gravity is the base's acceleration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.dynamics.segments import Chain, Segment
from solver_ref.dynamics.vectors import (
    NOTHING,
    TURNS,
    Matrix,
    Vector,
    apply,
    cross,
    euler_matrix,
    held,
    inward,
    number,
    numbers,
    outward,
    plus,
    times,
    transposed,
)


@dataclass(frozen=True)
class JointMotion:
    """Where a joint is and how it moves: sine and cosine of its angle (0 and 1 where prismatic),
    its path (m; 0 where revolute), speed and acceleration."""

    sine: Scalar
    cosine: Scalar
    path: Scalar
    speed: Scalar
    acceleration: Scalar


@dataclass(frozen=True)
class Bounds:
    """What the norms of one link's vectors are held to, in SI units; floats know no limits."""

    speed: float = math.inf
    turn: float = math.inf
    linear: float = math.inf
    force: float = math.inf
    moment: float = math.inf


@dataclass(frozen=True)
class Moving:
    """How a frame moves, in its own axes: omega, alpha, S and the acceleration of its origin."""

    speed: Vector
    turning: Vector
    euler: Matrix
    linear: Vector


def joint_motion(
    m: Arithmetic, segment: Segment, position: Scalar, speed: Scalar, acceleration: Scalar
) -> JointMotion:
    """The motion of a segment's joint at a position (rad; m where prismatic)."""
    if segment.prismatic:
        return JointMotion(0, 1, position, speed, acceleration)
    sine, cosine = m.sine_cosine(position, "sine")
    return JointMotion(sine, cosine, 0, speed, acceleration)


def inverse_dynamics(
    m: Arithmetic,
    chain: Chain,
    motions: Sequence[JointMotion],
    *,
    wrench: Vector | None = None,
    bounds: Sequence[Bounds] | None = None,
) -> list[Scalar]:
    """The torque (N m) or force (N) of every joint; no friction, no rotors.

    `wrench`: force (N), then moment (N m), that the tip exerts on what is around it, tip frame.
    `bounds`: of every link; needed to trace.
    """
    limits = bounds or [Bounds()] * len(motions)
    moving = Moving(NOTHING, NOTHING, [NOTHING] * 3, numbers(m, chain.lift))
    loads = []
    for segment, joint, limit in zip(chain.segments, motions, limits, strict=True):
        moving = _carried(m, segment, joint, moving, limit)
        loads.append(_load(m, segment, moving, limit))
    force, moment = _at_tip(m, chain, wrench)
    torques = []
    for i in reversed(range(len(motions))):
        segment, limit = chain.segments[i], limits[i]
        force = held(m, plus(m, loads[i][0], force), limit.force)
        moment = held(m, plus(m, loads[i][1], moment), limit.moment)
        torques.append(force[2] if segment.prismatic else moment[2])
        if i:
            force, moment = passed_on(m, segment, motions[i], force, moment)
    return torques[::-1]


def _carried(
    m: Arithmetic, segment: Segment, joint: JointMotion, before: Moving, limit: Bounds
) -> Moving:
    """The motion of a segment's frame from that of the one before it."""
    inverse = [numbers(m, row) for row in transposed(segment.rotation)]

    def seen(vector: Vector, role: str) -> list[Scalar]:
        return inward(m, joint.sine, joint.cosine, apply(m, inverse, vector, role), role)

    speed, turning = seen(before.speed, "speed"), seen(before.turning, "turn")
    way = way_of(m, segment, joint)
    linear = seen(plus(m, before.linear, apply(m, before.euler, way, "linear")), "linear")
    rate = [m.dot([speed[1]], [joint.speed], "turn"), -m.dot([speed[0]], [joint.speed], "turn"), 0]
    if segment.prismatic:
        coriolis = [2 * x for x in rate]
        linear = plus(m, linear, coriolis, [0, 0, joint.acceleration])
    else:
        speed = plus(m, speed, [0, 0, joint.speed])
        turning = plus(m, turning, rate, [0, 0, joint.acceleration])
    speed = held(m, speed, limit.speed)
    turning = held(m, turning, limit.turn)
    euler = euler_matrix(m, speed, turning, "turn")
    euler = [held(m, row, limit.turn) for row in euler]
    return Moving(speed, turning, euler, held(m, linear, limit.linear))


def _load(
    m: Arithmetic, segment: Segment, moving: Moving, limit: Bounds
) -> tuple[list[Scalar], list[Scalar]]:
    """The force and the moment about its origin that a segment's own mass takes."""
    mass, first = number(m, segment.mass), numbers(m, segment.moment)
    force = [
        m.dot([mass, *first], [a, *row], "force")
        for a, row in zip(moving.linear, moving.euler, strict=True)
    ]
    second = [numbers(m, row) for row in segment.second]
    moment = []
    for j, k in TURNS:  # the axial vector of S J, whose entry (k, j) is S's row k on J's row j
        spun = [-x for x in moving.euler[j]]
        terms = ([*second[j], *second[k]], [*moving.euler[k], *spun])
        swept = ([first[j], -first[k]], [moving.linear[k], moving.linear[j]])
        moment.append(m.dot([*terms[0], *swept[0]], [*terms[1], *swept[1]], "moment"))
    return held(m, force, limit.force), held(m, moment, limit.moment)


def passed_on(
    m: Arithmetic, segment: Segment, joint: JointMotion, force: Vector, moment: Vector
) -> tuple[list[Scalar], list[Scalar]]:
    """Force and moment of a segment in the frame of the one before it, about that one's origin."""
    rotation = [numbers(m, row) for row in segment.rotation]
    force = apply(m, rotation, outward(m, joint.sine, joint.cosine, force, "force"), "force")
    moment = apply(m, rotation, outward(m, joint.sine, joint.cosine, moment, "moment"), "moment")
    lever = cross(m, way_of(m, segment, joint), force, "moment")
    return force, plus(m, moment, lever)


def way_of(m: Arithmetic, segment: Segment, joint: JointMotion) -> list[Scalar]:
    """From the origin of the frame before a segment to the segment's own (m), the former's axes."""
    way = numbers(m, segment.offset)
    if not segment.prismatic:
        return way
    return plus(m, way, times(m, joint.path, numbers(m, [r[2] for r in segment.rotation]), "path"))


def _at_tip(m: Arithmetic, chain: Chain, wrench: Vector | None) -> tuple[Vector, Vector]:
    """The wrench of the tip in the last segment's frame, about that one's origin."""
    if wrench is None:
        return NOTHING, NOTHING
    rotation = [numbers(m, row) for row in chain.tip_rotation]
    force = apply(m, rotation, wrench[:3], "force")
    moment = apply(m, rotation, wrench[3:], "moment")
    lever = cross(m, numbers(m, chain.tip_offset), force, "moment")
    return force, plus(m, moment, lever)
