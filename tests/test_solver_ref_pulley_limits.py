"""Guide pulleys in fixed point: accurate within their limits, flagged beyond them."""

import dataclasses

import numpy as np
import pytest
from guided_robots import CRANE, IRMA4U, POINT, ROBOTS, fixed, guided
from published_robots import robot_of
from traced import run

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.cable import cable_at, rotation, spatial
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.fixed import Format
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.domain import largest_component, longest_lever, pose_formats
from solver_ref.kinematics import cable_lengths, cable_ways, jacobian
from solver_ref.parts import Pulley
from solver_ref.profile import Profile
from solver_ref.pulley import WrapLimits, way
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot import Robot


def arithmetic(quantum: float, reach: float, lever: float, radius: float) -> TracedArithmetic:
    profile = Profile.choose("fine", quantum=quantum, reach=reach, lever=lever, radius=radius)
    return TracedArithmetic(profile, tilt=0.5, largest_tilt=0.6)


def of_robot(robot: Robot) -> TracedArithmetic:
    radius = max(item.pulley.radius for item in robot.cables if item.pulley)
    return arithmetic(2.0**-20, largest_component(robot), longest_lever(robot), radius)


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_guided_cables_are_accurate_in_the_whole_grown_workspace(robot, precise) -> None:
    m = of_robot(robot)
    formats = pose_formats(robot, m.profile)
    inputs = [m.input(name, formats[name]) for name in robot.coordinates]
    full = spatial([m.clamp(x, -8.0, 8.0) for x in inputs], robot.free)
    turn = rotation(m, full[3:])
    outputs = {}
    for i, (item, limits) in enumerate(zip(robot.cables, pulley_limits(robot), strict=True)):
        state = cable_at(m, full[:3], turn, item, limits, precise=precise)
        outputs[f"square{i}"] = state.square
        outputs |= {f"{'xyz'[k]}{i}": state.vector[k] for k in robot.free if k < 3}
    outputs["flag"] = m.any(m.flags.get("length", []))
    margin = robot.workspace.start_error
    rng = np.random.default_rng(11)
    poses = np.vstack(
        [corner_poses(robot, margin=margin), sample_poses(robot, 2000, rng, margin=margin)]
    )
    codes = {name: formats[name].encode(poses[:, k]) for k, name in enumerate(robot.coordinates)}
    poses = np.column_stack([formats[name].decode(codes[name]) for name in robot.coordinates])
    out = run(m, codes, outputs)
    assert not out["flag"].any()
    lengths, rows = cable_lengths(robot, poses), jacobian(robot, poses)
    for i in range(len(robot.cables)):
        given = np.sqrt(out[f"square{i}"])
        assert np.max(np.abs(given - lengths[:, i])) <= 1.5 * 2.0**-m.profile.pose.bits
        for column, k in enumerate(k for k in robot.free if k < 3):
            error = out[f"{'xyz'[k]}{i}"] / lengths[:, i] - rows[:, i, column]
            assert np.max(np.abs(error)) <= (2.5e-6 if precise else 1e-4)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_limits_hold_every_way_where_estimates_may_go(robot) -> None:
    margin = tuple(2 * error for error in robot.workspace.start_error)
    poses = sample_poses(robot, 20000, np.random.default_rng(12), margin=margin)
    for limits, at in zip(pulley_limits(robot), cable_ways(robot, poses), strict=True):
        if at is None:
            assert limits is None
            continue
        pairs = [(limits.free, at.free), (limits.angle, at.angle)]
        pairs += [(limits.height, at.frame.height)] if at.frame.scale is not None else []
        for (low, high), values in pairs:
            assert low <= values.min() and values.max() <= high
            assert high - low <= 1.3 * np.ptp(values)


FLOAT = FloatArithmetic()

