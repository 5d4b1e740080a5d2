# amaranth: UnusedElaboratable=no
"""The testbench's `+geometry`: words loaded as Verilog, in both simulators."""

import numpy as np
import pytest

from hdl import testbench as bench
from hdl.pipeline import Pipeline
from hdl.schedule import schedule
from hdl.shell import StreamKernel
from hdl.target import UNIT
from hdl.verilog import verilog
from sim.tools import SIMULATORS, available, run_testbench
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.parameters import words

A = Format(True, 9, 0)
P = g.Parameter("p", Format(True, 9, 0), -200, 150, -7)
Q = g.Parameter("q", Format(False, 8, 0), 3, 250, 100)
NODES = (g.Input("a", A), P, Q, g.Multiply(0, 1), g.Add(3, 2))
GRAPH = g.Graph("scaled", NODES, (g.Output("y", 4),))
CODES = np.random.default_rng(6).integers(A.lo, A.hi + 1, 50)
NEW = {"p": -200, "q": 3}
TABLE = words(GRAPH.parameters, NEW)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The kernel, its testbench, vectors for what it was made with and for what is loaded."""
    place = tmp_path_factory.mktemp("geometry")
    pipeline = Pipeline(GRAPH, schedule(GRAPH, 2, UNIT), UNIT)
    kernel = StreamKernel(pipeline, tag_width=6)
    (place / "toy.v").write_text(verilog(kernel, "toy", "a test"))
    ports = {"inputs": kernel.inputs, "outputs": kernel.outputs, "tag_width": 6}
    text = bench.testbench("toy", **ports, vectors=50, geometry_words=len(TABLE))
    (place / "toy_tb.v").write_text(text)
    bench.write_hex(place / "toy_in.hex", kernel.inputs, {"a": CODES})
    for name, given in (("toy_expected", {}), ("loaded", NEW)):
        outputs = evaluate(GRAPH, {"a": CODES} | given)
        bench.write_hex(place / f"{name}.hex", kernel.outputs, outputs)
    bench.write_words(place / "new.hex", TABLE)
    bench.write_words(place / "sum.hex", [*TABLE[:-1], TABLE[-1] ^ 1])
    bench.write_words(place / "far.hex", words(GRAPH.parameters)[:1] + [2, 0])
    return place


@pytest.fixture(params=SIMULATORS)
def run(request, folder):
    """Runs the testbench with plusargs: its result and what it printed."""
    if reason := available(request.param):
        pytest.skip(reason)

    def running(*plusargs):
        files = [folder / "toy.v", folder / "toy_tb.v"]
        stdout = run_testbench(files, "toy_tb", folder, request.param, plusargs)
        return bench.parse_result(stdout), stdout

    return running


def test_what_is_loaded_is_used_and_what_is_not_stays(run):
    assert run()[0].passed
    assert run("geometry=new.hex", "expected=loaded.hex")[0].passed
    assert run("geometry=new.hex")[0].mismatches > 40


def test_stalls_and_a_reset_keep_what_was_loaded(run):
    loaded = ("geometry=new.hex", "expected=loaded.hex")
    assert run(*loaded, "stall_in=40", "stall_out=60")[0].passed
    result, _ = run(*loaded, "reset_at=43")
    assert result.passed and result.resets == 1


def test_words_that_do_not_agree_and_codes_out_of_range_are_mismatches(run):
    result, text = run("geometry=sum.hex", "expected=loaded.hex")
    assert not result.passed and result.mismatches == 1
    assert f"geometry: words=3 of 3 agrees=0 fault=0 checksum={TABLE[-1]:08x}" in text
    result, text = run("geometry=far.hex")
    assert not result.passed and "agrees=0 fault=1" in text


def test_a_kernel_without_a_load_port_has_no_words_in_its_testbench():
    ports = {"inputs": {"a": A}, "outputs": {"y": A}, "tag_width": 4}
    plain = bench.testbench("toy", **ports)
    assert "geometry" not in plain and "//@" not in plain
    assert "//@" not in bench.testbench("toy", **ports, geometry_words=3)
