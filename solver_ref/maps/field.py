"""What a map shows: fields of quantities, each quantity one number for every pose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solver_ref.maps.poses import Poses
from solver_ref.robot import Robot

Values = dict[str, np.ndarray]
"""Quantities by name, each of shape (N,), NaN where the pose is out of reach."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One number for each pose: its name in files, its title and unit in plots.

    `scale`: `linear`, `log` (a plot's colours go by its logarithm), `count` (whole numbers) or
    `truth` (0 or 1); `shown`: whether it has a plot of its own.
    """

    name: str
    title: str
    unit: str = ""
    scale: str = "linear"
    shown: bool = True

    @property
    def label(self) -> str:
        """The title with the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, kw_only=True)
class Field:
    """A word of `--map`: its quantities, how they are computed, and which robots have none.

    `values` gives its quantities, or those of them that the robot has; `missing` says why a robot
    has no such field, None where it has.
    """

    name: str
    quantities: tuple[Quantity, ...]
    values: Callable[[Poses], Values]
    missing: Callable[[Robot], str | None] = lambda robot: None

    def measured(self, at: Poses) -> Values:
        """The quantities of all poses, NaN for those out of reach."""
        return {
            name: np.where(at.reached, column, np.nan) for name, column in self.values(at).items()
        }
