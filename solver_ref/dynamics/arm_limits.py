"""What an arm's declared motions can amount to: proven bounds of every vector of the recursion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from solver_ref.dynamics.links import Arm
from solver_ref.dynamics.newton_euler import Bounds
from solver_ref.dynamics.segments import chain_of

ROOM = 1.0 + 2.0**-9
"""Room for rounding above a bound of exact arithmetic."""


@dataclass(frozen=True)
class ArmLimits:
    """`bounds`: of every link. The rest says how far an error goes, over the whole arm: into
    torques (N m, N) by one of an acceleration `mass_reach` (kg m), of a rate of turning squared
    `mass_square` (kg m^2), of a force `reach` (m), the
    farthest that the tip may be; `torque`: the largest, `speed`: the fastest
    turning (rad/s)."""

    bounds: tuple[Bounds, ...]
    reach: float
    mass_reach: float
    mass_square: float
    torque: float
    speed: float


def arm_limits(arm: Arm) -> ArmLimits:
    """The bounds of an arm whose joints keep to their limits; friction and rotors are not in them.

    Norms add up along the chain: those of rates and accelerations outwards, of forces inwards.
    """
    chain = chain_of(arm)
    speed = turning = 0.0
    linear = math.hypot(*arm.gravity)
    outward, ways = [], []
    for link, segment in zip(arm.links, chain.segments, strict=True):
        limits = link.limits
        way = math.hypot(*segment.offset)
        turn = turning + speed**2
        if segment.prismatic:
            way += max(map(abs, limits.position))
            linear += turn * way + 2 * speed * limits.speed + limits.acceleration
        else:
            linear += turn * way
            turning += speed * limits.speed + limits.acceleration
            speed += limits.speed
        ways.append(way)
        outward.append((speed, turning + speed**2, linear))
    inward, force, moment = [], 0.0, 0.0
    for i in reversed(range(len(outward))):
        segment, (_, turn, pull) = chain.segments[i], outward[i]
        if i + 1 < len(outward):
            moment += ways[i + 1] * force
        first, second = math.hypot(*segment.moment), np.abs(np.linalg.eigvalsh(segment.second))
        force += segment.mass * pull + first * turn
        moment += 2 * float(second.sum()) * turn + first * pull
        inward.append((force, moment))
    reach, lever, square = 0.0, 0.0, 0.0
    for segment, way in zip(chain.segments, ways, strict=True):
        reach += way
        centre = math.hypot(*segment.moment)
        lever += segment.mass * reach + centre
        square += (segment.mass * reach + 2 * centre) * reach + float(np.trace(segment.second))
    bounds = tuple(
        Bounds(*(ROOM * x for x in (*out, *into)))
        for out, into in zip(outward, reversed(inward), strict=True)
    )
    last = max(bounds, key=lambda b: b.moment)
    reach += math.hypot(*chain.tip_offset)
    return ArmLimits(bounds, reach, lever, square, max(last.moment, last.force), speed)
