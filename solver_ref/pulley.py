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

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.curves import curve
from solver_ref.parts import Pulley

Vector = Sequence[Scalar]


@dataclass(frozen=True)
class WrapLimits:
    """What a cable's way is held to, and flagged `length` beyond: h and Lf (m), theta (rad)."""

    height: tuple[float, float] = (0.0, math.inf)
    free: tuple[float, float] = (0.0, math.inf)
    angle: tuple[float, float] = (-math.pi / 2, 3 * math.pi / 2)


UNLIMITED = WrapLimits()
"""For floats: the angle of wrap is the one between -pi/2 and 3 pi/2."""

UNIT = 1.0 + 2.0**-10
"""What components of unit vectors are held to: 1 and room for rounding."""

LACK_ERROR = 2.0**-23
"""The error that is allowed to p^2 / (1 + p^2)."""


@dataclass(frozen=True)
class Frame:
    """The pulley's plane as q sees it: h, w, o (m), and h^2 + w^2 (m^2).

    e = `outward` * `scale`; a scale of None is 1.
    """

    height: Scalar
    along: Scalar
    across: Scalar
    square: Scalar
    outward: Vector
    scale: Scalar | None


@dataclass(frozen=True)
class Way:
    """A cable's way: the square of its length L (m^2), L times the unit vector u that it leaves
    along (m), and how it gets there: frame, angle of wrap (rad) and free length Lf (m)."""

    square: Scalar
    vector: Vector
    frame: Frame
    angle: Scalar
    free: Scalar


def way(
    m: Arithmetic,
    pulley: Pulley,
    q: Vector,
    limits: WrapLimits = UNLIMITED,
    *,
    precise: bool = True,
) -> Way:
    """The way of a cable to the point `q` (m, from its entry point).

    Without `precise` the vector is only as fine as the step's Jacobian, L^2 as fine as ever. A
    point inside the pulley, Lf^2 < 0, has no way: NaN in floats, with NumPy's warning.
    """
    roles = ("unit", "unit") if precise else ("guide", "jacobian")
    return _Guide(m, pulley, limits, *roles).way(q)


@dataclass(frozen=True)
class _Guide:
    """The equations of one pulley, with the roles of what leads to a row and of its factors."""

    m: Arithmetic
    pulley: Pulley
    limits: WrapLimits
    role: str
    row_role: str

    def way(self, q: Vector) -> Way:
        m = self.m
        square = self._square(q)
        frame = self._frame(q, square)
        radius = m.constant(self.pulley.radius, "geometry")
        saved = m.round(2.0 * radius * frame.height, "square")
        free, inverse = self._root(frame.square - saved, self.limits.free)
        cosine, sine = self._leaving(frame, radius, inverse)
        angle = m.angle(cosine, sine, self.limits.angle, "wrap", "length")
        arc = m.round(radius * angle, "geometry")
        length = arc + free
        # q.q = h^2 + w^2 + o^2, so L^2 = q.q - 2 r h + r theta (2 Lf + r theta).
        square = square - saved + m.round(arc * (length + free), "square")
        return Way(square, self._vector(frame, length, cosine, sine), frame, angle, free)

    @property
    def _around(self) -> float:
        """How much L u can differ from q: by the arc and by its chord, neither above r theta."""
        radius = self.pulley.radius
        if not isinstance(radius, float):  # it may be any of many
            radius = self.m.magnitude(radius)
        return 2 * UNIT * radius * max(map(abs, self.limits.angle))

    def _frame(self, q: Vector, square: Scalar) -> Frame:
        """e = axle x s of a fixed pulley; a swivelling one turns e towards the attachment."""
        m, pulley = self.m, self.pulley
        along = self._component(q, pulley.axis)
        if pulley.axle is not None:
            outward = outward_of(pulley)
            height, across = self._component(q, outward), self._component(q, pulley.axle)
            square = self._square([height, along])
            outward = [m.constant(x, self.row_role) for x in outward]
            return Frame(height, along, across, square, outward, None)
        beside = [
            0 if abs(s) == 1 else m.round(x - along * m.constant(s, "unit"), "vector")
            for x, s in zip(q, pulley.axis, strict=True)
        ]
        height, inverse = self._root(self._square(beside), self.limits.height)
        return Frame(height, along, 0, square, beside, inverse)

    def _square(self, vector: Vector) -> Scalar:
        return self.m.total([self.m.round(x * x, "square") for x in vector])

    def _component(self, vector: Vector, direction: Sequence[float]) -> Scalar:
        """The component of a vector along a unit vector of the robot."""
        m = self.m
        terms = [(x, m.constant(s, "unit")) for x, s in zip(vector, direction, strict=True) if s]
        return m.dot([x for x, _ in terms], [s for _, s in terms], "vector")

    def _root(self, square: Scalar, limits: tuple[float, float]) -> tuple[Scalar, Scalar]:
        """The root within its limits, as fine as a component of q, and its reciprocal."""
        m, (low, high) = self.m, limits
        root, inverse = m.square_root(m.clamp(square, low * low, high * high, "length"), self.role)
        return m.nearest(root, "vector"), inverse

    def _leaving(self, frame: Frame, radius: Scalar, inverse: Scalar) -> tuple[Scalar, Scalar]:
        """cos theta and sin theta, from 1 / Lf."""
        m = self.m
        ratio = m.round(radius * inverse, "sine")
        # 1 / (1 + p^2) lacks little to 1, which therefore needs few bits.
        square = m.round(ratio * ratio, "lever")
        lack = curve(m, square, lambda m, x: x / (1.0 + x), LACK_ERROR)
        share = m.round(inverse - m.round(inverse, "jacobian") * lack, self.role)
        rise = m.round(frame.height - radius, "vector")
        cosine = (frame.along - m.round(rise * ratio, "vector")) * share
        sine = (rise + m.round(frame.along * ratio, "vector")) * share
        cosine, sine = (m.clamp(m.round(x, "sine"), -UNIT, UNIT, "length") for x in (cosine, sine))
        return cosine, sine

    def _vector(self, frame: Frame, length: Scalar, cosine: Scalar, sine: Scalar) -> Vector:
        """L u = L (cos theta s + sin theta e) + o n, for L the length in the plane."""
        m, role = self.m, self.row_role
        length = m.round(length, self.role)
        forward, rise = (m.round(length * x, self.role) for x in (cosine, sine))
        forward = self._near(forward, frame.along)
        if frame.scale is None:
            rise = self._near(rise, frame.height)
        else:
            low = self.limits.height[0]
            room = self._around / low if low else math.inf
            rise = m.clamp(rise * frame.scale, 1.0 - room, 1.0 + room, "length")
        parts = [m.round(forward, role), m.round(rise, role), frame.across]
        axle = self.pulley.axle or (0.0, 0.0, 0.0)
        return [
            m.dot(parts, [m.constant(s, role), e, m.constant(n, role)], "vector")
            for s, e, n in zip(self.pulley.axis, frame.outward, axle, strict=True)
        ]

    def _near(self, value: Scalar, other: Scalar) -> Scalar:
        """A component of L u, held to the size of that of q."""
        size = self._around + (0.0 if is_zero(other) else self.m.magnitude(other))
        return self.m.clamp(value, -size, size, "length")


def outward_of(pulley: Pulley) -> tuple[float, float, float]:
    """e = axle x s of a fixed pulley: from the entry point towards the centre."""
    a, s = pulley.axle, pulley.axis
    x, y, z = (a[j] * s[k] - a[k] * s[j] for j, k in ((1, 2), (2, 0), (0, 1)))
    return x, y, z
