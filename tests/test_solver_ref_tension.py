"""Cable tensions: published ones, closed forms, SciPy's LP and QP, slack cables, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from published_robots import robot_of
from scipy.optimize import linprog, minimize

from solver_ref.domain import sample_poses
from solver_ref.kinematics import jacobian, rotation_log, scaling
from solver_ref.robot import Cable, Platform, Robot
from solver_ref.robot_file import load
from solver_ref.statics import carried_wrenches
from solver_ref.status import Status
from solver_ref.tension import BALANCE, METHODS, TensionSolution, tensions
from solver_ref.tension_pass import TensionLimits
from solver_ref.trajectory import crane_trajectory

GOOD = int(Status.VALID | Status.CONVERGED)
REDUNDANT = ["cogiro", "ipanema1", "ueland", "acrobot"]
# EinarUeland/CDPR-force-allocation-toolbox, QuickExample.m (BSD): signs, for 8 corners each.
UELAND = np.array(
    [[-1, -1, -1], [-1, -1, 1], [1, -1, 1], [1, -1, -1], [1, 1, -1], [-1, 1, 1], [-1, 1, -1]]
    + [[1, 1, 1]]
)


def with_limits(robot: Robot, low: float | None, high: float | None, mass: float = 1.0) -> Robot:
    cables = tuple(replace(c, tension_min=low, tension_max=high) for c in robot.cables)
    return replace(robot, cables=cables, platform=Platform(mass=mass))


def ueland() -> Robot:
    """8 cables, 3 to 100 N; its wrench is 50 N upwards, here the weight."""
    anchors, attachments = UELAND * [2.075, 1.575, 2.5], UELAND * [0.2625, 0.38, 0.25]
    box = [(-0.5, 0.5), (-0.4, 0.4), (-0.5, 0.5)]
    robot = robot_of("ueland", anchors.tolist(), attachments.tolist(), position=box, tilt=0.1)
    return replace(with_limits(robot, 3.0, 100.0, mass=1.0), gravity=(0.0, 0.0, -50.0))


def case(name: str, count: int, seed: int, load_share: float = 0.3) -> tuple:
    """A robot, poses of its workspace and applied wrenches, as (robot, poses, wrenches)."""
    robot, rng = ueland() if name == "ueland" else load(name), np.random.default_rng(seed)
    weight = robot.platform.mass * np.linalg.norm(robot.gravity)
    size = load_share * weight * scaling(robot)
    return robot, sample_poses(robot, count, rng), size * rng.uniform(-1, 1, (count, len(size)))


def system(robot: Robot, poses: np.ndarray, wrenches: np.ndarray) -> tuple:
    """J and W in scaled coordinates, and the bounds of the tensions."""
    limits, scale = TensionLimits.of(robot), scaling(robot)
    wrench = carried_wrenches(robot, poses, wrenches=wrenches) / scale
    return jacobian(robot, poses) / scale, wrench, limits.lowest, limits.highest


def has(found: TensionSolution, bits: Status) -> np.ndarray:
    return (found.status & int(bits)) == int(bits)


def test_the_published_tensions_of_irma4u_come_out() -> None:
    """Pulleys, and a centre of mass off the origin; R = Rx Ry Rz of the published angles."""
    turn = np.eye(3)
    for axis, angle in enumerate((-0.145595, -0.154499, -0.011161)):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        step = np.eye(3)
        step[[j, k], [j, k]] = np.cos(angle)
        step[j, k], step[k, j] = -np.sin(angle), np.sin(angle)
        turn = turn @ step
    pose = np.array([[0.4, -0.4, 0.6, *rotation_log(turn)]])
    for method in ("exact", "bounded-step"):
        found = tensions(load("irma4u"), pose, method=method)
        published = [[81.175193, 55.900918, 31.006417, 53.855798]]
        assert_allclose(found.tensions, published, rtol=0, atol=1e-3)
        assert_array_equal(found.status, GOOD)
        # The pose is published as one in equilibrium; its digits leave this much.
        assert np.abs(found.unbalanced).max() < 1e-3


def test_the_published_tensions_of_gtdynamics_come_out() -> None:
    """borglab/GTDynamics, cdpr_planar.py: planar XZ, 1 kg, without gravity, falling at sqrt(2)."""
    anchors = [[3, 0, 0], [3, 0, 3], [0, 0, 3], [0, 0, 0]]
    attachments = [[0.15, 0, -0.15], [0.15, 0, 0.15], [-0.15, 0, 0.15], [-0.15, 0, -0.15]]
    robot = robot_of("gtdynamics", anchors, attachments, motion="planar-xz")
    robot = replace(with_limits(robot, 0.0, 1.0), gravity=(0.0, 0.0, 0.0))
    robot = replace(robot, platform=replace(robot.platform, inertia=tuple(map(tuple, np.eye(3)))))
    pose, falling = np.array([[1.5, 1.5, 0.0]]), np.array([[0.0, -np.sqrt(2), 0.0]])
    for method in METHODS:
        found = tensions(robot, pose, accelerations=falling, method=method)
        assert_allclose(found.tensions, [[1, 0, 0, 1]], rtol=0, atol=1e-9)
    # Its last cable alone, at 1 N, pulls the platform with this wrench.
    assert_allclose(-jacobian(robot, pose)[0, 3], [-np.sqrt(0.5), -np.sqrt(0.5), 0], atol=1e-12)
    # More room: the same, and as much of what cancels as brings them to the middle of the bounds.
    loose = tensions(with_limits(robot, 0.0, 2.0), pose, wrenches=np.array([0, np.sqrt(2), 0]))
    assert_allclose(loose.tensions, [[1.5, 0.5, 0.5, 1.5]], rtol=0, atol=1e-9)


def test_four_ropes_above_a_point_share_its_weight() -> None:
    """RMA3's frame (its consistent dimensions): at the middle, each pulls m g L / (4 h)."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [0.445, 0.8]
    anchors = np.hstack([corners, np.full((4, 1), 1.45)])
    robot = robot_of("rma3", anchors.tolist(), [[0, 0, 0]] * 4, motion="point")
    found = tensions(with_limits(robot, 0.0, 20.0, mass=2.0), np.array([[0.0, 0.0, 0.5]]))
    length = np.linalg.norm([0.445, 0.8, 0.95])
    assert_allclose(found.tensions, np.full((1, 4), 2 * 9.81 * length / (4 * 0.95)), atol=1e-9)
    assert_array_equal(found.status, GOOD)


