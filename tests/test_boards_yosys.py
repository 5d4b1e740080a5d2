import json
import re
from pathlib import Path

import pytest

from boards import nextpnr, yosys
from boards.report import RouteReport, SynthReport, count
from hdl.multiplier import MODEL_FILES, PRIMITIVES, multiplier_verilog
from hdl.target import UNIT, target
from hdl.toolrun import ToolError, ToolMissing
from sim.tools import available, run_testbench

BENCH = Path(__file__).parent / "multiplier_bench.v"
XC7, ECP5 = target("xc7z020"), target("ecp5-25k")
SOURCES = {XC7.name: (25, 18, 3), ECP5.name: (18, 18, 2)}

DESIGN = """
module top (input clk, input signed [AW-1:0] a, input signed [BW-1:0] b, input ce,
            output signed [AW+BW-1:0] p, output [AW-1:0] late);
  reg signed [AW-1:0] ar;
  reg signed [BW-1:0] br;
  reg signed [AW+BW-1:0] sum;
  reg [AW*DEPTH-1:0] line;
  wire signed [AW+BW-1:0] product;
  assign p = sum;
  assign late = line[AW*(DEPTH-1)+:AW];
  always @(posedge clk) begin
    ar <= a;
    br <= b;
    sum <= sum + product;
    if (ce) line <= {line, ar};
  end
  MODULE #(.AW(AW), .BW(BW), .LATENCY(LATENCY)) u (.clk(clk), .a(ar), .b(br), .p(product));
endmodule
"""


@pytest.fixture(autouse=True)
def need_yosys():
    try:
        yosys.release()
    except ToolMissing as missing:
        pytest.skip(str(missing))


def design(folder: Path, chip, *, module="kg_mul", depth=9, shape=None) -> Path:
    a_width, b_width, latency = shape or SOURCES[chip.name]
    names = {"AW": a_width, "BW": b_width, "LATENCY": latency, "DEPTH": depth, "MODULE": module}
    text = re.sub(r"(?<!\.)\b(AW|BW|LATENCY|DEPTH|MODULE)\b", lambda m: str(names[m[0]]), DESIGN)
    source = folder / f"{module}.v"
    source.write_text(text + multiplier_verilog())
    return source


def test_xc7_maps_one_dsp_with_all_registers_and_an_enabled_line_to_shift_registers(tmp_path):
    report = yosys.synthesise(design(tmp_path, XC7), "top", XC7, tmp_path)
    assert report.dsp == 1
    assert report.cells["SRL16E"] == 25
    # The operands' own registers and the sum; nothing of the multiplier's, nothing of the line.
    assert report.ff == 25 + 18 + 43
    assert report.json_netlist is None
    assert report.fits(XC7)


def test_ecp5_maps_one_multiplier_block_and_routes_on_every_chip_part(tmp_path, capsys):
    report = yosys.synthesise(design(tmp_path, ECP5, depth=1), "top", ECP5, tmp_path)
    assert (report.dsp, report.ff, report.lut) == (1, 18 + 18 + 36 + 18, 36)
    try:
        routed = nextpnr.route(report.json_netlist, ECP5, tmp_path, 150)
    except ToolMissing as missing:
        pytest.skip(str(missing))
    assert 100 < routed.fmax_mhz < 400
    assert routed.utilisation["MULT18X18D"] == (1, 28)
    assert "150 MHz asked, seed 1: " in capsys.readouterr().err
    told = []
    missed = nextpnr.route(report.json_netlist, ECP5, tmp_path, 1000, tell=told.append)
    assert 100 < missed.fmax_mhz < 1000
    assert any("with less asked" in text for text in told)


@pytest.mark.parametrize("chip, most", [(XC7, 190), (ECP5, 520)])
def test_lut_multiplier_takes_no_dsp_and_stays_small(tmp_path, chip, most):
    source = design(tmp_path, chip, module="kg_mul_lut", depth=1, shape=(18, 18, 3))
    report = yosys.synthesise(source, "top", chip, tmp_path)
    assert report.dsp == 0
    assert report.lut <= most + 36  # the 36 add up the products


def test_mapped_lut_multiplier_multiplies(tmp_path):
    if reason := available("icarus"):
        pytest.skip(reason)
    ports = "input clk, input signed [8:0] a, input signed [6:0] b, output signed [15:0] p"
    mapped = f"module mapped ({ports}); kg_mul_lut #(9, 7, 3) u (clk, a, b, p); endmodule\n"
    (tmp_path / "design.v").write_text(mapped + multiplier_verilog())
    script = yosys.script_for("mapped", "xc7") + "write_verilog -noattr netlist.v\n"
    yosys.run_script(script, tmp_path, tmp_path / "log")
    gate = tmp_path / "gate.v"
    gate.write_text(
        f"module gate #(parameter AW = 9, BW = 7, LATENCY = 3) ({ports});"
        f" mapped u (clk, a, b, p); endmodule\n{multiplier_verilog()}"
    )
    files = [BENCH, gate, tmp_path / "netlist.v", yosys.share() / "xilinx" / "cells_sim.v"]
    macros = {"AW": "9", "BW": "7", "LATENCY": "3", "GOLD": "kg_mul", "GATE": "gate"}
    printed = run_testbench(files, "multiplier_bench", tmp_path, "icarus", defines=macros)
    assert printed.startswith("PASS"), printed


