"""What graphs of the closure `equilibrium` share: ports, one step with its tensions, its errors."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass

from solver_ref.equilibrium_equations import Balance, balance
from solver_ref.equilibrium_step import LEAST_SHARE, EquilibriumStep, equilibrium_step
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.geometry import LEVER_ROOM
from solver_ref.health import HIDDEN, equilibrium_radius
from solver_ref.kernels.corrections import (
    WARMING,
    CableConditions,
    condition_inputs,
    corrected,
    is_corrected,
    warms,
)
from solver_ref.kernels.domain import estimate_limits, pose_formats, tracer
from solver_ref.kernels.equilibrium_domain import NOISE, EquilibriumDomain
from solver_ref.kernels.forward_health import radius_format
from solver_ref.kernels.ports import largest_residual
from solver_ref.statics import weight_of

ERROR_BITS = 2
"""Integer bits of what is left of lengths and balance (m)."""

CARRIES = 2 * LEAST_SHARE
"""A cable with a smaller share of the densities carries nothing."""

HELD = ("step", "right_side", "solution", "singular", "moved", "tension")
"""Flags of values that were held inside a step, which then proves nothing."""


@dataclass(frozen=True)
class Stepped:
    """What a step finds: how far the pose that it begins at is from the lengths and from balance
    (m), and behind it the pose, the densities (1/m) and the tensions (N). `size`: the longest of
    its components (scaled, m); `pivot`: the smallest of the densities; `radius` (m): the exact
    position is nearer to the pose, where that is `known`. Flag `slack`: a cable pulls less than its
    bound, or nothing."""

    residuals: list[Fixed]
    residual: Fixed
    unbalanced: Fixed
    size: Fixed
    pose: list[Fixed]
    densities: list[Fixed]
    tensions: list[Fixed]
    slack: Fixed
    pivot: Fixed
    radius: Fixed
    known: Fixed


class _Saturating(TracedArithmetic):
    """On the way to an equilibrium matrices need not be positive definite: what would bound an
    elimination then is no theorem, and values saturate (flag `step`)."""

    def bounded(self, value: Fixed, limit: float) -> Fixed:
        return self.limit(value, limit, "step")


class EquilibriumGraph:
    """The parts of a graph, and the formats of its ports."""

    def __init__(self, domain: EquilibriumDomain) -> None:
        self.own, self.domain, self.robot = domain, domain.domain, domain.domain.robot
        self.m = tracer(self.robot, domain.profile, _Saturating)
        self.finer = copy(self.m)  # the same graph and flags
        self.finer.profile = domain.finer
        self.traced = self.domain.cables(self.m)
        self.cables = range(1, len(self.robot.cables) + 1)
        self.error_format = Format(False, ERROR_BITS, domain.profile.pose.bits + 1)
        self.damping_format = Format(False, 1, domain.profile.damping.bits)
        self.pose_formats = pose_formats(self.robot, domain.profile)
        self.result_formats = dict(self.pose_formats)
        self.result_formats |= {f"T{i}": domain.tension_format() for i in self.cables}
        self.result_formats |= dict.fromkeys(("residual", "unbalanced"), self.error_format)

    def lengths(self, tensions: list[Fixed]) -> list[Fixed]:
        """The lengths of the cables (m), corrected for the tensions that sensors measure, else for
        these; flag `length` beyond what the grown workspace allows."""
        m, robot, form = self.m, self.robot, self.domain.encoder_format()
        shown = [
            m.clamp(m.input(f"L{i}", form), low, high, "length")
            for i, (low, high) in zip(self.cables, self.domain.encoder, strict=True)
        ]
        if not (is_corrected(robot) or self.domain.loaded):
            return shown
        if "tension" in robot.sensors:
            conditions = condition_inputs(m, robot)
        else:
            pairs = zip(robot.cables, tensions, strict=True)
            pulls = tuple(x if cable.stiffness else None for cable, x in pairs)
            conditions = CableConditions(pulls, m.input("dT", WARMING) if warms(robot) else None)
        lengths = corrected(m, robot, shown, conditions, self.traced)
        return [
            m.clamp(x, low, high, "length")
            for x, (low, high) in zip(lengths, self.domain.reach, strict=True)
        ]

    def step(
        self, pose: list[Fixed], densities: list[Fixed], lengths: list[Fixed], damping: Fixed
    ) -> Stepped:
        m, own, robot = self.m, self.own, self.robot
        room = LEVER_ROOM if self.domain.loaded else 0.0
        ways = (own.total, self.domain.wraps, self.traced, room)
        at = balance(m, robot, pose, densities, lengths, *ways)
        fraction = own.profile.pose.bits + 3
        step = equilibrium_step(
            m, robot, pose, densities, at, damping, own.bounds, fraction, self.finer
        )
        form = own.tension_format()
        tensions = [
            m.clamp(self._tension(p, x), 0.0, form.hi * form.quantum, "tension")
            for p, x in zip(step.densities, lengths, strict=True)
        ]
        residual = self._error(at.residuals)
        unbalanced = self._error([*at.force, *at.moment])
        radius, known = self._radius(at, step, lengths, residual, damping)
        top = self.error_format.hi * self.error_format.quantum
        return Stepped(
            residuals=[m.nearest(e, "balance").into(-top, top, "saturate") for e in at.residuals],
            residual=residual,
            unbalanced=unbalanced,
            size=m.maximum([m.absolute(x) for x in step.scaled]),
            pose=self._pose(step.pose),
            densities=list(step.densities),
            tensions=tensions,
            slack=m.any(self._slack(tensions, step.densities, at.total)),
            pivot=step.length.pivot,
            radius=radius,
            known=known,
        )

    def _radius(
        self,
        at: Balance,
        step: EquilibriumStep,
        lengths: list[Fixed],
        residual: Fixed,
        damping: Fixed,
    ) -> tuple[Fixed, Fixed]:
        """The error radius (m) of a step that counts as converged, and whether it is one.

        lambda is then within its tolerance, and adds it times the square of the longest cable to a
        pivot at most.
        """
        m, limits, form = self.m, self.own.tolerances, radius_format(self.domain)
        missed = NOISE * 2.0**-self.domain.profile.pose.bits
        error = m.clamp(residual + missed, 0.0, missed + limits.residual, "unused")
        found, gain = equilibrium_radius(m, at, step, lengths, error, self.own.bounds)
        damping = m.clamp(damping, 0.0, limits.damping, "unused")
        most = 2.0 ** math.floor(
            math.log2(HIDDEN / max(high for _, high in self.domain.reach) ** 2)
        )
        found = (found.narrow(form.fraction) + form.quantum).into(
            0.0, form.hi * form.quantum, "saturate"
        )
        return found, m.negation(m.any([*m.flagged("unknown"), m.less(most, gain * damping)]))

    def _error(self, values: list[Fixed]) -> Fixed:
        """The largest, in the word of an error, whose end it may well reach."""
        form = self.error_format
        present = [x for x in values if isinstance(x, Fixed)]
        return self.m.nearest(largest_residual(self.m, present), "balance").into(
            0.0, form.hi * form.quantum, "saturate"
        )

    def _tension(self, density: Fixed, length: Fixed) -> Fixed:
        """T = p L m |g| (N), as `solver_ref.equilibrium_step.tensions_of`, finer."""
        m = self.m
        product = m.nearest(density * m.nearest(length, "unit"), "unit")
        return m.nearest(product * m.constant(weight_of(self.robot), "scale"), "tension")

    def _pose(self, pose: list[Fixed]) -> list[Fixed]:
        """At the pose's quantum, held where estimates may go (flag `moved`)."""
        m, limits = self.m, estimate_limits(self.robot)
        return [
            m.clamp(m.nearest(x, "pose"), low, high, "moved")
            for x, (low, high) in zip(pose, limits, strict=True)
        ]

    def _slack(self, tensions: list[Fixed], densities: list[Fixed], total: Fixed) -> list[Fixed]:
        """Flags: a cable pulls less than its bound, or carries nothing."""
        m = self.m
        least = m.round(CARRIES * total, "density")
        flags = [m.less(p, least) for p in densities]
        for cable, x in zip(self.traced, tensions, strict=True):
            if cable.tension_min:
                flags.append(m.less(x, m.constant(cable.tension_min, "tension")))
        return flags

    def at_most(self, value: Fixed, limit: float) -> Fixed:
        """Flag: value <= limit, the limit rounded to floor at the value's quantum."""
        fraction = value.range.fraction
        floor = math.floor(math.ldexp(limit, fraction)) * 2.0**-fraction
        return self.m.negation(self.m.less(floor, value))
