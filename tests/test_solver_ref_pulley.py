"""Guide pulleys: published tensions, the taut string itself, derivatives, and edges."""

import dataclasses

import numpy as np
import pytest
import sympy as sp
from guided_robots import IRMA4U, IRMA4U_PULLEYS, PLANAR, POINT, ROBOTS, fixed, guided
from numpy.testing import assert_allclose
from published_robots import robot_of
from scipy.optimize import minimize_scalar
from scipy.spatial import ConvexHull

from solver_ref.domain import corner_poses, sample_poses
from solver_ref.kinematics import (
    cable_lengths,
    jacobian,
    jacobian_phi,
    leaving_points,
    pose_matrix,
    rotation_exp,
    rotation_log,
    scaling,
    squared_system,
    wrap_angles,
)
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.parts import Pulley
from solver_ref.pulley import way
from solver_ref.robot import Robot
from solver_ref.symbolic import SymbolicArithmetic

PUBLISHED_TENSIONS = [81.175193, 55.900918, 31.006417, 53.855798]


def test_the_published_tensions_of_irma4u_balance_on_its_pulleys() -> None:
    """12.992 kg, com (0, 0, 0.173) m; R = Rx Ry Rz of the published angles; g = 9.81."""
    turn = np.eye(3)
    for axis, angle in zip(np.eye(3), [-0.145595, -0.154499, -0.011161], strict=True):
        turn = turn @ rotation_exp(angle * axis)
    pose = np.array([0.4, -0.4, 0.6, *rotation_log(turn)])
    weight = np.array([0.0, 0.0, -12.992 * 9.81])
    wrench = np.hstack([weight, np.cross(turn @ [0.0, 0.0, 0.173], weight)])

    def errors(robot: Robot) -> np.ndarray:
        unit = robot.characteristic_length
        scale = np.array([1, 1, 1, 1 / unit, 1 / unit, 1 / unit])
        rows = scale[:, None] * jacobian(robot, pose).T
        return np.abs(np.linalg.lstsq(rows, scale * wrench)[0] - PUBLISHED_TENSIONS)

    assert errors(IRMA4U).max() <= 1e-3
    inward = [dataclasses.replace(p, axis=(-p.axis[0], 0.0, 0.0)) for p in IRMA4U_PULLEYS]
    assert errors(guided(IRMA4U, inward)).max() == pytest.approx(7.75, abs=0.01)
    assert errors(guided(IRMA4U, [None] * 4)).max() > 5


def test_ignoring_the_pulleys_of_irma4u_makes_lengths_centimetres_wrong() -> None:
    """Published as 27 to 65 mm; over this workspace 24 to 63 mm, at its published pose 30 to 53."""
    poses = np.vstack([sample_poses(IRMA4U, 5000, np.random.default_rng(1)), corner_poses(IRMA4U)])
    wrong = cable_lengths(IRMA4U, poses) - cable_lengths(guided(IRMA4U, [None] * 4), poses)
    assert wrong.min() == pytest.approx(0.0243, abs=2e-4)
    assert wrong.max() == pytest.approx(0.0632, abs=2e-4)


def taut(height: float, along: float, across: float, radius: float) -> float:
    """The shortest way round the cylinder, from the convex hull of a fine polygon and the point.

    From (0, 0) along +y about the centre (radius, 0) to (height, along); `across` is shared between
    arc and free part so that the whole is shortest.
    """
    angles = np.arange(0.0, 2 * np.pi, 2e-4)
    circle = radius * np.column_stack([1 - np.cos(angles), np.sin(angles)])
    hull = ConvexHull(np.vstack([circle, [height, along]]))
    loop = hull.vertices[::-1]  # clockwise: the way that the cable goes round
    loop = np.roll(loop, -int(np.flatnonzero(loop == len(circle))[0]))
    last = angles[loop[-1]]
    free = float(np.hypot(*(circle[loop[-1]] - [height, along])))
    arc = radius * last

    def whole(share: float) -> float:
        return float(np.hypot(arc, share) + np.hypot(free, across - share))

    best = minimize_scalar(whole, bounds=(-abs(across), abs(across)), options={"xatol": 1e-12})
    return float(best.fun) if across else arc + free


