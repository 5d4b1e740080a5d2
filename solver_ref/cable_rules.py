"""What the cables of a robot have to satisfy, each rule refused by the key that breaks it."""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from solver_ref.cable_fields import cable_key
from solver_ref.domain import corner_poses
from solver_ref.errors import shown
from solver_ref.fields import RobotError, Table
from solver_ref.kinematics import pose_matrix
from solver_ref.parts import Cable, Drum, Pulley, Stiffness
from solver_ref.robot import MOTIONS, Robot

# Two anchors nearer than this part of the frame's size are one.
COINCIDENT = 1e-6
# No rope grows by more than a thousandth for each kelvin.
LARGEST_THERMAL = 1e-3

Fault = tuple[str, str, object]
"""A key of a cable, what was expected there, and what came."""


def check_cables(robot: Robot, top: Table) -> None:
    """Raise RobotError for the first rule that a cable of `robot`, read from `top`, breaks."""
    for number, cable in enumerate(robot.cables, 1):
        for key, expected, got in _faults(cable):
            raise _wrong(top, cable_key(top, number, key), expected, got)
    _check_planes(robot, top)
    _check_anchors(robot, top)
    _check_reach(robot, top)


def _faults(cable: Cable) -> Iterator[Fault]:
    low, high = cable.tension_min, cable.tension_max
    if low is not None and low < 0:
        yield "tension_min", "0 N or more, as cables only pull", low
    if high is not None and high <= (low or 0.0):
        yield "tension_max", f"more than {low or 0.0} N, the least tension", high
    if not 0 <= cable.thermal <= LARGEST_THERMAL:
        yield "thermal", f"0 to {LARGEST_THERMAL:g} /K", cable.thermal
    if cable.linear_density < 0:
        yield "linear_density", "0 kg/m or more", cable.linear_density
    if cable.pulley:
        yield from _pulley_faults(cable.pulley)
    if cable.stiffness:
        yield from _stiffness_faults(cable.stiffness)
    if cable.drum:
        yield from _drum_faults(cable.drum)


def _pulley_faults(pulley: Pulley) -> Iterator[Fault]:
    if pulley.radius <= 0:
        yield "pulley.radius", "above 0 m", pulley.radius
    if not 0 < pulley.efficiency <= 1:
        yield "pulley.efficiency", "above 0 and at most 1", pulley.efficiency


def _stiffness_faults(law: Stiffness) -> Iterator[Fault]:
    if law.k0 <= 0:
        yield "stiffness.k0", "above 0 N/m", law.k0
    if law.alpha < 0:
        yield "stiffness.alpha", "0 /m or more", law.alpha
    if law.static_friction < 0:
        yield "stiffness.static_friction", "0 N or more", law.static_friction
    if law.slip is None:
        if law.k_max is not None:
            yield "stiffness.k_max", "slip beside it, above which it holds", law.k_max
        return
    if law.slip <= law.static_friction:
        expected = f"more than {law.static_friction} N, the static friction"
        yield "stiffness.slip", expected, law.slip
    if law.k_max is None:
        yield "stiffness.slip", "k_max beside it, which holds above", law.slip
        return
    # A rope only grows stiffer as its strands settle, and k_max is where that ends.
    least = law.k0 + law.alpha * law.slip
    if law.k_max < least:
        expected = f"at least {least:.6g} N/m, the stiffness at slip"
        yield "stiffness.k_max", expected, law.k_max


def _drum_faults(drum: Drum) -> Iterator[Fault]:
    if drum.radius <= 0:
        yield "drum.radius", "above 0 m", drum.radius
    if drum.build_up < 0:
        yield "drum.build_up", "0 m^2/m or more", drum.build_up
    if drum.capacity <= 0:
        yield "drum.capacity", "above 0 m", drum.capacity


