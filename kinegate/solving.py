"""Batches of rows through a kernel: the columns of CSV files in and out."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TextIO

import numpy as np

from hdl.design import Design
from kinegate.designs import OptionError
from solver_ref.csvio import CsvError, read_columns, write_rows
from solver_ref.errors import shown
from solver_ref.euler import edge_names, inward, outward
from solver_ref.kernels import KERNELS
from solver_ref.kernels.kind import WRITTEN, Choices, ColumnNames
from solver_ref.robot import Robot
from solver_ref.status import Status


@dataclass(frozen=True)
class Solved:
    """The answers of a batch: `columns` by name in the order of the file, SI values; `status` is
    an array of `solver_ref.status.Status` words."""

    columns: dict[str, np.ndarray]

    @property
    def valid(self) -> np.ndarray:
        """Which rows may be used."""
        return (self.columns["status"] & int(Status.VALID)) != 0

    @property
    def status_counts(self) -> dict[str, int]:
        """How many rows have each status, by its names, the most frequent first."""
        return dict(Counter(self._names()).most_common())

    def _names(self) -> list[str]:
        return [Status(int(word)).names() for word in self.columns["status"]]

    def rows(self) -> Iterator[list[object]]:
        """The rows as a file has them: numbers, and the status by its names."""
        columns = [
            self._names() if name == "status" else column.tolist()
            for name, column in self.columns.items()
        ]
        return (list(row) for row in zip(*columns, strict=True))

    def write(self, target: str | PathLike[str] | TextIO) -> None:
        """Write a CSV file, whole or not at all."""
        write_rows(target, list(self.columns), self.rows())


def read_rows(path: str | PathLike[str], robot: Robot, kernel: str) -> dict[str, np.ndarray]:
    """The columns of a CSV file that a kernel reads. CsvError says what is wrong with it."""
    names = _names(robot, kernel)
    columns = read_columns(
        path,
        required=names.required,
        optional=names.optional,
        ignored=names.ignored,
        positive=names.positive,
        not_negative=names.not_negative,
    )
    _check(str(path), names, columns)
    return inward(robot, columns)


def _names(robot: Robot, kernel: str) -> ColumnNames:
    """The columns that a kernel reads, as files have them."""
    names = KERNELS[kernel].columns(robot)
    required, optional = edge_names(robot, names.required), edge_names(robot, names.optional)
    read = (*required, *optional)
    return dataclasses.replace(
        names,
        required=required,
        optional=optional,
        ignored=tuple(n for n in edge_names(robot, names.ignored) if n not in read),
        whole=tuple(edge_names(robot, group) for group in names.whole),
        either=tuple(edge_names(robot, group) for group in names.either),
    )


def check_columns(values: Mapping[str, object], robot: Robot, kernel: str) -> dict[str, np.ndarray]:
    """The same from columns in memory: floats, of one length, finite, lengths above zero."""
    names = _names(robot, kernel)
    known = (*names.required, *names.optional)
    columns = {n: np.atleast_1d(np.asarray(values[n], float)) for n in known if n in values}
    for name in names.required:
        if name not in columns:
            expected = f"the columns {', '.join(names.required)}"
            got = ", ".join(values)
            raise CsvError("rows", name, wrong="is a missing column", expected=expected, got=got)
    for name in values:
        if name not in columns:
            expected = f"only {', '.join(known)}"
            raise CsvError("rows", name, wrong="is an unknown column", expected=expected, got=name)
    count = len(columns[names.required[0]])
    for name, column in columns.items():
        good = np.isfinite(column) & ((column > 0) | (name not in names.positive))
        good &= (column >= 0) | (name not in names.not_negative)
        if column.shape != (count,) or not good.all():
            got = f"shape {column.shape}" if good.all() else shown(column[~good][0])
            expected = f"{count} finite numbers, lengths above 0, tensions not below"
            raise CsvError("rows", name, wrong="cannot be used", expected=expected, got=got)
    _check("rows", names, columns)
    return inward(robot, columns)


def _check(file: str, names: ColumnNames, columns: Mapping[str, np.ndarray]) -> None:
    """A start has all its coordinates or none, of two ways one is given, and lambda lies between 0
    and 1."""
    for group in names.whole:
        missing = [name for name in group if name not in columns]
        if 0 < len(missing) < len(group):
            expected = f"all of {', '.join(group)}, or none of them"
            got = ", ".join(name for name in group if name in columns)
            wrong = "is a missing column"
            raise CsvError(file, missing[0], wrong=wrong, expected=expected, got=got)
    given = [group for group in names.either if any(name in columns for name in group)]
    if names.either and len(given) != 1:
        expected = " or ".join(", ".join(group) for group in names.either)
        wrong, got = ("is given twice", "both") if given else ("is a missing column", "neither")
        raise CsvError(file, names.either[0][0], wrong=wrong, expected=expected, got=got)
    damping = columns.get("lambda", np.zeros(0))
    wrong = np.flatnonzero((damping < 0) | (damping > 1))
    if wrong.size:
        key, got = f"row {wrong[0] + 1}, lambda", shown(damping[wrong[0]])
        raise CsvError(file, key, wrong="is out of range", expected="0 to 1", got=got)


def port_values(
    name: str,
    design: Design,
    columns: Mapping[str, np.ndarray],
    *,
    damping: str | None,
    damping_lambda: float | None,
) -> dict[str, np.ndarray]:
    """What goes to the ports: the columns, with the start, the policy and lambda filled in."""
    kind = design.kind
    if not kind.damped:
        for key, value in (("damping", damping), ("lambda", damping_lambda)):
            if value is not None:
                wrong, expected = "has no meaning", "a kernel with a step"
                raise OptionError(name, key, wrong=wrong, expected=expected, got=kind.name)
    if damping_lambda is not None and "lambda" in columns:
        expected = "either the column or the option"
        raise OptionError(name, "lambda", wrong="is given twice", expected=expected, got="both")
    how = Choices(damping or Choices.damping, damping_lambda)
    return kind.port_values(design.robot, columns, how)


def answered(robot: Robot, outputs: Mapping[str, np.ndarray]) -> Solved:
    """The outputs in the order of the file: quantities, then status, iterations, residual."""
    outputs = outward(robot, outputs)
    last = [name for name in WRITTEN if name in outputs]
    return Solved({name: outputs[name] for name in (*(n for n in outputs if n not in last), *last)})
