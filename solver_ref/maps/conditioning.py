"""Conditioning and singularity: the singular values and the determinant of the scaled Jacobian.

Out of reach, or where a cable has no length, nothing is known. What is zero counts as 1e-16, so
that its logarithm is a number.
"""

import numpy as np

from solver_ref.maps.field import Field, Quantity, Values
from solver_ref.maps.poses import Poses
from solver_ref.robot import Robot

FLOOR, NO_SIGN = 1e-16, 1e-12


def _condition(at: Poses) -> Values:
    values = at.factors.values
    return {"condition": values[:, 0] / np.maximum(values[:, -1], FLOOR)}


def _singularity(at: Poses) -> Values:
    values = at.factors.values
    found = {"log10_singular_value": np.log10(np.maximum(values[:, -1], FLOOR))}
    if square(at.robot):
        sign, _ = np.linalg.slogdet(at.rows)
        size = np.maximum(values.prod(axis=-1), FLOOR)
        # What rounding leaves of a determinant of 0 has a sign by chance.
        sign = np.where(values[:, -1] > NO_SIGN, sign, 0.0)
        found |= {"log10_determinant": np.log10(size), "determinant_sign": sign}
    return found


def square(robot: Robot) -> bool:
    """Whether there are as many joints as coordinates, so that the Jacobian has a determinant."""
    return len(robot.joint_names) == len(robot.free)


CONDITION = Field(
    name="condition",
    quantities=(Quantity(name="condition", title="condition number", scale="log"),),
    values=_condition,
)
SINGULARITY = Field(
    name="singularity",
    quantities=(
        Quantity(name="log10_singular_value", title="log10 of the smallest singular value"),
        Quantity(name="log10_determinant", title="log10 of |det J|"),
        Quantity(name="determinant_sign", title="sign of det J", shown=False),
    ),
    values=_singularity,
)
