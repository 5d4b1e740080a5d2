"""A serial arm as an importer found it, and the robot file that is made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.dynamics.arm_rules import LARGEST_TURN
from solver_ref.importing.robot_text import quoted, row
from solver_ref.robot_rules import inertia_fault

USUAL_SPEED = 3.0
"""Taken where a source has no speed of a joint (rad/s, m/s)."""
PER_SPEED = 10.0
"""Taken for the acceleration, which sources do not have: this times the speed, in a second."""


@dataclass(frozen=True)
class Body:
    """`mass` (kg), `com` (3,), m, and `inertia` (3, 3), kg m^2, about the centre of mass."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def seen(self, turn: np.ndarray, origin: np.ndarray) -> Body:
        """The body in a frame in which its own lies at `origin`, turned by `turn`."""
        inertia = turn @ self.inertia @ turn.T
        return Body(self.mass, origin + turn @ self.com, (inertia + inertia.T) / 2)


def joined(bodies: Sequence[Body]) -> Body:
    """Bodies that move as one."""
    if len(bodies) == 1:
        return bodies[0]
    mass = sum(body.mass for body in bodies)
    com = sum(body.mass * body.com for body in bodies) / (mass or 1.0)
    inertia = np.zeros((3, 3))
    for body in bodies:
        off = body.com - com
        inertia += body.inertia + body.mass * (off @ off * np.eye(3) - np.outer(off, off))
    return Body(mass, com, inertia)


@dataclass(frozen=True, kw_only=True)
class JointDraft:
    """A joint and the body that it moves, in the words of a robot file; SI units.

    None stands for what the source does not say.
    """

    name: str
    joint: str
    axis: np.ndarray
    origin: np.ndarray
    rotation: np.ndarray
    body: Body
    position: tuple[float, float] | None
    speed: float | None
    effort: float | None
    viscous: float = 0.0
    coulomb: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ArmDraft:
    """A serial arm, from the base out."""

    name: str
    source: str
    joints: tuple[JointDraft, ...]

    def text(self) -> str:
        """The robot file; comments say what the source does not have."""
        lines = [
            f"name = {quoted(self.name)}",
            'kind = "serial"',
            f"source = {quoted(self.source)}",
        ]
        for joint in self.joints:
            lines += _link(joint)
        return "\n".join(lines) + "\n"


def _link(joint: JointDraft) -> list[str]:
    body = joint.body
    lines = ["", "[[link]]", f"name = {quoted(joint.name)}"]
    if joint.joint != "revolute":
        lines.append(f"joint = {quoted(joint.joint)}")
    lines += [f"axis = {row(joint.axis)}", f"origin = {row(joint.origin)}"]
    lines.append(f"rotation = {row(_angles(joint.rotation))}")
    lines += [f"mass = {body.mass!r}", f"com = {row(body.com)}"]
    lines.append(f"inertia = [{', '.join(row(line) for line in body.inertia)}]")
    if inertia_fault(body.inertia, None):
        lines.append('allow_nonphysical_inertia = "as in the source"')
    lines += _limits(joint)
    losses = {"viscous": joint.viscous, "coulomb": joint.coulomb}
    given = [f"{key} = {value!r}" for key, value in losses.items() if value]
    if given:
        lines.append(f"friction = {{ {', '.join(given)} }}")
    return lines


def _limits(joint: JointDraft) -> list[str]:
    """The limits, and a comment on what of them was taken for want of any."""
    taken = ["acceleration"]
    position, speed = joint.position, joint.speed
    if speed is None:
        taken.append("speed")
        speed = USUAL_SPEED
    most = LARGEST_TURN if joint.joint == "revolute" else math.inf
    if position is None:
        taken.append("position")
        position = (-math.pi, math.pi) if joint.joint == "revolute" else (-1.0, 1.0)
    elif max(map(abs, position)) > most:
        taken.append("position")
        position = tuple(min(max(x, -most), most) for x in position)
    words = [f"position = {row(position)}", f"speed = {speed!r}"]
    words.append(f"acceleration = {PER_SPEED * speed!r}")
    if joint.effort is not None:
        words.append(f"effort = {joint.effort!r}")
    return [
        f"# not in the source: {', '.join(taken)}",
        f"limits = {{ {', '.join(words)} }}",
    ]


def _angles(rotation: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw (rad) of a rotation; where only their sum counts, yaw is 0."""
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    if math.hypot(rotation[0, 0], rotation[1, 0]) < 1e-9:
        roll = math.atan2(math.copysign(1.0, pitch) * rotation[0, 1], rotation[1, 1])
        return roll, pitch, 0.0
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    return math.atan2(rotation[2, 1], rotation[2, 2]), pitch, yaw
