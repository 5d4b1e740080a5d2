"""A robot file from the draft of an importer: numbers as the source wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal

import numpy as np

from solver_ref.cable_rules import coinciding
from solver_ref.importing.draft import Draft, Link
from solver_ref.robot import MOTIONS, Workspace
from solver_ref.robot_rules import inertia_fault


def robot_text(draft: Draft, workspace: Workspace, *, reason: str) -> str:
    """The robot file of a draft; `reason` says where the workspace comes from."""
    lines = [
        f"name = {quoted(draft.name)}",
        f"kind = {quoted(draft.kind)}",
        f"motion = {quoted(draft.motion)}",
    ]
    anchors = np.array([link.anchor for link in draft.links], dtype=float)
    if draft.kind == "cable" and next(coinciding(anchors), None):
        lines.append(f"allow_coincident_anchors = {quoted('as in the source')}")
    lines += [f"source = {quoted(draft.source)}", *_platform(draft)]
    for link in draft.links:
        lines += _link(draft, link)
    lines += ["", f"[workspace] # {reason}"]
    lines.append(f"position = [{', '.join(row(side) for side in workspace.position)}]")
    if MOTIONS[draft.motion].rotations:
        lines.append(f"tilt = {_number(workspace.tilt)}")
    lines.append(f"home = {row(workspace.home)}")
    if workspace.start_error != Workspace.start_error:
        lines.append(f"start_error = {row(workspace.start_error)}")
    return "\n".join(lines) + "\n"


def _platform(draft: Draft) -> list[str]:
    motion = MOTIONS[draft.motion]
    lines = [] if draft.mass is None else [f"mass = {_number(draft.mass)}"]
    if any(draft.com):
        lines.append(f"com = {row(draft.com)}")
    if draft.inertia is not None:
        tensor = np.array(draft.inertia, dtype=float)
        if motion.normal is None:
            lines.append(f"inertia = [{', '.join(row(line) for line in draft.inertia)}]")
        else:
            moment = draft.inertia[motion.normal][motion.normal]
            lines.append(f"inertia = {_number(moment)} # about the normal of the plane")
        if inertia_fault(tensor, motion.normal):
            lines.append(f"allow_nonphysical_inertia = {quoted('as in the source')}")
    return ["", "[platform]", *lines] if lines else []


def _link(draft: Draft, link: Link) -> list[str]:
    word = "cable" if draft.kind == "cable" else "leg"
    lines = ["", f"[[{word}]]" + (f" # {_shown(link.label)}" if link.label else "")]
    lines.append(f"anchor = {row(link.anchor)}")
    if MOTIONS[draft.motion].rotations:
        lines.append(f"attachment = {row(link.attachment)}")
    if link.pulley:
        radius, axis = link.pulley
        lines.append(f"pulley = {{ radius = {_number(radius)}, axis = {row(axis)} }}")
    for name, value in (("tension_min", link.tension_min), ("tension_max", link.tension_max)):
        if value is not None:
            lines.append(f"{name} = {_number(value)}")
    if link.stroke:
        lines.append(f"stroke = {row(link.stroke)}")
    return lines


def row(numbers: Iterable[Decimal | float]) -> str:
    """A list of numbers in TOML."""
    return f"[{', '.join(_number(number) for number in numbers)}]"


def _number(number: Decimal | float) -> str:
    """A TOML float, written out where that is short."""
    exact = number if isinstance(number, Decimal) else Decimal(repr(float(number)))
    text = format(exact.normalize() + 0, "f")
    if len(text) > 24:
        return repr(float(number))
    return text if "." in text else f"{text}.0"


def quoted(text: str) -> str:
    """A text in TOML, on one line."""
    return json.dumps(_shown(text), ensure_ascii=False)


def _shown(text: str) -> str:
    """Without what may stand neither in a TOML text nor in a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