def test_a_point_on_two_ropes_beyond_its_frame_hangs_on_the_nearer_one() -> None:
    anchors = [[-1, 0, 2], [1, 0, 2]]
    robot = robot_of("swing", anchors, [[0, 0, 0]] * 2, motion="planar-xz")
    robot = with_limits(robot, None, None)
    poses = np.array([[0.0, 1.0, 0.0], [1.5, 1.0, 0.0], [1.0, 1.0, 0.0], [-3.0, 2.0, 0.0]])
    for method in ("exact", "bounded-step"):
        found = tensions(robot, poses, method=method)
        both, near = 9.81 / np.sqrt(2), 9.81 * 2 / np.sqrt(5)
        expected = [[both, both], [0, near], [0, 9.81], [0, 0]]
        assert_allclose(found.tensions, expected, rtol=0, atol=1e-9)
        assert_array_equal(found.active[:2], [[True, True], [False, True]])
        assert_allclose(found.unbalanced[1, :2], np.array([-2, -1]) * 9.81 / 5, atol=1e-9)
        slack = has(found, Status.VALID | Status.SLACK)
        assert_array_equal(slack[:2], [False, True])
        # Level with both anchors neither rope holds anything.
        assert has(found, Status.NO_SOLUTION)[3] and not has(found, Status.VALID)[3]


@pytest.mark.parametrize("name", ["irma4u", "four-cable", "nist-robocrane"])
def test_what_is_not_dropped_is_the_least_squares_solution(name: str) -> None:
    robot, poses, wrenches = case(name, 400, seed=1)
    found = tensions(robot, poses, wrenches=wrenches)
    rows, wrench, low, _ = system(robot, poses, wrenches)
    for i in range(len(poses)):
        held = rows[i][found.active[i]]
        expected = np.linalg.lstsq(held.T, wrench[i], rcond=None)[0]
        assert_allclose(found.tensions[i][found.active[i]], expected, rtol=0, atol=1e-6)
    assert_array_equal(found.tensions[~found.active], 0.0)
    assert (np.where(found.active, found.tensions, np.inf) >= low).all()
    left = wrench - (found.tensions[:, None] @ rows)[:, 0]
    assert_allclose(found.unbalanced, left * scaling(robot), rtol=0, atol=1e-9)
    assert_array_equal(has(found, Status.SLACK), ~found.active.all(axis=1))
    assert 0 < has(found, Status.SLACK).mean() < 1, "seed 1"


@pytest.mark.parametrize("name", ["irma4u", "four-cable", "nist-robocrane"])
def test_the_passes_of_hardware_drop_the_same_cables(name: str) -> None:
    robot, poses, wrenches = case(name, 2000, seed=2)
    exact = tensions(robot, poses, wrenches=wrenches)
    passes = tensions(robot, poses, wrenches=wrenches, method="bounded-step")
    assert_array_equal(passes.active, exact.active)
    assert_allclose(passes.tensions, exact.tensions, rtol=0, atol=1e-6)
    assert_array_equal(passes.status, exact.status)


FOUND = {"exact": 1.0, "bounded-step": 0.995, "closed-form": 0.7}