KINDS = {
    "swivelling": Pulley(radius=0.1, axis=(0.0, 0.0, 1.0)),
    "oblique": Pulley(radius=0.1, axis=(0.6, 0.0, 0.8)),
    "fixed": Pulley(radius=0.1, axis=(0.0, 0.0, 1.0), axle=(0.0, 1.0, 0.0)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_leaves_its_limits_is_flagged_and_all_else_is_accurate(kind) -> None:
    """Points all round the pulley, inside it too."""
    pulley, limits = KINDS[kind], WrapLimits((0.5, 6.0), (0.7, 7.0), (1.0, 2.6))
    m, fmt = arithmetic(2.0**-20, 8.0, 1.0, 0.1), Format(True, 4, 20)
    at = way(m, pulley, [m.input(name, fmt) for name in "xyz"], limits, precise=True)
    outputs = {"square": at.square, "angle": at.angle, "flag": m.any(m.flags["length"])}
    outputs |= dict(zip("uvw", at.vector, strict=True))
    rng = np.random.default_rng(13)
    points = rng.standard_normal((40000, 3))
    size = np.where(rng.uniform(size=40000) < 0.1, 0.5, 7.9) * rng.uniform(size=40000)
    points *= (size / np.linalg.norm(points, axis=1))[:, None]
    codes = {name: fmt.encode(points[:, k]) for k, name in enumerate("xyz")}
    q = [fmt.decode(codes[name]) for name in "xyz"]
    out = run(m, codes, outputs)
    with np.errstate(all="ignore"):
        exact = way(FLOAT, pulley, q)
    inside, near = True, True
    spans = [(limits.free, exact.free), (limits.angle, exact.angle)]
    spans += [(limits.height, exact.frame.height)] if pulley.axle is None else []
    for (low, high), values in spans:
        inside = inside & (values > low + 1e-4) & (values < high - 1e-4)
        near = near & (values > low - 1e-4) & (values < high + 1e-4)
    assert 2000 < np.sum(inside) < 38000
    flagged = out["flag"] != 0
    assert not np.any(flagged[inside]) and np.all(flagged[~near])
    good = ~flagged
    length = np.sqrt(exact.square[good])
    assert np.max(np.abs(np.sqrt(out["square"][good]) - length)) <= 1.25 * 2.0**-20
    for name, component in zip("uvw", exact.vector, strict=True):
        assert np.max(np.abs(out[name][good] - component[good]) / length) <= 4e-6


def test_an_attachment_that_can_come_inside_its_pulley_is_refused() -> None:
    wide = [(-1.0, 3.2), (-1.0, 1.0), (-1.0, 3.2)]
    robot = dataclasses.replace(
        POINT, workspace=dataclasses.replace(POINT.workspace, position=tuple(wide))
    )
    with pytest.raises(ValueError, match="cable 1 of point has its attachment inside its pulley"):
        pulley_limits(robot)


def test_a_cable_that_lifts_off_its_fixed_pulley_is_beyond_the_limits() -> None:
    """A pulley to the right of where the cable comes up, and points above to the left of it."""
    pulley = fixed(0.1, (0, 0, 1), (0, 1, 0))
    anchors = [[0, 0, 0], [0, 1, 0], [0, 2, 0]]

    def limits(left: float, right: float) -> WrapLimits:
        box = [(left, right), (0.5, 1.5), (1.0, 2.0)]
        robot = robot_of("point", anchors, [[0, 0, 0]] * 3, motion="point", position=box)
        return pulley_limits(guided(robot, [pulley] * 3))[0]

    assert 0.2 < limits(1.0, 2.0).angle[0] < 0.5
    assert limits(-2.0, 2.0).angle[0] == 0
    with pytest.raises(ValueError, match="cable 1 of point never touches its pulley"):
        limits(-2.0, -1.0)


def test_straight_robots_have_no_limits() -> None:
    assert pulley_limits(guided(IRMA4U, [None] * 4)) == (None,) * 4
    assert pulley_limits(CRANE)[3] is None
