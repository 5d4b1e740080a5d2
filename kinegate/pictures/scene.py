"""The robot itself: its links, platform, workspace and frames, in space or in its plane."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from kinegate.pictures.readings import Readings
from kinegate.pictures.style import AXES, BAD, BOX, GHOST, INK, LINK, PLATFORM, SLACK, bounds
from solver_ref.kinematics import pose_matrix
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import MOTIONS, Robot

FRAME = 0.12
"""The length of a frame's axes, as a share of the scene."""

BEND = 0.35
"""An edge of the platform is drawn where its faces turn by more than this (rad)."""

NEAR = 0.04
"""Bases nearer to each other than this share of the scene have their numbers in one place."""

FLAT = 1e-9
"""A platform whose thickness is less than this share of its size has none."""


class Scene:
    """Draws one robot at poses, always in the same place.

    Parameters
    ----------
    readings : of the poses that will be shown; all of them fit in
    """

    def __init__(self, robot: Robot, readings: Readings) -> None:
        self.robot, self.readings = robot, readings
        normal = MOTIONS[robot.motion].normal
        self.shown = tuple(i for i in range(3) if i != normal)
        few = readings.poses[:: max(1, readings.count // 50)]
        self.corners = self._workspace_corners()
        lines = [line for pose in few for line in self._lines(pose)]
        self.limits = bounds([*lines, self.corners])
        self.size = float(np.ptp(self.limits, axis=1).max())

    @property
    def spatial(self) -> bool:
        """Whether it is drawn in three dimensions."""
        return len(self.shown) == 3

    def prepare(self, axes: Axes, view: tuple[float, float]) -> None:
        """Limits, labels and the point of view (elevation and azimuth in degrees)."""
        names = [f"{'xyz'[i]} (m)" for i in self.shown]
        sides = [self.limits[i] for i in self.shown]
        axes.set(xlabel=names[0], ylabel=names[1], xlim=sides[0], ylim=sides[1])
        if not self.spatial:
            axes.set_aspect("equal", adjustable="box")
            axes.grid(color="0.92")
            axes.set_axisbelow(True)
            return
        axes.set(zlabel=names[2], zlim=sides[2])
        shape = np.ptp(sides, axis=1)
        axes.set_box_aspect(shape, zoom=0.95 if shape[2] > shape[:2].max() else 1.08)
        axes.view_init(*view)
        axes.locator_params(nbins=5)
        axes.zaxis.labelpad = 2
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.pane.set_alpha(0.15)

    def draw(self, axes: Axes, row: int) -> None:
        """The robot at the pose of one row of the readings, with workspace and frames."""
        pose = self.readings.poses[row]
        self._workspace(axes)
        lines = self._lines(pose)
        for index, line in enumerate(lines):
            self._plot(axes, line, **self._look(row, index))
        self._platform(axes, np.array([line[-1] for line in lines]), PLATFORM, alpha=0.35)
        self._numbers(axes, lines)
        self._frame(axes, np.eye(4), "base")
        self._frame(axes, pose_matrix(self.robot, pose), "")

    def ghost(self, axes: Axes, row: int) -> None:
        """Only the platform, pale: where the robot was, or will be."""
        ends = np.array([line[-1] for line in self._lines(self.readings.poses[row])])
        self._platform(axes, ends, GHOST, alpha=0.15)

    def path(self, axes: Axes) -> None:
        """The way of the platform's origin through all poses."""
        places = pose_matrix(self.robot, self.readings.poses)[:, :3, 3]
        self._plot(axes, places, color=BAD, lw=1.2, alpha=0.8)

    def _lines(self, pose: np.ndarray) -> list[np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return mechanism_of(self.robot).lines(self.robot, pose)

    def _look(self, row: int, index: int) -> dict[str, object]:
        readings = self.readings
        if readings.held is None:
            return {"color": LINK, "lw": 1.6}
        if not readings.held[row]:
            return {"color": BAD, "lw": 1.2, "ls": "--"}
        slack = readings.slack[row, index]
        return {"color": SLACK if slack else LINK, "lw": 1.6, "ls": "--" if slack else "-"}

    def _plot(self, axes: Axes, points: np.ndarray, **look: object) -> None:
        axes.plot(*points[:, self.shown].T, **look)

    def _platform(self, axes: Axes, ends: np.ndarray, colour: str, *, alpha: float) -> None:
        ends = ends[np.isfinite(ends).all(axis=1)][:, self.shown]
        if not len(ends):
            return
        centred = ends - ends.mean(axis=0)
        _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
        rank = int((sizes > max(FLAT * self.size, FLAT * sizes[0])).sum())
        if rank == 0:
            axes.plot(*ends[0], marker="o", ms=8, color=colour)
        elif rank == 1:
            along = centred @ directions[0]
            edge = ends[[along.argmin(), along.argmax()]]
            axes.plot(*edge.T, color=colour, lw=4, solid_capstyle="round", alpha=2 * alpha)
        elif rank == 2:
            ring = ends[ConvexHull(centred @ directions[:2].T).vertices]
            self._faces(axes, [ring], colour, alpha)
        else:
            self._solid(axes, ends, colour, alpha)

    def _solid(self, axes: Axes, ends: np.ndarray, colour: str, alpha: float) -> None:
        """The convex hull, with a line only where its faces bend."""
        hull = ConvexHull(ends)
        faces = [ends[face] for face in hull.simplices]
        axes.add_collection3d(Poly3DCollection(faces, facecolor=colour, lw=0, alpha=alpha))
        for face, normal, neighbours in zip(
            hull.simplices, hull.equations[:, :3], hull.neighbors, strict=True
        ):
            for opposite, neighbour in zip(face, neighbours, strict=True):
                if normal @ hull.equations[neighbour, :3] < math.cos(BEND):
                    edge = ends[face[face != opposite]]
                    axes.plot(*edge.T, color=colour, lw=0.8, alpha=min(2 * alpha, 1.0))

    def _faces(self, axes: Axes, faces: list[np.ndarray], colour: str, alpha: float) -> None:
        if self.spatial:
            look = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.5, "alpha": alpha}
            axes.add_collection3d(Poly3DCollection(faces, **look))
            return
        for face in faces:
            axes.fill(*face.T, facecolor=colour, alpha=alpha, edgecolor=colour, lw=1.2)

    def _numbers(self, axes: Axes, lines: list[np.ndarray]) -> None:
        """The numbers of the links at their bases; those of bases that are near in one text."""
        groups: list[tuple[np.ndarray, list[str]]] = []
        for number, line in enumerate(lines, 1):
            base = line[0]
            axes.plot(*base[list(self.shown), None], marker="s", ms=4, color=INK)
            near = (g for place, g in groups if np.linalg.norm(place - base) <= NEAR * self.size)
            group = next(near, None)
            if group is None:
                group = []
                groups.append((base, group))
            group.append(str(number))
        middle = self.limits.mean(axis=1)
        for place, group in groups:
            away = (place - middle) / (np.linalg.norm(place - middle) or 1.0)
            if self.spatial:  # above or below a base shows from every side
                away = 0.4 * away + [0.0, 0.0, math.copysign(1.0, away[2])]
            spot = place + 0.045 * self.size * away
            self._label(axes, spot, ", ".join(group), INK)

    def _frame(self, axes: Axes, frame: np.ndarray, name: str) -> None:
        origin, length = frame[:3, 3], FRAME * self.size * (1.0 if name else 0.7)
        for i in self.shown:
            tip = origin + length * frame[:3, i]
            self._plot(axes, np.array([origin, tip]), color=AXES[i], lw=2.2, zorder=5)
            if name:
                spot = origin + 1.25 * length * frame[:3, i]
                self._label(axes, spot, "xyz"[i], AXES[i])

    def _label(self, axes: Axes, spot: np.ndarray, text: str, colour: str) -> None:
        # A white rim keeps it readable where lines pass behind it.
        rim = [withStroke(linewidth=2.5, foreground="white")]
        look = {"ha": "center", "va": "center", "fontsize": 10, "zorder": 20}
        axes.text(*spot[list(self.shown)], text, color=colour, path_effects=rim, **look)

    def _workspace_corners(self) -> np.ndarray:
        """The corners of the position box, (2^translations, 3), in binary order."""
        robot = self.robot
        corners = np.zeros((2**robot.translations, 3))
        free = list(robot.free[: robot.translations])
        corners[:, free] = list(product(*robot.workspace.position))
        return corners

    def _workspace(self, axes: Axes) -> None:
        count = self.robot.translations
        for corner, bit in product(range(2**count), range(count)):
            if not corner >> bit & 1:
                edge = self.corners[[corner, corner | 1 << bit]]
                self._plot(axes, edge, color=BOX, lw=0.9, ls=":")
