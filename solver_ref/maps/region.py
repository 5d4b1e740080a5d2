"""The safe region of a map: cells that keep a margin to everything bad, in scaled metres."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt

from solver_ref.maps.section import Section


def clearance(section: Section, bad: np.ndarray) -> np.ndarray:
    """How far each cell is at least from what is bad, within the section; the shape of the grid.

    The distance to the centre of the nearest bad cell less a cell's diagonal: so much nearer may be
    the border of a bad region that is itself no narrower than that. 0 for bad cells and those next
    to them, infinity where nothing is bad. What lies beyond the map is not looked at.
    """
    if not bad.any():
        return np.full(bad.shape, np.inf)
    distance = distance_transform_edt(~bad, sampling=section.spacing)
    return np.maximum(distance - np.linalg.norm(section.spacing), 0.0)


def safe_region(section: Section, bad: np.ndarray, margin: float) -> np.ndarray:
    """The cells that are not bad and are at least `margin` (scaled m) from what is."""
    return ~bad & (clearance(section, bad) >= margin)
