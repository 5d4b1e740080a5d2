"""Readings into a file: a picture of one pose, a picture of a trajectory, or a film of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinegate.pictures.compose import VIEW, draw_pose, draw_trajectory
from kinegate.pictures.files import FILMS, save_film, save_picture
from kinegate.pictures.readings import Readings
from kinegate.pictures.scene import Scene
from kinegate.pictures.style import new_figure
from kinegate.progress import Report
from solver_ref.robot import Robot

RATE = 15.0
"""Frames of a film a second."""


def draw(
    robot: Robot,
    readings: Readings,
    path: Path,
    *,
    times: np.ndarray | None,
    view: tuple[float, float] | None,
    report: Report,
) -> None:
    """Draw into `path`, a film or a picture by its suffix; `times` (s) are those of the poses."""
    scene, figure, count = Scene(robot, readings), new_figure(), readings.count
    look = {"view": VIEW if view is None else view}

    def frame(row: int) -> None:
        report(row + 1, count, f"frame {row + 1} of {count}")
        when = f"pose {row + 1} of {count}" if times is None else f"t = {times[row]:.2f} s"
        title = f"{robot.name}, {when}"
        draw_pose(figure, robot, scene, row, title=title, path=True, **look)

    if path.suffix.lower() in FILMS:
        save_film(figure, path, count, frame, rate=RATE)
        return
    if count == 1:
        draw_pose(figure, robot, scene, 0, title=robot.name, **look)
    else:
        along = np.arange(1, count + 1) if times is None else times
        word = "pose" if times is None else "t (s)"
        title = f"{robot.name}, {count} poses"
        draw_trajectory(figure, robot, scene, along, title=title, time_name=word, **look)
    save_picture(figure, path)