def _check_planes(robot: Robot, top: Table) -> None:
    """The pulleys of a planar robot lie in its plane."""
    normal = MOTIONS[robot.motion].normal
    if normal is None:
        return
    name = "xyz"[normal]
    for number, cable in enumerate(robot.cables, 1):
        if cable.pulley is None:
            continue
        axis, axle = cable.pulley.axis, cable.pulley.axle
        if axis[normal]:
            key, expected = cable_key(top, number, "pulley.axis"), f"0 along {name}"
            raise top.error(key, wrong="leaves the plane", expected=expected, got=shown(axis))
        if axle and abs(axle[normal]) != 1:
            key, expected = cable_key(top, number, "pulley.axle"), f"an axle along {name}"
            raise top.error(key, wrong="leaves the plane", expected=expected, got=shown(axle))


def coinciding(anchors: np.ndarray) -> Iterator[tuple[int, int]]:
    """The pairs of anchors (cables, 3) that are in one place, by their indices."""
    near = COINCIDENT * frame_size(anchors)
    for i, j in combinations(range(len(anchors)), 2):
        if math.dist(anchors[i], anchors[j]) <= near:
            yield i, j


def frame_size(anchors: np.ndarray) -> float:
    """The largest side (m) of the box that holds all anchors (cables, 3)."""
    return float(np.ptp(anchors, axis=0).max())


def _check_anchors(robot: Robot, top: Table) -> None:
    near = COINCIDENT * frame_size(robot.anchors)
    waived = "allow_coincident_anchors" in top.values and top.text("allow_coincident_anchors")
    for i, j in coinciding(robot.anchors):
        first, second = robot.cables[i], robot.cables[j]
        same = math.dist(first.attachment, second.attachment) <= near
        if waived and not same:
            continue
        expected = "another place"
        if not same:
            expected += ', or allow_coincident_anchors = "reason"'
        raise top.error(
            f"cable[{j + 1}].anchor",
            wrong=f"coincides with cable[{i + 1}].anchor" + (", attachments too" if same else ""),
            expected=expected,
            got=shown(second.anchor),
        )


def _check_reach(robot: Robot, top: Table) -> None:
    """No attachment enters its pulley, and no drum runs empty, in the grown workspace."""
    if not any(cable.pulley or cable.drum for cable in robot.cables):
        return
    nearest, farthest = reach(robot)
    for i, cable in enumerate(robot.cables):
        if cable.pulley and nearest[i] <= 2 * cable.pulley.radius:
            expected = (
                f"below {nearest[i] / 2:.6g} m, so that no attachment of the grown workspace can "
                "lie inside the pulley"
            )
            key = cable_key(top, i + 1, "pulley.radius")
            raise _wrong(top, key, expected, cable.pulley.radius)
        if cable.drum and cable.drum.capacity < farthest[i] - cable.offset:
            expected = f"at least {farthest[i] - cable.offset:.6g} m, the longest cable"
            key = cable_key(top, i + 1, "drum.capacity")
            raise _wrong(top, key, expected, cable.drum.capacity)


def reach(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """The least and largest distance (m) of each anchor from its attachment, over all positions of
    the grown workspace and the rotations of its corners."""
    corners = corner_poses(robot, margin=robot.workspace.start_error)
    frames = pose_matrix(robot, corners)
    levers = robot.attachments @ np.swapaxes(frames[:, :3, :3], -1, -2)
    box = np.zeros((2, 3))
    box[:, list(robot.free[: robot.translations])] = np.array(robot.position_bounds).T
    # The platform origin that brings the attachment onto the anchor, and the nearest one in reach.
    wanted = robot.anchors - levers
    nearest = np.linalg.norm(np.clip(wanted, *box) - wanted, axis=-1).min(axis=0)
    farthest = np.linalg.norm(frames[:, None, :3, 3] - wanted, axis=-1).max(axis=0)
    return nearest, farthest


def _wrong(top: Table, key: str, expected: str, got: object) -> RobotError:
    return top.error(key, wrong="is out of range", expected=expected, got=shown(got))
