"""Guide pulleys, written once over the abstract scalar: the way of a cable over its pulley.

The cable enters at E along the unit vector s and lies on an arc of angle theta about the centre
C = E + r e. With q = B - E = h e + w s + o n (o = 0 on a swivelling pulley) the free part of its
way in the plane (e, s) has the length Lf, and it leaves along sin theta e + cos theta s:

    Lf^2 = h^2 + w^2 - 2 r h,  p = r / Lf,
    sin theta = (h - r + w p) / (Lf (1 + p^2)),  cos theta = (w - (h - r) p) / (Lf (1 + p^2)).

Its length is r theta + Lf in the plane; on a fixed pulley it is a straight line of the unrolled
cylinder, sqrt((r theta + Lf)^2 + o^2). The derivative by B is the unit vector that it leaves along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.parts import Pulley

Vector = Sequence[Scalar]


@dataclass(frozen=True)
class WrapLimits:
    """What a cable's way is held to, and flagged `pulley` beyond: h and Lf (m), theta (rad)."""

    height: tuple[float, float] = (0.0, math.inf)
    free: tuple[float, float] = (0.0, math.inf)
    angle: tuple[float, float] = (-math.pi / 2, 3 * math.pi / 2)


UNLIMITED = WrapLimits()
"""For floats: the angle of wrap is the one between -pi/2 and 3 pi/2."""


@dataclass(frozen=True)
class Frame:
    """The pulley's plane as q sees it: e, the components h and w in it, and o across it (m)."""

    outward: Vector
    height: Scalar
    along: Scalar
    across: Scalar


@dataclass(frozen=True)
class Way:
    """A cable's way: the square of its length L (m^2), L times the unit vector u that it leaves
    along (m), and how it gets there: frame, angle of wrap (rad) and free length Lf (m)."""

    square: Scalar
    vector: Vector
    frame: Frame
    angle: Scalar
    free: Scalar


def way(m: Arithmetic, pulley: Pulley, q: Vector, limits: WrapLimits = UNLIMITED) -> Way:
    """The way of a cable to the point `q` (m, from its entry point).

    A point inside the pulley, Lf^2 < 0, has none: NaN in floats, with NumPy's warning.
    """
    frame = _frame(m, pulley, q, limits)
    radius, height, along = m.constant(pulley.radius, "geometry"), frame.height, frame.along
    saved = m.round(2.0 * radius * height, "square")
    flat = m.total([m.round(x * x, "square") for x in (height, along)]) - saved
    low, high = limits.free
    free, inverse = m.square_root(m.clamp(flat, low * low, high * high, "pulley"), "unit")
    ratio, rise = m.round(radius * inverse, "unit"), height - radius
    share = m.round(inverse * m.reciprocal(1.0 + m.round(ratio * ratio, "unit"), "unit"), "unit")
    sine = m.round((rise + m.round(along * ratio, "unit")) * share, "unit")
    cosine = m.round((along - m.round(rise * ratio, "unit")) * share, "unit")
    angle = m.angle(cosine, sine, limits.angle, "unit")
    # q.q = h^2 + w^2 + o^2, so L^2 = q.q - 2 r h + r theta (2 Lf + r theta).
    arc = m.round(radius * angle, "geometry")
    length = arc + free
    square = m.total([m.round(x * x, "square") for x in q]) - saved
    square = square + m.round(arc * (length + free), "square")
    vector = _combined(m, pulley, frame, (length * sine, length * cosine))
    return Way(square, vector, frame, angle, free)


def _frame(m: Arithmetic, pulley: Pulley, q: Vector, limits: WrapLimits) -> Frame:
    """e = axle x s of a fixed pulley; a swivelling one turns e towards the attachment."""
    along = _component(m, q, pulley.axis)
    if pulley.axle is not None:
        outward = outward_of(pulley)
        height, across = _component(m, q, outward), _component(m, q, pulley.axle)
        return Frame([m.constant(x, "unit") for x in outward], height, along, across)
    beside = [
        0 if abs(s) == 1 else x - m.round(along * m.constant(s, "unit"), "vector")
        for x, s in zip(q, pulley.axis, strict=True)
    ]
    low, high = limits.height
    square = m.total([m.round(x * x, "square") for x in beside])
    square = m.clamp(square, low * low, high * high, "pulley")
    height, inverse = m.square_root(square, "unit")
    return Frame([m.round(x * inverse, "unit") for x in beside], height, along, 0)


def _component(m: Arithmetic, vector: Vector, direction: Sequence[float]) -> Scalar:
    """The component of a vector along a unit vector of the robot."""
    terms = [(x, m.constant(s, "unit")) for x, s in zip(vector, direction, strict=True) if s]
    return m.dot([x for x, _ in terms], [s for _, s in terms], "vector")


def _combined(
    m: Arithmetic, pulley: Pulley, frame: Frame, in_plane: tuple[Scalar, Scalar]
) -> Vector:
    """The vector with these components along e and s, and o across the plane."""
    axle = pulley.axle or (0.0, 0.0, 0.0)
    first, second = (m.round(x, "unit") for x in in_plane)
    return [
        m.dot(
            [first, second, frame.across],
            [e, m.constant(s, "unit"), m.constant(n, "unit")],
            "vector",
        )
        for e, s, n in zip(frame.outward, pulley.axis, axle, strict=True)
    ]


def outward_of(pulley: Pulley) -> tuple[float, float, float]:
    """e = axle x s of a fixed pulley: from the entry point towards the centre."""
    a, s = pulley.axle, pulley.axis
    x, y, z = (a[j] * s[k] - a[k] * s[j] for j, k in ((1, 2), (2, 0), (0, 1)))
    return x, y, z
