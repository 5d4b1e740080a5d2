"""INI files of LinuxCNC: what they say of a hexapod's units, home and ranges."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from solver_ref.errors import InputError, shown
from solver_ref.importing.beside import contents
from solver_ref.importing.draft import decimal

UNITS = {"inch": "in", "in": "in", "imperial": "in", "mm": "mm", "metric": "mm"}

_SECTION = re.compile(r"\[(\w+)\]")
_ENTRY = re.compile(r"(\w+)\s*=\s*(.*?)")
_NAMED = re.compile(r"\[(\w+)\](\w+)")


@dataclass(frozen=True)
class Ini:
    """`values`: the last value of each (section, key); `hal_files`: of all HALFILE entries."""

    path: Path
    values: dict[tuple[str, str], str]
    hal_files: tuple[str, ...]

    def named(self, text: str) -> str | None:
        """The value that HAL writes as `[SECTION]KEY`, None where there is none."""
        match = _NAMED.fullmatch(text)
        return self.values.get(match.groups()) if match else None

    @property
    def units(self) -> str | None:
        """The unit of lengths, as a word of `solver_ref.fields.LENGTH_UNITS`."""
        key = ("TRAJ", "LINEAR_UNITS")
        if key not in self.values:
            return None
        word = self.values[key].lower()
        if word not in UNITS:
            expected = f"one of {', '.join(UNITS)}"
            raise self._error(key, wrong="is unknown", expected=expected, got=shown(word))
        return UNITS[word]

    @property
    def home(self) -> tuple[float, ...] | None:
        """Position (machine units) and angles (degrees) of the home pose."""
        key = ("TRAJ", "HOME")
        if key not in self.values:
            return None
        words = self.values[key].split()
        if len(words) != 6:
            got = shown(self.values[key])
            raise self._error(key, wrong="is no pose", expected="x y z a b c", got=got)
        return tuple(self._number(key, word) for word in words)

    def range_of(self, section: str) -> tuple[float, float]:
        """MIN_LIMIT and MAX_LIMIT of a section; infinite where it has none."""
        low, high = (section, "MIN_LIMIT"), (section, "MAX_LIMIT")
        return (
            self._number(low, self.values[low]) if low in self.values else -math.inf,
            self._number(high, self.values[high]) if high in self.values else math.inf,
        )

    def _number(self, key: tuple[str, str], text: str) -> float:
        try:
            return float(decimal(text))
        except ValueError:
            raise self._error(
                key, wrong="is no number", expected="a number", got=shown(text)
            ) from None

    def _error(self, key: tuple[str, str], *, wrong: str, expected: str, got: str) -> InputError:
        return InputError(self.path, f"[{key[0]}]{key[1]}", wrong=wrong, expected=expected, got=got)


def read_ini(path: Path, data: bytes) -> Ini:
    """Read an INI file: sections of `KEY = value`; comments begin with # or ;."""
    section, values, hal_files = "", {}, []
    for line in data.decode("utf-8", errors="replace").splitlines():
        text = re.split(r"[#;]", line, maxsplit=1)[0].strip()
        if match := _SECTION.fullmatch(text):
            section = match[1]
        elif match := _ENTRY.fullmatch(text):
            values[section, match[1]] = match[2]
            if (section, match[1]) == ("HAL", "HALFILE"):
                hal_files.append(match[2])
    return Ini(path, values, tuple(hal_files))


def ini_beside(path: Path) -> Ini | None:
    """The one INI file beside a HAL file that names it, None where there is none, or several."""
    found = []
    for file in sorted(path.parent.iterdir()):
        if file.suffix.lower() == ".ini":
            ini = read_ini(file, contents(file, "an INI file"))
            if path.name in ini.hal_files:
                found.append(ini)
    return found[0] if len(found) == 1 else None
