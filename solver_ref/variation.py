"""The same robot with other numbers: keys of its file, or the radii of its base and platform."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from solver_ref.errors import shown
from solver_ref.fields import RobotError

AXES = {"x": 0, "y": 1, "z": 2}
EXPECTED = (
    "anchors.scale, attachments.scale, Rb, Rm, or a key of the robot file such as platform.mass, "
    "cable.1.anchor.x or cable.*.tension_max"
)


def varied(values: Mapping[str, Any], changes: Mapping[str, float], *, file: str) -> dict[str, Any]:
    """What a robot file holds (`robot_file.read_values`) with some numbers changed.

    A key is dotted; lists count from 1, `*` is all of a list, and the entries of a vector are also
    x, y and z. Numbers are in the file's own units. Four words scale vectors instead:

    `anchors.scale`: all anchors about their middle; `attachments.scale`: all attachments about the
    platform origin; `Rb`: the same for a base radius, the rms distance of the anchors from their
    middle; `Rm`: for a platform radius, that of the attachments from the origin.

    RobotError for a key that is no number of the file.
    """
    result = copy.deepcopy(dict(values))
    for key, value in changes.items():
        if key in SCALED:
            _scale(result, key, value, file)
        else:
            for holder, place in _places(result, key.split("."), key, file):
                holder[place] = Decimal(repr(float(value)))
    return result


# The vectors that a word scales, and whether its value is a radius.
SCALED = {
    "anchors.scale": ("anchor", False),
    "attachments.scale": ("attachment", False),
    "Rb": ("anchor", True),
    "Rm": ("attachment", True),
}


def _scale(values: dict[str, Any], key: str, value: float, file: str) -> None:
    name, radius = SCALED[key]
    tables = [
        entry
        for group in values.values()
        if isinstance(group, list)
        for entry in group
        if isinstance(entry, dict) and name in entry
    ]
    try:
        points = np.array([[float(x) for x in entry[name]] for entry in tables]).reshape(-1, 3)
    except (TypeError, ValueError):
        raise _error(file, key, f"a robot whose every {name} is three numbers", "another") from None
    if not len(points):
        raise _error(file, key, f"a robot with tables that have an {name}", "none")
    middle = points.mean(axis=0) if name == "anchor" else np.zeros(3)
    size = math.sqrt(((points - middle) ** 2).sum(axis=1).mean())
    if radius and not size:
        raise _error(file, key, f"a robot whose {name}s are not in one point", "a radius of 0")
    factor = value / size if radius else value
    for entry, point in zip(tables, middle + factor * (points - middle), strict=True):
        entry[name] = [Decimal(repr(float(x))) for x in point]


def _places(values: Any, path: list[str], key: str, file: str) -> Iterator[tuple[Any, Any]]:
    """Where the numbers are that a key names: the table or list, and the key or index there."""
    first, rest = path[0], path[1:]
    for place in _here(values, first, key, file):
        if rest:
            yield from _places(values[place], rest, key, file)
        elif isinstance(values[place], bool) or not isinstance(values[place], int | Decimal):
            raise _error(file, key, EXPECTED, f"{first}, which is no number")
        else:
            yield values, place


def _here(values: Any, word: str, key: str, file: str) -> list[Any]:
    if isinstance(values, dict) and word in values:
        return [word]
    if isinstance(values, list):
        if word == "*":
            return list(range(len(values)))
        if word in AXES and AXES[word] < len(values):
            return [AXES[word]]
        if word.isdecimal() and 1 <= int(word) <= len(values):
            return [int(word) - 1]
        raise _error(file, key, f"1 to {len(values)} or *, or for a vector x, y or z", shown(word))
    raise _error(file, key, EXPECTED, shown(word))


def _error(file: str, key: str, expected: str, got: str) -> RobotError:
    return RobotError(file, shown(key), wrong="cannot be varied", expected=expected, got=got)
