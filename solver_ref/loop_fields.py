"""What robot files with loop equations hold: tables `[geometry]`, `[[chain]]` and `[joints]`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from solver_ref.dual import Dual, DualArithmetic
from solver_ref.fields import ONE, Table
from solver_ref.logic import LogicArithmetic
from solver_ref.loops import named
from solver_ref.robot import Joint, Numbers, Vector

Size = str | tuple[str, int]
"""A unit, or the unit and size of a vector."""
Scales = Mapping[str, Decimal]
UNITS = ("m", "rad", "1")
"""What numbers of a mechanism can be."""


def read_loops(top: Table, equations: Any) -> dict[str, Any]:
    """The fields of a robot with these equations, in SI units.

    Raises RobotError for a key or type that is wrong.
    """
    scales = dict(zip(UNITS, (top.units.length, top.units.angle, ONE), strict=True))
    for key, constant in (("geometry", "GEOMETRY"), ("chain", "CHAIN")):
        if key in top.values and not hasattr(equations, constant):
            expected = f"no such key, as the equations have no {constant}"
            raise top.error(key, wrong="is not read", expected=expected, got="a table")
    geometry: Numbers = ()
    chains: tuple[Numbers, ...] = ()
    if hasattr(equations, "GEOMETRY"):
        table = _table(top, "geometry", top.raw("geometry", "a table"))
        geometry = _numbers(table, equations.GEOMETRY, scales)
    if hasattr(equations, "CHAIN"):
        count = len(equations.JOINTS)
        tables = _list(top, "chain", count, f"{count} [[chain]] tables")
        chains = tuple(
            _numbers(_table(top, f"chain[{i}]", entry), equations.CHAIN, scales)
            for i, entry in enumerate(tables, 1)
        )
    joints = _joints(top, equations.JOINTS, scales)
    return {
        "cables": (),
        "geometry": geometry,
        "chains": chains,
        "joints": joints,
        "ends": _ends(equations, geometry, chains, joints),
    }


def _table(top: Table, path: str, values: Any) -> Table:
    return Table(values, file=top.file, path=path, units=top.units)


def _list(table: Table, name: str, count: int, expected: str) -> list[Any]:
    entries = table.raw(name, expected)
    if not isinstance(entries, list) or len(entries) != count:
        got = str(len(entries)) if isinstance(entries, list) else "no list"
        raise table.error(name, wrong="is of the wrong size", expected=expected, got=got)
    return entries


def _numbers(table: Table, sizes: Mapping[str, Size], scales: Scales) -> Numbers:
    table.allow(sizes)
    found = []
    for name, size in sizes.items():
        if isinstance(size, str):
            table.raw(name, "a number")
            found.append((name, table.number(name, scale=scales[size])))
        else:
            unit, count = size
            found.append((name, table.vector(name, count, scale=scales[unit])))
    return tuple(found)


def _joints(top: Table, units: Mapping[str, str], scales: Scales) -> tuple[Joint, ...]:
    """The joints with their limits; where none are given angles have a whole turn."""
    table = _table(top, "joints", top.values.get("joints", {}))
    table.allow(("limits",))
    limits: list[tuple[float, ...]] = [(-math.pi, math.pi)] * len(units)
    if "limits" in table.values or "m" in units.values():
        rows = _list(table, "limits", len(units), f"{len(units)} lists of 2 numbers")
        keys = [table.key(f"limits[{i}]") for i in range(1, len(units) + 1)]
        given = Table(dict(zip(keys, rows, strict=True)), file=top.file)
        limits = [
            given.vector(key, 2, scale=scales[unit])
            for key, unit in zip(keys, units.values(), strict=True)
        ]
    return tuple(
        Joint(name=name, unit=unit, limits=limit)
        for (name, unit), limit in zip(units.items(), limits, strict=True)
    )


def _ends(
    equations: Any, geometry: Numbers, chains: tuple[Numbers, ...], joints: Sequence[Joint]
) -> tuple[Vector, ...]:
    """The platform's points for which the constraints ask (m, platform frame), each once."""
    m, platform = DualArithmetic(LogicArithmetic()), _Asked()
    middles = [Dual(m, sum(joint.limits) / 2) for joint in joints]
    for _ in equations.constraints(m, named(geometry, chains), platform, middles):
        pass
    return tuple(platform.points)


class _Asked:
    """A platform at the base frame's origin that remembers the points it was asked for."""

    position = (0.0, 0.0, 0.0)
    matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __init__(self) -> None:
        self.points: dict[Vector, None] = {}

    def point(self, b: Sequence[float]) -> Vector:
        place = tuple(float(x) for x in b)
        self.points[place] = None
        return place
