"""LinuxCNC's hexapods: HAL settings of its kinematics module genhexkins, and the INI file of both.

A strut leads from its base joint to its platform joint: L = |t + R a - b|, with the poses
(x, y, z, A, B, C), R = Rz(C) Ry(B) Rx(A) in degrees. Everything is in machine units, which the INI
file names. Constants that are not set are those of src/emc/kinematics/genhexkins.h.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path

import numpy as np

from solver_ref.errors import InputError, shown
from solver_ref.fields import LENGTH_UNITS
from solver_ref.importing.beside import contents
from solver_ref.importing.draft import Draft, Link, Triple, decimal, robot_name
from solver_ref.importing.format import Format, Settings
from solver_ref.importing.linuxcnc_ini import Ini, ini_beside, read_ini
from solver_ref.kinematics import rotation_exp, rotation_log

STRUTS = 6
MODULE = "genhexkins"

BASE = "-22.95 13.25 0, 22.95 13.25 0, 22.95 13.25 0, 0 -26.5 0, 0 -26.5 0, -22.95 13.25 0"
PLATFORM = "-1 11.5 0, 1 11.5 0, 10.459 -4.884 0, 9.459 -6.616 0, -9.459 -6.616 0, -10.459 -4.884 0"

USUAL_UNIT = "in"
"""Where nothing names the machine's unit: that of the constants above."""

USUAL_HEIGHT = Decimal("0.75")
"""Where nothing names a home: so high, as a share of the base's radius."""

_SETTING = re.compile(r"(?:setp\s+)?(?P<pin>\S+?)(?:\s*=\s*|\s+)(?P<value>\S+)")
_JOINT = re.compile(r"(base|platform)\.(\d+)\.([xyz])")


def recognises(path: Path, data: bytes) -> bool:
    """Whether a file is of a hexapod's HAL settings or the INI file that names them."""
    return path.suffix.lower() in (".hal", ".ini") and MODULE.encode() in data


def read(path: Path, data: bytes, settings: Settings) -> Draft:
    """The hexapod of HAL settings. InputError for what is malformed or cannot be represented."""
    ini = read_ini(path, data) if path.suffix.lower() == ".ini" else ini_beside(path)
    pins: dict[str, str] = {}
    for file, text in _hal_files(path, data, ini):
        pins |= _settings(file, text, ini)
    named = ini.units if ini else None
    word = settings.units or named or USUAL_UNIT
    unit = LENGTH_UNITS[word]
    base, platform = _struts(path, pins, unit)
    limits, tilt = _limits(ini, base, unit)
    struts = enumerate(zip(base, platform, _strokes(ini, unit), strict=True))
    why = "as asked" if settings.units else f"as {'its INI file says' if named else 'usual'}"
    return Draft(
        kind="stewart",
        motion="spatial",
        name=robot_name(path.stem),
        source=(
            f"LinuxCNC hexapod {path.name}, kinematics {MODULE}, there in machine units: {word}, "
            f"{why}. Its poses are (x, y, z, A, B, C) with R = Rz(C) Ry(B) Rx(A), in degrees."
        ),
        links=tuple(
            Link(label=f"strut {number}", anchor=anchor, attachment=attachment, stroke=stroke)
            for number, (anchor, attachment, stroke) in struts
        ),
        home=_home(ini, base, unit),
        poses=np.empty((0, 6)),
        limits=limits,
        tilt=tilt,
    )


def _hal_files(path: Path, data: bytes, ini: Ini | None) -> list[tuple[Path, str]]:
    """The HAL files: the one that was named, or those of the INI file that lie beside it."""
    if path.suffix.lower() == ".hal":
        return [(path, _decoded(path, data))]
    names = [name for name in ini.hal_files if name.lower().endswith(".hal")]
    files = [path.with_name(name) for name in names if not name.startswith("LIB:")]
    return [(file, _decoded(file, contents(file, f"a HALFILE of {path.name}"))) for file in files]


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        expected = "UTF-8 text"
        raise InputError(
            path, "file", wrong="cannot be read", expected=expected, got="other bytes"
        ) from None


def _settings(path: Path, text: str, ini: Ini | None) -> dict[str, str]:
    """The values of the module's pins, by their names without the module's."""
    found = {}
    for line in text.splitlines():
        match = _SETTING.fullmatch(line.partition("#")[0].strip())
        if not match or not match["pin"].startswith(f"{MODULE}."):
            continue
        value = match["value"]
        if value.startswith("["):
            value = ini.named(value) if ini else None
            if value is None:
                wrong, expected = "is not known", "an INI file beside it that has this value"
                got = shown(match["value"])
                raise InputError(path, match["pin"], wrong=wrong, expected=expected, got=got)
        found[match["pin"].removeprefix(f"{MODULE}.")] = value
    return found