@pytest.mark.parametrize("name", REDUNDANT)
def test_a_distribution_is_found_where_an_lp_finds_one(name: str) -> None:
    robot, poses, wrenches = case(name, 150, seed=3)
    rows, wrench, low, high = system(robot, poses, wrenches)
    bounds, none = list(zip(low, high, strict=True)), np.zeros(len(low))
    oracle = [
        linprog(none, A_eq=j.T, b_eq=w, bounds=bounds) for j, w in zip(rows, wrench, strict=True)
    ]
    feasible = np.array([answer.status == 0 for answer in oracle])
    assert 20 < feasible.sum(), "seed 3"
    for method in METHODS:
        found = tensions(robot, poses, wrenches=wrenches, method=method)
        valid = has(found, Status.VALID)
        assert not (valid & ~feasible).any(), "seed 3"
        assert valid[feasible].mean() >= FOUND[method], "seed 3"
        assert_array_equal(has(found, Status.NO_SOLUTION), ~valid)
        good = found.tensions[valid]
        assert (good >= np.array(low) * (1 - 1e-9)).all()
        assert (good <= np.array(high) * (1 + 1e-9)).all()
        left = np.linalg.norm((good[:, None] @ rows[valid])[:, 0] - wrench[valid], axis=1)
        assert left.max() <= BALANCE * max(high)
        assert np.median(left) < 1e-6


@pytest.mark.parametrize("name", REDUNDANT)
def test_the_distribution_is_the_one_nearest_to_the_middle(name: str) -> None:
    robot, poses, wrenches = case(name, 120, seed=4)
    rows, wrench, low, high = system(robot, poses, wrenches)
    found = tensions(robot, poses, wrenches=wrenches)
    passes = tensions(robot, poses, wrenches=wrenches, method="bounded-step")
    middle = (np.array(low) + high) / 2
    valid = np.flatnonzero(has(found, Status.VALID) & has(passes, Status.CONVERGED))
    at_bound = valid[~found.active[valid].all(axis=1)]
    assert len(at_bound) >= 3, "seed 4"
    # A cable is called back from a margin on, so that the passes may stop a little beside.
    width = (np.array(high) - low).max()
    assert_allclose(passes.tensions[valid], found.tensions[valid], rtol=0, atol=2.0**-12 * width)
    for i in at_bound[:6]:
        oracle = minimize(
            lambda t: ((t - middle) ** 2).sum() / 200,
            np.clip(middle, low, high),
            jac=lambda t: (t - middle) / 100,
            constraints={
                "type": "eq",
                "fun": lambda t, i=i: rows[i].T @ t - wrench[i],
                "jac": lambda t, i=i: rows[i].T,
            },
            bounds=list(zip(low, high, strict=True)),
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        )
        assert_allclose(found.tensions[i], oracle.x, rtol=0, atol=1e-4, err_msg="seed 4")


def test_six_cables_balance_a_platform_in_motion_until_one_goes_slack() -> None:
    robot = load("nist-robocrane")
    path = crane_trajectory(robot, rate=500)
    moving = tensions(robot, path.poses, path.twists, path.accelerations)
    still = tensions(robot, path.poses)
    assert_array_equal(still.status, GOOD)
    # Stopping at 11 m/s^2 is more than hanging cables can do.
    slack = has(moving, Status.SLACK)
    assert 0.1 < slack.mean() < 0.9 and slack[path.times > 0.8].any()
    assert_array_equal(moving.status[~slack], GOOD)
    assert np.abs(moving.unbalanced[~slack]).max() < 1e-9
    assert np.abs(moving.unbalanced[slack]).max() > 1.0
    assert np.abs(moving.tensions - still.tensions).max() > 0.3 * still.tensions.max()


def test_dependent_cables_are_near_singular() -> None:
    """All cables of this crane meet in one point: what cancels among them is not known."""
    robot, pose = load("four-cable-concurrent"), np.array([[0.0, 0.0, 2.0, 0.0, 0.0, 0.0]])
    for method in ("exact", "bounded-step"):
        found = tensions(robot, pose, method=method)
        assert has(found, Status.VALID | Status.NEAR_SINGULAR).all()
        assert np.abs(found.unbalanced).max() < 1e-9
    exact = tensions(robot, pose)  # the smallest ones that fit
    assert np.ptp(exact.tensions) < 1e-9 * exact.tensions.max()


def test_what_cannot_be_answered_is_refused_in_words() -> None:
    crane, poses = load("four-cable"), np.zeros((1, 6))
    with pytest.raises(ValueError, match="method must be one of exact, bounded-step, closed-form"):
        tensions(crane, poses, method="best")
    with pytest.raises(ValueError, match="four-cable has 4 for 6 unknowns"):
        tensions(crane, poses, method="closed-form")
    with pytest.raises(ValueError, match="cable 1 of hangprinter has no tension_max"):
        tensions(load("hangprinter"), np.zeros((1, 3)))
    cable = Cable(anchor=(0.0, 0.0, 2.0), attachment=(0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="has no mass"):
        tensions(replace(crane, cables=(cable,), platform=Platform()), poses)
