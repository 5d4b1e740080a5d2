"""KJ9 in hardware: every bit and every cycle, faster than real time, and two seconds of it."""

import shutil

import numpy as np
import pytest
from robot_kinds import built_in

from bench import kj9_steps as bench
from hdl.design import Design, Options
from sim.bench import simulate
from sim.vectors import golden_vectors
from solver_ref.dynamics.closed_loop import completed
from solver_ref.dynamics.integrators import stepped
from solver_ref.kernels.dynamics_domain import STABILISE
from solver_ref.status import Status

SEED = 11
ROBOT = built_in("kj9")


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
def test_a_step_is_bit_exact_and_faster_than_it_lasts(tmp_path) -> None:
    design = Design(ROBOT, Options(kernel="dynamics", ii=96))
    file = tmp_path / f"{design.name}.v"
    file.write_text(design.verilog)
    vectors = golden_vectors(design, 12, SEED)
    seen = simulate(design, vectors, verilog=file, simulator="icarus", directory=tmp_path)
    assert seen.passed, f"seed {SEED}: {seen}"
    # One mechanism needs its state back before it can go on: 100 kHz leave 1,200 cycles for that.
    cycles = design.timing(np.array([2])).latency[0]
    assert cycles <= design.clock_mhz * 1e6 * ROBOT.dynamics.step


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
