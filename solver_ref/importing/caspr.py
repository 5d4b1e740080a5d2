"""CASPR (darwinlau/CASPR): `*_bodies.xml`, its cables and trajectories in files beside it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from solver_ref.errors import InputError
from solver_ref.importing.beside import contents, existing
from solver_ref.importing.caspr_body import Body, one_link, read_body
from solver_ref.importing.caspr_cables import choose_set, read_cable
from solver_ref.importing.draft import Draft, robot_name
from solver_ref.importing.format import Format, Settings
from solver_ref.importing.xml_node import read_xml
from solver_ref.robot import MOTIONS

_BODIES = re.compile(r"_?bodies$", re.IGNORECASE)


def recognises(path: Path, data: bytes) -> bool:
    """Whether a file is CASPR's description of bodies."""
    return path.suffix.lower() == ".xml" and b"<bodies_system" in data.lower()


def read(path: Path, data: bytes, settings: Settings) -> Draft:
    """The robot of a CASPR model. InputError for what is malformed or cannot be represented."""
    root = read_xml(path, data)
    link = one_link(root)
    file = _companion(path, "cables")
    cables_root = read_xml(file, contents(file, "the cables of the model"))
    if cables_root.tag != "cables":
        got = f"<{cables_root.tag}>"
        raise cables_root.error("", wrong="has the wrong root", expected="<cables>", got=got)
    set_name, cables = choose_set(cables_root, settings.cable_set)
    body = read_body(link)
    motion = MOTIONS[body.joint.motion]
    return Draft(
        kind="cable",
        motion=body.joint.motion,
        name=robot_name(_stem(path)),
        source=_source(path, body, set_name),
        links=tuple(read_cable(cable, body) for cable in cables),
        home=body.home,
        poses=_trajectory_poses(path, body),
        limits=body.limits,
        tilt=body.tilt,
        mass=body.mass or None,
        com=tuple(
            x * (motion.rotations > 0 and i != motion.normal) for i, x in enumerate(body.com)
        ),
        inertia=body.inertia if motion.rotations else None,
    )


def _stem(path: Path) -> str:
    return _BODIES.sub("", path.stem) or path.stem


def _companion(path: Path, what: str, *, needed: bool = True) -> Path | None:
    """The file of the same model that holds `what`: by its name, or the only such one beside."""
    named = existing(path.with_name(f"{_stem(path)}_{what}.xml"))
    if named is not None:
        return named
    ending = f"{what}.xml"
    others = [file for file in path.parent.iterdir() if file.name.lower().endswith(ending)]
    if len(others) == 1:
        return others[0]
    if not needed:
        return None
    raise InputError(
        path,
        what,
        wrong="are missing beside it",
        expected=f"{_stem(path)}_{what}.xml, or one file *{ending}",
        got=f"{len(others)} such files",
    )


def _source(path: Path, body: Body, set_name: str) -> str:
    parts = [f"CASPR model {_stem(path)}" + (f" ({body.label})" if body.label else "")]
    parts.append(f"cable set {set_name}")
    text = ", ".join(parts) + f". Its poses are q = {body.joint.words}"
    if MOTIONS[body.joint.motion].rotations == 3:
        text += "; here they are positions and rotation vectors"
    if any(body.origin):
        place = ", ".join(str(x) for x in body.origin)
        text += f". The base frame is that of its joint, which lies there at ({place}) m"
    return text + ". Attachments count from the joint, inertia is about the centre of mass."


def _trajectory_poses(path: Path, body: Body) -> np.ndarray:
    """The points of all trajectories of joint coordinates, in the order of the file."""
    count = len(MOTIONS[body.joint.motion].free)
    file = _companion(path, "trajectories", needed=False)
    if file is None:
        return np.empty((0, count))
    root = read_xml(file, contents(file, "the trajectories of the model"))
    points = [
        point.numbers("q", body.joint.size)
        for trajectories in root.below("joint_trajectories")
        for point in trajectories.below("point")
    ]
    q = np.array(points, dtype=float).reshape(-1, body.joint.size)
    return body.joint.poses(q).reshape(-1, count)


FORMAT = Format(
    name="caspr",
    what="CASPR *_bodies.xml, its cables beside it",
    recognises=recognises,
    read=read,
    settings=("cable_set",),
)
