"""The graph of one pass of `rate`, and the iteration over it.

The first pass takes rates back to a twist without damping; where its fuse is blown, a second one
damps. Whatever the twist is, the rates that come out are its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solver_ref.cable import spatial
from solver_ref.fixed import FLAG, Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import SQUARE_FRACTION, TracedArithmetic
from solver_ref.iteration import Iteration
from solver_ref.kernels.domain import Domain, Kernel, pose_formats, pose_inputs, tracer
from solver_ref.kernels.kind import twist_names
from solver_ref.kernels.ports import status_word
from solver_ref.kernels.rate_rows import rate_limits, rate_rows
from solver_ref.profile import Fraction, OrthogonalProfile
from solver_ref.rate import SPEED, RateLimits, Solved, solve_rates
from solver_ref.robot import Robot
from solver_ref.status import Status

WORD = 25
"""Bits of rates and twists: one operand of a multiplier."""
REMAINDER = 28
"""Bits behind the point of rates less the parts that are known."""
TWIST = Format(True, 4, WORD - 4)
"""Of a component of a twist: twice what is declared, for damped and least-squares answers."""
PIVOT = Format(False, 6, SQUARE_FRACTION)
QUIET = ("singular", "unused")
"""Flags that put nothing out of range: the fuse has its own."""
FORTH, BACK = ("given",), ("asked", "answer", "twist")
"""Flags of one way."""


@dataclass(frozen=True)
class RateProfile(OrthogonalProfile):
    """A profile with the role of length rates as they come out."""

    rates: Fraction


def rate_kernel(domain: Domain) -> Kernel:
    """The iteration and the graph of its pass; its words are long in any profile."""
    rates = Fraction(rate_format(rate_limits(domain)).fraction)
    profile = RateProfile.of(domain.profile, remainder=REMAINDER, rates=rates)
    iteration = _iteration(domain, profile)
    return Kernel("rate", domain.robot, profile, iteration.graph, iteration)


def rate_names(robot: Robot) -> tuple[str, ...]:
    """The rates of the joints (m/s, rad/s): `dL1` ... of lengths."""
    return tuple(f"d{name}" for name in robot.joint_names)


def rate_format(limits: RateLimits) -> Format:
    """Of a joint's rate (m/s, rad/s)."""
    integer = math.floor(math.log2(max(limits.joints))) + 2
    return Format(True, integer, WORD - integer)


def _iteration(domain: Domain, profile: RateProfile) -> Iteration:
    robot, limits, names = domain.robot, rate_limits(domain), rate_names(domain.robot)
    m = tracer(robot, profile)
    full = spatial(pose_inputs(m, robot), robot.free)
    form = rate_format(limits)
    twist = [m.clamp(m.input(n, TWIST), -SPEED, SPEED, "given") for n in twist_names(robot)]
    rates = [
        m.clamp(m.input(name, form), -most, most, "asked")
        for name, most in zip(names, limits.joints, strict=True)
    ]
    back, damped = m.input("back", FLAG), m.input("damped", FLAG)
    before = m.input("before", PIVOT)
    at = rate_rows(m, domain, full)
    solved = solve_rates(m, at.rows, at.links(m, rates), damped, limits)
    # No rest is longer than its vector, whose entries' ranges say more.
    least = solved.pivot.into(0.0, PIVOT.hi * PIVOT.quantum, "saturate")
    pivot = m.select(damped, before, least)
    again = m.every(back, solved.blown, m.negation(damped))
    scaled, results = _twist(m, domain, twist, solved, back)
    top = 2.0 ** (math.floor(math.log2(max(limits.rates))) + 1)
    for place, (name, row) in enumerate(zip(names, at.rows, strict=True)):
        link = m.dot_within(row, scaled, top, "answer", "rate")
        rate = at.joint(m, place, link, 2.0 ** (form.integer - 1))
        results[name] = m.nearest(rate, "rates")
    results |= {"pivot": pivot}
    results |= {"status": _status(m, back, m.any([damped, solved.blown, *at.near]))}
    outputs = {"next_damped": again, "next_before": pivot, "done": m.negation(again)}
    formats = {"next_before": PIVOT, "pivot": PIVOT}
    return Iteration(
        graph=m.builder.graph("rate", results | outputs, formats),
        state=("damped", "before"),
        inputs=(*pose_formats(robot, profile), *twist_names(robot), *names, "back"),
        initial={"damped": 0, "before": 0},
        done="done",
        results=tuple(results),
        max_passes=2,
    )


def _twist(
    m: TracedArithmetic, domain: Domain, given: list[Fixed], solved: Solved, back: Fixed
) -> tuple[list[Fixed], dict[str, Fixed]]:
    """The twist, scaled and as it comes out: the one that was given, or found from the rates."""
    robot, length = domain.robot, domain.robot.characteristic_length
    scaled, results = [], {}
    for place, (name, own, found) in enumerate(
        zip(twist_names(robot), given, solved.twist, strict=True)
    ):
        turns = place >= robot.translations
        own_scaled = m.nearest(own * m.constant(length, "unit"), "answer") if turns else own
        found_own = found * m.constant(1 / length, "unit") if turns else found
        found_own = found_own.narrow(TWIST.fraction, "half_even")
        found_own = m.limit(found_own, 2.0 ** (TWIST.integer - 1), "twist")
        scaled.append(m.select(back, found, own_scaled))
        results[name] = m.select(back, found_own, own)
    return scaled, results


def _status(m: TracedArithmetic, back: Fixed, singular: Fixed) -> Fixed:
    """A way that is not taken puts nothing out of range."""
    ways = [m.every(back, m.any(m.flagged(*BACK))), m.any(m.flagged(*FORTH))]
    ways[1] = m.every(m.negation(back), ways[1])
    quiet = (*QUIET, *BACK, *FORTH)
    every = [flag for name, flags in m.flags.items() if name not in quiet for flag in flags]
    outside = m.any([*every, *ways])
    return status_word(
        m,
        {
            Status.VALID: m.negation(outside),
            Status.NEAR_SINGULAR: singular,
            Status.OUT_OF_RANGE: outside,
        },
    )
