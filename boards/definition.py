"""What the build knows of a board: one short TOML file each, in `boards/definitions`.

Boards are found by their files; nothing else names them.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Any

from boards.yowasp import FAMILIES
from hdl.target import Target, target, targets
from solver_ref.errors import InputError, shown
from solver_ref.fields import Table

FOLDER = Path(__file__).with_name("definitions")
KEYS = ("title", "source", "target", "package", "speed", "options", "pins")
PIN_KEYS = ("site", "mhz", "io", "pull", "inverted", "why")
PORTS = ("osc", "rx", "tx", "led")
CLOCK = "osc"


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A pin of the chip that the top level uses.

    `site`: its name on the package; `why`: what is connected there, as the constraints say it;
    `mhz`: the frequency of an oscillator; `io`: the voltage standard, but on iCE40;
    `pull`: the resistor inside the chip; `inverted`: whether a 0 means on.
    """

    site: str
    why: str
    mhz: float | None = None
    io: str | None = None
    pull: str | None = None
    inverted: bool = False


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board: its chip, what a design is made with where nothing else is said, and its pins.

    `package` and `speed` (grade, None where there is one only) are the tools' words; `options` are
    generation options (as `kinegate` calls them); `pins` go by the ports of the top level: `osc`,
    the clock that comes in, `rx` and `tx` of the serial link, and `led`. `source`: where the facts
    come from.
    """

    name: str
    title: str
    source: str
    target: Target
    package: str
    speed: int | None
    options: Mapping[str, Any]
    pins: Mapping[str, Pin] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def clock_mhz(self) -> float:
        """Of the oscillator."""
        return self.pins[CLOCK].mhz


def board_names() -> list[str]:
    """The names of the boards that come with the project, sorted."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load_board(board: str | PathLike[str]) -> Board:
    """The board of that name, or of a file of one's own.

    Raises InputError where there is none, or its file is malformed.
    """
    name = fspath(board)
    known = name in board_names()
    path = FOLDER / f"{name}.toml" if known else Path(name)
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text, parse_float=Decimal)
    except FileNotFoundError:
        raise _unknown(name) from None
    except tomllib.TOMLDecodeError as error:
        wrong, got = "is no TOML", shown(str(error))
        raise InputError(name, "syntax", wrong=wrong, expected="TOML 1.0", got=got) from None
    except (OSError, ValueError) as error:
        got = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(
            name, "board", wrong="cannot be read", expected="a TOML file", got=got
        ) from None
    return _board(path.stem, Table(values, file=name))


def _unknown(name: str) -> InputError:
    close = difflib.get_close_matches(Path(name).stem, board_names(), n=1)
    hint = f", did you mean {close[0]}" if close else ""
    expected = f"one of {', '.join(board_names())}, or a board's file"
    return InputError(name, "board", wrong=f"is unknown{hint}", expected=expected, got=shown(name))


def _board(name: str, top: Table) -> Board:
    top.allow(KEYS)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        wrong, expected = "cannot be a board's name", "a file name of a-z, 0-9 and dashes"
        raise InputError(top.file, "board", wrong=wrong, expected=expected, got=shown(name))
    pins = Table(top.values.get("pins", {}), file=top.file, path="pins")
    pins.allow(PORTS)
    known = [name for name, chip in targets().items() if chip.family in FAMILIES]
    chip = target(top.word("target", known))
    found = {port: _pin(pins, port, chip) for port in PORTS}
    _check_sites(pins, found)
    options = Table(top.values.get("options", {}), file=top.file, path="options")
    return Board(
        name=name,
        title=top.text("title"),
        source=top.text("source"),
        target=chip,
        package=top.text("package"),
        speed=_speed(top),
        options=MappingProxyType({key: _option(options, key) for key in options.values}),
        pins=MappingProxyType(found),
    )


def _speed(top: Table) -> int | None:
    if "speed" not in top.values:
        return None
    speed = top.number("speed")
    if speed != int(speed):
        got = f"{speed:g}"
        raise top.error("speed", wrong="is no speed grade", expected="an integer", got=got)
    return int(speed)


def _option(options: Table, key: str) -> Any:
    """A word, a truth value or a number."""
    value = options.values[key]
    if isinstance(value, bool | str):
        return value
    number = options.number(key)
    return int(number) if isinstance(value, int) else number


def _pin(pins: Table, port: str, chip: Target) -> Pin:
    if port not in pins.values:
        expected = f"a table for each of {', '.join(PORTS)}"
        raise pins.error(port, wrong="is missing", expected=expected, got="nothing")
    table = Table(pins.values[port], file=pins.file, path=pins.key(port))
    table.allow(PIN_KEYS)
    mhz = table.number("mhz")
    if (port == CLOCK) != (mhz is not None and mhz > 0):
        expected = "a frequency above 0 where the clock comes in, and nowhere else"
        got = "nothing" if mhz is None else f"{mhz:g}"
        raise table.error("mhz", wrong="does not fit this pin", expected=expected, got=got)
    inverted = table.values.get("inverted", False)
    if not isinstance(inverted, bool):
        expected, got = "true or false", shown(inverted)
        raise table.error("inverted", wrong="is no truth value", expected=expected, got=got)
    return Pin(
        site=table.text("site"),
        why=table.text("why"),
        mhz=mhz,
        # A bank of an iCE40 has the one standard that its supply says.
        io=None if chip.family == "ice40" else table.text("io"),
        pull=table.word("pull", ["UP"]) if "pull" in table.values else None,
        inverted=inverted,
    )


def _check_sites(pins: Table, found: Mapping[str, Pin]) -> None:
    owners: dict[str, str] = {}
    for port, pin in found.items():
        if pin.site in owners:
            expected, got = "a pin of its own", f"{pin.site}, the pin of {owners[pin.site]}"
            raise pins.error(f"{port}.site", wrong="is taken", expected=expected, got=got)
        owners[pin.site] = port
