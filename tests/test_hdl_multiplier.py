import re
from pathlib import Path

import pytest

import boards.yosys
from hdl.multiplier import MODEL_FILES, PRIMITIVES, multiplier_verilog
from sim.tools import SIMULATORS, available, run_testbench

BENCH = Path(__file__).parent / "multiplier_bench.v"
DSP48E1, MULT18X18D = "KINEGATE_DSP48E1", "KINEGATE_MULT18X18D"
SB_MAC16 = "KINEGATE_SB_MAC16"
# Narrow shapes run in Icarus only, which builds them at once.
CASES = [
    *((simulator, DSP48E1, (25, 18, 3)) for simulator in SIMULATORS),
    *((simulator, MULT18X18D, (18, 18, 2)) for simulator in SIMULATORS),
    ("icarus", DSP48E1, (11, 7, 2)),
    ("icarus", MULT18X18D, (5, 9, 2)),
]


def as_primitive(define: str) -> str:
    """Return the wrapper around the primitive, as a module `kg_mul_gate` beside `kg_mul`."""
    text = (PRIMITIVES / "kg_mul.v").read_text().replace("module kg_mul ", "module kg_mul_gate ")
    return f"`define {define}\n{text}\n`undef {define}\n"


def compare(
    folder: Path, simulator: str, gate: str, shape: tuple[int, int, int], *texts: str
) -> str:
    """Run the bench on `kg_mul` against the module `gate`; return what it printed."""
    if reason := available(simulator):
        pytest.skip(reason)
    design = folder / "design.v"
    design.write_text("\n".join([multiplier_verilog(), *texts]))
    macros = dict(zip(("AW", "BW", "LATENCY"), map(str, shape), strict=True))
    macros |= {"GOLD": "kg_mul", "GATE": gate}
    return run_testbench(
        [BENCH, design], "multiplier_bench", folder, simulator, defines=macros, timeout=100
    )


def model(define: str) -> str:
    return MODEL_FILES[define].read_text()


@pytest.mark.parametrize("simulator, define, shape", CASES)
def test_primitive_equals_the_behavioural_wrapper(tmp_path, simulator, define, shape):
    printed = compare(
        tmp_path, simulator, "kg_mul_gate", shape, as_primitive(define), model(define)
    )
    assert re.fullmatch(r"PASS 20\d\d\n", printed), printed


@pytest.mark.parametrize(
    "family, define, shape",
    [
        ("xilinx", DSP48E1, (25, 18, 3)),
        ("ice40", SB_MAC16, (16, 16, 2)),
        ("ice40", SB_MAC16, (9, 5, 2)),
    ],
)
def test_wrapper_equals_the_model_of_yosys(tmp_path, family, define, shape):
    library = (boards.yosys.share() / family / "cells_sim.v").read_text()
    cell = define.removeprefix("KINEGATE_")
    outside = re.search(rf"^module {cell} \(.*?^endmodule", library, re.M | re.S)
    printed = compare(
        tmp_path, "icarus", "kg_mul_gate", shape, as_primitive(define), outside.group()
    )
    assert printed.startswith("PASS"), printed


@pytest.mark.parametrize(
    "shape", [(25, 18, 3), (25, 18, 2), (18, 18, 2), (7, 5, 3), (9, 2, 3), (3, 4, 2), (2, 1, 3)]
)
def test_lut_multiplier_equals_the_wrapper(tmp_path, shape):
    assert compare(tmp_path, "icarus", "kg_mul_lut", shape).startswith("PASS")


@pytest.mark.parametrize(
    "define, before, after",
    [
        (DSP48E1, "MREG == 1 ? m_held : exact", "exact"),
        (DSP48E1, "a_held <= A[24:0]", "a_held <= {1'b0, A[23:0]}"),
        (MULT18X18D, "{SIGNEDB & b[17], b}", "{1'b0, b}"),
    ],
)
def test_a_wrong_primitive_is_caught(tmp_path, define, before, after):
    shape = (25, 18, 3) if define == DSP48E1 else (18, 18, 2)
    broken = model(define).replace(before, after)
    assert broken != model(define)
    printed = compare(tmp_path, "icarus", "kg_mul_gate", shape, as_primitive(define), broken)
    assert "MISMATCH" in printed and "PASS" not in printed
