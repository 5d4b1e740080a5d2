"""What kernels share: length ports, the pose after a step, the status word."""

from __future__ import annotations

import math

from solver_ref.attitude import attitude_names
from solver_ref.fixed import Format, next_power
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.corrections import condition_inputs, corrected, is_corrected
from solver_ref.kernels.domain import Domain, estimate_limits
from solver_ref.robot import Robot
from solver_ref.status import Status


def length_inputs(m: TracedArithmetic, domain: Domain) -> list[Fixed]:
    """What the joints measure, limited to what the grown workspace allows (flag `length`).

    Lengths of cables come from the ports of the encoders, and of tensions and warming where cables
    have any.
    """
    robot, fmt = domain.robot, domain.encoder_format()
    shown = [
        m.clamp(m.input(name, fmt), low, high, "length")
        for name, (low, high) in zip(robot.joint_names, domain.encoder, strict=True)
    ]
    if not (is_corrected(robot) or domain.loaded):
        return shown
    lengths = corrected(m, robot, shown, condition_inputs(m, robot), domain.cables(m))
    return [
        m.clamp(x, low, high, "length")
        for x, (low, high) in zip(lengths, domain.reach, strict=True)
    ]


def attitude_inputs(m: TracedArithmetic, domain: Domain) -> list[Fixed]:
    """The ports of a measured rotation; none where the closure has none."""
    return [m.input(name, attitude_format(domain)) for name in attitude_names(domain.robot)]


def attitude_format(domain: Domain) -> Format:
    """Of a measured angle: signed, as wide as the grown workspace turns, at the pose's quantum."""
    top = domain.robot.tilt_bound + domain.robot.workspace.start_error[1]
    return Format(True, math.floor(math.log2(top)) + 2, domain.profile.pose.bits)


def updated_pose(
    m: TracedArithmetic, robot: Robot, pose: list[Fixed], scaled: list[Fixed]
) -> list[Fixed]:
    """pose - step, rounded to the pose's quantum and held where estimates may go (flag `moved`)."""
    moved = []
    limits = estimate_limits(robot)
    for i, (x, change, (low, high)) in enumerate(zip(pose, scaled, limits, strict=True)):
        turns = i >= robot.translations
        unit = robot.characteristic_length if turns else 1.0
        change = m.limit(change, next_power(unit * (high - low)), "moved")
        if turns:
            change = change * m.constant(1 / unit, "unit")
        moved.append(m.clamp(m.nearest(x - change, "pose"), low, high, "moved"))
    return moved


def outside(m: TracedArithmetic) -> Fixed:
    """Flag: some value left its limits (a held pivot does not count, nor what nobody reads).

    What is known last, that the new pose was held, joins last: it sets the latency.
    """
    early = [flag for name, flags in m.flags.items() if name not in APART for flag in flags]
    return m.any([m.any(early), m.any(m.flagged("moved"))])


APART = ("moved", "singular", "unused")


def largest_residual(m: TracedArithmetic, residuals: list[Fixed]) -> Fixed:
    """Of residuals by their size (m)."""
    return m.maximum([m.absolute(e) for e in residuals])


def status_word(m: TracedArithmetic, bits: dict[Status, Fixed]) -> Fixed:
    """The status as one integer: each flag at the place of its bit."""
    terms = [flag.scaled(int(bit).bit_length() - 1) for bit, flag in bits.items()]
    return m.total(terms)
