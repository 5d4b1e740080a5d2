"""What the data of a calibration determine, how well, and what they leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.calibration_parameters import Parameter
from solver_ref.robot import Robot

# Directions that show in the lengths by less than this share of the best one are open.
RANK = 1e-8
# So are those in which the lengths' errors leave more than this share of the robot's size.
USELESS = 0.1
# A parameter is named where so much of a unit change of it lies in an open direction.
SHARE = 0.1
NAMED = 12


@dataclass(frozen=True)
class Findings:
    """See `solver_ref.calibration.Calibration`, whose fields these are."""

    covariance: np.ndarray
    sigma: float
    undetermined: tuple[str, ...]
    warnings: tuple[str, ...]


def findings(
    robot: Robot,
    parameters: Sequence[Parameter],
    slopes: np.ndarray,
    residuals: np.ndarray,
    *,
    sigma: float | None,
    unknown_poses: int,
    open_frame: bool,
) -> Findings:
    """Covariance and open directions from the residuals' slopes (lengths, parameters).

    `unknown_poses`: how many coordinates were solved along; `open_frame`: whether the frames of
    base and platform are only what the parameters say.
    """
    # All that is asked of the slopes is in their small triangular factor.
    slopes = np.linalg.qr(slopes, mode="r")
    _, values, directions = np.linalg.svd(slopes)
    values = np.concatenate([values, np.zeros(len(parameters) - len(values))])
    top = max(values.max(initial=0.0), 1e-300)
    weak = values <= RANK * top
    spare = residuals.size - unknown_poses - int((~weak).sum())
    if sigma is None:
        sigma = float(np.sqrt((residuals**2).sum() / spare)) if spare > 0 else np.nan
    if np.isfinite(sigma):
        weak |= sigma > USELESS * _size(robot) * values
    inverse = np.where(weak, 0.0, 1 / np.where(weak, 1.0, values))
    covariance = sigma**2 * (directions.T * inverse**2) @ directions
    frames = _frames(robot, parameters) if open_frame else np.zeros((len(parameters), 0))
    frame = _within(frames, slopes / top)
    open_basis = directions[weak].T
    rest = _orthonormal(open_basis - frame @ (frame.T @ open_basis))
    shares = np.linalg.norm(rest, axis=1)
    names = tuple(p.name for p, share in zip(parameters, shares, strict=True) if share > SHARE)
    warnings = _warnings(frame.shape[1], names, rest.shape[1], spare, np.isfinite(sigma))
    return Findings(covariance, sigma, names, warnings)


def _warnings(
    frame: int, names: tuple[str, ...], directions: int, spare: int, known: bool
) -> tuple[str, ...]:
    texts = []
    if frame:
        texts.append(
            f"lengths alone do not say where the frames of base and platform lie ({frame} "
            "directions): the parameters are those nearest to the given ones"
        )
    if names:
        shown = ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
        texts.append(
            f"the data do not determine {shown} ({directions} "
            f"{'direction' if directions == 1 else 'directions'}): kept near the given values"
        )
    if not known:
        texts.append(
            "there are as many unknowns as lengths: the residuals say nothing of the errors, and "
            "the covariance needs the lengths' own deviation (sigma)"
        )
    elif spare <= 0:
        texts.append("there are as many unknowns as lengths: nothing checks the result")
    return tuple(texts)


def _size(robot: Robot) -> float:
    """The rms distance of the anchors from their middle (m)."""
    offsets = robot.anchors - robot.anchors.mean(axis=0)
    return float(np.sqrt((offsets**2).sum(axis=1).mean()))


def _frames(robot: Robot, parameters: Sequence[Parameter]) -> np.ndarray:
    """Rigid motions of all anchors, and of all attachments, as changes of the parameters.

    Only those that change nothing but parameters; shape (parameters, motions).
    """
    cables = len(robot.cables)
    motions = np.zeros((2, cables, 3, 2, 2, 3))
    for part, points in enumerate((robot.anchors, robot.attachments)):
        for axis, direction in enumerate(np.eye(3)):
            motions[part, :, :, part, 0, axis] = direction
            motions[part, :, :, part, 1, axis] = np.cross(direction, points)
    motions = motions.reshape(2 * cables * 3, -1)
    rows = {p: k for k, p in enumerate(np.ndindex(2, cables, 3))}
    parts = {"anchor": 0, "attachment": 1}
    free = [rows.get((parts.get(p.part), p.cable, p.axis), -1) for p in parameters]
    fixed = motions[[k for k in range(len(motions)) if k not in free]]
    changes = np.where(np.array(free)[:, None] < 0, 0.0, motions[free])
    return changes @ _null(fixed, motions.shape[1])


def _within(generators: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the combinations of the generators that no length sees.

    `slopes` are relative to their largest singular value.
    """
    basis = _orthonormal(generators)
    return _orthonormal(basis @ _null(slopes @ basis, basis.shape[1]))


def _null(matrix: np.ndarray, columns: int) -> np.ndarray:
    """An orthonormal basis of what the matrix brings to zero, shape (columns, k)."""
    if not matrix.size:
        return np.eye(columns)
    _, values, directions = np.linalg.svd(matrix)
    return directions[int((values > RANK).sum()) :].T


def _orthonormal(vectors: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns' span."""
    if not vectors.size:
        return np.zeros((len(vectors), 0))
    left, values, _ = np.linalg.svd(vectors, full_matrices=False)
    return left[:, values > 1e-6]
