"""`build`: from a robot and a board to a bitstream whose routed timing is met, or to none."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from boards.bitstream import Implementation, implement
from boards.definition import Board, load_board
from boards.pll import Pll, PllError, nearest
from boards.report import SynthReport
from boards.top import BoardTop
from boards.yosys import synthesise
from boards.yowasp import check_tools
from hdl.design import Design
from hdl.options import SERIAL
from hdl.verilog import verilog
from kinegate.designs import (
    GenerationOptions,
    Opened,
    OptionError,
    Source,
    check_pace,
    open_design,
    refusing,
)
from kinegate.hardware import cache, cycles
from kinegate.places import check_place, no_place
from kinegate.progress import Report, silent
from solver_ref.errors import InputError
from solver_ref.files import filled
from solver_ref.robot import Robot

SEEDS = 4
"""Of place and route, tried one after the other until the timing is met."""
MOST_SEEDS = 1000
REPORT = "build.json"


def build(
    robot: Source,
    *,
    board: str | PathLike[str],
    directory: str | PathLike[str] | None = None,
    seeds: int = SEEDS,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> dict[str, Any]:
    """Build the bitstream of a robot, or of a directory that `generate` wrote, for a board.

    `board`: a name of `kinegate list`, or a board's file; its options stand behind those that are
    given, and its chip is the target. `directory`: where bitstream, Verilog and figures go, by
    default named after robot, kernel and board. As many as `seeds` of place and route are tried.
    Nothing is written where the design does not fit or its timing is not met: `fits` and `met` say.

    >>> from kinegate import build
    >>> build("four-cable", board="my-board.toml")["met"]  # doctest: +SKIP
    True
    """
    found = load_board(board)
    _check_seeds(robot, seeds)
    opened = opened_for(robot, found, options)
    pll = _pll(opened, found)
    design = _behind_a_line(opened, pll)
    name = f"{opened.design.name}_{found.name}".replace("-", "_")
    place = Path(name if directory is None else directory)
    check_place(place)
    check_tools(found.target.family)
    steps = 3 + seeds
    report(1, steps, f"{design.options.kernel} of {design.robot.name}: equations and Verilog")
    with refusing(opened.name):
        check_pace(opened.name, design)
        text = _verilog(design, found, pll, name)
    report(2, steps, f"synthesis for {found.target.name}")
    folder = cache(design, "build")
    made = _synthesised(text, name, found, folder)
    figures = _figures(design, found, pll) | _resources(made, found)
    if not figures["fits"]:
        return figures
    for seed in range(1, seeds + 1):
        begun = f"place and route, seed {seed}"
        routed = implement(
            made.json_netlist,
            found,
            folder,
            clock_mhz=pll.mhz,
            seed=seed,
            tell=lambda stage, begun=begun, step=2 + seed: report(step, steps, f"{begun}: {stage}"),
        )
        figures |= _routed(routed, seed, figures["fmax_mhz"])
        if routed.met:
            report(steps, steps, f"files into {place}")
            return figures | _written(place, name, text, routed, figures)
    return figures


def opened_for(robot: Source, board: Board, options: GenerationOptions) -> Opened:
    """The design for the board's chip. OptionError for an option that has no place on a board."""
    name = robot.name if isinstance(robot, Robot) else str(robot)
    chip = board.target.name
    if options.get("target", chip) != chip:
        wrong, got = f"is not the chip of {board.name}", options["target"]
        raise OptionError(name, "target", wrong=wrong, expected=chip, got=got)
    _check_options(board)
    if isinstance(robot, Robot) or not Path(robot).is_dir():
        usual = {"kernel": "forward", **board.options}
        # What the board asks for suits solves: a kernel with an II is not folded, and others are
        # not shared by several cores.
        if "ii" in options:
            usual.pop("folded", None)
        if "ii" in options or options.get("kernel", "forward") != "forward":
            usual.pop("cores", None)
        options = {**usual, **options, "target": chip}
    opened = open_design(robot, options)
    made = opened.design.options
    if made.target != chip:  # of a directory
        wrong, got = "is not that of the chip it was made for", f"{board.name} with {chip}"
        raise OptionError(name, "board", wrong=wrong, expected=f"one with {made.target}", got=got)
    if made.shell not in ("stream", SERIAL):
        wrong, expected = "has nothing to connect to", "a serial line, without being asked"
        raise OptionError(name, "shell", wrong=wrong, expected=expected, got=made.shell)
    return opened


def _check_options(board: Board) -> None:
    known = sorted(GenerationOptions.__annotations__.keys() - {"target", "shell", "mechanism"})
    for key, value in board.options.items():
        if key not in known:
            expected = f"only {', '.join(known)}"
            raise InputError(
                board.name, f"options.{key}", wrong="is unknown", expected=expected, got=f"{value}"
            )


