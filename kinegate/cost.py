"""What a design will cost and when its solves stop, before any tool has run."""

from __future__ import annotations

from typing import Any

from hdl.design import Design
from solver_ref.attitude import least_squares
from solver_ref.kernels import KernelKind
from solver_ref.kernels.equilibrium_domain import EquilibriumDomain
from solver_ref.kernels.stopping import Tolerances


def cost_of(design: Design) -> dict[str, Any]:
    """The binder's plan, the cycles and the number formats' quantum, ready for JSON.

    `latency_cycles` is None for `forward`, whose pipeline takes `pipeline_cycles` for each pass.
    `stops_at` are the tolerances (m) of a whole solve: of the residual, or, with more lengths than
    unknowns or a measured attitude, of the scaled step; nothing for what finds no pose. `judged` is
    what `accuracy` and `quantum` are of, and its unit.
    """
    plan, options, kind = design.plan, design.options, design.kind
    return {
        "kernel": options.kernel,
        "ii": design.ii,
        "target": options.target,
        "profile": options.profile,
        "clock_mhz": design.clock_mhz,
        "latency_cycles": design.latency,
        "pipeline_cycles": design.pass_latency,
        "updates_per_s": design.clock_mhz * 1e6 / design.cycles,
        "dsp": plan.dsp,
        "dsp_available": design.target.resources.dsp,
        "dsp_busy": plan.dsp_busy,
        "multiplier_slots": plan.slots,
        "lut_multipliers": plan.lut_multipliers,
        "judged": kind.judged,
        "accuracy": kind.accuracy(design.robot),
        "quantum": kind.quantum(design.kernel),
        "stops_at": _stops_at(design),
    }


def _stops_at(design: Design) -> dict[str, float]:
    if design.kind.judged != KernelKind.judged:
        return {}
    if design.robot.closure == "equilibrium":
        return {"residual": EquilibriumDomain.of(design.domain).tolerances.residual}
    tolerances = Tolerances.of(design.domain)
    if least_squares(design.robot):
        return {"step": tolerances.step}
    return {"residual": tolerances.residual}
