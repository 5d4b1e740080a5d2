# amaranth: UnusedElaboratable=no

"""`kinegate talk` end to end: a pseudo-terminal whose other end is the verilated design."""

import json
import os
import select
import threading
import tty
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from boards.definition import load_board
from hdl.serial_map import DEFAULT_BAUD
from hdl.uart import bit_cycles
from kinegate import solve
from kinegate.building import board_design
from kinegate.cli import main
from kinegate.talking import spoken
from sim.serial_model import SerialModel
from sim.tools import available

pytest.importorskip("serial", reason="pyserial is not installed: pip install pyserial")
pytestmark = pytest.mark.skipif(
    available("verilator") is not None, reason=str(available("verilator"))
)

ROBOT, BAUD = "planar4", 3_000_000
CHOSEN = {"folded": True, "target": "ice40-up5k", "clock": 24.0}
WORDS = f"--folded --target ice40-up5k --clock 24 --baud {BAUD} --window 1 --attempts 20".split()
POSES = {"x": [0.3, 0.7, 0.5, 0.6], "y": [0.4, 0.3, 0.7, 0.5], "theta": [0.2, 0.0, -0.1, 0.05]}


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """The design as a board has it, in Verilator."""
    folder = tmp_path_factory.mktemp("board")
    _, design = spoken(ROBOT, None, BAUD, CHOSEN)
    file = folder / f"{design.name}.v"
    file.write_text(design.verilog)
    divider = bit_cycles(clock_hz=design.clock_hz, baud=BAUD)
    model = SerialModel(file, design.name, folder, divider=divider, silence=5000)
    yield model
    model.close()


@pytest.fixture
def lengths(tmp_path):
    """A file of lengths of some poses."""
    file = tmp_path / "lengths.csv"
    solved = solve(ROBOT, POSES, kernel="lengths")
    names = [f"L{number}" for number in range(1, 5)]
    rows = zip(*(solved.columns[name].tolist() for name in names), strict=True)
    file.write_text(
        "\n".join([",".join(names), *(",".join(map(repr, row)) for row in rows)]) + "\n"
    )
    return file


@contextmanager
def terminal(model=None):
    """The path of a pseudo-terminal; a thread carries its bytes to the model and back."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    over = threading.Event()

    def carry():
        while not over.is_set():
            if select.select([ours], [], [], 0.001 if model else 0.1)[0]:
                data = os.read(ours, 4096)
                if model:
                    model.write(data)
            if model and (data := model.read(1)):
                os.write(ours, data + model.read(max(1, model.in_waiting)))

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        yield os.ttyname(theirs)
    finally:
        over.set()
        thread.join()
        os.close(ours)
        os.close(theirs)


def talk(*words):
    return CliRunner().invoke(main, ["talk", ROBOT, *map(str, words)], prog_name="kinegate")


def test_a_board_gives_the_bytes_that_the_model_gives(board, lengths, tmp_path):
    out = tmp_path / "poses.csv"
    with terminal(board) as port:
        result = talk(lengths, "--port", port, *WORDS, "-o", out, "--json")
    assert result.exit_code == 0, result.stderr
    right = tmp_path / "right.csv"
    solve(ROBOT, lengths, kernel="forward", folded=True, target="ice40-up5k").write(right)
    assert out.read_text() == right.read_text()
    figures = json.loads(result.stdout)
    assert (figures["rows"], figures["valid"], figures["baud"]) == (4, 4, BAUD)
    assert figures["rows_per_s"] > 0
    assert "4 of 4 rows answered" in result.stderr


def test_a_board_of_another_design_is_refused(board, lengths):
    with terminal(board) as port:
        result = talk(lengths, "--port", port, *WORDS, "--accuracy", "20um")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("error: the board has another design: ")
    assert result.stdout == ""


def test_a_port_where_nobody_answers_is_told(lengths):
    with terminal() as port:
        result = talk(lengths, "--port", port, *WORDS[:-1], 1)
    assert result.exit_code == 1
    error = result.stderr.splitlines()[-1]
    assert error == "error: no kinegate design answers on this port"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("--port", "/dev/none"),
            "error: planar4: --port: cannot be opened; expected the path of a serial port, such as "
            "/dev/ttyUSB0; got '/dev/none: No such file or directory'",
        ),
        (
            ("--port", "x", "--window", 0),
            "error: planar4: --window: is out of range; expected 1 to 127; got 0",
        ),
        (
            ("--port", "x", "--attempts", 1000),
            "error: planar4: --attempts: is out of range; expected 1 to 100; got 1000",
        ),
        (
            ("--port", "x", "--baud", 5000000),
            "error: planar4: --baud: is not what the clock makes; expected another rate; got a "
            "clock of 24 MHz carries between 366 and 3000000 baud, not 5000000",
        ),
        (
            ("--port", "x", "--runtime-geometry"),
            "error: planar4: --runtime-geometry: has no meaning; expected a geometry that is built "
            "in: the link loads none; got true",
        ),
        (
            ("--port", "x", "--shell", "axi"),
            "error: planar4: --shell: is not what boards have; expected a kernel without a shell; "
            "got axi",
        ),
    ],
)
def test_what_cannot_be_is_one_line(lengths, words, error):
    own = ("--kernel", "forward", "--ii", "8", "--clock", "24")
    result = talk(lengths, *own, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == error


def test_the_design_of_a_board_is_that_of_its_build():
    board = load_board("ulx3s-85f")
    _, built = board_design("four-cable", board, {})
    _, heard = spoken("four-cable", "ulx3s-85f", DEFAULT_BAUD, {})
    assert heard.header == built.header
    assert heard.serial.identity == built.serial.identity


def test_lengths_that_are_not_there_are_told_before_the_port_is_opened(tmp_path):
    result = talk(tmp_path / "none.csv", "--port", "/dev/none", *WORDS)
    assert result.exit_code == 2
    assert "none.csv" in result.stderr.splitlines()[-1]
