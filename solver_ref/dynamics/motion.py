"""The motion of a mechanism with closed loops over time, which stops before it is meaningless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import integrate

from solver_ref.dynamics.closed_loop import Baumgarte, System, saddle_matrix, solved

CONDITION_LIMIT = 1e10
"""Beyond this condition number of the saddle-point matrix nothing is computed any more."""

METHODS = {
    "DOP853": integrate.DOP853,
    "RK45": integrate.RK45,
    "Radau": integrate.Radau,
    "BDF": integrate.BDF,
    "LSODA": integrate.LSODA,
}
"""SciPy's integrators."""

Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
"""The motors' torques at a time (s), coordinates and rates."""


@dataclass(frozen=True)
class Stop:
    """Why a motion ended early: the condition number that was met, and when (s)."""

    time: float
    condition: float


@dataclass(frozen=True)
class Motion:
    """Times (N,), coordinates and rates (N, n) after every step; `condition`: the largest met."""

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    condition: float
    stop: Stop | None


class _Singular(Exception):
    """The guard has spoken; it ends a step from within the integrator."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.stop = stop


class _Guarded:
    """The right-hand side of the differential equation, with its guard."""

    def __init__(self, system: System, torque: Torque | None, stabilise: Baumgarte) -> None:
        self.system, self.torque, self.stabilise = system, torque, stabilise
        self.condition = 0.0

    def __call__(self, time: float, state: np.ndarray) -> np.ndarray:
        q, v = np.split(state, 2)
        matrix = saddle_matrix(self.system, q)
        condition = float(np.linalg.cond(matrix))
        if not condition <= CONDITION_LIMIT:
            raise _Singular(Stop(time, condition))
        self.condition = max(self.condition, condition)
        torque = None if self.torque is None else self.torque(time, q, v)
        found = solved(self.system, matrix, q, v, torque, stabilise=self.stabilise)
        return np.concatenate([v, found[0]])


def simulate(
    system: System,
    q: np.ndarray,
    v: np.ndarray,
    *,
    duration: float,
    torque: Torque | None = None,
    stabilise: Baumgarte | None = None,
    method: str = "DOP853",
    tolerance: float = 1e-10,
) -> Motion:
    """The motion from q, v (n,) over `duration` (s), without torques if none are given.

    A singularity ends it, and `stop` records it; so does a step that the integrator cannot make,
    with the condition number where it gave up. `tolerance`: relative and absolute, of each step.
    """
    guarded = _Guarded(system, torque, stabilise or Baumgarte())
    state = np.concatenate([q, v])
    rows, stop = [(0.0, state)], None
    try:
        solver = METHODS[method](guarded, 0.0, state, duration, rtol=tolerance, atol=tolerance)
        while solver.status == "running" and stop is None:
            solver.step()
            if solver.status == "failed":
                last = np.linalg.cond(saddle_matrix(system, solver.y[: len(q)]))
                stop = Stop(float(solver.t), float(last))
            else:
                rows.append((float(solver.t), solver.y.copy()))
    except _Singular as singular:
        stop = singular.stop
    times, states = zip(*rows, strict=True)
    split = np.split(np.array(states), 2, axis=1)
    return Motion(np.array(times), *split, guarded.condition, stop)
