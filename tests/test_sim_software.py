"""The software of a design: its header, its files, and the bits of the hardware's graph."""

import numpy as np

import sim.software
from hdl.design import Design
from hdl.options import Options
from sim.software import manifest_entry, software_of, write_software
from sim.twin import compile_twin
from sim.vectors import golden_vectors
from solver_ref.robot_file import load


def test_each_file_names_the_options_and_the_robot_like_the_verilog(tmp_path):
    design = Design(load("hangprinter"), Options(kernel="lengths"))
    made = software_of(design)
    write_software(made, tmp_path / "software")
    entry = manifest_entry(made)
    assert entry["missing"] == {}
    assert entry["files"] == [
        f"software/hangprinter_lengths{end}" for end in (".h", ".c", "_double.c", ".st")
    ]
    header = [line.removeprefix("// ") for line in design.verilog.splitlines()[:3]]
    assert header[2] == f"robot sha256 {design.robot.digest}"
    for name in entry["files"]:
        lines = (tmp_path / name).read_text().splitlines()[1:4]
        assert [line.lstrip(" *") for line in lines] == header, name


def test_the_software_gives_the_golden_vectors_of_the_hardware(tmp_path):
    design = Design(load("hangprinter"), Options(kernel="lengths"))
    vectors = golden_vectors(design, 200, seed=1)
    found = compile_twin(design.kernel.graph, tmp_path).evaluate(vectors.inputs)
    for name, column in vectors.outputs.items():
        assert np.array_equal(found[name], column), name


def test_a_kernel_that_c_cannot_hold_is_told_and_stops_nothing(monkeypatch):
    def refusing(*arguments, **options):
        raise ValueError("node 3 needs 140 bits")

    monkeypatch.setattr(sim.software, "software", refusing)
    made = software_of(Design(load("hangprinter"), Options(kernel="lengths")))
    assert manifest_entry(made) == {
        "files": [],
        "missing": {"hangprinter_lengths.c": "node 3 needs 140 bits"},
    }
