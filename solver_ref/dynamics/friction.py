"""Friction of a joint, written once over the abstract scalar, and smooth through speed 0.

With x = speed / smooth held to +-1 the torque is viscous * speed + c (3 x - x^3) / 2, where c is
the Coulomb torque of the direction. Towards breakaway c grows to the static torque by the fraction
1 / (1 + (speed / stribeck)^2) of what lies between (Hess and Soom, 1990).
"""

from __future__ import annotations

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.curves import within
from solver_ref.dynamics.links import Friction
from solver_ref.dynamics.vectors import number


def friction(m: Arithmetic, law: Friction, speed: Scalar) -> Scalar:
    """The torque (N m; N where prismatic) that a joint's friction takes at a speed."""
    terms = [m.dot([number(m, law.viscous)], [speed], "moment")]
    if any(law.coulomb):
        slow = within(m, speed, -law.smooth, law.smooth)
        share = m.dot([number(m, 1 / law.smooth)], [slow], "share")
        cube = m.dot([m.dot([share], [share], "share")], [share], "share")
        sign = m.round(1.5 * share - 0.5 * cube, "share")
        fading = _fading(m, law, speed)
        for torque, part in zip(law.coulomb, ((0.0, 1.0), (-1.0, 0.0)), strict=True):
            level = _level(m, law, torque, fading)
            terms.append(m.dot([level], [within(m, sign, *part)], "moment"))
    return m.total(terms)


def _level(m: Arithmetic, law: Friction, torque: float, fading: Scalar) -> Scalar:
    """The Coulomb torque of one direction, with what it has more near breakaway."""
    level = number(m, torque)
    if is_zero(fading):
        return level
    return m.total([level, m.dot([number(m, law.static - torque)], [fading], "moment")])


def _fading(m: Arithmetic, law: Friction, speed: Scalar) -> Scalar:
    """1 / (1 + (speed / stribeck)^2); 0 where the static torque is the Coulomb torque."""
    if law.static is None:
        return 0
    ratio = m.dot([number(m, 1 / law.stribeck)], [speed], "share")
    one = m.constant(1.0, "share")
    return m.divide(one, m.pivot(one + m.round(ratio * ratio, "share"), 1.0), 2.0, "share", "share")
