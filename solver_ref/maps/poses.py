"""Poses of a robot with what several fields of a map need of them, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from solver_ref.conditioning import scaled_jacobian
from solver_ref.domain import perturb
from solver_ref.kinematics import joint_values, scaling
from solver_ref.robot import Robot
from solver_ref.statics import carried_wrenches
from solver_ref.wrench_region import Factors


class Poses:
    """A robot at poses (N, coordinates), m and rad; `starts`: where a solve of each begins."""

    def __init__(self, robot: Robot, poses: np.ndarray, starts: np.ndarray) -> None:
        self.robot, self.poses, self.starts = robot, poses, starts

    def __len__(self) -> int:
        return len(self.poses)

    @cached_property
    def joints(self) -> np.ndarray:
        """The joint values (N, joints); NaN out of reach."""
        # A swivelling pulley right above its attachment has no direction, and the cable no length.
        with np.errstate(divide="ignore", invalid="ignore"):
            return joint_values(self.robot, self.poses)

    @cached_property
    def reached(self) -> np.ndarray:
        """Whether the joint values exist and lie within their limits (N,)."""
        good = np.isfinite(self.joints).all(axis=-1)
        if not self.robot.joints:
            return good
        low, high = np.array([joint.limits for joint in self.robot.joints]).T
        with np.errstate(invalid="ignore"):
            return good & ((self.joints >= low) & (self.joints <= high)).all(axis=-1)

    @cached_property
    def rows(self) -> np.ndarray:
        """The scaled Jacobian (N, joints, coordinates)."""
        return scaled_jacobian(self.robot, self.poses)

    @cached_property
    def factors(self) -> Factors:
        """Its singular values and vectors."""
        return Factors.of(self.rows)

    @cached_property
    def wrench(self) -> np.ndarray:
        """What the platform at rest weighs (N, coordinates), in N, moments scaled."""
        return carried_wrenches(self.robot, self.poses) / scaling(self.robot)


def start_poses(robot: Robot, poses: np.ndarray, seed: int) -> np.ndarray:
    """Where solves begin: each pose moved by the robot's start error in a direction by the seed."""
    return perturb(robot, poses, *robot.workspace.start_error, np.random.default_rng(seed))
