"""URDF: serial arms whose links have inertia. Links that are fixed to each other become one."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np

from solver_ref.dynamics.arm_fields import rotation_of
from solver_ref.errors import InputError, shown
from solver_ref.importing.arm_draft import ArmDraft, Body, JointDraft, joined
from solver_ref.importing.draft import robot_name
from solver_ref.importing.format import Format, Settings
from solver_ref.importing.xml_node import Node, read_xml

MOVING = ("revolute", "continuous", "prismatic")


def recognises(path: Path, data: bytes) -> bool:
    """Whether a file is a URDF."""
    return path.suffix.lower() == ".urdf" or (b"<robot" in data and b"<joint" in data)


def read(path: Path, data: bytes, settings: Settings) -> ArmDraft:
    """The arm of a file. InputError where it is no chain, or a link that moves has no inertia."""
    root = read_xml(path, data)
    if root.tag != "robot":
        got = shown(root.tag)
        raise InputError(path, "XML", wrong="is no URDF", expected="a <robot>", got=got)
    tree = _Tree.of(root)
    joints = []
    joint = tree.next_moving(tree.root)
    if joint is None:
        expected, got = f"a joint that is {' or '.join(MOVING)}", "none"
        raise root.error("joint", wrong="is missing", expected=expected, got=got)
    before = (np.eye(3), np.zeros(3))
    while joint is not None:
        joints.append(_joint(tree, joint, before))
        child = joint.child("child").attribute("link")
        joint = tree.next_moving(child)
        before = (np.eye(3), np.zeros(3))
        if joint is not None:
            before = tree.place(joint.child("parent").attribute("link"), child)
    name = robot_name(root.attribute("name", path.stem))
    return ArmDraft(name=name, source=f"URDF {path.name}.", joints=tuple(joints))


@dataclass
class _Tree:
    """Links and joints by name; `below`: the joints that leave each link, `above` those that
    lead to it."""

    root: str = ""
    links: dict[str, Node] = field(default_factory=dict)
    below: dict[str, list[Node]] = field(default_factory=dict)
    above: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Node) -> _Tree:
        tree = cls(links={link.attribute("name"): link for link in root.children("link")})
        for joint in root.children("joint"):
            parent, child = (joint.child(end).attribute("link") for end in ("parent", "child"))
            for end, name in (("parent", parent), ("child", child)):
                if name not in tree.links:
                    expected, got = "the name of a link", shown(name)
                    raise joint.error(end, wrong="is no link", expected=expected, got=got)
            if child in tree.above:
                wrong = "has a second joint above it"
                raise joint.error("child", wrong=wrong, expected="a tree of links", got=child)
            tree.above[child] = joint
            tree.below.setdefault(parent, []).append(joint)
        roots = [name for name in tree.links if name not in tree.above]
        if len(roots) != 1:
            got = ", ".join(roots) or "none"
            raise root.error("link", wrong="has no one base", expected="one of them", got=got)
        tree.root = roots[0]
        tree._check_reached()
        return tree

    def _check_reached(self) -> None:
        """Refuse links in a ring, to which no way leads from the base."""
        reached = [self.root]
        for name in reached:
            reached += [
                joint.child("child").attribute("link") for joint in self.below.get(name, ())
            ]
        for name, joint in self.above.items():
            if name not in reached:
                expected, got = "a tree of links", shown(name)
                raise joint.error("", wrong="leads nowhere", expected=expected, got=got)

    def fixed(self, link: str) -> list[str]:
        """A link and all that are fixed to it."""
        names = [link]
        for name in names:
            for joint in self.below.get(name, ()):
                if joint.attribute("type") == "fixed":
                    names.append(joint.child("child").attribute("link"))
        return names

    def next_moving(self, link: str) -> Node | None:
        """The joint that moves what comes after a link; None at the end of the chain."""
        found = [
            joint
            for name in self.fixed(link)
            for joint in self.below.get(name, ())
            if joint.attribute("type") != "fixed"
        ]
        if len(found) > 1:
            wrong, got = "cannot be represented: the chain branches", f"{len(found)} joints"
            raise found[1].error("", wrong=wrong, expected="one joint behind each link", got=got)
        return found[0] if found else None

    def place(self, link: str, base: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation and origin of a link that is fixed to `base`, in its frame."""
        if link == base:
            return np.eye(3), np.zeros(3)
        joint = self.above[link]
        turn, origin = self.place(joint.child("parent").attribute("link"), base)
        own_turn, own_origin = _origin(joint)
        return turn @ own_turn, origin + turn @ own_origin


