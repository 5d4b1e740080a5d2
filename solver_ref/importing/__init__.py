"""Robot files from what other projects write: CASPR models, winches of Klipper, URDF of arms.

An importer reads a file into a `draft.Draft`; `workspace` gives it a sound workspace, `robot_text`
writes it as a robot file, and that file is loaded and checked like every other one.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from solver_ref.cable_rules import frame_size
from solver_ref.errors import InputError, shown
from solver_ref.importing.arm_draft import ArmDraft
from solver_ref.importing.beside import contents, existing
from solver_ref.importing.draft import Draft
from solver_ref.importing.format import Format, Settings
from solver_ref.importing.formats import FORMATS
from solver_ref.importing.robot_text import robot_text
from solver_ref.importing.workspace import derive
from solver_ref.robot import MOTIONS, Robot, Workspace
from solver_ref.robot_file import loads
from solver_ref.robot_rules import InertiaWarning

NEAR = 1e-3  # m, rad

START_SHARE = 0.05
"""A start may be off by at most this share of the frame's size, so that small robots have one."""


@dataclass(frozen=True)
class Imported:
    """What came out of a file.

    `text`: the robot file; `robot`: what it describes; `format`: the name of the source's format;
    `reason`: where the workspace comes from; `poses` (N, coordinates), m and rad: the points of the
    source's trajectories, also those beyond the workspace.
    """

    text: str
    robot: Robot
    format: str
    reason: str
    poses: np.ndarray


def read_foreign(
    path: str | PathLike[str],
    *,
    settings: Settings | None = None,
    name: str | None = None,
    position: Sequence[tuple[float, float]] | None = None,
    tilt: float | None = None,
    home: Sequence[float] | None = None,
) -> Imported:
    """Read a robot from another project's file; its path may differ in case from the file's.

    `name`, `position`, `tilt` and `home` (m, rad) take the place of what would be derived. Raises
    InputError naming the file, the place in it, and what is wrong or cannot be represented.
    """
    place, source, draft = _draft(Path(path), settings or Settings())
    if name is not None:
        draft = dataclasses.replace(draft, name=name)
    if isinstance(draft, ArmDraft):
        _check_unposed(place, {"position": position, "tilt": tilt, "home": home})
        text = draft.text()
        robot = loads(text, file=str(place))
        return Imported(text, robot, source.name, "", np.empty((0, 6)))
    _check_asked(place, draft, position=position, tilt=tilt, home=home)
    if home is not None:
        draft = dataclasses.replace(draft, home=_full_home(place, draft, home))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)
        robot = loads(robot_text(draft, _near_home(draft), reason="home alone"), file=str(place))
    found = derive(robot, draft, position=position, tilt=tilt)
    text = robot_text(draft, found.workspace, reason=found.reason)
    return Imported(
        text=text,
        robot=loads(text, file=str(place)),
        format=source.name,
        reason=found.reason,
        poses=draft.poses,
    )


def _draft(path: Path, settings: Settings) -> tuple[Path, Format, Draft | ArmDraft]:
    """The file that is meant, its format, and what is in it."""
    place = existing(path) or path
    expected = " or ".join(entry.what for entry in FORMATS)
    data = contents(place, expected)
    source = next((entry for entry in FORMATS if entry.recognises(place, data)), None)
    if source is None:
        wrong, got = "is of no format that can be imported", f"a {place.suffix or 'nameless'} file"
        raise InputError(place, "file", wrong=wrong, expected=expected, got=got)
    for key in settings.given:
        if key not in source.settings:
            wrong, expected = "has no meaning", f"nothing for {source.what}"
            got = shown(getattr(settings, key))
            raise InputError(place, key, wrong=wrong, expected=expected, got=got)
    return place, source, source.read(place, data, settings)


def _check_unposed(place: Path, asked: Mapping[str, object]) -> None:
    for key, value in asked.items():
        if value is not None:
            expected = "nothing, as an arm has no poses but its joints' limits"
            raise InputError(
                place, key, wrong="has no meaning", expected=expected, got=shown(value)
            )


def _check_asked(
    place: Path,
    draft: Draft,
    *,
    position: Sequence[tuple[float, float]] | None,
    tilt: float | None,
    home: Sequence[float] | None,
) -> None:
    motion = MOTIONS[draft.motion]
    for key, value in (("position", position), ("tilt", tilt), ("home", home)):
        if value is not None and not np.isfinite(value).all():
            expected = "finite numbers"
            raise InputError(place, key, wrong="is not finite", expected=expected, got=shown(value))
    if position is not None and len(position) != motion.translations:
        names = ", ".join(motion.coordinates[: motion.translations])
        expected = f"the lowest and highest of {names}"
        got = f"{len(position)} ranges"
        raise InputError(place, "position", wrong="is no box", expected=expected, got=got)
    if tilt is not None and not motion.rotations:
        expected = "no tilt, as a point does not turn"
        raise InputError(place, "tilt", wrong="has no meaning", expected=expected, got=f"{tilt:g}")


def _full_home(place: Path, draft: Draft, home: Sequence[float]) -> tuple[float, ...]:
    motion = MOTIONS[draft.motion]
    count = len(motion.free)
    if len(home) == motion.translations:
        return (*home, *[0.0] * motion.rotations)
    if len(home) != count:
        expected = f"{', '.join(motion.coordinates)} or the position alone"
        got = f"{len(home)} numbers"
        raise InputError(place, "home", wrong="is no pose", expected=expected, got=got)
    return tuple(home)


def _near_home(draft: Draft) -> Workspace:
    """A workspace of next to nothing, with which the robot can be loaded and looked at."""
    count = MOTIONS[draft.motion].translations
    position = tuple((x - NEAR, x + NEAR) for x in draft.home[:count])
    turned = float(np.linalg.norm(draft.home[count:]))
    anchors = np.array([link.anchor for link in draft.links], dtype=float)
    distance, angle = Workspace.start_error
    distance = min(distance, float(f"{START_SHARE * frame_size(anchors):.2g}"))
    return Workspace(
        position=position,
        tilt=turned + NEAR * (turned > 0),
        home=draft.home,
        start_error=(distance, angle),
    )
