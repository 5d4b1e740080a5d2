"""The options of the command `workspace`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kinegate.options import INTEGER, LENGTH, POSE, Value


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not (key.strip() and sign):
        raise ValueError(text)
    return key.strip(), value.strip()


def _setting(text: str) -> tuple[str, float]:
    key, value = _pair(text)
    return key, float(value)


def _limit(text: str) -> tuple[str, float | None]:
    key, value = _pair(text)
    return key, None if value == "off" else float(value)


def _range(text: str) -> tuple[str, tuple[float, float]]:
    key, value = _pair(text)
    low, high = map(float, value.split(":"))
    return key, (low, high)


def _sweep(text: str) -> tuple[str, tuple[float, float, int]]:
    key, value = _pair(text)
    first, last, count = value.split(":")
    return key, (float(first), float(last), int(count))


def _grid(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.lower().split("x")))


SETTING = Value("setting", _setting, "KEY=NUMBER, such as z=1.2")
LIMIT = Value("limit", _limit, "NAME=NUMBER or NAME=off, such as condition=100")
RANGE = Value("range", _range, "KEY=LOW:HIGH, such as x=-1:1")
SWEEP = Value("sweep", _sweep, "KEY=FIRST:LAST:COUNT, such as Rb=1:3:20")
GRID = Value("grid", _grid, "cells along each axis, such as 200x200")


def _words(_context: Any, _option: Any, values: tuple[str, ...]) -> list[str] | None:
    return list(values) or None


def _table(_context: Any, _option: Any, pairs: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """What was said by key; the last one counts."""
    return dict(pairs)


_OPTIONS = (
    click.option("-o", "--output", metavar="DIR", help="Where plots and data go [none written]."),
    click.option("--plane", metavar="AXES", help="What varies, as xz or xyz [the first two]."),
    click.option(
        "--at",
        type=SETTING,
        multiple=True,
        callback=_table,
        metavar="KEY=X",
        help="A coordinate that is held there, m or rad [home].",
    ),
    click.option("--grid", type=GRID, metavar="NxN", help="Cells [200x200; a volume 40x40x40]."),
    click.option(
        "--range",
        "ranges",
        type=RANGE,
        multiple=True,
        callback=_table,
        metavar="KEY=A:B",
        help="From where to where a coordinate varies [the workspace].",
    ),
    click.option(
        "--map",
        "maps",
        multiple=True,
        callback=_words,
        metavar="FIELD",
        help="reach, condition, singularity, tension, iterations [all there are].",
    ),
    click.option(
        "--limit",
        "limits",
        type=LIMIT,
        multiple=True,
        callback=_table,
        metavar="NAME=X",
        help="What is bad beyond it: singular_value, condition, wrench_margin, ...; or off.",
    ),
    click.option("--margin", type=LENGTH, metavar="LENGTH", help="Of the safe region, as 5cm [0]."),
    click.option("--path", metavar="IN.csv", help="Poses: is any bad, and is the margin kept?"),
    click.option("--plan", type=POSE, nargs=2, metavar="FROM TO", help="Find a way: 0,0 0.5,1."),
    click.option(
        "--sweep",
        type=SWEEP,
        multiple=True,
        callback=_table,
        metavar="KEY=A:B:N",
        help="One or two parameters, instead of a map: Rb, Rm, platform.mass, ...",
    ),
    click.option("--samples", type=INTEGER, metavar="N", help="Poses of each design [512]."),
    click.option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster, which computes."),
    click.option("--jobs", type=INTEGER, metavar="N", help="Cores [all]."),
)


def workspace_options(command: Callable) -> Callable:
    """Adds the options of `workspace`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