def _joint(tree: _Tree, joint: Node, before: tuple[np.ndarray, np.ndarray]) -> JointDraft:
    """A moving joint and the body that it moves; `before`: the frame that it hangs on."""
    kind = joint.attribute("type")
    if kind not in MOVING:
        expected = " or ".join((*MOVING, "fixed"))
        wrong = "cannot be represented"
        raise joint.error("type", wrong=wrong, expected=expected, got=shown(kind))
    if joint.children("mimic"):
        wrong, expected = "cannot be represented", "joints that move by themselves"
        raise joint.error("mimic", wrong=wrong, expected=expected, got="one that follows another")
    turn, origin = before
    own_turn, own_origin = _origin(joint)
    limit = next(iter(joint.children("limit")), None)
    losses = next(iter(joint.children("dynamics")), None)
    return JointDraft(
        name=joint.attribute("name"),
        joint="prismatic" if kind == "prismatic" else "revolute",
        axis=_axis(joint),
        origin=origin + turn @ own_origin,
        rotation=turn @ own_turn,
        body=_body(tree, joint.child("child").attribute("link")),
        position=None if kind == "continuous" else _span(limit),
        speed=_value(limit, "velocity") or None,
        effort=_value(limit, "effort") or None,
        viscous=_value(losses, "damping"),
        coulomb=_value(losses, "friction"),
    )


def _body(tree: _Tree, link: str) -> Body:
    """A moving link with all that is fixed to it, in its frame."""
    bodies = []
    for name in tree.fixed(link):
        inertial = next(iter(tree.links[name].children("inertial")), None)
        if inertial is not None:
            turn, origin = tree.place(name, link)
            bodies.append(_inertial(inertial).seen(turn, origin))
    if not bodies:
        expected = "mass and inertia of every link that moves"
        raise tree.links[link].error(
            "inertial", wrong="is missing", expected=expected, got="nothing"
        )
    return joined(bodies)


def _inertial(node: Node) -> Body:
    turn, origin = _origin(node)
    (mass,) = node.child("mass").attribute_numbers("value", 1)
    words = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = [float(_number(node.child("inertia"), word)) for word in words]
    xx, xy, xz, yy, yz, zz = values
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Body(float(mass), np.zeros(3), inertia).seen(turn, origin)


def _origin(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and place (m) of an <origin>; none means that nothing is moved."""
    origin = next(iter(node.children("origin")), None)
    if origin is None:
        return np.eye(3), np.zeros(3)
    zero = "0 0 0"
    angles, place = (
        origin.attribute_numbers(word, 3) if origin.attribute(word, zero) != zero else (0, 0, 0)
        for word in ("rpy", "xyz")
    )
    return np.array(rotation_of([float(x) for x in angles])), np.array([float(x) for x in place])


def _axis(joint: Node) -> np.ndarray:
    axis = next(iter(joint.children("axis")), None)
    values = [1.0, 0.0, 0.0]  # what URDF means where there is none
    if axis is not None:
        values = [float(x) for x in axis.attribute_numbers("xyz", 3)]
    size = float(np.linalg.norm(values))
    if not size:
        got, expected = shown(values), "a direction"
        raise joint.error("axis", wrong="has no direction", expected=expected, got=got)
    return np.array(values) / size


def _span(limit: Node | None) -> tuple[float, float] | None:
    """The range of a joint; None where it is empty, which is how some files say nothing."""
    low, high = _value(limit, "lower"), _value(limit, "upper")
    return (low, high) if low < high else None


def _value(node: Node | None, name: str) -> float:
    """A number of an element that need not be there; 0 without."""
    if node is None or node.attribute(name, "") == "":
        return 0.0
    return float(_number(node, name))


def _number(node: Node, name: str) -> Decimal:
    return node.attribute_numbers(name, 1)[0]


FORMAT = Format(name="urdf", what="a URDF of a serial arm", recognises=recognises, read=read)
