"""Whole designs of real robots in plain simulators: every bit, every cycle, stalls and resets."""

import shutil

import pytest

from hdl.design import Design
from hdl.options import Options
from sim.bench import simulate
from sim.vectors import golden_vectors
from solver_ref.robot_file import load

pytestmark = pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
SEED = 17


def run(tmp_path, robot: str, kernel: str, ii: int, *options: str, count: int = 150, edit=None):
    design = Design(load(robot), Options(kernel=kernel, ii=ii))
    file = tmp_path / f"{design.name}.v"
    text = design.verilog
    file.write_text(edit(text) if edit else text)
    vectors = golden_vectors(design, count, SEED)
    return simulate(
        design, vectors, verilog=file, simulator="icarus", directory=tmp_path, options=options
    )


@pytest.mark.parametrize("ii", [1, 2, 4, 12])
@pytest.mark.parametrize("kernel", ["step", "lengths"])
def test_any_ii_is_bit_exact_and_cycle_exact(tmp_path, kernel, ii):
    seen = run(tmp_path, "hangprinter", kernel, ii)
    assert seen.passed, f"seed {SEED}: {seen}"
    assert seen.ii == {"min": ii, "mean": ii, "max": ii}


@pytest.mark.parametrize("robot", ["planar4", "four-cable"])
def test_other_motions_are_bit_exact(tmp_path, robot):
    assert run(tmp_path, robot, "step", 8, count=60).passed


def test_forward_takes_exactly_the_cycles_of_its_model(tmp_path):
    seen = run(tmp_path, "hangprinter", "forward", 3)
    assert seen.passed, f"seed {SEED}: {seen}"
    assert seen.latency["min"] < seen.latency["max"]


def test_rates_take_a_second_pass_where_the_fuse_is_blown(tmp_path):
    seen = run(tmp_path, "four-cable-concurrent", "rate", 12, count=60)
    assert seen.passed, f"seed {SEED}: {seen}"
    assert seen.latency["min"] < seen.latency["max"]


@pytest.mark.parametrize("options", [(), ("stall_in=40", "stall_out=60", "seed=1")])
def test_track_answers_in_7_cycles_and_takes_the_next_sample_when_it_is_ready(tmp_path, options):
    seen = run(tmp_path, "hangprinter", "track", 8, *options, count=12)
    assert seen.result.passed and not seen.mismatches, f"seed {SEED}: {seen}"
    if not options:
        assert seen.passed and seen.latency["min"] == seen.latency["max"] <= 7
        assert seen.ii["min"] == seen.ii["max"]


@pytest.mark.parametrize("kernel", ["step", "forward"])
@pytest.mark.parametrize(
    "options",
    [
        ("stall_in=40", "stall_out=40", "seed=1"),
        ("stall_out=95", "seed=2"),
        ("isolated",),
        ("reset_at=333", "stall_out=30", "seed=3"),
    ],
)
def test_stalls_resets_and_isolation_change_no_result(tmp_path, kernel, options):
    seen = run(tmp_path, "hangprinter", kernel, 4, *options, count=40)
    assert seen.result.passed and not seen.mismatches, f"{options}: {seen}"


def test_a_wrong_constant_in_the_verilog_is_seen(tmp_path):
    def broken(text: str) -> str:
        at = text.index("kg_mul #(")
        at = text.index(".a(", at)
        end = text.index(")", at)
        return text[:at] + ".a(-" + text[at + 3 : end] + text[end:]

    assert run(tmp_path, "hangprinter", "step", 4, count=40, edit=broken).mismatches > 0
