"""Robots from what other projects write: the robot file that is made of it, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

from kinegate.designs import OptionError, unknown
from solver_ref.csvio import write_rows
from solver_ref.errors import InputError
from solver_ref.fields import LENGTH_UNITS
from solver_ref.files import replace_text
from solver_ref.importing import Imported, read_foreign
from solver_ref.importing.format import Settings

OPTIONS = ("cable_set", "units", "position", "tilt", "home")
"""What the user says beside the file: an error that names one of them is about an option."""


def import_robot(
    file: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    cable_set: str | None = None,
    units: str | None = None,
    name: str | None = None,
    position: Sequence[tuple[float, float]] | None = None,
    tilt: float | None = None,
    home: Sequence[float] | None = None,
    poses: str | PathLike[str] | None = None,
) -> dict[str, Any]:
    """Make a robot file of another project's description of a robot, and check it.

    `file`: CASPR's `*_bodies.xml` (its cables and trajectories beside it), a Klipper configuration
    with winches, or LinuxCNC's HAL settings of a hexapod (or its INI file). `output`: where the
    robot file is written; `poses`: where the points of the source's trajectories are, as CSV.
    `cable_set`: which of a model's sets of cables (its default); `units`: of a hexapod, mm, cm, m
    or in (its INI file's, else in); `name`: the robot's (the file's); `position` (lowest and
    highest of each), `tilt` and `home` (m, rad): a workspace in place of the one that is derived.

    Returns `text`, the robot file, and what it says. InputError for what cannot be represented.

    >>> from kinegate import import_robot
    >>> import_robot("CoGiRo_bodies.xml", "cogiro.toml")["robot"]  # doctest: +SKIP
    'CoGiRo'
    """
    if units is not None and units not in LENGTH_UNITS:
        raise unknown(str(file), "units", units, LENGTH_UNITS)
    settings = Settings(cable_set=cable_set, units=units)
    with _naming_options():
        found = read_foreign(
            file, settings=settings, name=name, position=position, tilt=tilt, home=home
        )
    if poses is not None:
        if not len(found.poses):
            expected, got = "a file with trajectories", "a file without"
            raise OptionError(
                str(file), "poses", wrong="has no meaning", expected=expected, got=got
            )
        write_rows(poses, found.robot.coordinates, found.poses.tolist())
    if output is not None:
        replace_text(output, found.text)
    return _figures(found) | {
        "output": None if output is None else str(output),
        "poses_output": None if poses is None else str(poses),
    }


def _figures(found: Imported) -> dict[str, Any]:
    robot = found.robot
    return {
        "robot": robot.name,
        "format": found.format,
        "kind": robot.kind,
        "motion": robot.motion,
        "cables": len(robot.cables),
        "joints": len(robot.joint_names),
        "closure": robot.closure,
        "source": robot.source,
        "digest": robot.digest,
        "position": [list(side) for side in robot.workspace.position],
        "tilt": robot.workspace.tilt,
        "home": list(robot.workspace.home),
        "workspace_source": found.reason,
        "poses": len(found.poses),
        "text": found.text,
    }


@contextmanager
def _naming_options() -> Iterator[None]:
    """Turns an error about one of `OPTIONS` into one that the command line names as an option."""
    try:
        yield
    except InputError as error:
        if error.key not in OPTIONS:
            raise
        told = {"wrong": error.wrong, "expected": error.expected, "got": error.got}
        raise OptionError(error.file, error.key.replace("_", "-"), **told) from None