def _struts(path: Path, pins: dict[str, str], unit: Decimal) -> tuple[list[Triple], list[Triple]]:
    """The joints of base and platform (m)."""
    joints = {}
    for word, text in (("base", BASE), ("platform", PLATFORM)):
        for number, place in enumerate(text.split(", ")):
            for axis, value in zip("xyz", place.split(), strict=True):
                joints[word, number, axis] = Decimal(value)
    for pin, text in pins.items():
        match = _JOINT.fullmatch(pin)
        if not match:
            continue
        place = (match[1], int(match[2]), match[3])
        if place not in joints:
            wrong, expected = "cannot be represented: this strut", f"0 to {STRUTS - 1}"
            raise InputError(path, f"{MODULE}.{pin}", wrong=wrong, expected=expected, got=match[2])
        joints[place] = _number(path, pin, text)
    if _number(path, "screw-lead", pins.get("screw-lead", "0")):
        raise InputError(
            path,
            f"{MODULE}.screw-lead",
            wrong="cannot be represented: struts that turn on their screws",
            expected="0",
            got=shown(pins["screw-lead"]),
        )
    names = ("spindle-offset", "tool-offset")
    offset = sum(_number(path, name, pins.get(name, "0")) for name in names)
    return tuple(
        [
            tuple((joints[word, i, axis] + (offset if axis == "z" else 0)) * unit for axis in "xyz")
            for i in range(STRUTS)
        ]
        for word in ("base", "platform")
    )


def _number(path: Path, pin: str, text: str) -> Decimal:
    try:
        return decimal(text)
    except ValueError:
        raise InputError(
            path, f"{MODULE}.{pin}", wrong="is no number", expected="a number", got=shown(text)
        ) from None


def _home(ini: Ini | None, base: list[Triple], unit: Decimal) -> tuple[float, ...]:
    given = ini.home if ini else None
    if given is None:
        height = USUAL_HEIGHT * Decimal(str(_radius(base))).quantize(Decimal("0.001"))
        return (0.0, 0.0, float(height), 0.0, 0.0, 0.0)
    roll, pitch, yaw = (math.radians(x) for x in given[3:])
    about_x, about_y, about_z = (
        rotation_exp(angle * axis)
        for angle, axis in zip((roll, pitch, yaw), np.eye(3), strict=True)
    )
    turn = rotation_log(about_z @ about_y @ about_x)
    return (*(float(Decimal(str(x)) * unit) for x in given[:3]), *turn.tolist())


def _limits(
    ini: Ini | None, base: list[Triple], unit: Decimal
) -> tuple[tuple[tuple[float, float], ...], float]:
    """The ranges of x, y, z and the largest rotation; limits beyond the machine say nothing."""
    size = 2 * _radius(base)
    limits, turns = [], []
    for axis in "XYZ":
        low, high = ini.range_of(f"AXIS_{axis}") if ini else (-math.inf, math.inf)
        low, high = (float(x) * float(unit) for x in (low, high))
        limits.append((low, high) if max(abs(low), abs(high)) <= size else (-math.inf, math.inf))
    for axis in "ABC":
        low, high = ini.range_of(f"AXIS_{axis}") if ini else (-math.inf, math.inf)
        turns.append(math.radians(max(min(-low, high), 0.0)))
    return tuple(limits), min(turns)


def _strokes(ini: Ini | None, unit: Decimal) -> list[tuple[Decimal, Decimal] | None]:
    """The shortest and longest length of each strut, where the machine says so of all of them."""
    none: list[tuple[Decimal, Decimal] | None] = [None] * STRUTS
    ranges = [ini.range_of(f"JOINT_{i}") for i in range(STRUTS)] if ini else []
    if not ranges or not all(0 < low < high < math.inf for low, high in ranges):
        return none
    return [tuple(Decimal(str(x)) * unit for x in pair) for pair in ranges]


def _radius(base: list[Triple]) -> float:
    return max(math.hypot(*place[:2]) for place in base)


FORMAT = Format(
    name="linuxcnc",
    what="LinuxCNC HAL settings of genhexkins",
    recognises=recognises,
    read=read,
    settings=("units",),
)
