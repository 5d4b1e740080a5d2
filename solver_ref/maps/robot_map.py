"""A map: the quantities of every cell of a section, what is bad in it, and where it is safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from solver_ref.maps.criteria import CROSSING, judge, sign_changes
from solver_ref.maps.field import Values
from solver_ref.maps.region import clearance, safe_region
from solver_ref.maps.section import Section

UNKNOWN = "unknown"
"""The criterion of cells that were never computed, because a worker was lost."""


@dataclass(frozen=True)
class RobotMap:
    """A map.

    `values`: quantities by name, NaN where not known; `bad_by`: where each criterion finds cells
    bad; all in the shape of the section. `margin` (scaled m): how far safe cells are from bad ones.
    """

    section: Section
    values: Values
    bad_by: Mapping[str, np.ndarray]
    margin: float

    @cached_property
    def bad(self) -> np.ndarray:
        """Cells that any criterion finds bad."""
        return np.any(list(self.bad_by.values()), axis=0)

    @cached_property
    def clearance(self) -> np.ndarray:
        """How far each cell is from what is bad (`region.clearance`), scaled m."""
        return clearance(self.section, self.bad)

    @cached_property
    def safe(self) -> np.ndarray:
        """Cells that keep the margin."""
        return safe_region(self.section, self.bad, self.margin)

    def middle(self, axis: int) -> RobotMap:
        """The section through the middle of an axis, a map of one coordinate less.

        Bad there is what is bad in the whole map, so that a determinant whose sign changes across
        the section counts.
        """
        section, place = self.section, self.section.shape[axis] // 2
        held = section.held.copy()
        held[section.places[axis]] = section.values[axis][place]
        kept = {
            name: tuple(x for i, x in enumerate(getattr(section, name)) if i != axis)
            for name in ("axes", "places", "values", "scales")
        }
        return RobotMap(
            replace(section, held=held, **kept),
            {name: np.take(array, place, axis) for name, array in self.values.items()},
            {name: np.take(array, place, axis) for name, array in self.bad_by.items()},
            self.margin,
        )


def judged_map(
    section: Section, values: Values, limits: Mapping[str, float], margin: float
) -> RobotMap:
    """The map of quantities in the shape of a section, by limits as `chosen_limits` gives them."""
    unknown = np.isnan(values["reach"])
    found = judge(values, limits)
    found["reach"] = found["reach"] & ~unknown
    if "determinant_sign" in values:
        found[CROSSING] = sign_changes(values["determinant_sign"])
    if unknown.any():
        found[UNKNOWN] = unknown
    return RobotMap(section, values, found, margin)
