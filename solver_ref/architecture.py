"""Architectural singularity: why a geometry is singular everywhere, and a geometry beside it that
is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from solver_ref.conditioning import Conditioning, conditioning
from solver_ref.robot import Robot

LEGS = 6
PAIRING = (10.0, 15.0, 20.0, 25.0)
"""Angles (degrees) by which the joints of a hexagon are turned into pairs."""


@dataclass(frozen=True)
class Repair:
    """What to change, the robot so changed, and its conditioning over the same poses."""

    text: str
    robot: Robot
    conditioning: Conditioning


def cause(robot: Robot) -> str | None:
    """The simple property of a geometry that makes its rank low; None where it has none."""
    attachments = robot.attachments - robot.attachments.mean(axis=0)
    # Geometry counts as exact where no length within the asked accuracy can tell.
    exact = robot.accuracy.length
    if np.abs(attachments).max() <= exact:
        link = "cable" if robot.cables else "chain"
        return f"all attachments are in one place, so that no {link} can turn the platform"
    if not robot.cables:
        return None
    anchors = robot.anchors - robot.anchors.mean(axis=0)
    factor = float((anchors * attachments).sum() / (anchors**2).sum())
    if np.abs(attachments - factor * anchors).max() <= exact:
        if abs(factor - 1) * np.abs(anchors).max() <= exact:
            return (
                "the attachments lie as the anchors do: at every level pose all cables are parallel"
            )
        return (
            f"the attachments are a scaled copy of the anchors (factor {factor:.4g}): at every "
            "level pose all cables meet in one point"
        )
    # The second singular value of points on a line is 0.
    if np.linalg.svd(attachments, compute_uv=False)[1] <= exact:
        return "the attachments lie on one line, about which no cable can turn the platform"
    if np.linalg.svd(anchors, compute_uv=False)[1] <= exact:
        return "the anchors lie on one line, about which platform and cables can turn together"
    return _conic(anchors, attachments, exact) if len(anchors) == LEGS else None


def _conic(anchors: np.ndarray, attachments: np.ndarray, exact: float) -> str | None:
    """Six legs between affine images of points on a conic depend on each other at every pose.

    A. Karger, Architecture singular planar parallel manipulators, Mech. Mach. Theory 38 (2003).
    """
    base, platform = (_plane(points, exact) for points in (anchors, attachments))
    if base is None or platform is None:
        return None
    image = np.linalg.lstsq(base, platform, rcond=None)[0]
    if np.abs(base @ image - platform).max() > exact:
        return None
    x, y = base.T / np.abs(base).max()
    terms = np.stack([x * x, x * y, y * y, x, y, np.ones(LEGS)], axis=1)
    if np.linalg.svd(terms, compute_uv=False)[-1] > exact / np.abs(base).max():
        return None
    factors = np.linalg.svd(image, compute_uv=False)
    if np.ptp(factors) * np.abs(base).max() > exact:
        what = "affine images of each other, their joints on a conic"
    else:
        radii = np.linalg.norm(base, axis=1)
        curve = "a circle" if np.ptp(radii) <= exact else "a conic"
        what = f"similar hexagons with their joints on {curve} (factor {factors.mean():.4g})"
    return f"anchors and attachments are {what}, so that the six legs are dependent at every pose"


def _plane(points: np.ndarray, exact: float) -> np.ndarray | None:
    """Coordinates (N, 2) of centred points in the plane that holds them; None if none does."""
    _, sizes, axes = np.linalg.svd(points)
    return points @ axes[:2].T if sizes[2] <= exact else None


def repair(robot: Robot, poses: np.ndarray) -> Repair | None:
    """The best of the geometries with a hexagon's joints turned into pairs, tried on poses
    (N, coordinates); None where all of them are singular somewhere."""
    if len(robot.cables) != LEGS or len(robot.free) != LEGS:
        return None
    found = [
        Repair(text, changed, conditioning(changed, poses)) for text, changed in _paired(robot)
    ]
    regular = [entry for entry in found if entry.conditioning.rank[0] == LEGS]
    return min(regular, key=lambda entry: entry.conditioning.condition[2], default=None)


def _paired(robot: Robot) -> Iterator[tuple[str, Robot]]:
    """Robots whose anchors or attachments are turned alternately about their centre."""
    for name, points in (("anchor", robot.anchors), ("attachment", robot.attachments)):
        centre = points.mean(axis=0)
        first, second = np.linalg.svd(points - centre)[2][:2]
        inside = (points - centre) @ np.stack([first, second], axis=1)
        order = np.argsort(np.arctan2(inside[:, 1], inside[:, 0]))
        axis = np.cross(first, second)
        axis *= np.sign(axis[np.abs(axis).argmax()])
        for angle in (*PAIRING, *(-x for x in PAIRING)):
            turns = np.empty(LEGS)
            turns[order] = np.resize([angle, -angle], LEGS)
            moved = [
                centre + _turned(point - centre, axis, turn)
                for point, turn in zip(points, np.radians(turns), strict=True)
            ]
            cables = tuple(
                replace(cable, **{name: tuple(point.tolist())})
                for cable, point in zip(robot.cables, moved, strict=True)
            )
            yield _words(name, turns, angle), replace(robot, cables=cables)


def _turned(vector: np.ndarray, axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula for one vector."""
    along = axis * (axis @ vector)
    return along + np.cos(angle) * (vector - along) + np.sin(angle) * np.cross(axis, vector)


def _words(name: str, turns: np.ndarray, angle: float) -> str:
    forth = ", ".join(str(i + 1) for i in np.flatnonzero(turns == angle))
    back = ", ".join(str(i + 1) for i in np.flatnonzero(turns != angle))
    return (
        f"turn the {name}s {forth} by {angle:+g} and {back} by {-angle:+g} degrees about their "
        "centre, so that they stand in pairs"
    )
