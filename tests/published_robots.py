"""Robots and numbers that others published, for tests; the tables lie beside the clone."""

import csv
from pathlib import Path

import numpy as np
import pytest

from solver_ref.robot import MOTIONS, Cable, Platform, Robot, Workspace

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no published tables beside the clone")


def rows(path: str) -> list[dict[str, str]]:
    """The rows of a published CSV table; values beyond the header's columns under None."""
    with (DATA / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def robot_of(
    name: str,
    anchors: list[list[float]],
    attachments: list[list[float]],
    *,
    motion: str = "spatial",
    position: list[tuple[float, float]] | None = None,
    tilt: float = 0.3,
) -> Robot:
    """A robot without a file: geometry (m), and a workspace around the origin if none is given."""
    kind = MOTIONS[motion]
    box = position or [(-1.0, 1.0)] * kind.translations
    home = tuple((low + high) / 2 for low, high in box) + (0.0,) * kind.rotations
    pairs = zip(anchors, attachments, strict=True)
    return Robot(
        name=name,
        kind="cable",
        motion=motion,
        closure="lengths" if len(anchors) >= len(kind.free) else "minimum-norm",
        gravity=(0.0, 0.0, -9.81),
        platform=Platform(),
        cables=tuple(Cable(anchor=tuple(a), attachment=tuple(b)) for a, b in pairs),
        workspace=Workspace(position=tuple(box), tilt=tilt if kind.rotations else 0.0, home=home),
    )


def caspr(model: str, **options: object) -> tuple[Robot, np.ndarray]:
    """A CASPR model with attachments from the joint origin, and its lengths at q_initial (m)."""
    table = [row for row in rows("tables/caspr_geometry_flat.csv") if row["model"] == model]
    anchors = [[float(row[f"base_{axis}"]) for axis in "xyz"] for row in table]
    names = ("platform_x", "platform_y", "platform_z_from_joint_origin")
    attachments = [[float(row[name]) for name in names] for row in table]
    lengths = np.array([float(row["length_at_q_initial_m"]) for row in table])
    return robot_of(model, anchors, attachments, **options), lengths
