"""What the step and the gain of a hanging platform have in common, over the abstract scalar.

Both eliminate the turn and then the densities, from the equations of
`solver_ref.equilibrium_equations`: what goes into these eliminations, and the way from a turn that
comes out to the rotation vector. They differ in their right sides and in how they hold values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from solver_ref.arithmetic import Arithmetic, Scalar, is_zero
from solver_ref.equilibrium_equations import Balance, turn_length
from solver_ref.robot import Robot
from solver_ref.statics import cross

Vector = Sequence[Scalar]
Matrix = Sequence[Vector]


def turn_axes(robot: Robot) -> list[int]:
    """The axes (0 to 2) about which the platform turns."""
    return [index - 3 for index in robot.free if index >= 3]


def free_arms(robot: Robot, at: Balance) -> Matrix:
    """B_i / l (m) in the axes about which the platform turns."""
    return [[arm[k] for k in turn_axes(robot)] for arm in at.arms]


def normalised(m: Arithmetic, values: Vector) -> tuple[list[Scalar], object]:
    """The values over a shared power of two, so that a small step is as precise; and that power."""
    result = list(values)
    places = [i for i, x in enumerate(values) if not is_zero(x)]
    normal, block = m.normalise([values[i] for i in places], "right_side")
    for i, x in zip(places, normal, strict=True):
        result[i] = x
    return result, block


def torque(m: Arithmetic, robot: Robot, at: Balance, force: Vector, moment: Vector) -> list[Scalar]:
    """e x F/P - N/P over l, in the axes about which the platform turns."""
    twist = cross(m, at.centre, force, "right_side")
    return [m.round(twist[k] - moment[k], "right_side") for k in turn_axes(robot)]


def gram_rows(
    at: Balance, arms: Matrix, answers: Matrix, product: Callable[[Vector, Vector], Scalar]
) -> Iterator[list[Scalar]]:
    """D D^T + B A^-1 B^T (m^2), the answers being A^-1 B^T by cables and `product` the sum of
    products: of each row what stands from the diagonal on, as the matrix is symmetric."""
    for i, (row, arm) in enumerate(zip(at.rows, arms, strict=True)):
        others = zip(at.rows[i:], answers[i:], strict=True)
        yield [product([*row, *arm], [*other, *answer]) for other, answer in others]


def rotation_change(
    m: Arithmetic, robot: Robot, phi: Vector, scaled: Vector, role: str
) -> list[Scalar]:
    """J_l^-1 dtheta (rad), to third order in phi; `scaled` is l dtheta (m)."""
    angle = [(1 / turn_length(robot)) * x for x in scaled]
    if robot.rotations < 3:
        return angle
    phi = [m.round(x, "rate") for x in phi]
    once = cross(m, phi, angle, role)
    twice = cross(m, phi, once, role)
    third = m.constant(1 / 12, "rate")
    return [
        m.round(a - 0.5 * b + third * c, role) for a, b, c in zip(angle, once, twice, strict=True)
    ]
