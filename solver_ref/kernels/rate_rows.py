"""What `rate` solves with: scaled rows by the twist, and what a joint's rate is as one of its link.

The joints of cables are their lengths. Of loops the rows are those of A, and a link's rate is that
of its joint times -B.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver_ref.arithmetic import is_zero
from solver_ref.cable import rotation
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.geometry import LEVER_ROOM
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.loop_joints import PosedLoops, posed_loops
from solver_ref.kernels.unit_rows import unit_rows, within_word
from solver_ref.mechanisms import loops_of
from solver_ref.rate import RateLimits


@dataclass(frozen=True)
class RateRows:
    """Scaled rows (no unit), one for each joint; `loops` where the joints are no lengths."""

    rows: list[list[Fixed]]
    limits: RateLimits
    loops: PosedLoops | None = None

    @property
    def near(self) -> list[Fixed]:
        """Flags of poses near the boundary of the reach."""
        return self.loops.near if self.loops else []

    def links(self, m: TracedArithmetic, rates: list[Fixed]) -> list[Fixed]:
        """The links' rates (m/s) of those of joints; flag `asked` where one is beyond its limit."""
        if self.loops is None:
            return rates
        found = []
        for q, slope, top in zip(rates, self.loops.slopes, self.limits.rates, strict=True):
            found.append(m.clamp(m.nearest(-(q * slope), "answer"), -top, top, "asked"))
        return found

    def joint(self, m: TracedArithmetic, place: int, link: Fixed, size: float) -> Fixed:
        """The rate of a joint by that of its link, within +-size; flag `rate` where it is not."""
        if self.loops is None:
            return link
        return self.loops.rate(m, place, link, size, "answer", "rate")


def rate_rows(m: TracedArithmetic, domain: Domain, full: list[Fixed]) -> RateRows:
    """The rows at a pose in spatial coordinates."""
    robot, turn, limits = domain.robot, rotation(m, full[3:]), rate_limits(domain)
    if loops_of(robot) is None:
        return RateRows(unit_rows(m, domain, full[:3], turn), limits)
    loops = posed_loops(m, domain, full, turn)
    scale = m.constant(1 / robot.characteristic_length, "unit")
    rows = []
    for slopes in loops.by_twist:
        scaled = [x if k < 3 or is_zero(x) else x * scale for k, x in enumerate(slopes)]
        free = zip(robot.free, limits.entries, strict=True)
        rows.append([within_word(m, scaled[k], size) for k, size in free])
    return RateRows(rows, limits, loops)


def rate_limits(domain: Domain) -> RateLimits:
    """Of any geometry that the hardware can have."""
    return RateLimits.of(domain.robot, LEVER_ROOM if domain.loaded else 0.0)
