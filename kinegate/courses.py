"""Poses along a course, as a CSV file has them."""

from __future__ import annotations

from os import PathLike

import numpy as np

from solver_ref.csvio import header_of, read_columns
from solver_ref.euler import edge_names, inward, outward
from solver_ref.robot import Robot

Course = tuple[np.ndarray | None, np.ndarray]
"""Times (N,), s, where there are any, and poses (N, coordinates), m and rad."""


def read_course(path: str | PathLike[str], robot: Robot) -> Course:
    """The columns of a pose and maybe `t`; others are not read. CsvError for what cannot be."""
    names = edge_names(robot, robot.coordinates)
    rest = [column for column in header_of(path) if column not in (*names, "t")]
    columns = read_columns(path, required=names, optional=("t",), ignored=rest)
    columns = inward(robot, columns)
    return columns.get("t"), np.stack([columns[word] for word in robot.coordinates], axis=1)


def pose_columns(robot: Robot, poses: np.ndarray) -> dict[str, np.ndarray]:
    """The columns that a file has of poses (N, coordinates), in the robot's own angles."""
    return outward(robot, dict(zip(robot.coordinates, np.transpose(poses), strict=True)))
