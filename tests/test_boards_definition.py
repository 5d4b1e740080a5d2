import re
from pathlib import Path

import pytest

from boards import constraints, definition
from boards.definition import board_names, load_board
from solver_ref.errors import InputError

ROOT = Path(__file__).parents[1]
BOARDS = [load_board(name) for name in board_names()]
OPEN = [board for board in BOARDS if board.target.family in constraints.SUFFIX]
TEXT = (definition.FOLDER / "icebreaker.toml").read_text()


def refused(tmp_path: Path, text: str) -> str:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_board(file)
    line = str(caught.value)
    assert line.startswith(f"{file}: ") and "\n" not in line
    return line


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_board_says_where_its_facts_come_from(board):
    assert board.title and board.source and board.package


@pytest.mark.parametrize("board", OPEN, ids=lambda board: board.name)
def test_a_board_of_the_open_tools_has_every_pin_of_the_top_level(board):
    assert tuple(board.pins) == definition.PORTS
    assert 1 <= board.clock_mhz <= 200
    if board.target.family == "ecp5":
        assert board.speed in (6, 7, 8)


def test_nothing_but_its_file_names_a_board():
    for file in (*(ROOT / "boards").glob("*.py"), *(ROOT / "kinegate").glob("*.py")):
        assert not [name for name in board_names() if name in file.read_text()]


def test_the_constraints_are_what_the_boards_give_and_nothing_else():
    expected = {constraints.file_name(board): constraints.constraints(board) for board in OPEN}
    folder = ROOT / "constraints"
    files = [f for f in folder.iterdir() if f.suffix.removeprefix(".") in ("lpf", "pcf")]
    assert {file.name: file.read_text() for file in files} == expected


@pytest.mark.parametrize("board", OPEN, ids=lambda board: board.name)
def test_every_line_of_the_constraints_says_why(board):
    for line in constraints.constraints(board).splitlines():
        assert re.fullmatch(r"#.+|[^#]+ # \w.+", line)


def test_the_constraints_are_written_for_all_boards(tmp_path):
    constraints.write_all(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(OPEN) >= 3


def test_a_board_may_be_a_file_of_ones_own(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(TEXT.replace('"35"', '"20"'))
    board = load_board(file)
    assert (board.name, board.pins["osc"].site) == ("mine", "20")


def test_an_unknown_board_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"ulx3s: board: is unknown, did you mean ulx3s-85f; "):
        load_board("ulx3s")


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("[pins.led]", "[pins.lamp]", "pins.lamp: is an unknown key"),
        ('"ice40-up5k"', '"ice40-up"', "target: is an unknown word"),
        ('"ice40-up5k"', '"xc7z020"', "target: is an unknown word; expected one of ecp5-85k"),
        ("[pins.osc]", "[pins.led]", "syntax: is no TOML"),
        ("[pins.rx]", "[pins.osc.x]", "pins.osc.x: is an unknown key"),
        ("mhz = 12", "mhz = 0", "pins.osc.mhz: does not fit this pin"),
        ("mhz = 12\n", "", "pins.osc.mhz: does not fit this pin; .* got nothing"),
        ("inverted = true", "inverted = 1", "pins.led.inverted: is no truth value"),
        ('site = "6"', 'site = "35"', "pins.rx.site: is taken; .* 35, the pin of osc"),
        ('site = "6"\n', "", "pins.rx.site: is missing"),
        ('package = "sg48"', 'package = "sg48"\nspeed = 1.5', "speed: is no speed grade"),
        ("clock = ", "clock = [] # ", "options.clock: is no number"),
        ("[options]", "[options", "syntax: is no TOML"),
        ('"ice40-up5k"', '"ecp5-25k"', "pins.osc.io: is missing"),
    ],
)
def test_a_malformed_board_is_refused_by_its_key(tmp_path, old, new, said):
    assert old in TEXT
    assert re.search(said, refused(tmp_path, TEXT.replace(old, new, 1)))


@pytest.mark.parametrize("port", definition.PORTS)
def test_a_board_without_one_of_its_pins_is_refused(tmp_path, port):
    text = re.sub(rf"\[pins\.{port}\]\n(.+\n)+", "", TEXT)
    assert f"pins.{port}: is missing; expected a table for each of osc, rx" in refused(
        tmp_path, text
    )


def test_a_board_whose_file_cannot_name_it_is_refused(tmp_path):
    file = tmp_path / "My Board.toml"
    file.write_text(TEXT)
    with pytest.raises(InputError, match="board: cannot be a board's name"):
        load_board(file)
