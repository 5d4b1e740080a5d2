"""Cable robots: what is measured are the lengths of cables between anchors and attachments.

The equations are in `solver_ref.cable`, shared with every mechanism whose joints are such lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver_ref.cable_fields import read_cables
from solver_ref.cable_rules import check_cables
from solver_ref.fields import Table
from solver_ref.kinematics import attachment_points, leaving_points
from solver_ref.mechanism import Mechanism
from solver_ref.robot import Motion, Robot, Vector


class CableRobot(Mechanism):
    """Three to ten cables, straight or over pulleys."""

    kind = "cable"
    keys = ("allow_coincident_anchors", "cable_defaults", "cable")
    pulls = True

    def read(self, top: Table, motion: Motion) -> dict[str, Any]:
        return {"cables": read_cables(top, motion)}

    def check(self, robot: Robot, top: Table) -> None:
        check_cables(robot, top)

    def vectors(self, robot: Robot) -> dict[str, Vector]:
        named = {}
        for i, cable in enumerate(robot.cables, 1):
            named[f"cable[{i}].anchor"] = cable.anchor
            named[f"cable[{i}].attachment"] = cable.attachment
        return named

    def lines(self, robot: Robot, pose: np.ndarray) -> list[np.ndarray]:
        starts, ends = leaving_points(robot, pose), attachment_points(robot, pose)
        lines = []
        for cable, start, end in zip(robot.cables, starts, ends, strict=True):
            points = [start, end]
            lines.append(np.array([cable.anchor, *points] if cable.pulley else points))
        return lines


MECHANISM = CableRobot()
