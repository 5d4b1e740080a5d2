"""Sag against exact catenaries, static tensions against equilibrium, and what `check` says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from published_robots import robot_of
from scipy.integrate import quad
from scipy.optimize import brentq

from solver_ref.domain import sample_poses
from solver_ref.kinematics import jacobian, pose_matrix
from solver_ref.parts import Stiffness
from solver_ref.robot import Platform, Robot
from solver_ref.robot_file import load
from solver_ref.sag import sag_angle, sag_error, sag_findings, static_tensions


def roped(robot: Robot, density: float, stiffness: Stiffness | None = None) -> Robot:
    """The robot with rigid (or other) cables of that weight (kg/m)."""
    cables = tuple(
        replace(cable, linear_density=density, stiffness=stiffness) for cable in robot.cables
    )
    return replace(robot, cables=cables)


class Catenary:
    """A rope of `weight` (N/m) from a point to one `across` (m) further and `up` (m) higher, which
    pulls with `tension` (N) at the first: x = c u, y = c cosh u, s = c sinh u, T = weight y."""

    def __init__(self, weight: float, across: float, up: float, tension: float) -> None:
        def scale(u: float) -> float:
            return tension / (weight * math.cosh(u))

        def miss(u: float) -> float:
            c = scale(u)
            return c * (math.cosh(u + across / c) - math.cosh(u)) - up

        chord = math.asinh(up / across)
        self.first = brentq(miss, chord - 1, chord, xtol=1e-15, rtol=1e-15)
        self.scale = scale(self.first)
        self.last = self.first + across / self.scale
        self.length = self.scale * (math.sinh(self.last) - math.sinh(self.first))
        self.turned = math.atan2(up, across) - math.atan(math.sinh(self.first))
        # The mean over its length: T ds = weight c^2 cosh(u)^2 du.
        total, _ = quad(lambda u: math.cosh(u) ** 2, self.first, self.last, epsrel=1e-13)
        self.mean_tension = weight * self.scale**2 * total / self.length


@pytest.mark.parametrize("density", [0.02, 0.1, 0.5])
def test_the_parabola_is_the_catenary_but_for_the_square_of_the_slope(density: float) -> None:
    stiff = Stiffness(k0=2e5)
    rigid = roped(load("four-cable"), density)
    elastic = roped(rigid, density, stiff)
    rng = np.random.default_rng(2)
    poses = sample_poses(rigid, 40, rng)
    tensions = rng.uniform(150, 900, (40, 4))
    frames = pose_matrix(rigid, poses)
    longer, angle = sag_error(rigid, poses, tensions), sag_angle(rigid, poses, tensions)
    stretched = sag_error(elastic, poses, tensions)
    for row in range(40):
        for i, cable in enumerate(rigid.cables):
            end = frames[row, :3, :3] @ cable.attachment + frames[row, :3, 3]
            across, up = math.hypot(*(end - cable.anchor)[:2]), cable.anchor[2] - end[2]
            exact = Catenary(density * 9.81, across, up, tensions[row, i])
            chord = math.hypot(across, up)
            slope = density * 9.81 * across / tensions[row, i]
            # Length differences of ten metres are known to 1e-13 m.
            assert longer[row, i] == pytest.approx(
                exact.length - chord, rel=slope**2 + 1e-3, abs=1e-12
            )
            assert angle[row, i] == pytest.approx(exact.turned, rel=slope + 0.02)
            more = (exact.mean_tension - tensions[row, i]) / stiff.k0
            assert stretched[row, i] == pytest.approx(
                exact.length - chord + more, rel=slope**2 + 2e-3, abs=1e-9
            )


def test_no_weight_no_gravity_and_a_vertical_cable_do_not_sag() -> None:
    crane = load("four-cable")
    home = np.array(crane.workspace.home)
    assert not sag_error(crane, home, np.full(4, 100.0)).any()
    assert not sag_error(crane, home, np.zeros(4)).any()
    weightless = replace(roped(crane, 0.1), gravity=(0.0, 0.0, 0.0))
    assert not sag_error(weightless, home, np.full(4, 100.0)).any()
    hung = robot_of("hung", [[0, 0, 3], [1, 0, 3], [0, 1, 3]], [[0, 0, 0]] * 3, motion="point")
    error = sag_error(roped(hung, 0.1), np.zeros(3), np.full(3, 100.0))
    assert error[0] == 0 < error[1]


def test_a_cable_that_nothing_pulls_has_no_length() -> None:
    crane = roped(load("four-cable"), 0.1)
    home = np.array(crane.workspace.home)
    # At rest a cable pulls its middle with half of its own weight at least.
    assert np.isinf(sag_error(crane, home, np.array([-10.0, 1.0, 100.0, 1e4]))).tolist() == [
        True,
        False,
        False,
        False,
    ]


def test_the_static_tensions_of_the_crane_carry_it_at_home() -> None:
    robot = load("four-cable")
    home = np.array(robot.workspace.home)
    tensions = static_tensions(robot, home)
    assert_allclose(jacobian(robot, home).T @ tensions, [0, 0, -85 * 9.81, 0, 0, 0], atol=1e-9)
    assert (tensions > 100).all()


def test_the_static_tensions_of_redundant_cables_carry_the_platform_everywhere() -> None:
    robot = load("cogiro")
    poses = sample_poses(robot, 50, np.random.default_rng(3)).reshape(5, 10, 6)
    tensions = static_tensions(robot, poses)
    assert tensions.shape == (5, 10, 8)
    carried = np.swapaxes(jacobian(robot, poses), -1, -2) @ tensions[..., None]
    weight = 91.058 * np.array([0, 0, -9.81])
    arm = pose_matrix(robot, poses)[..., :3, :3] @ np.array(robot.platform.com)
    want = np.concatenate([np.broadcast_to(weight, arm.shape), np.cross(arm, weight)], axis=-1)
    assert_allclose(carried[..., 0], want, rtol=0, atol=1e-8)


def test_static_tensions_need_the_mass() -> None:
    with pytest.raises(ValueError, match="has no mass"):
        static_tensions(load("hangprinter"), np.zeros(3))


def test_check_warns_where_the_sag_exceeds_the_accuracy() -> None:
    crane = load("four-cable")
    assert sag_findings(crane) == []
    assert sag_findings(roped(crane, 1e-6)) == []
    (found,) = sag_findings(roped(crane, 0.05))
    assert (found.severity, found.name) == ("warning", "cable-sag")
    assert found.text.startswith(
        "at 100% of 1145 poses a cable's own weight makes it longer than a straight one by more "
        "than the accuracy, 4e-06 m (half of the poses: "
    )
    assert "; worst is cable " in found.text


def test_the_worst_is_what_it_is_said_to_be() -> None:
    robot = roped(load("cogiro"), 0.01)
    poses = sample_poses(robot, 200, np.random.default_rng(6))
    tensions = np.maximum(static_tensions(robot, poses), 100.0)
    errors = sag_error(robot, poses, tensions)
    row, cable = np.unravel_index(errors.argmax(), errors.shape)
    (found,) = sag_findings(robot, poses)
    share = (errors > 10e-6).any(axis=-1).mean()
    assert found.text.startswith(f"at {share:.0%} of 200 poses ")
    assert f"cable {cable + 1} by {errors[row, cable]:.3g} m" in found.text
    assert f"x = {poses[row, 0]:.4g}, " in found.text
    assert f"under {tensions[row, cable]:.3g} N" in found.text


def test_what_is_pulled_with_less_than_its_weight_is_said_to_be() -> None:
    (found,) = sag_findings(roped(load("four-cable"), 5.0))
    assert "% a cable is pulled with less than its own weight" in found.text
    (found,) = sag_findings(roped(load("four-cable"), 1e6))
    assert found.text.endswith("; at 100% a cable is pulled with less than its own weight")


def test_without_mass_or_without_gravity_there_is_no_figure() -> None:
    crane = roped(load("four-cable"), 0.1)
    (found,) = sag_findings(replace(crane, platform=Platform()))
    assert "without the platform's mass their sag is not known" in found.text
    assert sag_findings(roped(load("planar4"), 0.1)) == []
