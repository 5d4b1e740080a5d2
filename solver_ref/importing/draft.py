"""What an importer found in a file: exact decimals in SI units, before there is a robot."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

Triple = tuple[Decimal, Decimal, Decimal]
ZERO: Triple = (Decimal(0),) * 3

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Link:
    """A cable or leg: `label` is its name in the source; the rest as in a robot file (m, N).

    `pulley`: radius and axis of a pulley that swivels; `stroke`: a leg's shortest and longest.
    """

    label: str
    anchor: Triple
    attachment: Triple = ZERO
    tension_min: Decimal | None = None
    tension_max: Decimal | None = None
    pulley: tuple[Decimal, Triple] | None = None
    stroke: tuple[Decimal, Decimal] | None = None


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A robot without its workspace, and what the source says about where it moves.

    `home` (m, rad): the pose that it starts from; `poses` (N, coordinates): points of its
    trajectories; `limits`: (lowest, highest) of each position, infinite where the source has none;
    `tilt`: the largest rotation that it allows, infinite where it says nothing.
    """

    kind: str
    motion: str
    name: str
    source: str
    links: tuple[Link, ...]
    home: tuple[float, ...]
    poses: np.ndarray
    limits: tuple[tuple[float, float], ...]
    tilt: float
    mass: Decimal | None = None
    com: Triple = ZERO
    inertia: tuple[Triple, Triple, Triple] | None = None


def decimal(text: str) -> Decimal:
    """The number that `text` is, exactly; ValueError where it is none, or not finite."""
    if not _NUMBER.fullmatch(text.strip()) or not math.isfinite(float(text)):
        raise ValueError(text)
    return Decimal(text.strip())


def plus(a: Sequence[Decimal], b: Sequence[Decimal]) -> Triple:
    """a + b."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a: Sequence[Decimal], b: Sequence[Decimal]) -> Triple:
    """a - b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def robot_name(text: str) -> str:
    """`text` as the name of a robot: it becomes the name of files and of a Verilog module."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")
    if not re.match("[A-Za-z]", name):
        name = f"robot-{name}".rstrip("-")
    return name[:64]
