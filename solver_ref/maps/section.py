"""The grid of a map: one to three coordinates vary, the others are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.kinematics import scaling
from solver_ref.robot import Robot


@dataclass(frozen=True)
class Section:
    """A grid of poses.

    `axes`: the coordinates that vary, by name; `values`: those of each axis, rising and evenly
    spaced (m, rad); `held`: a pose (coordinates,) with the values of the others; `scales`: what
    turns each axis into metres, the characteristic length for a rotation.
    """

    axes: tuple[str, ...]
    places: tuple[int, ...]
    values: tuple[np.ndarray, ...]
    held: np.ndarray
    scales: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells along each axis."""
        return tuple(len(values) for values in self.values)

    @property
    def spacing(self) -> np.ndarray:
        """The distance between neighbours along each axis, scaled (m)."""
        steps = [values[1] - values[0] for values in self.values]
        return np.array(steps) * self.scales

    def poses(self) -> np.ndarray:
        """Every pose of the grid, the last axis fastest: (cells, coordinates)."""
        points = np.meshgrid(*self.values, indexing="ij")
        poses = np.tile(self.held, (points[0].size, 1))
        poses[:, list(self.places)] = np.stack([point.ravel() for point in points], axis=-1)
        return poses

    def pose(self, point: Sequence[float]) -> np.ndarray:
        """The pose with these values along the axes."""
        pose = self.held.copy()
        pose[list(self.places)] = point
        return pose

    def point(self, cell: Sequence[int]) -> list[float]:
        """The values along the axes at the centre of a cell."""
        return [float(values[i]) for values, i in zip(self.values, cell, strict=True)]

    def cell(self, pose: np.ndarray) -> tuple[int, ...] | None:
        """The cell that is nearest to a pose along the axes; None where it lies off the grid."""
        cell = []
        for place, values in zip(self.places, self.values, strict=True):
            step = values[1] - values[0]
            index = round((pose[place] - values[0]) / step)
            if not (values[0] - step / 2 <= pose[place] <= values[-1] + step / 2):
                return None
            cell.append(min(max(index, 0), len(values) - 1))
        return tuple(cell)


def axis_range(robot: Robot, name: str) -> tuple[float, float]:
    """From where to where a coordinate goes in the declared workspace (m, rad)."""
    place = robot.coordinates.index(name)
    if place < robot.translations:
        return robot.workspace.position[place]
    return -robot.workspace.tilt, robot.workspace.tilt


def section_of(
    robot: Robot,
    axes: Sequence[str],
    counts: Sequence[int],
    *,
    held: Mapping[str, float] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Section:
    """The section of a robot along coordinates named by `axes`, with `counts` cells each.

    The others are at home but for those in `held`; each axis goes through its share of the declared
    workspace but for those in `ranges`.
    """
    pose = np.array(robot.workspace.home, float)
    for name, value in (held or {}).items():
        pose[robot.coordinates.index(name)] = value
    places = tuple(robot.coordinates.index(name) for name in axes)
    ends = [(ranges or {}).get(name) or axis_range(robot, name) for name in axes]
    values = [np.linspace(*end, count) for end, count in zip(ends, counts, strict=True)]
    scales = scaling(robot)[list(places)]
    return Section(tuple(axes), places, tuple(values), pose, tuple(scales.tolist()))
