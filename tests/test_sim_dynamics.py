"""KJ9 in hardware: every bit and every cycle, faster than real time, and two seconds of it."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from robot_kinds import built_in

from bench import kj9_steps as bench
from hdl.design import Design
from hdl.options import Options
from sim.bench import Simulation, simulate
from sim.vectors import golden_vectors
from solver_ref.dynamics.closed_loop import completed
from solver_ref.dynamics.integrators import stepped
from solver_ref.kernels import KERNELS
from solver_ref.kernels.dynamics_domain import STABILISE
from solver_ref.robot import Robot
from solver_ref.status import Status

SEED = 11
ROBOT = built_in("kj9")


def run(folder, robot: Robot, count: int) -> Simulation:
    design = Design(robot, Options(kernel="dynamics", ii=96))
    file = folder / f"{design.name}.v"
    file.write_text(design.verilog)
    vectors = golden_vectors(design, count, SEED)
    return simulate(design, vectors, verilog=file, simulator="icarus", directory=folder)


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
@pytest.mark.parametrize(
    ("accuracy", "count"), [(2.0, 6), pytest.param(None, 50, marks=pytest.mark.soak)]
)
def test_steps_are_bit_exact(tmp_path, accuracy: float | None, count: int) -> None:
    """Coarse words make a design that is quick to simulate."""
    asked = ROBOT.dynamics if accuracy is None else replace(ROBOT.dynamics, accuracy=accuracy)
    seen = run(tmp_path, replace(ROBOT, dynamics=asked), count)
    assert seen.passed, f"seed {SEED}: {seen}"
    assert seen.max_error["rad/s^2"] <= asked.accuracy


def test_a_step_takes_less_than_it_lasts() -> None:
    """One mechanism needs its state back before it goes on: 100 kHz leave 1,200 cycles for that."""
    design = Design(ROBOT, Options(kernel="dynamics", ii=KERNELS["dynamics"].usual_ii))
    cycles = design.timing(np.array([2])).latency[0]
    assert cycles <= design.clock_mhz * 1e6 * ROBOT.dynamics.step
    assert ROBOT.dynamics.step <= 1e-5


def test_a_free_swing_of_two_seconds_is_that_of_scipy() -> None:
    q, v, status = bench.hardware_swing()
    assert (status == Status.VALID).all()
    found = bench.figures(q, v, bench.reference())
    most = dict(zip(bench.FIGURES, (4e-6, 1e-7, 1e-6, 1e-5), strict=True))
    assert all(found[name] <= most[name] for name in most), found
    # One leg passes through its straight pose on the way, where the platform's coordinates alone
    # say nothing of the motion.
    elbow = q[:, 7] - q[:, 4]
    assert elbow.min() < 0 < elbow.max()


def test_the_midpoint_rule_is_of_second_order() -> None:
    q = bench.SYSTEM.coordinates(np.array([0.03, -0.1, 0.2]))
    v, torque = completed(bench.SYSTEM, q, np.array([0.3, -0.2, 4.0]), np.zeros(3))[0], np.ones(3)

    def after(steps: int) -> np.ndarray:
        state, h = (q, v), 0.02 / steps
        for _ in range(steps):
            state = stepped(bench.SYSTEM, *state, torque, h, stabilise=STABILISE)
        return np.concatenate(state)

    exact = after(512)
    ratio = np.abs(after(16) - exact).max() / np.abs(after(32) - exact).max()
    assert 3.5 < ratio < 4.5
