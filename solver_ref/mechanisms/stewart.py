"""Stewart platforms: six legs between joints of the base and of the platform.

A leg's equations are those of a straight cable (`solver_ref.cable`), so every kernel is shared.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from solver_ref.errors import shown
from solver_ref.fields import Table
from solver_ref.kinematics import attachment_points
from solver_ref.mechanism import Mechanism
from solver_ref.parts import Cable
from solver_ref.robot import Joint, Motion, Robot, Vector

LEGS = 6
LEG_KEYS = ("anchor", "attachment", "stroke")
# Two joints nearer than this part of the frame's size are one.
COINCIDENT = 1e-6


class StewartPlatform(Mechanism):
    """Six legs, their joints anywhere; legs may share a joint, as in 6-3 and 3-3 platforms."""

    kind = "stewart"
    motions = ("spatial",)
    keys = ("leg",)
    levels = False  # solves from home converge as often without, and in two steps less
    singular_share = 0.0  # it is to be solved near all of its singular poses

    def read(self, top: Table, motion: Motion) -> dict[str, Any]:
        tables = _legs(top)
        cables, joints = [], []
        for number, table in enumerate(tables, 1):
            table.allow(LEG_KEYS)
            length = table.units.length
            cables.append(
                Cable(
                    anchor=table.vector("anchor", 3, scale=length),
                    attachment=table.vector("attachment", 3, scale=length),
                )
            )
            # Strokes are known of all legs or of none.
            if any("stroke" in other.values for other in tables):
                limits = table.vector("stroke", 2, scale=length)
                joints.append(Joint(name=f"L{number}", unit="m", limits=limits))
        return {"cables": tuple(cables), "joints": tuple(joints)}

    def check(self, robot: Robot, top: Table) -> None:
        for number, joint in enumerate(robot.joints, 1):
            low, high = joint.limits
            if not 0 < low < high:
                raise top.error(
                    f"leg[{number}].stroke",
                    wrong="is out of range",
                    expected="the shortest length, above 0 m, before the longest",
                    got=shown(joint.limits),
                )
        size = float(np.ptp(robot.anchors, axis=0).max())
        for (i, first), (j, second) in combinations(enumerate(robot.cables, 1), 2):
            apart = [math.dist(getattr(first, e), getattr(second, e)) for e in LEG_KEYS[:2]]
            if max(apart) <= COINCIDENT * size:
                raise top.error(
                    f"leg[{j}]",
                    wrong=f"is leg[{i}] once more",
                    expected="another anchor or attachment",
                    got=shown(second.anchor),
                )

    def vectors(self, robot: Robot) -> dict[str, Vector]:
        named = {}
        for i, cable in enumerate(robot.cables, 1):
            named[f"leg[{i}].anchor"] = cable.anchor
            named[f"leg[{i}].attachment"] = cable.attachment
        return named

    def lines(self, robot: Robot, pose: np.ndarray) -> list[np.ndarray]:
        ends = attachment_points(robot, pose)
        return [np.array(line) for line in zip(robot.anchors, ends, strict=True)]


def _legs(top: Table) -> list[Table]:
    expected = f"{LEGS} [[leg]] tables"
    entries = top.raw("leg", expected)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise top.error("leg", wrong="is no array of tables", expected=expected, got="a value")
    if len(entries) != LEGS:
        few = "few" if len(entries) < LEGS else "many"
        wrong = f"holds too {few} legs"
        raise top.error("leg", wrong=wrong, expected=expected, got=str(len(entries)))
    return [
        Table(entry, file=top.file, path=f"leg[{number}]", units=top.units)
        for number, entry in enumerate(entries, 1)
    ]


MECHANISM = StewartPlatform()
