"""Robot files: TOML in, a checked `Robot` in SI units out, or one `RobotError` that says why not.

`solver_ref.robot_rules` holds what a robot has to satisfy beyond the types checked here.
"""

import difflib
import tomllib
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from importlib import resources
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from solver_ref.cable_fields import LATER_KEYS
from solver_ref.errors import shown
from solver_ref.euler import CONVENTIONS, rotation_vectors
from solver_ref.fields import ANGLE_UNITS, LENGTH_UNITS, RobotError, Table, Units
from solver_ref.mechanism import Mechanism
from solver_ref.mechanisms import mechanisms
from solver_ref.robot import (
    CLOSURES,
    MOTIONS,
    SENSORS,
    Accuracy,
    Motion,
    Platform,
    Robot,
    Workspace,
)
from solver_ref.robot_rules import check_rules

# What every robot file may hold; the mechanism adds its own keys.
KEYS = ("name", "kind", "motion", "gravity", "units", "source")
# What it may hold beside them where a platform moves.
POSE_KEYS = ("closure", "euler", "sensors", "platform", "workspace", "accuracy")
# The key by which a robot file names a file of equations, of the kinds that have it.
EQUATIONS = "mechanism"

__all__ = ["RobotError", "builtin_names", "from_values", "load", "loads", "read_values"]


def builtin_names() -> list[str]:
    """The names of the built-in robots, sorted."""
    folder = resources.files("solver_ref") / "robots"
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load(robot: str | PathLike[str], *, mechanism: str | PathLike[str] | None = None) -> Robot:
    """Read the robot file at a path, or the built-in robot of that name.

    A built-in's name means the built-in; write `./name` for a file of the same name. `mechanism`:
    the file of equations of a robot of the kind `custom`, in place of the one that its file names.

    Raises
    ------
    RobotError
        There is no such file or built-in, or the file is malformed or describes no robot that
        this project can treat.
    """
    return from_values(read_values(robot, mechanism=mechanism), file=fspath(robot))


