"""What a robot with loop equations has to satisfy, each rule refused by the key that breaks it."""

from __future__ import annotations

import math

import numpy as np

from solver_ref.errors import shown
from solver_ref.fields import RobotError, Table
from solver_ref.loops import CLOSED, Loops

TURNS = 2 * math.pi
"""Angles within so much of 0 have a sine in hardware."""


def check_loops(loops: Loops, top: Table) -> None:
    """Raise RobotError for the first rule that the robot of `loops`, read from `top`, breaks."""
    faults = getattr(loops.equations, "faults", lambda geometry: ())
    for key, expected, got in faults(loops.geometry):
        raise _wrong(top, key, expected, got)
    for number, joint in enumerate(loops.robot.joints, 1):
        low, high = joint.limits
        key = f"joints.limits[{number}]"
        if low >= high:
            raise _wrong(top, key, "the lowest value before the highest", joint.limits)
        if joint.unit == "rad" and (high - low > TURNS or max(-low, high) > TURNS):
            expected = "one turn at most, within 2 pi of 0 (rad)"
            raise _wrong(top, key, expected, joint.limits)
    _check_home(loops, top)


def _check_home(loops: Loops, top: Table) -> None:
    robot = loops.robot
    home = np.array(robot.workspace.home)
    joints = loops.joint_values(home)
    if not np.isfinite(joints).all():
        raise top.error(
            "workspace.home",
            wrong="is out of reach",
            expected="a pose that the links can reach",
            got=shown(robot.workspace.home),
        )
    for value, joint in zip(joints, robot.joints, strict=True):
        if not joint.limits[0] <= value <= joint.limits[1]:
            raise top.error(
                "workspace.home",
                wrong=f"is beyond the limits of {joint.name}",
                expected=f"{joint.limits[0]:.6g} to {joint.limits[1]:.6g} {joint.unit}",
                got=f"{value:.6g} {joint.unit}",
            )
    openings, by_twist, by_joint = loops.system(home, joints)
    if by_joint.shape[-1] != by_joint.shape[-2] or not np.isfinite(by_twist).all():
        raise top.error(
            "kind",
            wrong="has the wrong constraints",
            expected=f"{by_joint.shape[-1]} finite ones, as there are joints",
            got=f"{by_joint.shape[-2]} of them",
        )
    if np.abs(openings).max() > CLOSED:
        raise top.error(
            "kind",
            wrong="has an inverse whose joints do not close the loops at home",
            expected=f"openings of {CLOSED:g} m at most",
            got=f"{np.abs(openings).max():.3g} m",
        )


def _wrong(top: Table, key: str, expected: str, got: object) -> RobotError:
    return top.error(key, wrong="is out of range", expected=expected, got=shown(got))
