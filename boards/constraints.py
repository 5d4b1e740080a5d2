"""Pin constraints of a board in the words of its tools, each line with its reason.

`python -m boards.constraints` writes those of every board to `constraints/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from boards.definition import Board, Pin, board_names, load_board

SUFFIX = {"ecp5": "lpf", "ice40": "pcf"}
"""Of the constraint files of each family that open tools can place and route."""
_FOLDER = Path(__file__).parents[1] / "constraints"


def constraints(board: Board) -> str:
    """The text of the constraint file: where each port of the top level is, and how fast its clock.

    Nothing else is constrained: the tools derive the clock of the PLL from that of the oscillator.
    """
    lines = {"ecp5": _lpf, "ice40": _pcf}[board.target.family]
    head = f"# {board.title}. Facts: {board.source}."
    body = [f"{text} # {why}" for port, pin in board.pins.items() for text, why in lines(port, pin)]
    return "\n".join([head, *body, ""])


def _lpf(port: str, pin: Pin) -> Iterator[tuple[str, str]]:
    yield f'LOCATE COMP "{port}" SITE "{pin.site}";', pin.why
    yield f'IOBUF PORT "{port}" IO_TYPE={pin.io};', "what the bank is supplied with"
    if pin.pull:
        yield f'IOBUF PORT "{port}" PULLMODE={pin.pull};', "its level while nothing drives it"
    if pin.mhz:
        yield f'FREQUENCY PORT "{port}" {pin.mhz:g} MHZ;', "of the oscillator, for the timing"


def _pcf(port: str, pin: Pin) -> Iterator[tuple[str, str]]:
    pull, why = ("-pullup yes ", "; pulled up while nothing drives it") if pin.pull else ("", "")
    yield f"set_io {pull}{port} {pin.site}", pin.why + why
    if pin.mhz:
        yield f"set_frequency {port} {pin.mhz:g}", "of the oscillator, for the timing"


def file_name(board: Board) -> str:
    return f"{board.name}.{SUFFIX[board.target.family]}"


def write_all(folder: Path = _FOLDER) -> None:
    """Write the constraint file of every board that open tools build."""
    for board in map(load_board, board_names()):
        if board.target.family in SUFFIX:
            (folder / file_name(board)).write_text(constraints(board))


if __name__ == "__main__":
    write_all()