def board_design(robot: Source, board: Board, options: GenerationOptions) -> tuple[str, Design]:
    """The design that `build` puts on a board, and how messages call it."""
    opened = opened_for(robot, board, options)
    return opened.name, _behind_a_line(opened, _pll(opened, board))


def _behind_a_line(opened: Opened, pll: Pll) -> Design:
    """The same design in the shell of the serial link, with the clock that there will be."""
    design = opened.design
    options = replace(design.options, shell=SERIAL, clock_mhz=pll.mhz)
    with refusing(opened.name):
        return Design(design.robot, options)


def _check_seeds(robot: Source, seeds: int) -> None:
    if not 1 <= seeds <= MOST_SEEDS:
        name = robot.name if isinstance(robot, Robot) else str(robot)
        expected = f"1 to {MOST_SEEDS}"
        raise OptionError(name, "seeds", wrong="is out of range", expected=expected, got=f"{seeds}")


def _pll(opened: Opened, board: Board) -> Pll:
    """The fastest clock that is not above the one that is asked for."""
    asked = opened.design.clock_mhz
    try:
        return nearest(board.target.family, board.clock_mhz, asked)
    except PllError as error:
        raise OptionError(
            opened.name, "clock", wrong=str(error), expected="a faster one", got=f"{asked:g} MHz"
        ) from None


def _verilog(design: Design, board: Board, pll: Pll, name: str) -> str:
    """The top level and all below it."""
    return verilog(
        BoardTop(design.shelled(), pll=pll, board=board),
        name,
        f"{design.header}\nboard {board.name}",
    )


def _synthesised(text: str, name: str, board: Board, folder: Path) -> SynthReport:
    with tempfile.TemporaryDirectory(prefix="kinegate-") as scratch:
        source = Path(scratch) / f"{name}.v"
        source.write_text(text)
        return synthesise(source, name, board.target, folder)


def _figures(design: Design, board: Board, pll: Pll) -> dict[str, Any]:
    """What is known of a design before it is synthesised."""
    latency, ii = cycles(design)
    return {
        "board": board.name,
        "target": board.target.name,
        "robot": design.robot.name,
        "kernel": design.options.kernel,
        "digest": design.robot.digest,
        "options": design.canonical_options,
        "clock_mhz": pll.mhz,
        "latency_cycles": latency,
        "ii_mean": ii,
        "throughput_per_s": pll.mhz * 1e6 / ii,
    }


def _resources(made: SynthReport, board: Board) -> dict[str, Any]:
    have = board.target.resources
    return {
        "lut": made.lut,
        "ff": made.ff,
        "dsp": made.dsp,
        "bram": made.bram,
        "available": {"lut": have.lut, "ff": have.ff, "dsp": have.dsp, "bram": have.bram},
        "fits": made.fits(board.target),
        "fmax_mhz": None,
        "met": False,
        "seed": None,
    }


def _routed(routed: Implementation, seed: int, before: float | None) -> dict[str, Any]:
    """What one seed found, unless one before it was faster."""
    fmax = routed.report.fmax_mhz
    if before is not None and before >= fmax:
        return {}
    return {"fmax_mhz": fmax, "met": routed.met, "seed": seed}


def _written(
    place: Path, name: str, text: str, routed: Implementation, figures: dict[str, Any]
) -> dict[str, Any]:
    """Write the images, the Verilog and the figures, all or nothing; returns where they are."""
    images = {f"{name}.{suffix}": image for suffix, image in routed.images.items()}
    sites = {site: list(pair) for site, pair in routed.report.utilisation.items()}
    told = {"files": [*images, f"{name}.v", REPORT], "sites": sites}
    try:
        with filled(place) as aside:
            for file, image in images.items():
                (aside / file).write_bytes(image)
            (aside / f"{name}.v").write_text(text)
            (aside / REPORT).write_text(json.dumps(figures | told, indent=2) + "\n")
    except OSError as error:
        raise no_place(place, error.strerror or type(error).__name__) from None
    return {"directory": str(place)} | told


def failings(figures: dict[str, Any]) -> list[str]:
    """Why there is no bitstream; nothing where there is one."""
    if not figures["fits"]:
        names = [n for n, most in figures["available"].items() if figures[n] > most]
        need = ", ".join(f"{figures[n]:g} of {figures['available'][n]:g} {n}" for n in names)
        return [f"it does not fit {figures['target']}: it needs {need}"]
    if not figures["met"]:
        fmax, clock = figures["fmax_mhz"], figures["clock_mhz"]
        return [f"the best seed reaches {fmax:.2f} MHz, not the clock of {clock:g} MHz"]
    return []
