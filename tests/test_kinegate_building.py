"""`build`: a bitstream, or one line that says why there is none; never a part of one."""

import binascii
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from boards.bitstream import Implementation
from boards.definition import FOLDER, load_board
from boards.report import RouteReport, SynthReport
from boards.yowasp import check_tools
from hdl.packing import Packing
from hdl.serial_map import SYNC, Kind
from hdl.toolrun import ToolMissing
from kinegate import building
from kinegate.designs import open_design
from sim.tools import run_testbench
from sim.vectors import golden_vectors
from solver_ref.errors import InputError

SMALL = ("build", "planar4", "--kernel", "lengths", "--board", "icebreaker", "-o", "made")
NAME = "planar4_lengths_icebreaker"
SYNTHESISED = SynthReport(lut=10, ff=20, dsp=4, bram=5, cells={}, json_netlist=Path("none"))
BENCH = Path(__file__).with_name("board_bench.v")


@pytest.fixture
def tools(monkeypatch):
    """The flow without its tools: what synthesis says, and the clocks that seeds reach."""

    def fake(*, synthesised=SYNTHESISED, reached=(30.0,)):
        seeds = []

        def implement(netlist, board, folder, *, clock_mhz, seed, tell):
            seeds.append(seed)
            tell("Running a stage")
            report = RouteReport(fmax_mhz=reached[seed - 1], utilisation={"SB_IO": (4, 39)})
            images = {"bin": bytes([seed])}
            return Implementation(report=report, constrained_mhz=clock_mhz, images=images)

        monkeypatch.setattr(building, "check_tools", lambda family: None)
        monkeypatch.setattr(building, "synthesise", lambda *given: synthesised)
        monkeypatch.setattr(building, "implement", implement)
        return seeds

    return fake


def test_a_small_kernel_becomes_a_bitstream_whose_timing_is_met(run, tmp_path):
    try:
        check_tools("ice40")
    except ToolMissing as missing:
        pytest.skip(str(missing))
    result = run(*SMALL, "--clock", "18", "--json")
    assert result.exit_code == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["fits"] and made["met"] and made["fmax_mhz"] >= made["clock_mhz"] == 18
    assert (tmp_path / "made" / f"{NAME}.bin").stat().st_size > 10_000
    told = json.loads((tmp_path / "made" / "build.json").read_text())
    assert told == {key: value for key, value in made.items() if key != "directory"}
    assert sorted(file.name for file in (tmp_path / "made").iterdir()) == sorted(made["files"])


def test_seeds_are_tried_until_one_meets_the_clock(run, tools, tmp_path):
    seeds = tools(reached=(20.0, 23.9, 24.0, 99.0))
    result = run(*SMALL)
    assert result.exit_code == 0, result.stderr
    assert seeds == [1, 2, 3]
    assert (tmp_path / "made" / f"{NAME}.bin").read_bytes() == b"\x03"
    assert "24.00 MHz, seed 3" in result.stdout and "build: [5/7] place and route" in result.stderr


def test_without_a_seed_that_meets_the_clock_nothing_is_written(run, tools, tmp_path):
    seeds = tools(reached=(20.0, 23.9))
    result = run(*SMALL, "--seeds", "2", "--json")
    assert result.exit_code == 1 and seeds == [1, 2]
    assert "kinegate: the best seed reaches 23.90 MHz, not the clock of 24 MHz" in result.stderr
    made = json.loads(result.stdout)
    assert (made["met"], made["seed"], "files" in made) == (False, 2, False)
    assert not (tmp_path / "made").exists()


def test_a_design_that_does_not_fit_says_what_is_missing(run, tools, tmp_path):
    seeds = tools(synthesised=replace(SYNTHESISED, lut=6000, bram=31))
    result = run(*SMALL)
    assert result.exit_code == 1 and seeds == []
    told = "it does not fit ice40-up5k: it needs 6000 of 5280 lut, 31 of 30 bram"
    assert f"kinegate: {told}" in result.stderr
    assert not (tmp_path / "made").exists()


def test_an_interruption_leaves_what_was_there(run, tools, tmp_path, monkeypatch):
    tools()
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / f"{NAME}.bin").write_bytes(b"before")

    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "implement", interrupted)
    assert run(*SMALL).exit_code == 130
    assert [file.read_bytes() for file in (tmp_path / "made").iterdir()] == [b"before"]


