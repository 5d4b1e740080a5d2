"""The platform of a CASPR model: its one link, from `*_bodies.xml`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from solver_ref.errors import shown
from solver_ref.importing.caspr_joints import JOINT_TYPES, JointType
from solver_ref.importing.draft import ZERO, Triple
from solver_ref.importing.xml_node import Node
from solver_ref.robot import MOTIONS


@dataclass(frozen=True, kw_only=True)
class Body:
    """The platform: `origin` is where its joint's coordinates count from, in the base frame (m);
    the rest as in `Draft`."""

    joint: JointType
    label: str
    origin: Triple
    home: tuple[float, ...]
    limits: tuple[tuple[float, float], ...]
    tilt: float
    mass: Decimal
    com: Triple
    inertia: tuple[Triple, Triple, Triple]


def one_link(root: Node) -> Node:
    """The model's only link; InputError naming what else there is."""
    links = root.child("links").children()
    rigid = [link for link in links if link.tag == "link_rigid"]
    for link in links:
        if link.tag != "link_rigid":
            wrong = f"cannot be represented: <{link.tag}>"
            raise root.error("links", wrong=wrong, expected="one <link_rigid>", got=link.tag)
    if len(rigid) != 1:
        wrong = "cannot be represented" + (": several links" if rigid else "")
        expected = "one <link_rigid>, the platform"
        raise root.error("links", wrong=wrong, expected=expected, got=f"{len(rigid)} links")
    return rigid[0]


def read_body(link: Node) -> Body:
    """The platform that `link` is. InputError for what is malformed or cannot be represented."""
    joint = link.child("joint")
    kind = _joint_type(joint)
    physical = link.child("physical")
    mass, com = physical.number("mass"), physical.numbers("com_location", 3)
    start = joint.attribute_numbers("q_initial", kind.size)
    limits, tilt = _limits(joint, kind)
    return Body(
        joint=kind,
        label=link.attribute("name", ""),
        origin=_origin(link),
        home=tuple(kind.poses(np.array([start], dtype=float))[0].tolist()),
        limits=limits,
        tilt=tilt,
        mass=mass,
        com=com,
        inertia=_inertia(physical.child("inertia"), mass, com),
    )


def _joint_type(joint: Node) -> JointType:
    name = joint.attribute("type")
    if name.upper() not in JOINT_TYPES:
        raise joint.error(
            "type",
            wrong="cannot be represented: this type of joint",
            expected=f"one of {', '.join(JOINT_TYPES)}",
            got=shown(name),
        )
    if joint.attribute("actuated", "false").lower() == "true":
        wrong = "cannot be represented: a joint with a motor of its own"
        raise joint.error("actuated", wrong=wrong, expected="false", got="true")
    return JOINT_TYPES[name.upper()]


def _origin(link: Node) -> Triple:
    parents = link.children("parent")
    if not parents:
        return ZERO
    parent = parents[0].number("num")
    if parent != 0:
        wrong = "cannot be represented: a parent that is a link"
        raise parents[0].error("num", wrong=wrong, expected="0, the base", got=str(parent))
    return parents[0].numbers("location", 3)


def _limits(joint: Node, kind: JointType) -> tuple[tuple[tuple[float, float], ...], float]:
    """The range of each position, and the largest rotation that every direction can have."""
    motion = MOTIONS[kind.motion]
    low, high = (
        [float(x) for x in joint.attribute_numbers(name, kind.size)]
        if joint.attribute(name, "")
        else [sign * math.inf] * kind.size
        for name, sign in (("q_min", -1), ("q_max", 1))
    )
    for i in range(kind.size):
        if low[i] > high[i]:
            expected = f"at least q_min, {low[i]:g}"
            raise joint.error(
                "q_max", wrong="is out of range", expected=expected, got=f"{high[i]:g}"
            )
    positions = motion.translations
    turns = [min(-a, b) for a, b in zip(low[positions:], high[positions:], strict=True)]
    angles = len(turns) == motion.rotations
    tilt = max(min(turns), 0.0) if angles and turns else math.inf
    return tuple(zip(low[:positions], high[:positions], strict=True)), tilt


def _inertia(node: Node, mass: Decimal, com: Triple) -> tuple[Triple, Triple, Triple]:
    """The inertia about the centre of mass (kg m^2), in the axes of the platform frame."""
    xx, yy, zz, xy, xz, yz = (node.number(f"i{axes}") for axes in ("xx yy zz xy xz yz".split()))
    rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    reference = node.attribute("ref").lower()
    if reference == "com":
        return rows
    if reference != "joint":
        raise node.error("ref", wrong="is unknown", expected="com or joint", got=shown(reference))
    square = sum(x * x for x in com)
    return tuple(
        tuple(rows[i][j] - mass * ((square if i == j else 0) - com[i] * com[j]) for j in range(3))
        for i in range(3)
    )
