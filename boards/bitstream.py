"""From the netlist of a board's top level to its bitstream: place and route with pads, and pack.

ECP5 by nextpnr-ecp5 and ecppack, iCE40 by nextpnr-ice40 and icepack (the `yowasp` packages).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from boards.constraints import SUFFIX, constraints
from boards.definition import Board
from boards.follow import Tell, following, quiet
from boards.nextpnr import STAGES, read_report
from boards.report import RouteReport
from boards.yowasp import check_tools, run_yowasp

TIME_LIMIT_S = 3600
"""Of one seed; a design that fills a third of an ECP5-85F takes a quarter of it."""


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """A routed design: its timing, and the image files by their suffix."""

    report: RouteReport
    constrained_mhz: float
    images: Mapping[str, bytes]

    @property
    def met(self) -> bool:
        return self.report.fmax_mhz >= self.constrained_mhz


def implement(
    netlist: Path,
    board: Board,
    build_dir: Path,
    *,
    clock_mhz: float,
    seed: int = 1,
    tell: Tell = quiet,
) -> Implementation:
    """Place, route and pack the netlist (JSON of Yosys) of a top level with the board's pins.

    `clock_mhz`: what the PLL makes, which has to be met. Leaves `<netlist>-<seed>.build.log` in
    `build_dir`. The same netlist and seed give the same bytes. `tell` hears of each stage.

    Raises ToolMissing without the tools, ToolError with the end of the log when one fails, and
    ValueError where the router timed another clock than the PLL's.
    """
    family = board.target.family
    check_tools(family)
    log = (build_dir / f"{netlist.stem}-{seed}.build.log").resolve()
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="nextpnr-", dir=build_dir) as scratch:
        folder = Path(scratch)
        (folder / "netlist.json").write_bytes(netlist.read_bytes())
        pins = f"pins.{SUFFIX[family]}"
        (folder / pins).write_text(constraints(board))
        common = ["--json", "netlist.json", "--report", "report.json", "--seed", str(seed)]
        common += ["--freq", f"{clock_mhz:g}", "--timing-allow-fail"]
        with following(log, STAGES, tell):
            _run(family, "nextpnr_" + family, [*common, *_options(board, pins)], folder, log)
        tell("packing")
        images = {"ecp5": _ecppack, "ice40": _icepack}[family](folder, log)
        report = folder / "report.json"
        return Implementation(
            report=read_report(report),
            constrained_mhz=_constrained(report, clock_mhz),
            images=images,
        )


def _options(board: Board, pins: str) -> list[str]:
    """What is particular to the chip."""
    chip = [f"--{board.target.part}", "--package", board.package]
    if board.target.family == "ecp5":
        return [*chip, "--speed", str(board.speed), "--lpf", pins, "--textcfg", "routed.config"]
    return [*chip, "--pcf", pins, "--asc", "routed.asc"]


def _ecppack(folder: Path, log: Path) -> dict[str, bytes]:
    arguments = ["--compress", "--svf", "image.svf", "routed.config", "image.bit"]
    _run("ecp5", "ecppack", arguments, folder, log.with_suffix(".pack.log"))
    return {suffix: (folder / f"image.{suffix}").read_bytes() for suffix in ("bit", "svf")}


def _icepack(folder: Path, log: Path) -> dict[str, bytes]:
    arguments = ["routed.asc", "image.bin"]
    _run("ice40", "icepack", arguments, folder, log.with_suffix(".pack.log"))
    return {"bin": (folder / "image.bin").read_bytes()}


def _run(family: str, tool: str, arguments: list[str], folder: Path, log: Path) -> None:
    run_yowasp(family, tool, arguments, folder=folder, log=log, timeout=TIME_LIMIT_S)


def _constrained(report: Path, clock_mhz: float) -> float:
    """The frequency that the router was to reach; ValueError where it is not the PLL's."""
    clocks = json.loads(report.read_text())["fmax"]
    asked = {name: clock["constraint"] for name, clock in clocks.items()}
    # Periods are whole picoseconds in the tool.
    if any(abs(mhz / clock_mhz - 1) > 1e-3 for mhz in asked.values()):
        raise ValueError(f"the PLL makes {clock_mhz:g} MHz, but the router was asked for {asked}")
    return max(asked.values())
