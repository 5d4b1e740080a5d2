"""Calibration in float64: anchors, attachments and offsets from measured lengths.

The poses of the samples are measured too, or unknown: with more cables than coordinates they are
solved along. The lengths' derivatives are the unit rows: by an anchor -u, by an attachment R^T u
(for guide pulleys as well, which move with their anchor), by an offset -1, by the pose J_phi. What
the poses explain is projected out, so that the least squares have the parameters as unknowns alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from scipy.optimize import least_squares

from solver_ref.calibration_findings import findings
from solver_ref.calibration_parameters import Parameter, chosen, moved
from solver_ref.csvio import CsvError, read_columns
from solver_ref.euler import edge_names, inward
from solver_ref.kinematics import cable_lengths, jacobian, jacobian_phi, pose_matrix, spatial_poses
from solver_ref.levenberg_marquardt import solve_cold
from solver_ref.robot import Robot

# The pull of each parameter towards its given value, against a length residual of the same size.
# It decides only what the data leave open; what they determine it moves by less than 1e-6 of the
# correction wherever a parameter shows in the lengths by more than a thousandth.
PRIOR = 1e-6
# Trials of the outer solve: one that is not in a false minimum takes 10 to 40.
TRIALS = 100
# Steps of an inner solve of the poses, and the step (m, rad) at which it ends.
POSE_STEPS, POSE_TOLERANCE = 20, 1e-11
# An inner step beyond this (m, rad) has lost its pose, and the outer step is tried shorter.
FAR = 1e3


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What a calibration found.

    `robot`: with the calibrated numbers; `poses` (samples, coordinates): measured or found;
    `parameters` and their `values` (m) in one order, which is that of `covariance` (m^2) too;
    `residuals` (samples, cables): calibrated minus measured, m; `sigma`: of a length, given or from
    the residuals, NaN where there are as many unknowns as lengths; `undetermined`: names of
    parameters that the data leave open, kept as near as can be to what was given; `warnings`: what
    to know, in sentences.
    """

    robot: Robot
    poses: np.ndarray
    parameters: tuple[Parameter, ...]
    values: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray
    sigma: float
    undetermined: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, such as "anchor 3 x" (cables count from 1)."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each parameter (m); infinite where it is not determined.

        Where the frame itself is open they are those within the frame that was chosen.
        """
        found = np.sqrt(np.diag(self.covariance))
        return np.where([name in self.undetermined for name in self.names], np.inf, found)


def calibrate(
    robot: Robot,
    lengths: np.ndarray,
    poses: np.ndarray | None = None,
    *,
    guess: np.ndarray | None = None,
    parameters: Sequence[str] | None = None,
    reference: np.ndarray | None = None,
    sigma: float | None = None,
) -> Calibration:
    """The numbers of `robot` that fit measured lengths best.

    Parameters
    ----------
    robot : the numbers to start from, such as tape-measured ones
    lengths : (samples, cables), m, corrected for everything but the cables' offsets
    poses : (samples, coordinates), m and rad, taken as exact; None: unknown
    guess : roughly the poses, such as those that were commanded, where they are unknown; None: they
        are searched from home, which may end in a false minimum where the given numbers are poor
    parameters : what to calibrate: "anchor", "attachment", "offset", or one axis of them, such as
        "anchor.y"; usually the anchors and, where the platform turns, the attachments, along the
        axes of the motion. An offset is what is added to the measured length
    reference : a pose (coordinates,) whose lengths count as 0, so that `lengths` are changes from
        there (an encoder that was set to zero at a known place); offsets then mean nothing
    sigma : the standard deviation of a length (m); None: from the residuals

    Raises
    ------
    ValueError : shapes that do not fit, a number that is not finite, an unknown parameter, or
        unknown poses without more cables than coordinates
    """
    problem = _Problem(robot, lengths, poses, guess, chosen(robot, parameters), reference)
    change = _fitted(problem)
    residuals, slopes = problem.residuals(change), problem.slopes(change)
    calibrated = moved(robot, problem.parameters, change)
    known = findings(
        calibrated,
        problem.parameters,
        slopes,
        residuals,
        sigma=sigma,
        unknown_poses=0 if problem.measured else problem.poses.size,
        open_frame=not problem.measured,
    )
    given = np.array([parameter.value(robot) for parameter in problem.parameters])
    return Calibration(
        robot=calibrated,
        poses=problem.poses,
        parameters=problem.parameters,
        values=given + change,
        covariance=known.covariance,
        residuals=residuals,
        sigma=known.sigma,
        undetermined=known.undetermined,
        warnings=known.warnings + _misfit(robot, residuals),
    )


def _fitted(problem: _Problem) -> np.ndarray:
    """The correction of each parameter (m)."""
    start = np.zeros(len(problem.parameters))
    if not start.size:
        return start
    # Down to rounding: what stops earlier would show beside residuals of micrometres.
    return least_squares(
        problem.weighted,
        start,
        problem.weighted_slopes,
        method="lm",
        xtol=1e-14,
        ftol=1e-15,
        gtol=1e-15,
        max_nfev=TRIALS,
    ).x


def _misfit(robot: Robot, residuals: np.ndarray) -> tuple[str, ...]:
    """A warning where the lengths do not fit the calibrated robot."""
    worst, limit = float(np.abs(residuals).max()), robot.accuracy.residual_limit
    if worst <= limit:
        return ()
    return (
        f"a length is {worst * 1e3:.3g} mm off, more than the robot's limit of {limit * 1e3:g} mm: "
        "samples that contradict each other, or a false minimum",
    )


def read_samples(
    path: str | PathLike[str], robot: Robot, *, relative: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """Lengths (samples, cables) and poses (samples, coordinates) or None, from a CSV file.

    Columns L1..Ln in m, and the pose's coordinates, all of them or none. `relative`: the lengths
    are changes and may be zero or negative. Raises CsvError.
    """
    names = [f"L{i + 1}" for i in range(len(robot.cables))]
    coordinates = edge_names(robot, robot.coordinates)
    columns = read_columns(
        path,
        required=names,
        optional=coordinates,
        positive=() if relative else names,
    )
    lengths = np.column_stack([columns[name] for name in names])
    present = [name for name in coordinates if name in columns]
    if not present:
        return lengths, None
    missing = [name for name in coordinates if name not in columns]
    if missing:
        raise CsvError(
            str(path),
            missing[0],
            wrong="is a missing column",
            expected=f"the columns {', '.join(coordinates)}, or none of them",
            got=", ".join(present),
        )
    columns = inward(robot, columns)
    return lengths, np.column_stack([columns[name] for name in robot.coordinates])


class _Problem:
    """Residuals and slopes of the parameters; the poses follow them where they are unknown."""

    def __init__(
        self,
        robot: Robot,
        lengths: np.ndarray,
        poses: np.ndarray | None,
        guess: np.ndarray | None,
        parameters: tuple[Parameter, ...],
        reference: np.ndarray | None,
    ) -> None:
        self.robot, self.parameters, self.reference = robot, parameters, reference
        self.lengths = _samples("lengths", lengths, len(robot.cables))
        self.measured = poses is not None
        if reference is not None:
            self.reference = _samples("the reference", np.atleast_2d(reference), len(robot.free))[0]
            if any(parameter.part == "offset" for parameter in parameters):
                raise ValueError("an offset cannot be calibrated from changes of the lengths")
        if poses is None and len(robot.cables) <= len(robot.free):
            raise ValueError(
                f"{robot.name}: with unknown poses there must be more cables than the "
                f"{len(robot.free)} coordinates of a pose, not {len(robot.cables)}"
            )
        start = guess if poses is None else poses
        if start is None:
            self.poses = solve_cold(robot, self._wanted(robot)).poses
        else:
            self.poses = _samples("poses", start, len(robot.free))
        if len(self.poses) != len(self.lengths):
            raise ValueError(f"{len(self.lengths)} lengths need as many poses, not {len(start)}")
        self.near = self.poses

    def _wanted(self, robot: Robot) -> np.ndarray:
        """The true lengths that the measured ones stand for with these numbers."""
        if self.reference is not None:
            return self.lengths + cable_lengths(robot, self.reference)
        return self.lengths + np.array([cable.offset for cable in robot.cables])

    def residuals(self, change: np.ndarray) -> np.ndarray:
        """Computed minus measured lengths (samples, cables) where the parameters changed so much;
        unknown poses are solved for."""
        robot = moved(self.robot, self.parameters, change)
        wanted, poses = self._wanted(robot), self.near
        for _ in range(0 if self.measured else POSE_STEPS):
            wrong = cable_lengths(robot, poses) - wanted
            inverse = np.linalg.pinv(jacobian_phi(robot, poses))
            step = (inverse @ wrong[..., None])[..., 0]
            poses = poses - step
            if not POSE_TOLERANCE < np.abs(step).max() < FAR:
                break
        self.poses = poses
        return cable_lengths(robot, poses) - wanted

    def weighted(self, change: np.ndarray) -> np.ndarray:
        """The residuals and the pull towards the given values, in one row."""
        return np.concatenate([self.residuals(change).ravel(), PRIOR * change])

    def weighted_slopes(self, change: np.ndarray) -> np.ndarray:
        """The derivatives of `weighted`, asked for where a step was accepted: the poses that were
        found there are where later ones are searched from."""
        self.near = self.poses
        return np.concatenate([self.slopes(change), PRIOR * np.eye(len(change))])

    def slopes(self, change: np.ndarray) -> np.ndarray:
        """The derivatives of the residuals, without what the poses take up of them."""
        robot = moved(self.robot, self.parameters, change)
        rows = self._by_parameter(robot, self.poses)
        if self.reference is not None:
            rows = rows - self._by_parameter(robot, self.reference[None])
        if not self.measured:
            by_pose = jacobian_phi(robot, self.poses)
            rows = rows - by_pose @ (np.linalg.pinv(by_pose) @ rows)
        return rows.reshape(self.lengths.size, len(self.parameters))

    def _by_parameter(self, robot: Robot, poses: np.ndarray) -> np.ndarray:
        """d(L - offset) by each parameter, (samples, cables, parameters)."""
        solid = replace(robot, motion="spatial")
        units = jacobian(solid, spatial_poses(robot, poses))[..., :3]
        turned = units @ pose_matrix(robot, poses)[..., :3, :3]
        rows = np.zeros((*units.shape[:-1], len(self.parameters)))
        slopes = {"anchor": -units, "attachment": turned}
        for place, item in enumerate(self.parameters):
            if item.part == "offset":
                rows[:, item.cable, place] = -1.0
            else:
                rows[:, item.cable, place] = slopes[item.part][:, item.cable, item.axis]
        return rows


def _samples(name: str, values: np.ndarray, count: int) -> np.ndarray:
    values = np.asarray(values, float)
    if values.ndim != 2 or values.shape[1] != count or not len(values):
        raise ValueError(f"{name} must have the shape (samples, {count}), not {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers")
    return values