def in_the_frame(robot: Robot, number: int, pose: np.ndarray) -> tuple[float, float, float]:
    """The components h, w, o of the way from a cable's entry point to its attachment."""
    item, frame = robot.cables[number], pose_matrix(robot, pose)
    q = frame[:3, :3] @ item.attachment + frame[:3, 3] - item.anchor
    axis = np.array(item.pulley.axis)
    if item.pulley.axle is None:
        return np.linalg.norm(np.cross(axis, q)), q @ axis, 0.0
    axle = np.array(item.pulley.axle)
    return q @ np.cross(axle, axis), q @ axis, q @ axle


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_lengths_are_those_of_a_taut_string(robot: Robot) -> None:
    for pose in sample_poses(robot, 4, np.random.default_rng(2)):
        lengths = cable_lengths(robot, pose)
        for i, item in enumerate(robot.cables):
            if item.pulley is not None:
                expected = taut(*in_the_frame(robot, i, pose), item.pulley.radius)
                assert lengths[i] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_jacobians_of_guided_cables_are_central_differences_of_their_lengths(robot: Robot) -> None:
    poses = np.vstack([sample_poses(robot, 300, np.random.default_rng(3)), corner_poses(robot)])
    h = 1e-5
    moves = [
        (cable_lengths(robot, poses + h * axis) - cable_lengths(robot, poses - h * axis)) / (2 * h)
        for axis in np.eye(len(robot.free))
    ]
    assert_allclose(jacobian_phi(robot, poses), np.stack(moves, axis=-1), rtol=0, atol=5e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_squared_rows_of_guided_cables_are_lengths_times_their_rows(robot: Robot) -> None:
    poses = sample_poses(robot, 100, np.random.default_rng(4))
    lengths = cable_lengths(robot, poses)
    f, rows = squared_system(robot, poses, lengths + 0.01)
    assert_allclose(f, (lengths**2 - (lengths + 0.01) ** 2) / 2, rtol=0, atol=1e-12)
    expected = lengths[..., None] * jacobian_phi(robot, poses) / scaling(robot)
    assert_allclose(rows, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_a_cable_is_straight_from_where_it_leaves_its_pulley(robot: Robot) -> None:
    poses = sample_poses(robot, 50, np.random.default_rng(5))
    frames = pose_matrix(robot, poses)
    ends = robot.attachments @ np.swapaxes(frames[:, :3, :3], 1, 2) + frames[:, None, :3, 3]
    points, angles = leaving_points(robot, poses), wrap_angles(robot, poses)
    free = ends - points
    u = free / np.linalg.norm(free, axis=-1, keepdims=True)
    assert_allclose(u[..., robot.free[0]], jacobian(robot, poses)[..., 0], rtol=0, atol=1e-12)
    for i, item in enumerate(robot.cables):
        if item.pulley is None:
            assert np.all(angles[:, i] == 0) and np.all(points[:, i] == item.anchor)
            continue
        assert np.all((angles[:, i] > 0) & (angles[:, i] < np.pi))
        straight = np.linalg.norm(free[:, i], axis=-1)
        chord = np.linalg.norm(points[:, i] - item.anchor, axis=-1)
        arc = cable_lengths(robot, poses)[:, i] - straight
        across = (
            0.0 if item.pulley.axle is None else (points[:, i] - item.anchor) @ item.pulley.axle
        )
        flat = 2 * item.pulley.radius * np.sin(angles[:, i] / 2)
        assert_allclose(chord, np.hypot(flat, across), rtol=0, atol=1e-12)
        assert_allclose(arc, np.hypot(item.pulley.radius * angles[:, i], across), atol=1e-12)


def test_the_derivative_of_the_length_is_the_leaving_direction_to_forty_digits() -> None:
    """In the pulley's plane and across it, from the one set of equations."""
    h, w, o, r = sp.symbols("h w o r", positive=True)
    pulley = Pulley(radius=r, axis=(0.0, 0.0, 1.0), axle=(0.0, 1.0, 0.0))
    at = way(SymbolicArithmetic(), pulley, [h, o, w])
    values = {h: 3, w: sp.Rational(-5, 2), o: sp.Rational(2, 3), r: sp.Rational(1, 7)}
    for variable, component in zip((h, o, w), at.vector, strict=True):
        difference = sp.nsimplify(sp.diff(at.square, variable) / 2 - component, rational=True)
        assert abs(difference.subs(values).evalf(60)) < 1e-40


def test_a_cable_that_leaves_at_a_right_angle() -> None:
    """With w = r it leaves along e, a quarter of the pulley behind it."""
    robot = guided(
        robot_of("point", [[0, 0, 0]] * 3, [[0, 0, 0]] * 3, motion="point"),
        [Pulley(radius=0.25, axis=(0.0, 0.0, 1.0))] * 2 + [fixed(0.25, (0, 0, 1), (0, 1, 0))],
    )
    pose = np.array([2.0, 0.0, 0.25])
    assert_allclose(wrap_angles(robot, pose), [np.pi / 2] * 3, rtol=1e-15)
    assert_allclose(cable_lengths(robot, pose), [0.125 * np.pi + 1.75] * 3, rtol=1e-15)
    assert_allclose(jacobian(robot, pose), [[1.0, 0.0, 0.0]] * 3, rtol=0, atol=1e-15)
    assert_allclose(leaving_points(robot, pose), [[0.25, 0.0, 0.25]] * 3, rtol=0, atol=1e-15)


def test_an_attachment_inside_the_pulley_has_no_length() -> None:
    inside = np.array([2.9, 0.0, 3.0])
    with pytest.warns(RuntimeWarning, match="invalid value"):
        lengths = cable_lengths(POINT, np.array([inside, [0.0, 0.0, 0.0]]))
    assert np.isnan(lengths[0, 0]) and np.isfinite(lengths[0, 1:]).all()
    assert np.isfinite(lengths[1]).all()


def test_poses_are_found_again_from_the_lengths_of_guided_cables() -> None:
    rng = np.random.default_rng(6)
    poses = sample_poses(PLANAR, 200, rng)
    found = lm_solve(
        PLANAR, poses + rng.uniform(-0.02, 0.02, poses.shape), cable_lengths(PLANAR, poses)
    )
    assert_allclose(found.poses, poses, rtol=0, atol=1e-8)
