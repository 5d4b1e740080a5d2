"""The cables of a robot file: `[[cable]]` tables, and `[cable_defaults]` for what they leave out.

A key of a cable replaces the default's whole value: tables such as `pulley` are not merged.
"""

import math
from decimal import Decimal
from typing import Any

from solver_ref.errors import shown
from solver_ref.fields import EXACT, ONE, Table
from solver_ref.parts import Cable, Drum, Pulley, Stiffness, Vector
from solver_ref.robot import Motion

CABLE_COUNTS = range(3, 11)
OPTIONAL_KEYS = (
    "tension_min",
    "tension_max",
    "pulley",
    "stiffness",
    "thermal",
    "linear_density",
    "offset",
    "drum",
)
CABLE_KEYS = ("anchor", "attachment", *OPTIONAL_KEYS)
# Planned words, refused by name; those of a whole robot too.
LATER_KEYS = ("joint", "spring")
# The largest cosine between a pulley's axis and its axle that still counts as a right angle.
RIGHT_ANGLE = 1e-9


def read_cables(top: Table, motion: Motion) -> tuple[Cable, ...]:
    """All cables of the file in SI units. Raises RobotError for a key or type that is wrong."""
    expected = f"{CABLE_COUNTS[0]} to {CABLE_COUNTS[-1]} [[cable]] tables"
    entries = top.raw("cable", expected)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise top.error("cable", wrong="is no array of tables", expected=expected, got="a value")
    if len(entries) not in CABLE_COUNTS:
        few = len(entries) < CABLE_COUNTS[0]
        wrong = f"holds too {'few' if few else 'many'} cables"
        raise top.error("cable", wrong=wrong, expected=expected, got=str(len(entries)))
    defaults = _table(top, "cable_defaults", top.values.get("cable_defaults", {}))
    defaults.allow(OPTIONAL_KEYS, later=LATER_KEYS)
    tables = [_table(top, f"cable[{number}]", entry) for number, entry in enumerate(entries, 1)]
    return tuple(_cable(table, defaults, motion) for table in tables)


def cable_key(top: Table, number: int, name: str) -> str:
    """Where the file writes `name` (dotted) of the cable `number`: at the cable or the defaults."""
    own = top.values["cable"][number - 1]
    first = name.partition(".")[0]
    shared = first not in own and first in top.values.get("cable_defaults", {})
    return f"cable_defaults.{name}" if shared else f"cable[{number}].{name}"


def _table(parent: Table, path: str, values: Any) -> Table:
    return Table(values, file=parent.file, path=path, units=parent.units)


def _cable(own: Table, defaults: Table, motion: Motion) -> Cable:
    own.allow(CABLE_KEYS, later=LATER_KEYS)
    length = own.units.length
    origin = (0.0, 0.0, 0.0) if motion.rotations == 0 else None
    holders = {key: own if key in own.values else defaults for key in OPTIONAL_KEYS}

    def number(key: str, *, scale: Decimal = ONE, default: float | None = None) -> Any:
        return holders[key].number(key, scale=scale, default=default)

    def part(key: str) -> Table | None:
        holder = holders[key]
        if key not in holder.values:
            return None
        return _table(holder, holder.key(key), holder.values[key])

    return Cable(
        anchor=own.vector("anchor", 3, scale=length),
        attachment=own.vector("attachment", 3, scale=length, default=origin),
        tension_min=number("tension_min"),
        tension_max=number("tension_max"),
        pulley=_pulley(part("pulley")),
        stiffness=_stiffness(part("stiffness")),
        thermal=number("thermal", default=0.0),
        linear_density=number("linear_density", scale=_per(length), default=0.0),
        offset=number("offset", scale=length, default=0.0),
        drum=_drum(part("drum")),
    )


def _per(length: Decimal) -> Decimal:
    """The factor of what is given for each unit of length; 1000 digits, so as good as exact."""
    return EXACT.divide(ONE, length)


def _needed(table: Table, name: str, *, scale: Decimal = ONE) -> float:
    table.raw(name, "a number")
    return table.number(name, scale=scale)


def _pulley(table: Table | None) -> Pulley | None:
    if table is None:
        return None
    table.allow(("radius", "axis", "axle", "efficiency"))
    axis = _direction(table, "axis")
    return Pulley(
        radius=_needed(table, "radius", scale=table.units.length),
        axis=axis,
        axle=_axle(table, axis) if "axle" in table.values else None,
        efficiency=table.number("efficiency", default=1.0),
    )


def _direction(table: Table, name: str) -> Vector:
    """A vector of any length but zero, as a unit vector."""
    given = table.vector(name, 3)
    if not any(given):
        raise table.error(name, wrong="is zero", expected="a direction", got=shown(given))
    return _unit(given)


def _unit(vector: Vector) -> Vector:
    # By a power of two first, which is exact, so that no square leaves the range of a float.
    exponent = math.frexp(max(map(abs, vector)))[1]
    near = [math.ldexp(x, -exponent) for x in vector]
    size = math.hypot(*near)
    return tuple(x / size + 0.0 for x in near)


def _axle(table: Table, axis: Vector) -> Vector:
    axle = _direction(table, "axle")
    cosine = math.fsum(x * a for x, a in zip(axle, axis, strict=True))
    if abs(cosine) > RIGHT_ANGLE:
        raise table.error(
            "axle",
            wrong="is not perpendicular to the axis",
            expected=f"a cosine within {RIGHT_ANGLE}",
            got=f"{cosine:.3g}",
        )
    if cosine == 0:
        return axle
    return _unit(tuple(x - cosine * a for x, a in zip(axle, axis, strict=True)))


def _stiffness(table: Table | None) -> Stiffness | None:
    if table is None:
        return None
    table.allow(("k0", "alpha", "static_friction", "slip", "k_max"))
    per = _per(table.units.length)
    return Stiffness(
        k0=_needed(table, "k0", scale=per),
        alpha=table.number("alpha", scale=per, default=0.0),
        static_friction=table.number("static_friction", default=0.0),
        slip=table.number("slip"),
        k_max=table.number("k_max", scale=per),
    )


def _drum(table: Table | None) -> Drum | None:
    if table is None:
        return None
    table.allow(("radius", "build_up", "capacity"))
    length = table.units.length
    return Drum(
        radius=_needed(table, "radius", scale=length),
        build_up=_needed(table, "build_up", scale=length),
        capacity=_needed(table, "capacity", scale=length),
    )
