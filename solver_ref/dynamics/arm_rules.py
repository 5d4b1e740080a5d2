"""What a serial arm has to satisfy: signs, order and physics."""

from __future__ import annotations

from solver_ref.dynamics.arm_fields import inner
from solver_ref.dynamics.links import Arm, Link
from solver_ref.errors import shown
from solver_ref.fields import Table
from solver_ref.robot_rules import check_inertia

LARGEST_TURN = 6.3
"""How far from 0 an angle may go (rad): what sine and cosine are made for in hardware."""


def check_arm(arm: Arm, top: Table) -> None:
    """Raise RobotError for the first rule that an arm, read from `top`, breaks.

    Warns with InertiaWarning where a non-physical inertia is accepted.
    """
    names = [link.name for link in arm.links]
    for i, (link, values) in enumerate(zip(arm.links, top.values["link"], strict=True), 1):
        table = inner(top, f"link[{i}]", values)
        if link.name in names[: i - 1]:
            expected = "a name of its own"
            raise table.error("name", wrong="is taken", expected=expected, got=shown(link.name))
        _check_limits(link, table)
        _check_friction(link, table)
        _not_negative(table, "mass", link.mass, "kg")
        _not_negative(table, "rotor", link.rotor, "kg m^2 or kg")
        check_inertia(table, link.inertia)
    if arm.accuracy <= 0:
        raise top.error(
            "accuracy.torque",
            wrong="is out of range",
            expected="above 0 N m",
            got=shown(arm.accuracy),
        )


def _check_limits(link: Link, table: Table) -> None:
    limits = link.limits
    low, high = limits.position
    if low >= high:
        raise table.error(
            "limits.position",
            wrong="is an empty interval",
            expected="the lowest value before the highest",
            got=f"{low} and {high}",
        )
    if link.joint == "revolute" and max(abs(low), abs(high)) > LARGEST_TURN:
        expected = f"within +-{LARGEST_TURN} rad"
        got = f"{low} and {high}"
        raise table.error("limits.position", wrong="is out of range", expected=expected, got=got)
    for name in ("speed", "acceleration", "effort"):
        value = getattr(limits, name)
        if value is not None and value <= 0:
            raise table.error(
                f"limits.{name}", wrong="is out of range", expected="above 0", got=shown(value)
            )


def _check_friction(link: Link, table: Table) -> None:
    law = link.friction
    for name, values in (("viscous", (law.viscous,)), ("coulomb", law.coulomb)):
        for value in values:
            _not_negative(table, f"friction.{name}", value, "")
    if law.static is not None and law.static < max(law.coulomb):
        expected = f"at least the Coulomb torque, {max(law.coulomb)}"
        wrong, got = "is out of range", shown(law.static)
        raise table.error("friction.static", wrong=wrong, expected=expected, got=got)
    for name in ("stribeck", "smooth"):
        value = getattr(law, name)
        if value <= 0:
            key, wrong = f"friction.{name}", "is out of range"
            raise table.error(key, wrong=wrong, expected="above 0", got=shown(value))


def _not_negative(table: Table, key: str, value: float, unit: str) -> None:
    if value < 0:
        expected = f"0 {unit} or more"
        raise table.error(key, wrong="is out of range", expected=expected, got=shown(value))
