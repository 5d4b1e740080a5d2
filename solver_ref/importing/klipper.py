"""Klipper configurations of cable winches: `[stepper_a]`, ... with the anchors of a point robot."""

from __future__ import annotations

import configparser
import math
from decimal import Decimal
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from solver_ref.cable_fields import CABLE_COUNTS
from solver_ref.errors import InputError, shown
from solver_ref.importing.draft import Draft, Link, Triple, decimal, robot_name
from solver_ref.importing.format import Format, Settings

MILLI = Decimal("0.001")


def recognises(path: Path, data: bytes) -> bool:
    """Whether a file is a configuration of Klipper."""
    return path.suffix.lower() == ".cfg" and b"[stepper_" in data


def read(path: Path, data: bytes, settings: Settings) -> Draft:
    """The point robot of a configuration, its coordinates in m. InputError where it is none."""
    parser = configparser.RawConfigParser(strict=False, inline_comment_prefixes=("#", ";"))
    try:
        parser.read_string(data.decode("utf-8-sig"))
    except (configparser.Error, UnicodeDecodeError) as error:
        got, expected = shown(str(error), 100), "sections of options"
        raise InputError(path, "file", wrong="is malformed", expected=expected, got=got) from None
    kinematics = parser.get("printer", "kinematics", fallback="nothing").strip()
    if kinematics != "winch":
        wrong = "cannot be represented: these kinematics"
        got = shown(kinematics)
        raise InputError(path, "printer.kinematics", wrong=wrong, expected="winch", got=got)
    links = tuple(_winches(path, parser))
    anchors = np.array([link.anchor for link in links], dtype=float)
    return Draft(
        kind="cable",
        motion="point",
        name=robot_name(path.stem),
        source=f"Klipper configuration {path.name}, there in mm.",
        links=links,
        home=(0.0, 0.0, 0.0),  # where such a printer has to stand when it is homed
        poses=np.empty((0, 3)),
        limits=tuple(zip(anchors.min(axis=0).tolist(), anchors.max(axis=0).tolist(), strict=True)),
        tilt=math.inf,
    )


def _winches(path: Path, parser: configparser.RawConfigParser) -> list[Link]:
    names = []
    for letter in ascii_lowercase:
        if not parser.has_section(f"stepper_{letter}"):
            break
        names.append(f"stepper_{letter}")
    if len(names) not in CABLE_COUNTS:
        expected = f"{CABLE_COUNTS[0]} to {CABLE_COUNTS[-1]} winches, stepper_a and so on"
        wrong = f"are too {'few' if len(names) < CABLE_COUNTS[0] else 'many'}"
        raise InputError(path, "stepper_*", wrong=wrong, expected=expected, got=str(len(names)))
    return [Link(label=name, anchor=_anchor(path, parser, name)) for name in names]


def _anchor(path: Path, parser: configparser.RawConfigParser, section: str) -> Triple:
    place = []
    for axis in "xyz":
        key = f"anchor_{axis}"
        text = parser.get(section, key, fallback=None)
        try:
            place.append(decimal(text or "") * MILLI)
        except ValueError:
            wrong = "is missing" if text is None else "is no number"
            raise InputError(
                path,
                f"{section}.{key}",
                wrong=wrong,
                expected="the place of the winch (mm)",
                got="nothing" if text is None else shown(text),
            ) from None
    return tuple(place)


FORMAT = Format(
    name="klipper",
    what="a Klipper configuration with kinematics: winch",
    recognises=recognises,
    read=read,
)
