"""A Delta robot: three arms turn in vertical planes, 120 degrees apart; forearms hang from them.

With u outwards, v sideways and w downwards from an arm's joint to the platform's, an arm of length
a at the angle q below the horizontal and a forearm of length b close where
(u - a cos q)^2 + v^2 + (w - a sin q)^2 = b^2, which is u cos q + w sin q = k with
k = (u^2 + v^2 + w^2 + a^2 - b^2) / (2 a). Pairs of parallel forearms keep the platform level, so
that it is a point with three offsets.
"""

import math

MOTIONS = ("point",)
JOINTS = {"q1": "rad", "q2": "rad", "q3": "rad"}
GEOMETRY = {
    "base": "m",  # from the middle of the base to the arms' joints
    "platform": "m",  # from the middle of the platform to the forearms' joints
    "arm": "m",
    "forearm": "m",
}
DIRECTIONS = [(math.cos(t), math.sin(t)) for t in (0, 2 * math.pi / 3, 4 * math.pi / 3)]


def faults(geometry):
    for name in ("arm", "forearm"):
        if getattr(geometry, name) <= 0:
            yield f"geometry.{name}", "above 0 m", getattr(geometry, name)


def _from_arm_joint(geometry, platform, direction):
    """(u, v, w) of the platform's joint, seen from the arm's."""
    c, s = direction
    x, y, z = platform.point((geometry.platform * c, geometry.platform * s, 0.0))
    return x * c + y * s - geometry.base, y * c - x * s, -z


def constraints(m, geometry, platform, joints):
    for direction, q in zip(DIRECTIONS, joints, strict=True):
        sine, cosine = m.sine_cosine(q)
        u, v, w = _from_arm_joint(geometry, platform, direction)
        u, w = u - geometry.arm * cosine, w - geometry.arm * sine
        yield (u * u + v * v + w * w - geometry.forearm**2) * (0.5 / geometry.forearm)


def inverse(m, geometry, platform):
    for direction in DIRECTIONS:
        u, v, w = _from_arm_joint(geometry, platform, direction)
        plane = u * u + w * w
        square = plane + v * v + (geometry.arm**2 - geometry.forearm**2)
        k = square * (0.5 / geometry.arm)
        h = m.square_root(plane - k * k)
        yield m.arctangent(w * k - u * h, u * k + w * h)


def links(m, geometry, platform, joints):
    for (c, s), q in zip(DIRECTIONS, joints, strict=True):
        sine, cosine = m.sine_cosine(q)
        out = geometry.base + geometry.arm * cosine
        anchor = (geometry.base * c, geometry.base * s, 0.0)
        elbow = (out * c, out * s, -geometry.arm * sine)
        yield [anchor, elbow, platform.point((geometry.platform * c, geometry.platform * s, 0.0))]
