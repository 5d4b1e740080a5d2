"""The links of a robot file of kind `serial`: `[[link]]` tables and `[tip]`, from the base out."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from solver_ref.dynamics.links import Arm, Friction, Limits, Link, Matrix, Tip
from solver_ref.errors import shown
from solver_ref.fields import ONE, Table
from solver_ref.parts import Vector

LINK_COUNTS = range(1, 13)
JOINTS = ("revolute", "prismatic")
LINK_KEYS = (
    "name",
    "joint",
    "axis",
    "origin",
    "rotation",
    "mass",
    "com",
    "inertia",
    "allow_nonphysical_inertia",
    "rotor",
    "limits",
    "friction",
)
NOWHERE = (0.0, 0.0, 0.0)


def read_arm(top: Table) -> Arm:
    """The arm of a file in SI units, but for its gravity. RobotError for a wrong key or type."""
    expected = f"{LINK_COUNTS[0]} to {LINK_COUNTS[-1]} [[link]] tables"
    entries = top.raw("link", expected)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise top.error("link", wrong="is no array of tables", expected=expected, got="a value")
    if len(entries) not in LINK_COUNTS:
        wrong = "holds too few links" if not entries else "holds too many links"
        raise top.error("link", wrong=wrong, expected=expected, got=str(len(entries)))
    tables = [inner(top, f"link[{i}]", entry) for i, entry in enumerate(entries, 1)]
    links = tuple(_link(table, f"link{i}") for i, table in enumerate(tables, 1))
    accuracy = inner(top, "accuracy", top.values.get("accuracy", {}))
    accuracy.allow(("torque",))
    return Arm(
        links=links,
        tip=_tip(inner(top, "tip", top.values.get("tip", {}))),
        accuracy=accuracy.number("torque", default=Arm.accuracy),
    )


def inner(parent: Table, path: str, values: Any) -> Table:
    """A table within another one."""
    path = ".".join(filter(None, (parent.path, path)))
    return Table(values, file=parent.file, path=path, units=parent.units)


def _link(table: Table, usual_name: str) -> Link:
    table.allow(LINK_KEYS)
    length = table.units.length
    joint = table.word("joint", JOINTS, default="revolute")
    turns = joint == "revolute"
    path = table.units.angle if turns else length
    table.raw("inertia", "the inertia about the centre of mass, 3 lists of 3 numbers (kg m^2)")
    table.raw("mass", "the mass (kg)")
    return Link(
        name=table.text("name", default=usual_name),
        joint=joint,
        axis=_axis(table),
        origin=table.vector("origin", 3, scale=length, default=NOWHERE),
        rotation=_rotation(table),
        mass=table.number("mass"),
        com=table.vector("com", 3, scale=length, default=NOWHERE),
        inertia=table.rows("inertia", 3, 3, scale=length * length),
        rotor=table.number("rotor", scale=length * length if turns else ONE, default=0.0),
        limits=_limits(inner(table, "limits", table.raw("limits", "a table")), path),
        friction=_friction(inner(table, "friction", table.values.get("friction", {})), path),
    )


def _axis(table: Table) -> Vector:
    axis = table.vector("axis", 3, default=(0.0, 0.0, 1.0))
    size = math.hypot(*axis)
    if not size:
        expected = "a direction"
        raise table.error("axis", wrong="has no direction", expected=expected, got=shown(axis))
    return tuple(x / size for x in axis)


def _rotation(table: Table) -> Matrix:
    """R = Rz(yaw) Ry(pitch) Rx(roll) of three angles, as URDF has them."""
    return rotation_of(table.vector("rotation", 3, scale=table.units.angle, default=NOWHERE))


def rotation_of(angles: Vector) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll) of (roll, pitch, yaw), rad."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return tuple(tuple(row) for row in (about_z @ about_y @ about_x).tolist())


def _limits(table: Table, path: Decimal) -> Limits:
    table.allow(("position", "speed", "acceleration", "effort"))
    for name, what in (("speed", "the fastest"), ("acceleration", "the largest")):
        table.raw(name, f"{what} {name} of the joint")
    return Limits(
        position=table.vector("position", 2, scale=path),
        speed=table.number("speed", scale=path),
        acceleration=table.number("acceleration", scale=path),
        effort=table.number("effort"),
    )


def _friction(table: Table, path: Decimal) -> Friction:
    """Torques in N m, forces in N and what multiplies speeds in N m s/rad, whatever the units."""
    table.allow(("viscous", "coulomb", "static", "stribeck", "smooth"))
    if isinstance(table.values.get("coulomb"), list):
        coulomb = table.vector("coulomb", 2)
    else:
        coulomb = (table.number("coulomb", default=0.0),) * 2
    return Friction(
        viscous=table.number("viscous", default=0.0),
        coulomb=coulomb,
        static=table.number("static"),
        stribeck=table.number("stribeck", scale=path, default=Friction.stribeck),
        smooth=table.number("smooth", scale=path, default=Friction.smooth),
    )


def _tip(table: Table) -> Tip:
    table.allow(("origin", "rotation"))
    return Tip(
        origin=table.vector("origin", 3, scale=table.units.length, default=NOWHERE),
        rotation=_rotation(table),
    )
