"""`talk`: rows of a CSV file through the kernel on a board, over its serial port."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from boards.definition import load_board
from boards.serial_host import ATTEMPTS, MOST_WINDOW, WINDOW, Port, SerialHost, open_port
from hdl.design import Design
from hdl.options import SERIAL
from hdl.serial_map import DEFAULT_BAUD
from hdl.uart import bit_cycles
from kinegate.building import board_design
from kinegate.designs import GenerationOptions, OptionError, Source, open_design, refusing
from kinegate.progress import Report, silent
from kinegate.solving import Solved, answered, check_columns, port_values, read_rows
from sim.batch import decode, encode
from solver_ref.errors import shown
from solver_ref.robot import Robot

FORWARD = {"kernel": "forward"}
MOST_ATTEMPTS = 100
STEPS = 20
"""How often progress is told while rows are answered."""


@dataclass(frozen=True)
class Talk:
    """What a board answered, and the figures of the link."""

    solved: Solved
    figures: Mapping[str, Any]


def talk(
    robot: Source,
    rows: str | PathLike[str] | Mapping[str, object],
    *,
    port: str | Port,
    board: str | PathLike[str] | None = None,
    baud: int = DEFAULT_BAUD,
    window: int = WINDOW,
    attempts: int = ATTEMPTS,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> Talk:
    """Answer every row of a CSV file, or of columns in memory, by the kernel on a board.

    `robot`, `board` (as `build` takes it) and the options (default kernel `forward`) are those of
    the build: a board with another design is refused. Without `board` the options say all of the
    design. `port`: the path of a serial port, or an open one. `boards.serial_host.LinkError` where
    no right board answers.

    >>> from kinegate import talk
    >>> talk("four-cable", "lengths.csv", board="mine.toml", port="/dev/ttyUSB0")  # doctest: +SKIP
    """
    name, design = spoken(robot, board, baud, options)
    _check_counts(name, window, attempts)
    kernel = design.options.kernel
    report(1, STEPS + 1, f"{kernel} of {design.robot.name}: formats")
    columns = (
        check_columns(rows, design.robot, kernel)
        if isinstance(rows, Mapping)
        else read_rows(rows, design.robot, kernel)
    )
    values = port_values(name, design, columns, damping=None, damping_lambda=None)
    with refusing(name):
        codes, limited = encode(design, values)
        interface = design.serial
    opened = _opened(name, port, baud) if isinstance(port, str) else port
    try:
        host = SerialHost(opened, interface, window=window, attempts=attempts)
        host.identify()
        begun = time.monotonic()
        outputs = host.solve(codes, tell=_progress(report, len(limited)))
        seconds = time.monotonic() - begun
    finally:
        if isinstance(port, str):
            opened.close()
    solved = answered(design.robot, decode(design, outputs, limited))
    figures = {
        "rows": len(limited),
        "seconds": seconds,
        "rows_per_s": len(limited) / seconds,
        "baud": baud,
        **asdict(host.losses),
    }
    return Talk(solved, figures)


def spoken(
    robot: Source, board: str | PathLike[str] | None, baud: int, options: GenerationOptions
) -> tuple[str, Design]:
    """The design as the board has it, behind a serial line, and how messages call it."""
    if board is not None:
        name, made = board_design(robot, load_board(board), options)
    else:
        usual = {} if not isinstance(robot, Robot) and Path(robot).is_dir() else FORWARD
        opened = open_design(robot, {**usual, **options})
        name, made = opened.name, opened.design
    chosen = made.options
    if chosen.shell not in ("stream", SERIAL):
        wrong, expected = "is not what boards have", "a kernel without a shell"
        raise OptionError(name, "shell", wrong=wrong, expected=expected, got=chosen.shell)
    if chosen.runtime_geometry:
        wrong, expected = "has no meaning", "a geometry that is built in: the link loads none"
        raise OptionError(name, "runtime-geometry", wrong=wrong, expected=expected, got="true")
    try:
        bit_cycles(clock_hz=made.clock_hz, baud=baud)
    except (ValueError, ArithmeticError) as error:
        wrong, expected = "is not what the clock makes", "another rate"
        raise OptionError(name, "baud", wrong=wrong, expected=expected, got=str(error)) from None
    return name, Design(made.robot, replace(chosen, shell=SERIAL, baud=baud))


def _check_counts(name: str, window: int, attempts: int) -> None:
    for key, value, most in (
        ("window", window, MOST_WINDOW),
        ("attempts", attempts, MOST_ATTEMPTS),
    ):
        if not 1 <= value <= most:
            expected = f"1 to {most}"
            raise OptionError(name, key, wrong="is out of range", expected=expected, got=str(value))


def _opened(name: str, path: str, baud: int) -> Any:
    """The serial port of that path."""
    try:
        return open_port(path, baud=baud)
    except (OSError, ValueError) as error:
        expected = "the path of a serial port, such as /dev/ttyUSB0"
        # pyserial's own text has the path twice.
        number = getattr(error, "errno", None)
        got = shown(f"{path}: {os.strerror(number) if number else error}", 160)
        raise OptionError(
            name, "port", wrong="cannot be opened", expected=expected, got=got
        ) from None


def _progress(report: Report, rows: int) -> Callable[[int], None]:
    """Tells of every twentieth part of the rows."""

    def tell(answered: int) -> None:
        step = answered * STEPS // rows
        if step > (answered - 1) * STEPS // rows:
            report(1 + step, STEPS + 1, f"{answered} of {rows} rows answered")

    return tell
