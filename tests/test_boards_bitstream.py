# amaranth: UnusedElaboratable=no
"""A board's top level, simulated with a model of its PLL and made into a bitstream."""

import shutil
from pathlib import Path

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from boards import bitstream
from boards.bitstream import implement
from boards.constraints import SUFFIX
from boards.definition import Board, board_names, load_board
from boards.pll import nearest
from boards.top import WAIT, BoardTop
from boards.yosys import synthesise
from boards.yowasp import check_tools
from hdl.toolrun import ToolError, ToolMissing
from hdl.verilog import verilog
from sim.tools import run_testbench

BOARDS = [load_board(name) for name in board_names()]
OPEN = [board for board in BOARDS if board.target.family in SUFFIX]
SMALL = [board for board in OPEN if board.target.family == "ice40"]
MHZ = {"ecp5": 50, "ice40": 18}

BENCH = f"""
module EHXPLLL #(parameter CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 1, CLKOP_CPHASE = 0,
    CLKOP_ENABLE = "", FEEDBK_PATH = "", OUTDIVIDER_MUXA = "", PLLRST_ENA = "",
    INTFB_WAKE = "", STDBY_ENABLE = "", DPHASE_SOURCE = "")
    (input RST, STDBY, CLKI, CLKFB, output CLKOP, output reg LOCK);
  assign CLKOP = CLKI;
  initial begin LOCK = 0; repeat (20) @(posedge CLKI); LOCK = 1; end
endmodule
module SB_PLL40_PAD #(parameter FEEDBACK_PATH = "", DIVR = 0, DIVF = 0, DIVQ = 0, FILTER_RANGE = 0)
    (input PACKAGEPIN, RESETB, BYPASS, output PLLOUTGLOBAL, output reg LOCK);
  assign PLLOUTGLOBAL = PACKAGEPIN;
  initial begin LOCK = 0; repeat (20) @(posedge PACKAGEPIN); LOCK = 1; end
endmodule
module bench;
  reg osc = 0, rx = 0;
  wire tx, led;
  integer cycle;
  top dut (.osc(osc), .rx(rx), .tx(tx), .led(led));
  initial begin
    for (cycle = 0; cycle < {WAIT + 40}; cycle = cycle + 1) begin
      #5 osc = 1;
      #5 osc = 0;
      if (cycle % 50 == 0 || cycle > {WAIT}) $display("%0d %b %b", cycle, led, tx);
    end
    $finish;
  end
endmodule
"""


class Inverter(wiring.Component):
    """A link whose output says whether it is out of reset: 0 in it, ~rx behind it."""

    rx: In(1)
    tx: Out(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.sync += self.tx.eq(~self.rx)
        return m


def top(board: Board) -> str:
    pll = nearest(board.target.family, board.clock_mhz, MHZ[board.target.family])
    return verilog(BoardTop(Inverter(), pll=pll, board=board), "top", board.name)


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
@pytest.mark.parametrize("board", OPEN, ids=lambda board: board.name)
def test_the_link_is_in_reset_until_the_clock_was_locked_for_a_while(board, tmp_path):
    (tmp_path / "top.v").write_text(top(board))
    (tmp_path / "bench.v").write_text(BENCH)
    printed = run_testbench([tmp_path / "top.v", tmp_path / "bench.v"], "bench", tmp_path, "icarus")
    seen = [tuple(map(int, line.split())) for line in printed.splitlines()]
    lit = 0 if board.pins["led"].inverted else 1
    begins = next(cycle for cycle, led, _ in seen if led == lit)
    assert WAIT + 20 <= begins <= WAIT + 25
    # A register's clock edge behind the reset; rx is 0.
    assert all(tx == (cycle > begins) for cycle, _, tx in seen)
    assert all((led == lit) == (cycle >= begins) for cycle, led, _ in seen)


@pytest.fixture(params=OPEN, ids=lambda board: board.name)
def netlist(request, tmp_path) -> tuple[Board, Path]:
    board = request.param
    try:
        check_tools(board.target.family)
    except ToolMissing as missing:
        pytest.skip(str(missing))
    (tmp_path / "top.v").write_text(top(board))
    return board, synthesise(tmp_path / "top.v", "top", board.target, tmp_path).json_netlist


def test_the_same_verilog_gives_the_same_bitstream_with_the_clock_of_the_pll(netlist, tmp_path):
    board, file = netlist
    mhz = MHZ[board.target.family]
    told = []
    first = implement(file, board, tmp_path, clock_mhz=mhz, tell=told.append)
    assert first.met and first.constrained_mhz == pytest.approx(mhz, rel=1e-3)
    assert set(first.images) == ({"bin"} if board.target.family == "ice40" else {"bit", "svf"})
    assert told[-1] == "packing"
    again = synthesise(tmp_path / "top.v", "top", board.target, tmp_path / "again").json_netlist
    again = implement(again, board, tmp_path, clock_mhz=mhz)
    assert again.images == first.images
    assert not list(tmp_path.glob("nextpnr-*"))


@pytest.mark.parametrize("netlist", SMALL, indirect=True)
def test_a_clock_that_is_not_the_plls_is_found_out(netlist, tmp_path):
    board, file = netlist
    with pytest.raises(ValueError, match="the PLL makes 10 MHz, but the router was asked for"):
        implement(file, board, tmp_path, clock_mhz=10)


def test_a_pin_that_the_package_does_not_have_ends_with_the_tools_words(
    netlist, tmp_path, monkeypatch
):
    board, file = netlist
    text = bitstream.constraints(board).replace(board.pins["rx"].site, "Z99", 1)
    monkeypatch.setattr(bitstream, "constraints", lambda board: text)
    with pytest.raises(ToolError, match="Z99"):
        implement(file, board, tmp_path, clock_mhz=MHZ[board.target.family])
