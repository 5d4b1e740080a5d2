"""Torques of arms in hardware: every bit and every cycle, from a pendulum to seven links."""

import dataclasses
import shutil

import published_arms as published
import pytest
from robot_kinds import built_in

from hdl.design import Design
from hdl.options import Options
from sim.bench import Simulation, simulate
from sim.vectors import golden_vectors
from solver_ref.robot import Robot

pytestmark = pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
SEED = 11


def run(folder, robot: Robot, ii: int, count: int, kernel: str = "rnea") -> Simulation:
    design = Design(robot, Options(kernel=kernel, ii=ii))
    file = folder / f"{design.name}.v"
    file.write_text(design.verilog)
    vectors = golden_vectors(design, count, SEED)
    return simulate(design, vectors, verilog=file, simulator="icarus", directory=folder)


@pytest.mark.parametrize(("name", "ii"), [("pendulum", 1), ("pendulum", 12), ("two-link", 4)])
def test_small_arms_are_bit_exact(tmp_path, name: str, ii: int) -> None:
    seen = run(tmp_path, built_in(name), ii, 150)
    assert seen.passed, f"seed {SEED}: {seen}"
    assert seen.ii == {"min": ii, "mean": ii, "max": ii}


def test_a_controlled_arm_is_bit_exact(tmp_path) -> None:
    seen = run(tmp_path, built_in("two-link"), 8, 150, "computed-torque")
    assert seen.passed, f"seed {SEED}: {seen}"


def test_an_arm_of_seven_links_is_bit_exact(tmp_path) -> None:
    arm = dataclasses.replace(published.iiwa7(), accuracy=0.1)
    robot = dataclasses.replace(built_in("pendulum"), name="iiwa7", arm=arm)
    seen = run(tmp_path, robot, 16, 30)
    assert seen.passed, f"seed {SEED}: {seen}"
    assert seen.max_error["N m"] <= 0.1
