"""`workspace`: maps of a robot, paths over them, plans through them, and sweeps of designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from kinegate.designs import GenerationOptions, Source, expanded, open_robot
from kinegate.map_options import (
    check_alone,
    check_count,
    fields_asked,
    limits_asked,
    margin_asked,
    plan_pose,
    section_asked,
    sweep_asked,
)
from kinegate.map_report import map_summary, path_summary, plan_summary
from kinegate.map_work import Work, checked, mapped, path_rows, planned
from kinegate.places import check_place, no_place
from kinegate.progress import Report, silent
from kinegate.sweeping import sweep_summary, swept, write_sweep
from solver_ref.files import filled
from solver_ref.robot import Robot

Pose = Sequence[float]
LINES = ("path", "plan")


def workspace(
    robot: Source,
    directory: str | PathLike[str] | None = None,
    *,
    plane: str | None = None,
    at: Mapping[str, float] | None = None,
    grid: Sequence[int] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    maps: Sequence[str] | None = None,
    limits: Mapping[str, float | None] | None = None,
    margin: float = 0.0,
    path: str | PathLike[str] | np.ndarray | None = None,
    plan: tuple[Pose, Pose] | None = None,
    sweep: Mapping[str, tuple[float, float, int]] | None = None,
    samples: int = 512,
    scheduler: str | None = None,
    jobs: int = 1,
    seed: int = 0,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> dict[str, Any]:
    """Map where a robot works well; with a directory also as plots (PNG, SVG), CSV and NPZ.

    Parameters
    ----------
    plane : two or three coordinates that vary, such as `xz`, `xyz` or `x,theta`; the first two
    at : values of the others (m, rad), else home's
    grid : cells along each axis, or one number for all; 200 on a plane, 40 in a volume
    ranges : (low, high) of axes, else the declared workspace's
    maps : which of `solver_ref.maps.fields.FIELDS`; all that the robot has
    limits : what is bad, by the names of `solver_ref.maps.criteria.CRITERIA`; None: no limit
    margin : how far safe poses are from bad ones, m (rotations times the characteristic length)
    path : a CSV file or an array (rows, coordinates) of poses to check
    plan : two poses to find a way between, each with the plane's coordinates or with all
    sweep : instead of a map, one or two parameters: {key: (first, last, count)}, keys as in
        `solver_ref.variation`; `samples` poses of each design are judged
    scheduler : the address of a Dask scheduler, on whose workers everything is computed
    jobs : cores of this machine; a sweep with more than one starts processes, so a script that
        calls it needs the usual `if __name__ == "__main__":`

    `ok` is False where the path or the plan fails, or workers were lost (`complete`). Arrays are in
    the files. InputError for what cannot be.

    >>> from kinegate import workspace
    >>> workspace("four-cable", plane="xz", grid=[9], maps=["condition"])["safe"]
    1.0
    """
    called = robot.name if isinstance(robot, Robot) else fspath(robot)
    name, opened = open_robot(robot, expanded(called, options))
    check_count(name, "jobs", jobs, range(1, 1025))
    check_count(name, "seed", seed, range(2**32))
    if directory is not None:
        check_place(Path(directory))
    work = Work(name, opened, limits_asked(name, limits or {}), seed, jobs, scheduler, report)
    if sweep:
        beside = {"plane": plane, "at": at or None, "grid": grid, "range": ranges or None}
        beside |= {"map": maps, "margin": margin or None, "path": path, "plan": plan}
        check_alone(name, [key for key, given in beside.items() if given is not None])
        asked = sweep_asked(name, sweep, samples)
        designs = swept(work, robot, asked, mechanism=options.get("mechanism"))
        facts = sweep_summary(work, designs)
        return _written(directory, facts, lambda place: write_sweep(place, work, designs))
    section = section_asked(name, opened, plane=plane, at=at or {}, grid=grid, ranges=ranges or {})
    work = work.with_fields(fields_asked(name, opened, maps))
    margin = margin_asked(name, margin)
    ends = [plan_pose(name, opened, section, pose) for pose in plan or ()]
    rows = None if path is None else path_rows(work, path)
    found, lines = mapped(work, section, margin), {}
    facts = map_summary(work, found)
    if rows is not None:
        lines["path"] = rows
        facts["path"] = path_summary(work, checked(work, rows, margin), rows)
    if ends:
        way, outcome = planned(work, found, *ends)
        lines |= {} if way is None else {"plan": way}
        facts["plan"] = plan_summary(work, way, outcome)
    facts["ok"] = all(part["ok"] for part in (facts, *(facts.get(x, facts) for x in LINES)))

    def write(place: Path) -> list[str]:
        # Matplotlib takes half a second to import, which other commands need not wait for.
        from kinegate.map_files import write_map

        return write_map(place, opened, found, lines)

    return _written(directory, facts, write)


def _written(
    directory: str | PathLike[str] | None,
    facts: dict[str, Any],
    write: Callable[[Path], list[str]],
) -> dict[str, Any]:
    """The facts, with the files where there is a directory for them: all of them or none."""
    if directory is None:
        return facts
    place = Path(directory)
    try:
        with filled(place) as aside:
            files = write(aside)
    except OSError as error:
        raise no_place(place, error.strerror or type(error).__name__) from None
    return facts | {"directory": fspath(directory), "files": files}
