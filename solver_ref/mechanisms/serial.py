"""Serial arms: a chain of links, each moved by one joint; what matters is their dynamics.

The equations are in `solver_ref.dynamics.newton_euler`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from solver_ref.dynamics.arm_fields import read_arm
from solver_ref.dynamics.arm_limits import arm_limits
from solver_ref.dynamics.arm_rules import check_arm
from solver_ref.fields import Table
from solver_ref.mechanism import Mechanism
from solver_ref.robot import Joint, Motion, Robot, Workspace


class SerialArm(Mechanism):
    """One to twelve revolute or prismatic joints."""

    kind = "serial"
    motions = ("spatial",)
    poses = False
    keys = ("accuracy", "tip", "link")

    def read(self, top: Table, motion: Motion) -> dict[str, Any]:
        """The workspace is a box that the tip cannot leave, as nothing declares its poses."""
        arm = read_arm(top)
        gravity = top.vector("gravity", 3, scale=top.units.length, default=arm.gravity)
        arm = replace(arm, gravity=gravity)
        reach = arm_limits(arm).reach or 1.0  # a box of no size would be none
        box = ((-reach, reach),) * 3
        workspace = Workspace(position=box, tilt=0.0, home=(0.0,) * 6, start_error=(0.0, 0.0))
        joints = tuple(
            Joint(
                name=f"q{i}",
                unit="m" if link.joint == "prismatic" else "rad",
                limits=link.limits.position,
            )
            for i, link in enumerate(arm.links, 1)
        )
        return {"arm": arm, "cables": (), "joints": joints, "workspace": workspace}

    def check(self, robot: Robot, top: Table) -> None:
        check_arm(robot.arm, top)

    def lines(self, robot: Robot, pose: np.ndarray) -> list[np.ndarray]:
        """The arm with every joint at 0, or as near as its limits allow; no pose moves it."""
        turn, place, points = np.eye(3), np.zeros(3), [np.zeros(3)]
        for link in robot.arm.links:
            place = place + turn @ np.array(link.origin)
            turn = turn @ np.array(link.rotation)
            points.append(place)
        return [np.array([*points, place + turn @ np.array(robot.arm.tip.origin)])]


MECHANISM = SerialArm()