def read_values(
    robot: str | PathLike[str], *, mechanism: str | PathLike[str] | None = None
) -> dict[str, Any]:
    """What the robot file at a path, or a built-in, holds: as it is written, floats as `Decimal`.

    `mechanism` as for `load`. Raises RobotError where there is no such file or built-in, or it is
    malformed.
    """
    name = fspath(robot)
    builtins = builtin_names()
    if name in builtins:
        entry = resources.files("solver_ref") / "robots" / f"{name}.toml"
        return _parsed(entry.read_text(encoding="utf-8"), name, mechanism)
    try:
        text = Path(name).read_bytes().decode("utf-8")
    except FileNotFoundError:
        close = difflib.get_close_matches(Path(name).stem, builtins, n=3)
        hint = f", did you mean {' or '.join(close)}" if close else ""
        raise RobotError(
            name,
            "ROBOT",
            wrong=f"is neither a file nor a built-in robot{hint}",
            expected=f"a path or one of {', '.join(builtins)}",
            got=shown(name),
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise RobotError(
            name, "ROBOT", wrong="cannot be read", expected="a TOML file", got=str(reason)
        ) from None
    return _parsed(text, name, mechanism)


def loads(text: str, *, file: str = "robot", mechanism: str | PathLike[str] | None = None) -> Robot:
    """Read a robot from the text of a robot file; `file` names it in messages, `mechanism` as for
    `load`.

    Raises RobotError as `load` does; warns with `InertiaWarning` where a non-physical inertia is
    accepted.
    """
    return from_values(_parsed(text, file, mechanism), file=file)


def from_values(values: dict[str, Any], *, file: str) -> Robot:
    """The robot of what `read_values` gave; errors and warnings as in `loads`."""
    top = Table(values, file=file)
    kind = _mechanism(top)
    known = (*KEYS, *(POSE_KEYS if kind.poses else ()), *kind.keys)
    top.allow(known, later=LATER_KEYS)
    return _robot(top, kind)


def _parsed(text: str, file: str, mechanism: str | PathLike[str] | None) -> dict[str, Any]:
    """The text's values, with the file of equations that is named in place of its own."""
    try:
        values = tomllib.loads(text, parse_float=_decimal)
    except (ValueError, RecursionError) as error:
        got = shown(error, 160) or type(error).__name__
        raise RobotError(
            file, "TOML", wrong="is malformed", expected="a TOML document", got=got
        ) from None
    if mechanism is not None:
        top = Table(values, file=file)
        kind = _mechanism(top)
        if EQUATIONS not in kind.keys:
            expected, got = "custom, or no file of equations", shown(kind.kind)
            raise top.error("kind", wrong="has its own equations", expected=expected, got=got)
        values[EQUATIONS] = str(Path(mechanism).absolute())
    return values


def _mechanism(top: Table) -> Mechanism:
    """That of the file's kind."""
    known = mechanisms()
    return known[top.word("kind", known)]


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all measure
        return Decimal("Infinity")


def _robot(top: Table, mechanism: Mechanism) -> Robot:
    name = top.text("name")
    only = mechanism.motions[0] if len(mechanism.motions) == 1 else None
    motion_name = top.word("motion", mechanism.motions, default=only)
    motion = MOTIONS[motion_name]
    top.units = _units(top)
    default_gravity = (0.0, 0.0, 0.0 if motion.normal == 2 else -9.81)
    euler = _euler(top, motion)
    own = mechanism.read(top, motion)
    posed = _posed(top, motion, euler) if mechanism.poses else {"platform": Platform()}
    robot = Robot(
        name=name,
        kind=mechanism.kind,
        motion=motion_name,
        closure="lengths",
        gravity=top.vector("gravity", 3, scale=top.units.length, default=default_gravity),
        euler=euler,
        source=top.text("source", default=""),
        **posed,
        **own,
    )
    usual = "lengths" if robot.determined else "minimum-norm"
    robot = replace(robot, closure=top.word("closure", CLOSURES, default=usual))
    check_rules(robot, top)
    return robot


def _posed(top: Table, motion: Motion, euler: str) -> dict[str, Any]:
    """Fields of `Robot` where a platform moves."""
    return {
        "platform": _platform(_section(top, "platform", {}), motion),
        "workspace": _workspace(_section(top, "workspace"), motion, euler),
        "accuracy": _accuracy(_section(top, "accuracy", {})),
        "sensors": _sensors(top),
    }


def _section(top: Table, name: str, default: dict | None = None) -> Table:
    values = top.values.get(name, default)
    if values is None:
        values = top.raw(name, "a table")
    return Table(values, file=top.file, path=name, units=top.units)


def _units(top: Table) -> Units:
    table = _section(top, "units", {})
    table.allow(("length", "angle"))
    length = table.word("length", LENGTH_UNITS, default="m")
    angle = table.word("angle", ANGLE_UNITS, default="rad")
    return Units(length=LENGTH_UNITS[length], angle=ANGLE_UNITS[angle])


def _platform(table: Table, motion: Motion) -> Platform:
    table.allow(("mass", "com", "inertia", "allow_nonphysical_inertia"), later=LATER_KEYS)
    length = table.units.length
    inertia = None
    given = table.values.get("inertia")
    if isinstance(given, list):
        inertia = table.rows("inertia", 3, 3, scale=length * length)
    elif motion.normal is not None:
        # A planar platform may give the one moment that counts, about the plane's normal.
        moment = table.number("inertia", scale=length * length)
        if moment is not None:
            row = range(3)
            inertia = tuple(
                tuple(moment if i == j == motion.normal else 0.0 for j in row) for i in row
            )
    elif given is not None:
        table.rows("inertia", 3, 3)
    return Platform(
        mass=table.number("mass"),
        com=table.vector("com", 3, scale=length, default=(0.0, 0.0, 0.0)),
        inertia=inertia,
    )


def _euler(top: Table, motion: Motion) -> str:
    convention = top.word("euler", CONVENTIONS, default="")
    if convention and motion.rotations < 3:
        wrong, expected = "has no meaning", "a platform that turns in space"
        raise top.error("euler", wrong=wrong, expected=expected, got=convention)
    return convention


def _workspace(table: Table, motion: Motion, euler: str) -> Workspace:
    table.allow(("position", "tilt", "home", "start_error"))
    length, angle = table.units.length, table.units.angle
    position = table.rows("position", motion.translations, 2, scale=length)
    if motion.rotations:
        table.raw("tilt", "the largest rotation in rad")
    return Workspace(
        position=position,
        tilt=table.number("tilt", scale=angle, default=0.0),
        home=_turned(_home(table, motion, position), euler),
        start_error=table.vector(
            "start_error", 2, scale=(length, angle), default=Workspace.start_error
        ),
    )


def _turned(home: tuple[float, ...], euler: str) -> tuple[float, ...]:
    """The home pose with a rotation vector in place of Euler angles, if it has any."""
    if not euler:
        return home
    return (*home[:3], *rotation_vectors(euler, np.array(home[3:])).tolist())


def _home(
    table: Table, motion: Motion, position: tuple[tuple[float, float], ...]
) -> tuple[float, ...]:
    level = (0.0,) * motion.rotations
    if "home" not in table.values:
        return tuple((low + high) / 2 for low, high in position) + level
    value = table.values["home"]
    scales = (table.units.length,) * motion.translations
    if isinstance(value, list) and len(value) == motion.translations:
        return table.vector("home", motion.translations, scale=scales) + level
    scales += (table.units.angle,) * motion.rotations
    return table.vector("home", len(motion.free), scale=scales)


def _accuracy(table: Table) -> Accuracy:
    table.allow(("length", "residual_limit"))
    length = table.units.length
    return Accuracy(
        length=table.number("length", scale=length, default=Accuracy.length),
        residual_limit=table.number(
            "residual_limit", scale=length, default=Accuracy.residual_limit
        ),
    )


def _sensors(top: Table) -> tuple[str, ...]:
    """The words of `sensors`, in the order of `SENSORS`, so that their order changes nothing."""
    words = top.values.get("sensors", [])
    if not isinstance(words, list):
        raise top.error("sensors", wrong="is no list", expected="a list of words", got=shown(words))
    named = Table({f"sensors[{i}]": word for i, word in enumerate(words, 1)}, file=top.file)
    found = [named.word(key, SENSORS) for key in named.values]
    for i, word in enumerate(found):
        if word in found[:i]:
            wrong, expected = "is named twice", "each word once"
            raise named.error(f"sensors[{i + 1}]", wrong=wrong, expected=expected, got=shown(word))
    return tuple(word for word in SENSORS if word in found)
