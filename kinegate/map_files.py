"""What `workspace` writes of a map: plots, the cells as CSV and NPZ, and the planned path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kinegate.courses import pose_columns
from kinegate.map_report import shown_quantities
from kinegate.plots import sections, volumes
from kinegate.plots.style import save
from solver_ref.csvio import write_rows
from solver_ref.maps.robot_map import RobotMap
from solver_ref.robot import Robot


def write_map(
    place: Path, robot: Robot, found: RobotMap, lines: Mapping[str, np.ndarray]
) -> list[str]:
    """Write a map into a directory that is there; returns the files' names.

    `lines`: poses of `path` and `plan`, drawn over it; a plan is written too.
    """
    arrays = {**found.values, "clearance": found.clearance, "safe": found.safe}
    files = [_write_csv(place, robot, found, arrays), _write_npz(place, robot, found, arrays)]
    if "plan" in lines:
        columns = pose_columns(robot, lines["plan"])
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        write_rows(place / "plan.csv", list(columns), rows)
        files.append("plan.csv")
    plots = sections if len(found.section.axes) == 2 else volumes
    for quantity in shown_quantities(found):
        figure = plots.quantity_figure(robot, found, quantity, lines)
        files += save(figure, place, quantity.name)
    return files + save(plots.safe_figure(robot, found, lines), place, "safe")


def _write_csv(place: Path, robot: Robot, found: RobotMap, arrays: Mapping[str, np.ndarray]) -> str:
    """One row for each cell: its pose, its quantities, whether it is safe, and what is bad."""
    poses = found.section.poses()
    bad = np.full(len(poses), "", object)
    for name, where in found.bad_by.items():
        chosen = where.ravel()
        bad[chosen] = [f"{text}|{name}" if text else name for text in bad[chosen]]
    pose = pose_columns(robot, poses)
    columns = [column.tolist() for column in pose.values()]
    columns += [array.ravel().astype(float).tolist() for array in arrays.values()]
    columns.append([text or "NONE" for text in bad])
    header = (*pose, *arrays, "bad")
    write_rows(place / "map.csv", header, zip(*columns, strict=True))
    return "map.csv"


def _write_npz(place: Path, robot: Robot, found: RobotMap, arrays: Mapping[str, np.ndarray]) -> str:
    """The same in the shape of the section, with the values of its axes and the held pose."""
    section = found.section
    named = dict(zip(section.axes, section.values, strict=True))
    bad = {f"bad_{name}": where for name, where in found.bad_by.items()}
    facts = {"axes": np.array(section.axes), "held": section.held}
    facts["coordinates"] = np.array(robot.coordinates)
    np.savez_compressed(place / "map.npz", **named, **arrays, **bad, bad=found.bad, **facts)
    return "map.npz"