@pytest.mark.parametrize(
    "words, said",
    [
        ("planar4 --board icebraker", "icebraker: board: is unknown, did you mean icebreaker; .*"),
        (
            "planar4 --board icebreaker --target ecp5-25k",
            "planar4: --target: is not the chip of icebreaker; expected ice40-up5k; got ecp5-25k",
        ),
        (
            "planar4 --board icebreaker --shell axi",
            "planar4: --shell: has nothing to connect to; expected .*; got axi",
        ),
        (
            "planar4 --board icebreaker --clock 5",
            "planar4: --clock: no PLL makes 5 MHz or less of 12 MHz; expected .*; got 5 MHz",
        ),
        ("planar4 --board icebreaker --seeds 0", "planar4: --seeds: is out of range; .*; got 0"),
        ("planar4", "planar4: BOARD: is missing; .*"),
    ],
)
def test_what_cannot_be_built_is_one_line(run, tools, words, said):
    tools()
    result = run("build", *words.split())
    assert result.exit_code == 2
    assert re.fullmatch(f"error: {said}\n", result.stderr), result.stderr


def test_a_directory_is_built_as_it_was_generated(run, tools, tmp_path):
    tools()
    words = ("--kernel", "lengths", "--target", "ice40-up5k", "--clock", "18")
    made = run("generate", "planar4", *words, "--vectors", "5", "-o", "out")
    assert made.exit_code == 0, made.stderr
    result = run("build", "out", "--board", "icebreaker", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["clock_mhz"] == 18
    assert (tmp_path / NAME / f"{NAME}.bin").exists()
    wrong = run("build", "out", "--board", "icepi-zero").stderr
    assert "out: --board: is not that of the chip it was made for; " in wrong


def test_a_board_of_ones_own_is_built_from_its_file(run, tools, tmp_path):
    tools()
    text = (FOLDER / "icebreaker.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace("clock = 24", "clock = 20"))
    result = run("build", "planar4", "--kernel", "lengths", "--board", "mine.toml", "--json")
    assert result.exit_code == 0, result.stderr
    made = json.loads(result.stdout)
    assert (made["board"], made["clock_mhz"]) == ("mine", 19.875)


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
def test_poses_that_go_into_the_top_level_as_bytes_come_out_as_lengths(run, tools, tmp_path):
    tools()
    assert run(*SMALL).exit_code == 0
    chosen = {"kernel": "lengths", "target": "ice40-up5k", "clock": 24.0}
    design = open_design("planar4", chosen).design
    vectors = golden_vectors(design, 3, 0)
    inputs, outputs = Packing(design.inputs, 32), Packing(design.outputs, 32)
    sent = b"".join(
        frame(Kind.SOLVE, number, row) for number, row in enumerate(inputs.pack(vectors.inputs), 7)
    )
    rows = outputs.pack(vectors.outputs)
    wanted = b"".join(frame(Kind.RESULT, number, row) for number, row in enumerate(rows, 7))
    (tmp_path / "bytes.hex").write_text(sent.hex("\n"))
    defines = {"SENT": len(sent), "WANTED": len(wanted), "DIVIDER": 24, "TOP": NAME}
    printed = run_testbench(
        [BENCH, tmp_path / "made" / f"{NAME}.v"],
        "bench",
        tmp_path,
        "icarus",
        defines={name: str(value) for name, value in defines.items()},
    )
    assert bytes.fromhex(printed) == wanted


def frame(kind: Kind, number: int, words: np.ndarray) -> bytes:
    head = bytes([kind, number, len(words)])
    body = head + b"".join(int(word).to_bytes(4, "little") for word in words)
    return bytes([SYNC]) + body + binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "big")


def test_the_options_of_a_board_stand_behind_those_that_are_given():
    board = load_board("icebreaker")
    usual = building.opened_for("planar4", board, {}).design
    assert (usual.options.kernel, usual.clock_mhz) == ("forward", board.options["clock"])
    asked = building.opened_for("planar4", board, {"kernel": "lengths", "clock": 20.0}).design
    assert (asked.options.kernel, asked.clock_mhz, asked.options.folded) == ("lengths", 20, True)


def test_an_option_that_no_design_has_is_refused_by_the_board(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        (FOLDER / "icebreaker.toml").read_text().replace("[options]", "[options]\nfo = 3")
    )
    with pytest.raises(InputError, match="mine: options.fo: is unknown; expected only accuracy"):
        building.opened_for("planar4", load_board(file), {})
