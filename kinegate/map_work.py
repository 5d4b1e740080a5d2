"""A robot's map, the check of a path, and a plan: what `workspace` computes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from kinegate.courses import read_course
from kinegate.designs import OptionError
from kinegate.map_options import box_size
from kinegate.progress import Report
from kinegate.workers import run_tasks
from solver_ref.csvio import CsvError
from solver_ref.errors import shown
from solver_ref.maps.criteria import judge
from solver_ref.maps.field import Values
from solver_ref.maps.fields import measure
from solver_ref.maps.path import PathReport, check_path
from solver_ref.maps.planner import shortened, shortest_way
from solver_ref.maps.poses import start_poses
from solver_ref.maps.region import safe_region
from solver_ref.maps.robot_map import RobotMap, judged_map
from solver_ref.maps.section import Section
from solver_ref.robot import Robot

CHUNK = 4000
"""Cells of one task: enough for NumPy to do the work, few enough to see progress."""
STEPS, REACH = 1000, 0.02
"""As shares of the workspace's diagonal: the longest step of a path is 1/1000, and bad poses are
looked for within 2 % around it (or twice the margin)."""


@dataclass(frozen=True)
class Work:
    """A robot, how messages call it, what is bad for it, who computes, and which fields."""

    name: str
    robot: Robot
    limits: Mapping[str, float]
    seed: int
    jobs: int
    scheduler: str | None
    report: Report
    fields: tuple[str, ...] = ()

    def with_fields(self, fields: tuple[str, ...]) -> Work:
        """The same with other fields."""
        return dataclasses.replace(self, fields=fields)

    def measure(self, poses: np.ndarray) -> Values:
        """The quantities of poses (N, coordinates), computed here."""
        starts = start_poses(self.robot, poses, self.seed)
        return measure(self.robot, poses, starts, self.fields)


@dataclass(frozen=True)
class _Chunk:
    robot: Robot
    poses: np.ndarray
    starts: np.ndarray
    fields: tuple[str, ...]

    def measure(self) -> Values:
        return measure(self.robot, self.poses, self.starts, self.fields)


def mapped(work: Work, section: Section, margin: float) -> RobotMap:
    """The map of a section. The start of each cell's solve does not depend on who computes it."""
    poses = section.poses()
    starts = start_poses(work.robot, poses, work.seed)
    parts = [slice(first, first + CHUNK) for first in range(0, len(poses), CHUNK)]
    results = run_tasks(
        _Chunk.measure,
        [_Chunk(work.robot, poses[part], starts[part], work.fields) for part in parts],
        jobs=work.jobs,
        threads=True,
        scheduler=work.scheduler,
        report=work.report,
        what=f"{len(poses):,} poses of {work.robot.name}",
    )
    values = {"reach": np.full(len(poses), np.nan)}
    for part, found in zip(parts, results, strict=True):
        for name, column in (found or {}).items():
            values.setdefault(name, np.full(len(poses), np.nan))[part] = column
    shaped = {name: column.reshape(section.shape) for name, column in values.items()}
    return judged_map(section, shaped, work.limits, margin)


def path_rows(work: Work, path: str | PathLike[str] | np.ndarray) -> np.ndarray:
    """The poses (rows, coordinates) of a CSV file, or of an array."""
    names = work.robot.coordinates
    if isinstance(path, str | PathLike):
        return read_course(path, work.robot)[1]
    rows = np.asarray(path, float)
    if (
        rows.ndim != 2
        or rows.shape[1] != len(names)
        or not len(rows)
        or not np.isfinite(rows).all()
    ):
        expected = f"finite numbers of the shape (rows, {len(names)})"
        got = f"shape {rows.shape}"
        raise CsvError("path", ",".join(names), wrong="is no path", expected=expected, got=got)
    return rows


def checked(
    work: Work, rows: np.ndarray, margin: float, *, axes: tuple[int, ...] | None = None
) -> PathReport:
    """The check of a path; bad poses around it are looked for in all coordinates or those of
    `axes`."""
    size = box_size(work.robot)
    step = min(size / STEPS, margin / 2) if margin else size / STEPS
    work.report(1, 1, f"a path of {len(rows)} rows")
    try:
        return check_path(
            work.robot,
            rows,
            work.measure,
            work.limits,
            step=step,
            margin=margin,
            reach=2 * margin or size * REACH,
            axes=axes,
        )
    except ValueError as error:
        expected = "a shorter path or a larger margin"
        got = shown(str(error), 120)
        raise OptionError(
            work.name, "path", wrong="is too long", expected=expected, got=got
        ) from None


def planned(
    work: Work, found: RobotMap, start: np.ndarray, goal: np.ndarray
) -> tuple[np.ndarray | None, PathReport | str]:
    """The way from one pose to another through the safe cells of a map, checked pose by pose; or
    None and why there is none.

    First through cells with half a diagonal to spare, so that the line between two centres keeps
    the margin as well; where there is no such way, through all safe ones.
    """
    for text, pose in (("start", start), ("goal", goal)):
        names = [name for name, bad in judge(work.measure(pose[None]), work.limits).items() if bad]
        if names:
            return None, f"has no {text}: it is bad ({', '.join(names)})"
    section = found.section
    way: list[np.ndarray] = []
    checks: list[PathReport] = []
    for room in (np.linalg.norm(section.spacing) / 2, 0.0):
        safe = safe_region(section, found.bad, found.margin + room)
        cells = shortest_way(safe, section.spacing, section.cell(start), section.cell(goal))
        if cells:
            corners = [section.pose(section.point(cell)) for cell in shortened(safe, cells)]
            way.append(np.array([start, *corners[1:-1], goal]))
            checks.append(checked(work, way[-1], found.margin, axes=section.places))
            if checks[-1].ok:
                break
    if not way:
        return None, "was not found: no way through the safe cells of this grid"
    return way[-1], checks[-1]
