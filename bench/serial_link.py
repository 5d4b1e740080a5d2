"""`python -m bench.serial_link`: what the serial link carries and takes: tables of docs/uart.md.

The kernel is `forward` of the reference crane, folded. Two minutes.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from boards.report import SynthReport
from boards.yosys import synthesise
from hdl.design import Design
from hdl.options import SERIAL, Options
from hdl.uart import FRAME_BITS
from solver_ref.robot_file import load

TARGETS = {"ice40-up5k": 18.0, "ecp5-25k": 75.0}
"""Chips and their clocks, MHz."""
BAUDS = (115_200, 1_000_000, 3_000_000)


def design(target: str, shell: str) -> Design:
    """The kernel for a chip, with a shell or without."""
    robot = load("four-cable")
    clock = TARGETS[target]
    options = Options(kernel="forward", target=target, folded=True, shell=shell, clock_mhz=clock)
    return Design(robot, options)


def taken(made: Design) -> SynthReport:
    """What a design takes of its chip."""
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / f"{made.name}.v"
        file.write_text(made.verilog)
        return synthesise(file, made.name, made.target, Path(scratch))


def main() -> None:
    link = design("ecp5-25k", SERIAL).serial
    print(f"{link.request_bytes} bytes in, {link.result_bytes} out\n")
    print("| baud | at most, solves/s |\n|---|---|")
    for baud in BAUDS:
        longest = max(link.request_bytes, link.result_bytes)
        print(f"| {baud:,} | {baud / FRAME_BITS / longest:,.0f} |", flush=True)
    print("\n| chip | LUT | FF | block RAM |\n|---|---|---|---|")
    for target in TARGETS:
        bare, shelled = (taken(design(target, shell)) for shell in ("stream", SERIAL))
        more = (getattr(shelled, part) - getattr(bare, part) for part in ("lut", "ff", "bram"))
        print(f"| {target} | {' | '.join(f'{count:g}' for count in more)} |", flush=True)


if __name__ == "__main__":
    main()
