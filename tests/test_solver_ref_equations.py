"""The one set of equations with SymPy scalars: derivatives, proofs, and the floats' values."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

from solver_ref import cable
from solver_ref.arithmetic import FloatArithmetic
from solver_ref.domain import sample_poses
from solver_ref.kinematics import cable_lengths, squared_system
from solver_ref.parts import Cable
from solver_ref.robot_file import load
from solver_ref.step import UNBOUNDED, eliminate
from solver_ref.symbolic import SymbolicArithmetic, exact

POSE = sp.symbols("x y z rx ry rz", real=True)
LENGTH = sp.Symbol("L", positive=True)


def equations(
    m: SymbolicArithmetic, free: tuple[int, ...], anchor: list, attachment: list, unit: float = 1.0
) -> tuple[sp.Expr, list[sp.Expr]]:
    """Squared residual and its row of one cable, in the coordinates `free` of POSE."""
    full = cable.spatial([POSE[index] for index in free], free)
    turn = cable.rotation(m, full[3:], length=unit)
    state = cable.cable_at(m, full[:3], turn, Cable(anchor=anchor, attachment=attachment))
    residual = cable.squared_residual(m, state, LENGTH)
    return sp.nsimplify(residual, rational=True), cable.squared_row(m, state, turn, free)


def test_the_squared_rows_are_the_gradient_for_every_pose_and_geometry() -> None:
    """A proof: with s = phi.phi, a = sin/x, b = (1 - cos)/s, c = (1 - a)/s the difference is a
    multiple of sin^2 + cos^2 - 1 = s (a^2 - 2 b + s b^2)."""
    a, b, c = sp.symbols("a b c")
    # t and the anchor enter as t - a alone.
    anchor, attachment = [0, 0, 0], sp.symbols("b0:3")
    phi = POSE[3:]
    s = sp.expand(sum(angle**2 for angle in phi))
    m = SymbolicArithmetic((a, b, c))
    residual, row = equations(m, tuple(range(6)), anchor, list(attachment))
    gradient = [s * sp.diff(residual, t) for t in POSE[:3]]
    # da/ds = (c - b)/2 and db/ds = (a - 2 b)/(2 s), and ds/dphi = 2 phi; all times s.
    chain = sp.diff(residual, a) * (1 - a - s * b) + sp.diff(residual, b) * (a - 2 * b)
    gradient += [s * sp.diff(residual, angle) + chain * angle for angle in phi]
    identity = sp.Poly(a**2 - 2 * b + s * b**2, a)
    for expected, given in zip(gradient, row, strict=True):
        given = s * given.subs(c, 0) + (1 - a) * sp.diff(given, c)
        assert sp.rem(sp.Poly(expected - given, a), identity) == 0


def test_the_rotation_coefficients_are_tied_as_the_proof_says() -> None:
    s = sp.Symbol("s", positive=True)
    a, b, c = SymbolicArithmetic().rotation_coefficients(s)
    for zero in (
        sp.diff(a, s) - (c - b) / 2,
        sp.diff(b, s) - (a - 2 * b) / (2 * s),
        c - (1 - a) / s,
        a**2 - 2 * b + s * b**2,
    ):
        assert sp.simplify(zero) == 0


@pytest.mark.parametrize("name", ["cogiro", "planar4", "hangprinter"])
def test_symbols_and_floats_give_the_same(name: str) -> None:
    robot = load(name)
    poses = sample_poses(robot, 20, np.random.default_rng(1))
    lengths = cable_lengths(robot, poses) + 0.03
    f, rows = squared_system(robot, poses, lengths)
    unit = robot.characteristic_length
    m = SymbolicArithmetic()
    for i, item in enumerate(robot.cables):
        residual, row = equations(m, robot.free, item.anchor, item.attachment, unit)
        coordinates = [POSE[index] for index in robot.free]
        values = sp.lambdify([*coordinates, LENGTH], [residual, *row], cse=True)
        for k, pose in enumerate(poses):
            expected = np.array(values(*pose, lengths[k, i]), float)
            assert_allclose(f[k, i], expected[0], rtol=0, atol=1e-12)
            assert_allclose(rows[k, i], expected[1:], rtol=0, atol=1e-13)


def test_the_float_coefficients_are_those_of_fifty_digits() -> None:
    """Series and closed forms, near zero, at the change from one to the other, and far."""
    s = sp.Symbol("s", positive=True)
    symbolic = SymbolicArithmetic().rotation_coefficients(s, 0.75)
    points = [1e-12, 1e-6, 1e-3, 9.9e-3, 1.01e-2, 0.1, 1.0, 9.0]
    floats = FloatArithmetic().rotation_coefficients(np.array(points), 0.75)
    for expression, given in zip(symbolic, floats, strict=True):
        expected = [float(expression.subs(s, exact(point)).evalf(50)) for point in points]
        # The closed form of (x - sin x)/x^3 cancels two digits where it begins, at x = 0.1.
        assert_allclose(given, expected, rtol=3e-13, atol=0)


def test_the_elimination_of_the_step_solves_every_symmetric_system() -> None:
    """The equations' own elimination, with symbols: M x = y for every M."""
    m00, m01, m02, m11, m12, m22 = sp.symbols("m00 m01 m02 m11 m12 m22", positive=True)
    matrix = sp.Matrix([[m00, m01, m02], [m01, m11, m12], [m02, m12, m22]])
    right = sp.Matrix(sp.symbols("y:3"))
    found = eliminate(SymbolicArithmetic(), matrix.tolist(), [list(right)], UNBOUNDED)
    (solution,) = found.solutions
    assert (matrix * sp.Matrix(solution) - right).applyfunc(sp.cancel) == sp.zeros(3, 1)
