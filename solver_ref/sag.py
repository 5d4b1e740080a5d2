"""What the weight of the cables does: an estimate of the length that straight cables leave out.

A cable of weight q for each metre across its chord L, pulled by T at its middle, hangs as a
parabola: q^2 L^3 / (24 T^2) longer than the chord, its ends turned by q L / (2 T). The catenary
differs from it by a part of the order of (q L / T)^2 (Irvine, Cable Structures, 1981, chapter 2).
"""

from dataclasses import dataclass

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.conditioning import scaled_jacobian
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.elongation import elongation
from solver_ref.finding import Finding
from solver_ref.kinematics import attachment_points, scaling
from solver_ref.robot import Robot
from solver_ref.statics import carried_wrenches

FLOAT = FloatArithmetic()
SAMPLES = 1024


@dataclass(frozen=True)
class _Hanging:
    """Of every cable, shape (..., cables): its chord (m), the weight of each metre of the chord
    across it (N/m), and the tension at its middle (N)."""

    chord: np.ndarray
    across: np.ndarray
    tension: np.ndarray

    @property
    def slope(self) -> np.ndarray:
        """q L / T; infinite where nothing pulls a cable that has weight."""
        weight = self.across * self.chord
        nothing = np.where(weight > 0, np.inf, 0.0)
        return np.divide(weight, self.tension, out=nothing, where=self.tension > 0)


def sag_error(robot: Robot, poses: np.ndarray, tensions: np.ndarray) -> np.ndarray:
    """How much longer (m) each cable is than a straight one of the same tension: (..., cables).

    Poses (..., coordinates) in m and rad; tensions (..., cables) in N at the platform. Where the
    cable stretches, its weight stretches it too. A cable that nothing pulls has an infinite error,
    one without `linear_density` none. Pulleys count as points.
    """
    tensions = np.asarray(tensions, float)
    hanging = _hanging(robot, poses, tensions)
    stretches = [
        0.0 * hanging.tension[..., i]
        if cable.stiffness is None
        else elongation(FLOAT, cable.stiffness, hanging.tension[..., i])
        - elongation(FLOAT, cable.stiffness, tensions[..., i])
        for i, cable in enumerate(robot.cables)
    ]
    return hanging.chord * hanging.slope**2 / 24 + np.stack(stretches, axis=-1)


def sag_angle(robot: Robot, poses: np.ndarray, tensions: np.ndarray) -> np.ndarray:
    """How far (rad) the pull of each cable is turned from the straight line: (..., cables)."""
    return _hanging(robot, poses, np.asarray(tensions, float)).slope / 2


def _hanging(robot: Robot, poses: np.ndarray, tensions: np.ndarray) -> _Hanging:
    vector = attachment_points(robot, poses) - robot.anchors
    chord = np.linalg.norm(vector, axis=-1)
    density = np.array([cable.linear_density for cable in robot.cables])
    gravity = np.array(robot.gravity)
    # |g x d| is the weight across the chord times its length, g . d the fall from its upper end.
    across = density * np.linalg.norm(np.cross(gravity, vector), axis=-1) / chord
    return _Hanging(chord, across, tensions + density * (vector @ gravity) / 2)


def static_tensions(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """The tensions (N) of least norm that carry the platform best: (..., cables).

    The least-squares solution of J^T T = W, moments over the characteristic length. At a pose where
    the platform would not rest, or with a redundant cable, it is an estimate; it may be negative.
    ValueError where the mass is not known.
    """
    scale = scaling(robot)
    wrenches = carried_wrenches(robot, poses) / scale
    columns = np.swapaxes(scaled_jacobian(robot, poses), -1, -2)
    return (np.linalg.pinv(columns) @ wrenches[..., None])[..., 0]


def sag_findings(robot: Robot, poses: np.ndarray | None = None) -> list[Finding]:
    """A warning `cable-sag` where the weight of a cable exceeds the asked accuracy.

    Looks at `poses` (N, coordinates), default home, all corners and random ones. Tensions are the
    `static_tensions`, but no less than `tension_min`.
    """
    if not any(cable.linear_density for cable in robot.cables) or not any(robot.gravity):
        return []
    if robot.platform.mass is None:
        text = "the cables have weight, but without the platform's mass their sag is not known"
        return [Finding(severity="warning", name="cable-sag", text=text)]
    if poses is None:
        random = sample_poses(robot, SAMPLES, np.random.default_rng(0))
        poses = np.vstack([robot.workspace.home, corner_poses(robot), random])
    least = np.array([cable.tension_min or 0.0 for cable in robot.cables])
    tensions = np.maximum(static_tensions(robot, poses), least)
    taut = _hanging(robot, poses, tensions).slope < 1
    errors = sag_error(robot, poses, tensions)
    over = ~taut | (errors > robot.accuracy.length)
    if not over.any():
        return []
    text = f"at {over.any(axis=-1).mean():.0%} of {len(poses)} poses a cable's own weight makes it "
    text += f"longer than a straight one by more than the accuracy, {robot.accuracy.length:g} m"
    text += f" (half of the poses: {np.median(errors.max(axis=-1)):.3g} m)"
    if taut.any():
        text += f"; worst is {_worst(robot, poses, tensions, np.where(taut, errors, -1.0))}"
    if not taut.all():
        share = (~taut).any(axis=-1).mean()
        text += f"; at {share:.0%} a cable is pulled with less than its own weight"
    return [Finding(severity="warning", name="cable-sag", text=text)]


def _worst(robot: Robot, poses: np.ndarray, tensions: np.ndarray, errors: np.ndarray) -> str:
    row, cable = np.unravel_index(errors.argmax(), errors.shape)
    angle = sag_angle(robot, poses[row], tensions[row])[cable]
    pose = ", ".join(
        f"{name} = {value:.4g}" for name, value in zip(robot.coordinates, poses[row], strict=True)
    )
    return (
        f"cable {cable + 1} by {errors[row, cable]:.3g} m, its pull turned by {angle:.3g} rad, at "
        f"({pose}) under {tensions[row, cable]:.3g} N"
    )
