"""CSV files of numbers with a header row: read whole and checked, written whole or not at all.

Numbers are written as the shortest text that reads back as the same float64.
"""

import csv
import difflib
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TextIO

import numpy as np

from solver_ref.errors import InputError, shown
from solver_ref.files import replace_text

# What counts as a number in a cell: decimal, with or without exponent. NaN and infinity match,
# to be refused by a message of their own.
NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)


@dataclass(frozen=True)
class Sign:
    """What the values of a column must be, and the words for one that is not."""

    holds: Callable[[float], bool]
    wrong: str
    expected: str


POSITIVE = Sign(lambda value: value > 0, "is not positive", "a number above 0")
NOT_NEGATIVE = Sign(lambda value: value >= 0, "is negative", "a number of 0 or above")


class CsvError(InputError):
    """A CSV file that cannot be used (or written). Data rows count from 1, without the header."""


def read_columns(
    path: str | PathLike[str],
    *,
    required: Sequence[str],
    optional: Sequence[str] = (),
    ignored: Sequence[str] = (),
    positive: Iterable[str] = (),
    not_negative: Iterable[str] = (),
) -> dict[str, np.ndarray]:
    """Read columns of finite numbers.

    Parameters
    ----------
    path : the file: UTF-8, a header row, then at least one row
    required, optional : columns that must and that may be there; no other may, but for
    ignored : columns that may be there and hold anything, such as an earlier run's `status`
    positive : those of the columns whose values must be above zero, such as lengths
    not_negative : those whose values must be zero or above, such as tensions

    Returns
    -------
    Each required column and each optional one that is there, in that order: float64, shape (rows,).

    Raises
    ------
    CsvError : the file, the row and column, what was expected and what came
    """
    file = str(path)
    header, rows = _split(file)
    _check_header(file, header, required, optional, ignored)
    _check_rows(file, header, rows)
    signs = dict.fromkeys(not_negative, NOT_NEGATIVE) | dict.fromkeys(positive, POSITIVE)
    columns = {}
    for name in (*required, *optional):
        if name in header:
            place = header.index(name)
            texts = [row[place].strip() for row in rows]
            columns[name] = _numbers(file, name, texts, signs.get(name))
    return columns


def header_of(path: str | PathLike[str]) -> list[str]:
    """The names of a file's columns, whatever they are; errors as in `read_columns`."""
    return _split(str(path))[0]


def _split(file: str) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a file, as texts."""
    try:
        # The signature that spreadsheets put before UTF-8 text is not part of the first name.
        text = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CsvError(
            file, "file", wrong="cannot be read", expected="a CSV file", got=reason
        ) from None
    except UnicodeDecodeError:
        raise CsvError(
            file, "file", wrong="is not UTF-8", expected="a CSV file", got="other bytes"
        ) from None
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise CsvError(
            file, "file", wrong="is malformed", expected="a CSV file", got=shown(str(error))
        ) from None
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    if len(lines) < 2:
        got = "a header alone" if lines else "nothing"
        expected = "a header and at least one row"
        raise CsvError(file, "file", wrong="is empty", expected=expected, got=got)
    return [name.strip() for name in lines[0]], lines[1:]


def _check_header(
    file: str,
    header: list[str],
    required: Sequence[str],
    optional: Sequence[str],
    ignored: Sequence[str],
) -> None:
    known = (*required, *optional)
    for place, name in enumerate(header):
        key = name if name.isidentifier() else shown(name)
        if name not in known and name not in ignored:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {close[0]}" if close else ""
            expected = f"only {', '.join(known)}"
            raise CsvError(
                file, key, wrong=f"is an unknown column{hint}", expected=expected, got=shown(name)
            )
        if name in header[:place]:
            raise CsvError(
                file,
                key,
                wrong="is there twice",
                expected="each column once",
                got=f"columns {header.index(name) + 1} and {place + 1}",
            )
    for name in required:
        if name not in header:
            expected = f"the columns {', '.join(required)}"
            raise CsvError(
                file, name, wrong="is a missing column", expected=expected, got=", ".join(header)
            )


def _check_rows(file: str, header: list[str], rows: list[list[str]]) -> None:
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise CsvError(
                file,
                f"row {number}",
                wrong="has the wrong number of values",
                expected=f"{len(header)} values, as in the header",
                got=str(len(row)),
            )


def _numbers(file: str, name: str, texts: list[str], sign: Sign | None) -> np.ndarray:
    values = np.empty(len(texts), dtype=np.float64)
    for row, text in enumerate(texts):
        wrong = None
        if not NUMBER.fullmatch(text):
            wrong, expected = "is no number", "a decimal number"
        elif not math.isfinite(float(text)):
            wrong, expected = "is not finite", "a finite number"
        elif sign and not sign.holds(float(text)):
            wrong, expected = sign.wrong, sign.expected
        if wrong:
            key = f"row {row + 1}, {name}"
            raise CsvError(file, key, wrong=wrong, expected=expected, got=shown(text))
        values[row] = float(text)
    return values


def write_rows(
    target: str | PathLike[str] | TextIO, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a header and rows of numbers and texts.

    A path gets the whole file or stays as it was: the text goes to a file beside it, which then
    takes its place. A stream gets the whole text in one write, after all rows were made.

    Raises
    ------
    ValueError : a row is not as long as the header, or a value is no number and no text
    CsvError : the file cannot be written
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise ValueError(
                f"row {number} must have {len(header)} values as the header, not {len(row)}"
            )
        writer.writerow([_cell(value) for value in row])
    text = buffer.getvalue()
    if isinstance(target, str | PathLike):
        replace_text(target, text, error=CsvError)
    else:
        target.write(text)


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        raise ValueError("a CSV value must be a number or a text, not a truth value")
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    raise ValueError(f"a CSV value must be a number or a text, not {type(value).__name__}")
