"""Which poses of a map are bad, and by what: limits of its quantities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from solver_ref.maps.field import Values
from solver_ref.tension import UNBALANCED_LIMIT


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A limit of one quantity: a pose is bad that is below it, or with `upper` above it.

    `default`: the limit where none is given, None for no limit; `fixed`: it cannot be chosen;
    `logarithm`: the quantity is the log10 of what the limit is for.
    """

    name: str
    quantity: str
    default: float | None
    unit: str = ""
    upper: bool = False
    fixed: bool = False
    logarithm: bool = False

    def value(self, values: np.ndarray) -> np.ndarray:
        """The quantity in the limit's own measure."""
        return 10.0**values if self.logarithm else values

    def bad(self, values: np.ndarray, limit: float) -> np.ndarray:
        """Where the quantity (N,) is beyond the limit; what is not known is bad."""
        value = self.value(values)
        with np.errstate(invalid="ignore"):
            return ~(value <= limit) if self.upper else ~(value >= limit)


_ALL = (
    Criterion(name="reach", quantity="reach", default=1.0, fixed=True),
    Criterion(
        name="singular_value",
        quantity="log10_singular_value",
        default=1e-3,
        logarithm=True,
    ),
    Criterion(name="condition", quantity="condition", default=None, upper=True),
    Criterion(
        name="wrench_margin",
        quantity="wrench_margin",
        default=0.0,
        unit="N",
    ),
    Criterion(
        name="unbalanced",
        quantity="unbalanced",
        default=UNBALANCED_LIMIT,
        upper=True,
    ),
    Criterion(
        name="failed",
        quantity="failed",
        default=0.0,
        upper=True,
        fixed=True,
    ),
    Criterion(name="iterations", quantity="iterations", default=None, upper=True),
)
CRITERIA: dict[str, Criterion] = {criterion.name: criterion for criterion in _ALL}
"""In the order in which a pose is said to be bad."""

CROSSING = "crossing"
"""The criterion of neighbouring poses between which det J changes its sign."""


def chosen_limits(given: Mapping[str, float | None] | None = None) -> dict[str, float]:
    """The limits in force, by criterion: the defaults, and those given, None for no limit."""
    limits = {name: criterion.default for name, criterion in CRITERIA.items()} | dict(given or {})
    return {name: limit for name, limit in limits.items() if limit is not None}


def judge(values: Values, limits: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Where each criterion finds poses (N,) bad, for those whose quantity is there.

    A pose out of reach, or one where the solve failed, is bad by that alone.
    """
    found: dict[str, np.ndarray] = {}
    known = values["reach"] == 1
    for name, limit in limits.items():
        criterion = CRITERIA[name]
        if criterion.quantity in values:
            bad = criterion.bad(values[criterion.quantity], limit)
            found[name] = bad if name == "reach" else bad & known
    if "failed" in found and "iterations" in found:
        found["iterations"] &= ~found["failed"]
    return found


def sign_changes(signs: np.ndarray) -> np.ndarray:
    """Cells of a grid between which and a neighbour along an axis the sign changes; NaN is none."""
    found = np.zeros(signs.shape, bool)
    for axis in range(signs.ndim):
        lines = np.moveaxis(signs, axis, 0)
        changed = lines[1:] * lines[:-1] < 0
        view = np.moveaxis(found, axis, 0)
        view[1:] |= changed
        view[:-1] |= changed
    return found
