"""Typed reading of TOML tables: each value is taken by name, checked, and scaled to SI once.

Numbers arrive as `int` or `Decimal` and are scaled exactly before they become floats, so that a
length has the same float whichever unit it was written in.
"""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from solver_ref.errors import InputError, shown

ONE = Decimal(1)
# Wide enough for the exact product of any two numbers that a person writes.
EXACT = Context(prec=1000, traps=[])

LENGTH_UNITS = {
    "m": ONE,
    "cm": Decimal("0.01"),
    "mm": Decimal("0.001"),
    "in": Decimal("0.0254"),
}
ANGLE_UNITS = {
    "rad": ONE,
    "deg": Decimal("0.017453292519943295769236907684886127134428718885417"),
}


class RobotError(InputError):
    """A robot file that cannot be used, or a name that is neither a file nor a built-in."""


@dataclass(frozen=True, kw_only=True)
class Units:
    """The factors from the file's units to SI: one length (m) and one angle (rad)."""

    length: Decimal = ONE
    angle: Decimal = ONE


class Table:
    """One table of a robot file.

    Parameters
    ----------
    values : the table as `tomllib` gave it, with floats as `Decimal`
    file, path : for messages; `path` is the dotted path of the table, empty for the whole file
    units : what its lengths and angles are written in

    Every reader raises `RobotError` with the file, the key, what was expected and what came.
    A reader with a `default` returns it where the key is absent.
    """

    def __init__(
        self, values: Any, *, file: str, path: str = "", units: Units | None = None
    ) -> None:
        self.file = file
        self.path = path
        self.units = units or Units()
        if not isinstance(values, dict):
            raise RobotError(file, path, wrong="is no table", expected="a table", got=_kind(values))
        self.values: dict[str, Any] = values

    def key(self, name: str) -> str:
        """The dotted path of one key of this table."""
        bare = re.fullmatch(r"[A-Za-z0-9_.\[\]-]+", name)
        return ".".join(filter(None, (self.path, name if bare else shown(name))))

    def error(self, name: str, *, wrong: str, expected: str, got: str) -> RobotError:
        """The error to raise for the key `name`; an empty name means the table itself."""
        key = self.key(name) if name else self.path
        return RobotError(self.file, key, wrong=wrong, expected=expected, got=got)

    def allow(self, names: Iterable[str], *, later: Iterable[str] = ()) -> None:
        """Refuse keys that are not in `names`; those in `later` are refused as planned."""
        known = list(names)
        for name in self.values:
            if name in known:
                continue
            if name in later:
                wrong = "is not supported yet"
            else:
                close = difflib.get_close_matches(name, known, n=1)
                wrong = "is an unknown key" + (f", did you mean {close[0]}" if close else "")
            expected = f"only {', '.join(known)}"
            raise self.error(name, wrong=wrong, expected=expected, got=_kind(self.values[name]))

    def raw(self, name: str, expected: str) -> Any:
        """The value as it stands; `expected` names what is missing where there is none."""
        if name not in self.values:
            raise self.error(name, wrong="is missing", expected=expected, got="nothing")
        return self.values[name]

    def text(self, name: str, *, default: str | None = None) -> str:
        """A string that is not blank."""
        if default is not None and name not in self.values:
            return default
        value = self.raw(name, "a text")
        if not isinstance(value, str):
            raise self.error(name, wrong="is no text", expected="a text", got=_kind(value))
        if not value.strip():
            raise self.error(name, wrong="is empty", expected="a text", got=shown(value))
        return value

    def word(self, name: str, choices: Iterable[str], *, default: str | None = None) -> str:
        """One of the words `choices`."""
        words = list(choices)
        expected = f"one of {', '.join(words)}" if len(words) > 1 else words[0]
        if default is not None and name not in self.values:
            return default
        value = self.raw(name, expected)
        if value not in words:
            got = shown(value) if isinstance(value, str) else _kind(value)
            raise self.error(name, wrong="is an unknown word", expected=expected, got=got)
        return value

    def number(self, name: str, *, scale: Decimal = ONE, default: float | None = None) -> Any:
        """A finite number times `scale`, as a float; `default` (None too) where absent."""
        if name not in self.values:
            return default
        return self._float(name, self.values[name], scale)

    def vector(
        self,
        name: str,
        size: int,
        *,
        scale: Decimal | tuple[Decimal, ...] = ONE,
        default: tuple[float, ...] | None = None,
    ) -> Any:
        """`size` finite numbers, each times its `scale`, as a tuple of floats."""
        if default is not None and name not in self.values:
            return default
        value = self.raw(name, f"{size} numbers")
        scales = scale if isinstance(scale, tuple) else (scale,) * size
        return self._floats(name, value, scales)

    def rows(
        self, name: str, count: int, size: int, *, scale: Decimal = ONE
    ) -> tuple[tuple[float, ...], ...]:
        """`count` lists of `size` finite numbers each, times `scale`."""
        expected = f"{count} lists of {size} numbers"
        value = self.raw(name, expected)
        if not isinstance(value, list):
            raise self.error(name, wrong="is no list", expected=expected, got=_kind(value))
        if len(value) != count:
            raise self.error(
                name, wrong="has the wrong size", expected=expected, got=f"{len(value)} rows"
            )
        return tuple(
            self._floats(f"{name}[{i}]", row, (scale,) * size) for i, row in enumerate(value, 1)
        )

    def _floats(self, name: str, value: Any, scales: tuple[Decimal, ...]) -> tuple[float, ...]:
        expected = f"{len(scales)} numbers"
        if not isinstance(value, list):
            raise self.error(name, wrong="is no list", expected=expected, got=_kind(value))
        if len(value) != len(scales):
            raise self.error(
                name, wrong="has the wrong size", expected=expected, got=str(len(value))
            )
        pairs = zip(value, scales, strict=True)
        return tuple(self._float(f"{name}[{i}]", v, s) for i, (v, s) in enumerate(pairs, 1))

    def _float(self, name: str, value: Any, scale: Decimal) -> float:
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise self.error(name, wrong="is no number", expected="a number", got=_kind(value))
        number = Decimal(value)
        result = float(EXACT.multiply(number, scale)) if number.is_finite() else math.nan
        if not math.isfinite(result):
            raise self.error(
                name, wrong="is not finite", expected="a finite number", got=shown(value)
            )
        return result + 0.0  # one zero, not two: -0.0 would make another digest


def _kind(value: object) -> str:
    """A value of the wrong type, named for a message."""
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, list):
        return "an array of tables" if value and isinstance(value[0], dict) else "a list"
    if isinstance(value, dict):
        return "a table"
    return shown(value)