def test_an_operand_that_the_block_cannot_hold_fails_by_name(tmp_path):
    source = design(tmp_path, XC7, shape=(26, 18, 3))
    with pytest.raises(ToolError, match="kg_mul_outside_dsp48e1"):
        yosys.synthesise(source, "top", XC7, tmp_path)
    assert not list(tmp_path.glob("*.stat.json")) and not list(tmp_path.glob("yosys-*"))


def test_a_finished_synthesis_is_used_again(tmp_path, monkeypatch):
    source = design(tmp_path, ECP5, depth=1)
    first = yosys.synthesise(source, "top", ECP5, tmp_path)
    monkeypatch.setattr(yosys, "run_script", None)
    assert yosys.synthesise(source, "top", ECP5, tmp_path) == first


def test_targets_and_names_that_cannot_be_synthesised_are_refused(tmp_path):
    source = design(tmp_path, XC7)
    with pytest.raises(ValueError, match="no synthesis for target unit of family 'unit'"):
        yosys.synthesise(source, "top", UNIT, tmp_path)
    with pytest.raises(ValueError, match="plain Verilog identifier, not 'a b'"):
        yosys.synthesise(source, "a b", XC7, tmp_path)
    with pytest.raises(ValueError, match="no place and route for target xc7z020"):
        nextpnr.route(source, XC7, tmp_path, 100)


def test_every_cell_counts_in_lut_sites():
    cells = {"LUT6": 3, "LUT2": 1, "SRL16E": 5, "RAM32M": 2, "FDRE": 7, "RAMB18E1": 3, "CARRY4": 9}
    report = count({**cells, "DSP48E1": 2, "$scopeinfo": 4}, "xc7")
    assert (report.lut, report.ff, report.dsp, report.bram) == (17, 7, 2, 1.5)
    cells = {"LUT4": 3, "CCU2C": 4, "TRELLIS_DPR16X4": 7, "PFUMX": 2, "TRELLIS_FF": 6, "DP16KD": 1}
    report = count(cells, "ecp5")
    assert (report.lut, report.ff, report.dsp, report.bram) == (53, 6, 0, 1)


def test_a_cell_of_unknown_cost_is_never_left_out():
    with pytest.raises(ValueError, match="cells of unknown cost: MYSTERY"):
        count({"LUT6": 1, "MYSTERY": 1}, "xc7")
    with pytest.raises(ValueError, match="family must be one of xc7, ecp5, ice40, not 'gowin'"):
        count({}, "gowin")


@pytest.mark.parametrize("resource", ["lut", "ff", "dsp", "bram"])
def test_a_design_fits_up_to_the_last_site_and_no_further(resource):
    full = {name: getattr(XC7.resources, name) for name in ("lut", "ff", "dsp", "bram")}
    assert SynthReport(**full, cells={}, json_netlist=None).fits(XC7)
    full[resource] += 1
    assert not SynthReport(**full, cells={}, json_netlist=None).fits(XC7)


def test_route_report_takes_the_slowest_clock(tmp_path):
    report = tmp_path / "report.json"
    clocks = {"clk": {"achieved": 120.5, "constraint": 100}, "io": {"achieved": 90.25}}
    sites = {"TRELLIS_FF": {"used": 4, "available": 9}, "DP16KD": {"used": 0, "available": 5}}
    report.write_text(json.dumps({"fmax": clocks, "utilization": sites}))
    expected = RouteReport(fmax_mhz=90.25, utilisation={"TRELLIS_FF": (4, 9)})
    assert nextpnr.read_report(report) == expected
    report.write_text(json.dumps({"fmax": {}, "utilization": {}}))
    with pytest.raises(ValueError, match="no clock was timed"):
        nextpnr.read_report(report)


PROOF = """
read_verilog {define} kg_mul.v {model}
chparam -set AW {a} -set BW {b} -set LATENCY {latency} kg_mul
prep -flatten -top kg_mul
async2sync
rename -top {name}
design -stash {name}
"""
MITER = """
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
miter -equiv -flatten -make_outputs -make_assert gold gate miter
hierarchy -top miter
opt -full
sat -verify -prove-asserts -tempinduct -seq {latency} miter
"""


def prove(folder: Path, define: str, model: str, shape: tuple[int, int, int]) -> None:
    """Prove for all inputs and all times that `kg_mul` is the primitive; raise `ToolError`."""
    (folder / "kg_mul.v").write_text((PRIMITIVES / "kg_mul.v").read_text())
    (folder / "model.v").write_text(model)
    words = dict(zip(("a", "b", "latency"), shape, strict=True))
    gold = PROOF.format(define="", model="", name="gold", **words)
    gate = PROOF.format(define=f"-D {define}", model="model.v", name="gate", **words)
    yosys.run_script(gold + gate + MITER.format(**words), folder, folder / "proof.log")


@pytest.mark.parametrize(
    "define, shape, before, after",
    [
        ("KINEGATE_DSP48E1", (5, 4, 3), "MREG == 1 ? m_held : exact", "exact"),
        ("KINEGATE_DSP48E1", (6, 5, 2), "b_held <= B;", "b_held <= B ^ (&B);"),
        ("KINEGATE_MULT18X18D", (5, 5, 2), "exact[35:0]", "exact[35:0] ^ (&a_held)"),
    ],
)
def test_narrow_wrapper_is_proven_equal_to_the_primitive(tmp_path, define, shape, before, after):
    model = MODEL_FILES[define].read_text()
    prove(tmp_path, define, model, shape)
    broken = model.replace(before, after)
    assert broken != model
    with pytest.raises(ToolError, match="proof did fail"):
        prove(tmp_path, define, broken, shape)
