"""All fields that a map can have, and their values at poses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from solver_ref.maps.conditioning import CONDITION, SINGULARITY
from solver_ref.maps.field import Field, Quantity, Values
from solver_ref.maps.iterations import ITERATIONS
from solver_ref.maps.poses import Poses
from solver_ref.maps.reach import REACH
from solver_ref.maps.tension import TENSION
from solver_ref.robot import Robot

FIELDS: dict[str, Field] = {
    field.name: field for field in (REACH, CONDITION, SINGULARITY, TENSION, ITERATIONS)
}
QUANTITIES: dict[str, Quantity] = {
    quantity.name: quantity for field in FIELDS.values() for quantity in field.quantities
}


def fields_of(robot: Robot) -> tuple[str, ...]:
    """The fields that a robot has."""
    return tuple(name for name, field in FIELDS.items() if field.missing(robot) is None)


def measure(robot: Robot, poses: np.ndarray, starts: np.ndarray, names: Iterable[str]) -> Values:
    """The quantities of the named fields at poses (N, coordinates), each of shape (N,).

    `starts`: where the solves of `iterations` begin, as `start_poses` draws them. Whether a pose is
    in reach is always among them.
    """
    at = Poses(robot, np.asarray(poses, float), starts)
    found: Values = {}
    for name in dict.fromkeys(("reach", *names)):
        found |= FIELDS[name].measured(at)
    return found
