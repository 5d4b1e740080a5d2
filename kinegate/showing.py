"""`show`: which poses are drawn, into which file, and the figures that stand beside them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from kinegate.courses import Course, read_course
from kinegate.designs import GenerationOptions, OptionError, Source, open_robot
from kinegate.progress import Report, silent
from solver_ref.errors import shown
from solver_ref.robot import Robot

if TYPE_CHECKING:
    from kinegate.pictures.readings import Readings

PICTURES, FILMS = (".png", ".svg"), (".gif", ".mp4")
FRAMES = range(2, 10_001)


def show(
    robot: Source,
    output: str | PathLike[str],
    *,
    pose: Sequence[float] | None = None,
    trajectory: str | PathLike[str] | None = None,
    frames: int = 100,
    view: Sequence[float] | None = None,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> dict[str, Any]:
    """Draw a robot, with its lengths, condition number and tensions beside it.

    `output` ends in .png or .svg for a picture; in .gif or .mp4 (which needs ffmpeg) for a film of
    a trajectory. `pose` (m, rad; all coordinates, or the position alone): default home.
    `trajectory`: a CSV file with the columns of a pose and maybe `t` (s); other columns are not
    read. `frames`: at most so many of its poses are in a film; `view`: elevation and azimuth
    (degrees) of a robot in space. Of the generation options accuracy and closure mean something.

    Returns the figures that stand in the picture; what is infinite or unknown is None. InputError
    for what does not fit together, ToolMissing where a film cannot be made.

    >>> from kinegate import show
    >>> show("four-cable", "crane.png", pose=[0.5, 0, 2])["notes"]  # doctest: +SKIP
    ['']
    """
    # matplotlib takes half a second to be loaded, and nothing else needs it.
    from kinegate.pictures import drawing, files, readings

    name, opened = open_robot(robot, options)
    path = Path(output)
    film = _is_film(name, path, trajectory)
    if film:
        files.check_writer(path)
    times, poses = _course(name, opened, pose, trajectory)
    if film:
        times, poses = _thinned(name, frames, (times, poses))
    if view is not None and (len(view) != 2 or not np.isfinite(view).all()):
        wrong, expected = "is no point of view", "elevation and azimuth in degrees"
        raise OptionError(name, "view", wrong=wrong, expected=expected, got=shown(view))
    report(1, 2, f"lengths, condition and tensions of {len(poses)} poses")
    figures = readings.read(opened, poses)
    report(2, 2, str(path))
    drawing.draw(opened, figures, path, times=times, view=view, report=report)
    return _summary(opened, path, figures)


def _is_film(name: str, path: Path, trajectory: object) -> bool:
    suffix, got = path.suffix.lower(), shown(str(path))
    if suffix not in PICTURES + FILMS:
        expected = f"a name that ends in {', '.join(PICTURES + FILMS)}"
        raise OptionError(name, "output", wrong="is of no kind", expected=expected, got=got)
    if suffix in FILMS and trajectory is None:
        wrong, expected = "would be a film of one pose", ".png or .svg, or a trajectory"
        raise OptionError(name, "output", wrong=wrong, expected=expected, got=got)
    return suffix in FILMS


def _course(
    name: str, robot: Robot, pose: Sequence[float] | None, trajectory: str | PathLike[str] | None
) -> Course:
    if trajectory is None:
        return None, np.array([_pose(name, robot, pose)])
    if pose is not None:
        wrong, expected = "is one too many", "either a pose or a trajectory"
        raise OptionError(name, "pose", wrong=wrong, expected=expected, got="both")
    return read_course(trajectory, robot)


def _pose(name: str, robot: Robot, pose: Sequence[float] | None) -> Sequence[float]:
    if pose is None:
        return robot.workspace.home
    full = [*pose, *[0.0] * robot.rotations] if len(pose) == robot.translations else [*pose]
    if len(full) != len(robot.free) or not np.isfinite(full).all():
        expected = f"finite numbers {','.join(robot.coordinates)}, or the position alone"
        got = ",".join(f"{x:g}" for x in pose)
        raise OptionError(name, "pose", wrong="is no pose", expected=expected, got=got)
    return full


def _thinned(name: str, frames: int, course: Course) -> Course:
    """At most `frames` of the poses, evenly, the first and the last among them."""
    if frames not in FRAMES:
        wrong, expected = "is out of range", f"{FRAMES[0]} to {FRAMES[-1]}"
        raise OptionError(name, "frames", wrong=wrong, expected=expected, got=str(frames))
    times, poses = course
    rows = np.unique(np.linspace(0, len(poses) - 1, frames).round().astype(int))
    return None if times is None else times[rows], poses[rows]


def _summary(robot: Robot, path: Path, figures: Readings) -> dict[str, Any]:
    tensions = figures.tensions
    return {
        "robot": robot.name,
        "output": str(path),
        "poses": [dict(zip(robot.coordinates, row, strict=True)) for row in figures.poses.tolist()],
        "lengths": _plain(figures.lengths),
        "condition": _plain(figures.condition),
        "tensions": None if tensions is None else _plain(tensions),
        "tensions_note": figures.unknown or None,
        "slack": None if figures.slack is None else figures.slack.tolist(),
        "notes": [figures.note(row) for row in range(figures.count)],
    }


def _plain(values: np.ndarray) -> list[Any]:
    """Lists; what is not finite is None."""
    return np.where(np.isfinite(values), values.astype(object), None).tolist()
