"""The graph of one pass of `dynamics`, and the iteration of two that makes a step.

The midpoint rule: the first pass goes half a step by the rates and accelerations at its start, the
second one a whole step, again from the start, by those halfway. Torques are held meanwhile.
"""

from __future__ import annotations

from solver_ref.dynamics.leg_elimination import Accelerated, accelerations
from solver_ref.dynamics.three_rrr import COORDINATES
from solver_ref.fixed import FLAG
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.iteration import Iteration
from solver_ref.kernels.domain import Kernel
from solver_ref.kernels.dynamics_domain import (
    RATES,
    STABILISE,
    TORQUES,
    DynamicsDomain,
    start_names,
)
from solver_ref.kernels.ports import status_word
from solver_ref.kernels.quarter_turns import QuarterTurnArithmetic
from solver_ref.status import Status

STATE = (*COORDINATES, *RATES)
CARRIED = ("second", "outside", "held", "close")
"""What a pass tells the next one: that it is the second, and what was met on the way: a value out
of range, a pivot that was held, one that is near singular."""


def dynamics_kernel(domain: DynamicsDomain) -> Kernel:
    """The iteration and the graph of its pass."""
    # There are no rotation vectors here.
    m = QuarterTurnArithmetic(domain.profile, tilt=1.0, largest_tilt=1.0)
    spans, formats = domain.spans, domain.formats
    starts = dict(zip(STATE, start_names(STATE), strict=True))
    base = {
        name: m.clamp(m.input(port, formats[port]), *spans[port]) for name, port in starts.items()
    }
    now = {name: m.input(name, formats[port]) for name, port in starts.items()}
    torques = [m.clamp(m.input(name, formats[name]), *spans[name]) for name in TORQUES]
    before = {name: m.input(name, FLAG) for name in CARRIED}
    found = _accelerated(m, domain, now, torques)
    rates = [m.nearest(now[name], "stride") for name in RATES]
    moves = dict(zip(STATE, [*rates, *found.accelerations], strict=True))
    outputs = {
        f"next_{name}": _moved(m, base[name], moves[name], before["second"], domain, name)
        for name in STATE
    }
    results = {name: outputs[f"next_{name}"] for name in STATE} | {"pivot": found.pivot}
    after = {
        "outside": m.any([*_outside(m), before["outside"]]),
        "held": m.any([*m.flagged("singular"), before["held"]]),
        "close": m.any([m.less(found.pivot, domain.near), before["close"]]),
    }
    results |= {"status": _status(m, after)}
    after |= {"second": m.builder.constant(1.0)}
    outputs |= {f"next_{name}": flag for name, flag in after.items()}
    outputs |= results | {"done": before["second"]}
    ports = {name: formats[port] for name, port in starts.items()}
    ports |= {f"next_{name}": form for name, form in ports.items()}
    iteration = Iteration(
        graph=m.builder.graph("dynamics", outputs, ports),
        state=(*STATE, *CARRIED),
        inputs=(*starts.values(), *TORQUES),
        initial=starts | dict.fromkeys(CARRIED, 0),
        done="done",
        results=tuple(results),
        max_passes=2,
    )
    return Kernel("dynamics", domain.robot, domain.profile, iteration.graph, iteration)


def _status(m: TracedArithmetic, met: dict[str, Fixed]) -> Fixed:
    """The status word of what both passes met."""
    faults = m.any([met["outside"], met["held"]])
    return status_word(
        m,
        {
            Status.VALID: m.negation(faults),
            Status.NEAR_SINGULAR: met["close"],
            Status.OUT_OF_RANGE: met["outside"],
            Status.NO_SOLUTION: met["held"],
        },
    )


def _accelerated(
    m: TracedArithmetic, domain: DynamicsDomain, now: dict[str, Fixed], torques: list[Fixed]
) -> Accelerated:
    """What moves the state that a pass has."""
    coordinates = [now[name] for name in COORDINATES[:2]]
    coordinates += [m.nearest(now[name], "angle") for name in COORDINATES[2:]]
    return accelerations(
        m,
        domain.mechanism,
        coordinates,
        [m.nearest(now[name], "speed") for name in RATES],
        torques,
        stabilise=STABILISE,
        bounds=domain.bounds,
    )


def _moved(
    m: TracedArithmetic, base: Fixed, by: Fixed, whole: Fixed, domain: DynamicsDomain, name: str
) -> Fixed:
    """Where half a step, or the whole one, leads from the base at a rate; held to the limits."""
    role = "place" if name in COORDINATES else "rate"
    way = by * m.constant(domain.robot.dynamics.step, "time")
    way = m.nearest(m.select(whole, way, way.scaled(-1)), role)
    return m.clamp(base + way, *domain.spans[f"{name}0"], "moved")


def _outside(m: TracedArithmetic) -> list[Fixed]:
    """Flags of values beyond their limits; a held pivot is none of them."""
    return [flag for name, flags in m.flags.items() if name != "singular" for flag in flags]
