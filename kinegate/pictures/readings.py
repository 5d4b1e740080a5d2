"""What stands beside a picture: lengths, condition number and tensions of each pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver_ref.conditioning import rank_tolerance, scaled_jacobian
from solver_ref.domain import inside
from solver_ref.kinematics import joint_values
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import Robot
from solver_ref.status import Status
from solver_ref.tension import tensions


@dataclass(frozen=True, kw_only=True)
class Readings:
    """The figures of poses (N, coordinates), m and rad.

    `names` and `units`: of what is measured; `lengths` (N, measured), NaN out of reach; `condition`
    (N,): of the scaled Jacobian, infinite where it is singular; `inside` (N,): whether the pose is
    in the grown workspace. `tensions` (N, cables), N, `slack` (N, cables) and `held` (N,), whether
    any tensions hold the platform; without them `unknown` says why.
    """

    poses: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]
    lengths: np.ndarray
    condition: np.ndarray
    inside: np.ndarray
    tensions: np.ndarray | None = None
    slack: np.ndarray | None = None
    held: np.ndarray | None = None
    unknown: str = ""

    @property
    def count(self) -> int:
        """How many poses there are."""
        return len(self.poses)

    def faults(self, row: int) -> list[str]:
        """What is wrong at one pose, in words."""
        found = []
        if not np.isfinite(self.lengths[row]).all():
            found.append("out of reach")
        elif not self.inside[row]:
            found.append("beyond the workspace")
        if not np.isfinite(self.condition[row]):
            found.append("singular")
        if self.held is not None and not self.held[row]:
            found.append("no tensions hold it")
        elif self.slack is not None and self.slack[row].any():
            found.append("slack")
        return found

    def note(self, row: int) -> str:
        """The same in one line, naming the cables that are slack."""
        texts = self.faults(row)
        if "slack" in texts:
            loose = ", ".join(str(i + 1) for i in np.flatnonzero(self.slack[row]))
            texts[texts.index("slack")] = f"slack: {loose}"
        return "; ".join(texts)


def read(robot: Robot, poses: np.ndarray) -> Readings:
    """The figures of poses (N, coordinates); the platform is at rest and nothing pulls at it."""
    poses = np.atleast_2d(np.asarray(poses, float))
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = joint_values(robot, poses)
        values = np.linalg.svd(scaled_jacobian(robot, poses), compute_uv=False)
        condition = values[:, 0] / values[:, -1]
    condition = np.where(values[:, -1] > rank_tolerance(robot), condition, np.inf)
    figures = {
        "poses": poses,
        "names": robot.joint_names,
        "units": robot.joint_units,
        "lengths": lengths,
        "condition": condition,
        "inside": inside(robot, poses),
    }
    return Readings(**figures, **_tensions(robot, poses))


def _tensions(robot: Robot, poses: np.ndarray) -> dict[str, object]:
    if not mechanism_of(robot).pulls:
        return {"unknown": "its links push and pull"}
    if robot.platform.mass is None:
        return {"unknown": "the robot file has no mass"}
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = tensions(robot, poses)
    except ValueError as error:
        return {"unknown": str(error)}
    lowest = np.array([cable.tension_min or 0.0 for cable in robot.cables])
    redundant = len(robot.cables) > len(robot.free)
    dropped = np.zeros_like(found.active) if redundant else ~found.active
    return {
        "tensions": found.tensions,
        "slack": dropped | (found.tensions < lowest * (1 - 1e-9)) | (found.tensions <= 0),
        "held": found.status & int(Status.NO_SOLUTION) == 0,
    }
