"""What all pictures share: colours, sizes, and how numbers are written."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure

SIZE = (12.0, 7.0)
DPI = 120

LINK, SLACK, BAD = "#1f5a96", "#d9822b", "#b3261e"
PLATFORM, GHOST, BOX, INK = "#44546a", "0.6", "0.45", "0.15"
AXES = ("#c62828", "#2e7d32", "#1565c0")
"""Of the x, y and z axes of a frame."""

SETTINGS = {"font.size": 11, "svg.hashsalt": "kinegate", "axes.titlesize": 12, "grid.color": "0.9"}


def new_figure() -> Figure:
    """An empty figure that belongs to no window."""
    with matplotlib.rc_context(SETTINGS):
        return Figure(figsize=SIZE)


def significant(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, without an exponent where that is short."""
    if not np.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    places = digits - 1 - int(np.floor(np.log10(abs(value))))
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}" if abs(value) < 1e7 else f"{value:.{digits - 1}e}"


def bounds(points: Sequence[np.ndarray], share: float = 0.06) -> np.ndarray:
    """The box (axes, 2) around points (..., axes), grown by a share of its largest side."""
    flat = np.vstack([np.reshape(p, (-1, np.shape(p)[-1])) for p in points])
    low, high = np.nanmin(flat, axis=0), np.nanmax(flat, axis=0)
    margin = share * ((high - low).max() or 1.0)
    return np.stack([low - margin, high + margin], axis=1)
