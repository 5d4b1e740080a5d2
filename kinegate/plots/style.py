"""What all plots share: sizes, colours, and how they become files."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from kinegate.pictures.style import SETTINGS

SIZE = (7.2, 6.0)
WIDE = (10.5, 9.0)
DPI = 150
UNKNOWN = "0.82"
"""The grey of what is not known."""
BAD_HATCH, HATCH_COLOUR = "////", "0.15"

_SETTINGS = SETTINGS | {"hatch.linewidth": 0.6}


def new_figure(size: tuple[float, float] = SIZE) -> Figure:
    """An empty figure whose parts find their own room."""
    with matplotlib.rc_context(_SETTINGS):
        return Figure(figsize=size, layout="constrained")


def save(figure: Figure, directory: Path, stem: str) -> list[str]:
    """Write a figure as PNG and as SVG, and return the names of the files."""
    with matplotlib.rc_context(_SETTINGS):
        figure.savefig(directory / f"{stem}.png", dpi=DPI)
        # The parts have their room now; to find it once more would take as long as to draw them.
        figure.set_layout_engine("none")
        figure.savefig(directory / f"{stem}.svg", dpi=DPI, metadata={"Date": None})
    return [f"{stem}.png", f"{stem}.svg"]
