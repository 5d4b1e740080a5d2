"""What kernels share: length ports, the pose after a step, the status word."""

from __future__ import annotations

import math

from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.domain import Domain, estimate_limits
from solver_ref.robot import Robot
from solver_ref.status import Status


def length_inputs(m: TracedArithmetic, domain: Domain) -> list[Fixed]:
    """The length ports, limited to what the grown workspace allows (flag `length`)."""
    fmt = domain.length_format()
    return [
        m.clamp(m.input(f"L{i + 1}", fmt), low, high, "length")
        for i, (low, high) in enumerate(domain.reach)
    ]


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
