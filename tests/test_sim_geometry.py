"""Geometry loaded through the port of whole designs: every bit, before and after."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from hdl.design import Design
from hdl.options import Options
from hdl.testbench import parse_result, write_words
from sim.amaranth_bench import simulate_amaranth
from sim.bench import simulate
from sim.geometry import geometry_words, tried_robot
from sim.package import read_package, write_package
from sim.tools import run_testbench
from sim.vectors import golden_vectors
from solver_ref.errors import InputError
from solver_ref.parameters import words
from solver_ref.parts import Stiffness
from solver_ref.robot_file import load

needs_icarus = pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
SEED = 12


def design_of(robot: str, kernel: str, ii: int = 8) -> Design:
    return Design(load(robot), Options(kernel=kernel, ii=ii, runtime_geometry=True))


@pytest.fixture(scope="module")
def crane(tmp_path_factory):
    """A design with a load port, and a directory that `generate` wrote of it."""
    design = design_of("hangprinter", "lengths")
    place = tmp_path_factory.mktemp("made") / "out"
    write_package(design, place, count=60, seed=SEED)
    return design, place


@needs_icarus
@pytest.mark.parametrize(
    "robot, kernel, count",
    [("planar4", "lengths", 50), ("hangprinter", "forward", 12), ("planar4", "tension", 10)],
)
def test_a_loaded_design_is_bit_exact_and_cycle_exact(tmp_path, robot, kernel, count):
    design = design_of(robot, kernel)
    file = tmp_path / f"{design.name}.v"
    file.write_text(design.verilog)
    run = {"verilog": file, "simulator": "icarus", "directory": tmp_path}
    vectors = golden_vectors(design, count, SEED, robot=tried_robot(design, SEED))
    assert vectors.loaded != {name: p.initial for name, p in design.parameters.items()}
    seen = simulate(design, vectors, **run)
    assert seen.passed, f"seed {SEED}: {seen}"
    # The same outputs are not those of the geometry that it was made with; without loading, are.
    wrong = simulate(design, dataclasses.replace(vectors, loaded={}), **run)
    assert wrong.mismatches > count / 3
    assert simulate(design, golden_vectors(design, count, SEED), **run).passed


@needs_icarus
def test_a_loaded_stiffness_is_bit_exact_in_verilog(tmp_path):
    robot = load("hangprinter")
    soft = Stiffness(k0=5e4, alpha=2.0, static_friction=10.0, slip=800.0, k_max=9e4)
    cables = tuple(dataclasses.replace(cable, stiffness=soft) for cable in robot.cables)
    robot = dataclasses.replace(robot, cables=cables)
    design = Design(robot, Options(kernel="lengths", ii=8, runtime_geometry=True))
    assert {"slip_2", "stretch3_1"} <= set(design.parameters)
    file = tmp_path / f"{design.name}.v"
    file.write_text(design.verilog)
    vectors = golden_vectors(design, 40, SEED, robot=tried_robot(design, SEED))
    run = {"verilog": file, "simulator": "icarus", "directory": tmp_path}
    assert simulate(design, vectors, **run).passed
    assert simulate(design, dataclasses.replace(vectors, loaded={}), **run).mismatches > 20


def test_amaranth_loads_it_as_well(tmp_path):
    design = design_of("hangprinter", "lengths", ii=4)
    vectors = golden_vectors(design, 8, SEED, robot=tried_robot(design, SEED))
    assert simulate_amaranth(design, vectors, directory=tmp_path).passed
    unloaded = dataclasses.replace(vectors, loaded={})
    assert simulate_amaranth(design, unloaded, directory=tmp_path).mismatches == 8


def test_the_manifest_says_what_to_load(crane):
    design, place = crane
    entry = json.loads((place / "manifest.json").read_text())["geometry"]
    loaded = words(design.parameters)
    assert [word["name"] for word in entry["words"]] == [*design.parameters]
    assert [word["address"] for word in entry["words"]] == list(range(len(loaded) - 1))
    assert [word["nominal"] & 0xFFFFFFFF for word in entry["words"]] == loaded[:-1]
    assert entry["checksum"] == f"{loaded[-1]:08x}"
    assert entry["checksum_address"] == len(loaded) - 1
    file = place / entry["file"]
    assert [int(line, 16) for line in file.read_text().split()] == loaded
    again = read_package(place).design
    assert again.options.runtime_geometry and again.parameters == design.parameters


@needs_icarus
def test_the_written_testbench_loads_a_file(crane):
    design, place = crane
    files = [place / f"{design.name}.v", place / f"{design.name}_tb.v"]

    def run(*options):
        text = run_testbench(files, files[1].stem, place, "icarus", options)
        return parse_result(text), text

    assert run()[0].passed
    assert run(f"geometry={design.name}_geometry.hex")[0].passed
    write_words(place / "other.hex", geometry_words(design, tried_robot(design, SEED)))
    assert run("geometry=other.hex")[0].mismatches > 30


def test_words_of_a_robot_that_was_measured_again():
    design = design_of("hangprinter", "lengths")
    own = geometry_words(design, design.robot)
    assert own == words(design.parameters)
    first = design.robot.cables[0]
    x, y, z = first.anchor
    cables = (dataclasses.replace(first, anchor=(x, y, z + 2.0**-10)), *design.robot.cables[1:])
    changed = geometry_words(design, dataclasses.replace(design.robot, cables=cables))
    place = [*design.parameters].index("anchor1_z")
    apart = np.flatnonzero(np.array(own) != np.array(changed)).tolist()
    assert apart == [place, len(own) - 1]
    fraction = design.parameters["anchor1_z"].format.fraction
    assert changed[place] - own[place] == 2 ** (fraction - 10)


def test_a_robot_out_of_tolerance_has_no_words():
    design = design_of("hangprinter", "lengths")
    first = dataclasses.replace(design.robot.cables[0], offset=0.11)
    robot = dataclasses.replace(design.robot, cables=(first, *design.robot.cables[1:]))
    with pytest.raises(InputError, match="offset1: .* expected -0.1 to 0.1 m; got 0.11 m"):
        geometry_words(design, robot)
    built_in = Design(load("hangprinter"), Options(kernel="lengths"))
    with pytest.raises(InputError, match="geometry: cannot be loaded; .*; got hangprinter_lengths"):
        geometry_words(built_in, robot)


def test_an_option_that_was_not_asked_for_changes_nothing():
    plain = Design(load("hangprinter"), Options(kernel="lengths", ii=8))
    assert "runtime_geometry" not in plain.canonical_options and not plain.parameters
    assert "geometry" not in plain.verilog
    assert design_of("hangprinter", "lengths").canonical_options["runtime_geometry"] is True
