"""`python -m bench.kj9_steps [STEP]`: fixed steps on the free swing of KJ9, and hardware.

Each method in float64 with the given step (default 100 us), then the bit-true kernel `dynamics`,
its state fed back, with its own. Errors are those against SciPy's DOP853 after two seconds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np

from sim.twin import compile_twin
from solver_ref.arithmetic import FloatArithmetic
from solver_ref.dynamics.integrators import STEPS, State
from solver_ref.dynamics.kj9 import KJ9, START
from solver_ref.dynamics.leg_elimination import EliminationBounds, accelerations
from solver_ref.dynamics.motion import simulate
from solver_ref.dynamics.planar_system import PlanarSystem, energy
from solver_ref.kernels import KERNELS
from solver_ref.kernels.dynamics import POSE
from solver_ref.kernels.dynamics_domain import STABILISE, TORQUES, start_names
from solver_ref.kernels.dynamics_graph import STATE
from solver_ref.kernels.kind import stack
from solver_ref.robot_file import load
from solver_ref.status import Status

SECONDS, USUAL_STEP = 2.0, 1e-4
FIGURES = ("energy", "gap (m)", "place (m)", "angle (rad)")
SYSTEM = PlanarSystem(KJ9)


class _Scalars(FloatArithmetic):
    """Plain numbers, which take a fraction of the time of arrays with one entry."""

    def sine_cosine(self, angle: float, role: str) -> tuple[float, float]:
        return math.sin(angle), math.cos(angle)

    def maximum(self, values: list[float]) -> float:
        return max(values)

    def minimum(self, values: list[float]) -> float:
        return min(values)


def reference() -> State:
    """Coordinates and rates (9,) after the swing."""
    q = SYSTEM.coordinates(np.array(START))
    motion = simulate(SYSTEM, q, np.zeros(9), duration=SECONDS, tolerance=1e-10)
    return motion.q[-1], motion.v[-1]


def float_swing(method: str, step: float) -> State:
    """Coordinates and rates (N, 9) after every step (s) of a method."""
    m, still = _Scalars(), [0.0] * len(SYSTEM.motors)

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        state = (q.tolist(), v.tolist(), still)
        bounds = EliminationBounds()
        return np.array(
            accelerations(m, KJ9, *state, stabilise=STABILISE, bounds=bounds).accelerations
        )

    state, rows = (SYSTEM.coordinates(np.array(START)), np.zeros(9)), []
    for _ in range(round(SECONDS / step)):
        state = STEPS[method](acceleration, *state, step)
        rows.append(np.concatenate(state))
    q, v = np.split(np.array(rows), 2, axis=1)
    return q, v


def hardware_swing() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates and rates (N, 9) and status (N,) of the bit-true kernel, its state fed back."""
    robot, kind = load("kj9"), KERNELS["dynamics"]
    iteration = kind.trace(kind.domain(robot, "fine", loaded=False)).iteration
    starts = start_names(STATE)
    twin = compile_twin(iteration, feedback=dict(zip(starts, STATE, strict=True)))
    columns = {name: np.array([x]) for name, x in zip(POSE, START, strict=True)}
    given = kind.port_values(robot, columns, None)
    state = twin.start({name: int(twin.inputs[name].encode(given[name])[0]) for name in starts})
    still = np.zeros(round(SECONDS / robot.dynamics.step), np.int64)
    codes = twin.advance(state, dict.fromkeys(TORQUES, still))
    values = stack({name: twin.outputs[name].decode(codes[name]) for name in STATE}, STATE)
    q, v = np.split(values, 2, axis=1)
    return q, v, codes["status"]


def figures(q: np.ndarray, v: np.ndarray, exact: State) -> dict[str, float]:
    """Of a swing (N, 9): change of energy over the largest kinetic one, largest gap (m), where the
    last place (m) and angle (rad) are off."""
    total = energy(KJ9, q, v)
    off = np.abs(q[-1] - exact[0])
    kinetic = total - energy(KJ9, q, np.zeros_like(v))
    found = (
        np.ptp(total) / kinetic.max(),
        np.abs(SYSTEM.gaps(q)).max(),
        off[:2].max(),
        off[2:].max(),
    )
    return dict(zip(FIGURES, map(float, found), strict=True))


def rows(step: float, exact: State) -> Iterator[tuple[str, dict[str, float]]]:
    """Every method and the hardware, by what it is."""
    for method in STEPS:
        yield f"{method}, {1e6 * step:g} us", figures(*float_swing(method, step), exact)
    q, v, status = hardware_swing()
    if not (status == Status.VALID).all():
        raise SystemExit("the hardware's swing is not valid throughout")
    own = 1e6 * load("kj9").dynamics.step
    yield f"hardware (midpoint), {own:g} us", figures(q, v, exact)


def main() -> None:
    step = float(sys.argv[1]) if len(sys.argv) > 1 else USUAL_STEP
    print(f"{'':<32}" + "".join(f"{name:>14}" for name in FIGURES))
    for name, found in rows(step, reference()):
        print(f"{name:<32}" + "".join(f"{value:14.2e}" for value in found.values()), flush=True)


if __name__ == "__main__":
    main()
