"""Kernels: a robot, a profile and the equations become one graph with named ports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from solver_ref import graph as g
from solver_ref.bounds import MARGIN, solve_bounds
from solver_ref.cable import cable_state, rotation, spatial, squared_length
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.iteration import Iteration
from solver_ref.profile import Profile
from solver_ref.robot import Robot
from solver_ref.status import Status
from solver_ref.step import SolveBounds, evaluate, solve_step

SHORTEST = 2.0**-6
"""A length below this share of the largest is out of range even where a cable could vanish."""


@dataclass(frozen=True)
class Kernel:
    """What hardware is made of: the graph, and the robot and profile it was traced for."""

    name: str
    robot: Robot
    profile: Profile
    graph: g.Graph
    iteration: Iteration | None = None


@dataclass(frozen=True)
class Domain:
    """The declared inputs: coordinates and lengths within these limits, formats that hold them."""

    robot: Robot
    profile: Profile
    bounds: SolveBounds
    reach: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, robot: Robot, profile_name: str) -> Domain:
        bounds = solve_bounds(robot)
        profile = Profile.choose(
            profile_name,
            quantum=largest_quantum(robot, bounds),
            reach=largest_component(robot),
            lever=longest_lever(robot),
        )
        m = tracer(robot, profile)
        full = spatial(pose_inputs(m, robot), robot.free)
        turn = rotation(m, full[3:])
        spans = []
        for cable in robot.cables:
            vector = cable_state(m, full[:3], turn, cable.anchor, cable.attachment).vector
            square = squared_length(m, vector).range
            low, high = (
                math.sqrt(max(x, 0) * 2.0**-square.fraction) for x in (square.lo, square.hi)
            )
            spans.append((max(low, high * SHORTEST), high))
        return cls(robot, profile, bounds, tuple(spans))

    def length_format(self) -> Format:
        top = max(high for _, high in self.reach)
        return Format(False, math.floor(math.log2(top)) + 1, self.profile.pose.bits)


def tracer(robot: Robot, profile: Profile) -> TracedArithmetic:
    largest = robot.tilt_bound + robot.workspace.start_error[1]
    return TracedArithmetic(profile, tilt=robot.tilt_bound, largest_tilt=largest)


def largest_quantum(robot: Robot, bounds: SolveBounds) -> float:
    """The coarsest quantum that the asked accuracy allows (m and rad).

    It moves no attachment by more than a quarter of the accuracy; with more lengths than unknowns
    it is also so small that half the accuracy remains after the least-squares step has amplified a
    quantum of residual.
    """
    accuracy = robot.accuracy.length
    quantum = accuracy / 4 / max(1.0, longest_lever(robot))
    if len(robot.cables) > len(robot.free):
        return min(quantum, accuracy / 2 * MARGIN / bounds.step)
    return quantum


def longest_lever(robot: Robot) -> float:
    """The largest distance of an attachment from the platform origin (m)."""
    return max(math.hypot(*cable.attachment) for cable in robot.cables)


def largest_component(robot: Robot) -> float:
    """The largest component of any cable vector over the grown workspace (m)."""
    box = dict(zip(robot.free, estimate_limits(robot), strict=True))
    largest = 0.0
    for cable in robot.cables:
        lever = math.hypot(*cable.attachment)
        for axis in range(3):
            ends = box.get(axis, (0.0, 0.0))
            largest = max(largest, *(abs(end - cable.anchor[axis]) + lever for end in ends))
    return largest


def coordinate_limits(robot: Robot) -> list[tuple[float, float]]:
    """The grown workspace, coordinate by coordinate (m, rad)."""
    tilt = (-robot.tilt_bound, robot.tilt_bound)
    return [*robot.position_bounds, *[tilt] * robot.rotations]


def estimate_limits(robot: Robot) -> list[tuple[float, float]]:
    """Where estimates may go: the grown workspace and one start error more on each side.

    The minimum-norm answer to a start in the grown workspace lies within a start error of that
    start, so this is also where the answers of under-determined robots count as in range.
    """
    distance, angle = robot.workspace.start_error
    margins = [distance] * robot.translations + [angle] * robot.rotations
    return [
        (low - margin, high + margin)
        for (low, high), margin in zip(coordinate_limits(robot), margins, strict=True)
    ]


def pose_inputs(m: TracedArithmetic, robot: Robot) -> list[Fixed]:
    """The pose ports, held where estimates may go (flag `pose`); `beyond` the grown workspace."""
    formats, pose = pose_formats(robot, m.profile), []
    limits = zip(coordinate_limits(robot), estimate_limits(robot), strict=True)
    for name, (declared, (low, high)) in zip(robot.coordinates, limits, strict=True):
        port = m.input(name, formats[name])
        m.flag_outside(port, *declared, "beyond")
        pose.append(m.clamp(port, low, high, "pose"))
    return pose


def pose_formats(robot: Robot, profile: Profile) -> dict[str, Format]:
    """The port format of every coordinate: signed, as wide as an estimate needs."""
    return {
        name: Format(True, math.floor(math.log2(max(map(abs, limits)))) + 2, profile.pose.bits)
        for name, limits in zip(robot.coordinates, estimate_limits(robot), strict=True)
    }


def length_inputs(m: TracedArithmetic, domain: Domain) -> list[Fixed]:
    """The length ports, limited to what the grown workspace allows (flag `length`)."""
    fmt = domain.length_format()
    return [
        m.clamp(m.input(f"L{i + 1}", fmt), low, high, "length")
        for i, (low, high) in enumerate(domain.reach)
    ]


def step_kernel(domain: Domain) -> Kernel:
    """`step`: pose estimate, lengths, lambda -> better estimate, residual, smallest pivot."""
    robot, profile = domain.robot, domain.profile
    m = tracer(robot, profile)
    pose = pose_inputs(m, robot)
    lengths = length_inputs(m, domain)
    damping = m.input("lambda", Format(False, 1, profile.damping.bits))
    damping = m.clamp(damping, 0.0, 1.0, "lambda")
    at = evaluate(m, robot, pose, lengths)
    step = solve_step(m, at, damping, domain.bounds, profile.pose.bits + 3)
    moved = updated_pose(m, robot, pose, step.scaled)
    residual = largest_residual(m, at.residuals)
    out = outside(m)
    status = {
        Status.VALID: m.negation(out),
        Status.NEAR_SINGULAR: m.any(m.flags.get("singular", [])),
        Status.OUT_OF_RANGE: out,
    }
    outputs = dict(zip(robot.coordinates, moved, strict=True))
    outputs |= {"residual": residual, "pivot": step.pivot, "status": status_word(m, status)}
    graph = m.builder.graph("step", outputs, pose_formats(robot, profile))
    return Kernel("step", robot, profile, graph)


def updated_pose(
    m: TracedArithmetic, robot: Robot, pose: list[Fixed], scaled: list[Fixed]
) -> list[Fixed]:
    """pose - step, rounded to the pose's quantum and held where estimates may go (flag `moved`)."""
    moved = []
    limits = estimate_limits(robot)
    for i, (x, change, (low, high)) in enumerate(zip(pose, scaled, limits, strict=True)):
        turns = i >= robot.translations
        unit = robot.characteristic_length if turns else 1.0
        change = m.limit(change, 2.0 ** math.ceil(math.log2(unit * (high - low))), "moved")
        if turns:
            change = change * m.constant(1 / unit, "unit")
        moved.append(m.clamp(m.nearest(x - change, "pose"), low, high, "moved"))
    return moved


