"""A sweep of designs: computed by many workers, written as a plot, CSV and NPZ."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinegate.designs import OptionError, Source
from kinegate.map_options import SweepAsked
from kinegate.map_report import finite
from kinegate.map_work import Work
from kinegate.workers import run_tasks
from solver_ref.csvio import write_rows
from solver_ref.maps.designs import COLUMNS, Designs
from solver_ref.robot import Robot
from solver_ref.robot_file import read_values

LOST = "not computed: its worker was lost"


@dataclass(frozen=True)
class Swept:
    """The designs and what was found: `columns` in the shape of the sweep, NaN where not known;
    `notes`: for each design, last key fastest, why nothing is known of it, or ""."""

    designs: Designs
    columns: dict[str, np.ndarray]
    notes: list[str]


@dataclass(frozen=True)
class _Part:
    designs: Designs
    rows: list[tuple[float, ...]]

    def run(self) -> list[tuple[np.ndarray, str]]:
        return [self.designs.row(design) for design in self.rows]


def swept(work: Work, robot: Source, asked: SweepAsked, *, mechanism: str | None) -> Swept:
    """Judge every design; `mechanism`: a file of equations in place of the robot file's own.

    RobotError for a key that the robot file does not have.
    """
    if isinstance(robot, Robot):
        expected = "a robot file or the name of a built-in"
        wrong = "needs the keys of a robot file"
        raise OptionError(work.name, "sweep", wrong=wrong, expected=expected, got="a robot")
    designs = Designs(
        file=work.name,
        source=read_values(robot, mechanism=mechanism),
        keys=asked.keys,
        values=asked.values,
        samples=asked.samples,
        seed=work.seed,
        limits=work.limits,
    )
    designs.varied(designs.all()[0])
    every = designs.all()
    size = max(1, min(20, len(every) // (4 * work.jobs)))
    parts = [_Part(designs, every[first : first + size]) for first in range(0, len(every), size)]
    results = run_tasks(
        _Part.run,
        parts,
        jobs=work.jobs,
        scheduler=work.scheduler,
        report=work.report,
        what=f"{len(every):,} designs of {work.robot.name}",
    )
    found = [
        row
        for part, result in zip(parts, results, strict=True)
        for row in (result or [(np.full(len(COLUMNS), np.nan), LOST)] * len(part.rows))
    ]
    shape = tuple(len(values) for values in asked.values)
    table = np.array([row for row, _ in found]).T.reshape(len(COLUMNS), *shape)
    return Swept(designs, dict(zip(COLUMNS, table, strict=True)), [note for _, note in found])


def sweep_summary(work: Work, found: Swept) -> dict[str, Any]:
    """The facts of a sweep; `ok` says whether every design was computed."""
    designs = found.designs
    lost = sum(note == LOST for note in found.notes)
    best = found.columns["worst_log10_singular_value"]
    summary: dict[str, Any] = {
        "ok": not lost,
        "complete": not lost,
        "robot": work.robot.name,
        "keys": {
            key: {"first": values[0], "last": values[-1], "count": len(values)}
            for key, values in zip(designs.keys, designs.values, strict=True)
        },
        "designs": len(found.notes),
        "lost": lost,
        "refused": sum(bool(note) for note in found.notes) - lost,
        "samples": designs.samples,
        "seed": designs.seed,
        "columns": {
            name: {"min": finite(np.nanmin(column)), "max": finite(np.nanmax(column))}
            for name, column in found.columns.items()
            if np.isfinite(column).any()
        },
        "least_singular": None,
    }
    if np.isfinite(best).any():
        place = int(np.nanargmax(best))
        design = dict(zip(designs.keys, designs.all()[place], strict=True))
        summary["least_singular"] = design | {
            name: finite(column.ravel()[place]) for name, column in found.columns.items()
        }
    return summary


def write_sweep(place: Path, work: Work, found: Swept) -> list[str]:
    """Write a sweep into a directory that is there; returns the files' names."""
    from kinegate.plots.designs import designs_figure
    from kinegate.plots.style import save

    designs = found.designs
    columns = [column.ravel().tolist() for column in found.columns.values()]
    notes = [note or "NONE" for note in found.notes]
    rows = zip(designs.all(), zip(*columns, strict=True), notes, strict=True)
    write_rows(
        place / "sweep.csv",
        (*designs.keys, *COLUMNS, "note"),
        ((*design, *row, note) for design, row, note in rows),
    )
    values = {f"values_{i}": np.array(row) for i, row in enumerate(designs.values, 1)}
    np.savez_compressed(place / "sweep.npz", keys=np.array(designs.keys), **values, **found.columns)
    figure = designs_figure(work.robot.name, designs.keys, designs.values, found.columns)
    return ["sweep.csv", "sweep.npz", *save(figure, place, "sweep")]
