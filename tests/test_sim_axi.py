"""The AXI shell of a toy kernel against cocotbext-axi in Icarus, and that its bench can fail."""

import pytest
from axi_toys import toy_interface, toy_rows, write_toy

from sim.axi_run import run_axi
from sim.cocotb_run import CocotbFailure
from sim.tools import available

TESTS = 7


def run(folder, *, beat_bits=32, rows=120, accesses=400, change=str, **options):
    if reason := available("icarus"):
        pytest.skip(reason)
    inputs, outputs = toy_rows(rows)
    verilog = write_toy(folder, beat_bits, change=change)
    build = folder / "build"
    options |= {"inputs": inputs, "outputs": outputs, "accesses": accesses}
    return run_axi(verilog, toy_interface(beat_bits), build, **options)


@pytest.mark.parametrize("beat_bits", [32, 64])
def test_a_shell_passes_every_test(tmp_path, beat_bits):
    assert run(tmp_path, beat_bits=beat_bits) == TESTS


@pytest.mark.soak
@pytest.mark.parametrize("beat_bits", [32, 64])
def test_ten_thousand_packets_and_ten_thousand_accesses(tmp_path, beat_bits):
    assert run(tmp_path, beat_bits=beat_bits, rows=10_000, accesses=10_000) == TESTS


@pytest.mark.parametrize(
    "right, wrong, failed",
    [
        (".s_axi_wstrb(s_axi_wstrb)", ".s_axi_wstrb(4'd15)", "1 of 7"),
        (".m_axis_tready(m_axis_tready)", ".m_axis_tready(1'b1)", "[1-7] of 7"),
        ("if (rst)", "if (rst & 1'b0)", "[1-7] of 7"),
    ],
    ids=("strobes", "back-pressure", "reset"),
)
def test_a_shell_that_ignores_a_signal_fails(tmp_path, right, wrong, failed):
    with pytest.raises(CocotbFailure, match=f"{failed} tests failed"):
        run(tmp_path, rows=60, accesses=100, change=lambda text: text.replace(right, wrong))