def outside(m: TracedArithmetic) -> Fixed:
    """Flag: some value left its limits (a held pivot does not count).

    What is known last, that the new pose was held, joins last: it sets the latency.
    """
    early = [flag for name, flags in m.flags.items() if name not in LATE for flag in flags]
    return m.any([m.any(early), m.any(m.flags.get("moved", []))])


LATE = ("moved", "singular")


def largest_residual(m: TracedArithmetic, residuals: list[Fixed]) -> Fixed:
    return m.maximum([m.absolute(e) for e in residuals])


def status_word(m: TracedArithmetic, bits: dict[Status, Fixed]) -> Fixed:
    """The status as one integer: each flag at the place of its bit."""
    terms = [flag.scaled(int(bit).bit_length() - 1) for bit, flag in bits.items()]
    return m.total(terms)


def lengths_kernel(domain: Domain) -> Kernel:
    """`lengths`: pose -> cable lengths and the geometric Jacobian's unit rows [u, r x u]."""
    robot, profile = domain.robot, domain.profile
    m = tracer(robot, profile)
    full = spatial(pose_inputs(m, robot), robot.free)
    turn = rotation(m, full[3:])
    lengths, rows = {}, {}
    for number, (cable, reach) in enumerate(zip(robot.cables, domain.reach, strict=True), 1):
        state = cable_state(m, full[:3], turn, cable.anchor, cable.attachment)
        square = squared_length(m, state.vector)
        square = m.clamp(square, reach[0] ** 2, reach[1] ** 2, "length")
        root, inverse = m.square_root(square, "unit")
        lengths[f"L{number}"] = m.proven(m.nearest(root, "pose"), reach[1] * (1 + 2.0**-20))
        unit = [x * inverse if x else 0 for x in state.vector]
        unit = [m.round(x, "unit") for x in unit]
        turns = ((1, 2), (2, 0), (0, 1))
        lever = [m.round(x, "unit") for x in state.lever]
        moment = [m.round(lever[j] * unit[k] - lever[k] * unit[j], "unit") for j, k in turns]
        row = [*unit, *moment]
        for index, name in zip(robot.free, robot.coordinates, strict=True):
            rows[f"J{number}_{name}"] = row[index]
    out = outside(m)
    status = {Status.VALID: m.negation(out), Status.OUT_OF_RANGE: out}
    outputs = lengths | rows | {"status": status_word(m, status)}
    formats = dict.fromkeys(lengths, domain.length_format())
    return Kernel("lengths", robot, profile, m.builder.graph("lengths", outputs, formats))


KERNELS: dict[str, Callable[[Domain], Kernel]] = {
    "lengths": lengths_kernel,
    "step": step_kernel,
}
