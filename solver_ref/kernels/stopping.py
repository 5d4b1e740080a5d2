"""When and how solves stop: policies for lambda, limits and tolerances of `forward`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from solver_ref.kernels.domain import Domain

ITERATION_LIMIT = 20
LEVEL_LIMIT = 2
"""Most steps of a cold start that hold the attitude."""
LEVEL_DAMPING = 2.0**-8
"""Least lambda while the attitude is held: more cables than positions leave J J^T singular."""
SETTLED_DAMPING = 2.0**-3
"""A step under a larger lambda is short because of it, which proves nothing."""


MISSED = 1.5
"""How far, in quanta, a measured residual may be off."""


class Policy(IntEnum):
    """Policies for lambda, chosen per transfer.

    `MARQUARDT` divides it by 8 on success and multiplies by 8 on failure; `SHRINK_ON_FAILURE` is
    the rule that some texts print: times 0.1 on failure, never changed otherwise. Both go back to
    the best pose on failure; `NONE` (lambda 0) and `FIXED` never go back.
    """

    NONE = 0
    FIXED = 1
    MARQUARDT = 2
    SHRINK_ON_FAILURE = 3


@dataclass(frozen=True)
class Tolerances:
    """When a solve stops (m). `residual` leaves room for `MISSED`."""

    residual: float
    step: float
    limit: float

    @classmethod
    def of(cls, domain: Domain) -> Tolerances:
        """ValueError where the quantum is too coarse for the asked accuracy ever to be met."""
        accuracy, quantum = domain.robot.accuracy.length, 2.0**-domain.profile.pose.bits
        residual = accuracy - MISSED * quantum
        if residual < 2 * quantum:
            raise ValueError(f"no stopping tolerance within {accuracy} m at a quantum of {quantum}")
        return cls(residual, accuracy / 2, domain.robot.accuracy.residual_limit)
