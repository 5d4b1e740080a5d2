"""`python -m bench.resources`: what the reference crane's kernels take on each chip.

Prints the README's table, one row for each command. The rows without routing take a minute or two
each, the routed one half an hour.
"""

from __future__ import annotations

import sys

from kinegate.api import synth
from kinegate.progress import reporting

ROWS = (
    "step --ii 1 --profile 18bit",
    "step --ii 2",
    "step --ii 4",
    "step --ii 4 --runtime-geometry",
    "step --ii 12",
    "lengths --ii 4",
    "forward --ii 4",
    "forward --target ice40-up5k",
    "step --ii 6 --target ecp5-85k",
    "step --ii 6 --target ecp5-85k --route",
)
FLAGS = ("route", "runtime_geometry")
HEADER = ("`kinegate synth four-cable --kernel ...`", "DSP", "busy", "LUT", "FF", "BRAM")
HEADER += ("latency (cycles)", "clock (MHz)", "results/s")


def options(row: str) -> dict[str, object]:
    """The keyword options of one row's words."""
    kernel, *words = row.split()
    found: dict[str, object] = {"kernel": kernel}
    while words:
        name = words.pop(0).removeprefix("--").replace("-", "_")
        if name in FLAGS:
            found[name] = True
        else:
            value = words.pop(0)
            found[name] = int(value) if name == "ii" else value
    return found


def cells(row: str) -> list[str]:
    """One row of the table: the command and what it printed."""
    with reporting("resources") as report:
        made = synth("four-cable", report=report, **options(row))
    latency = made["latency_cycles"]
    if isinstance(latency, dict):
        latency = f"{latency['min']:.0f} and more"
    clock = f"{made['clock_mhz']:g}"
    if made["fmax_mhz"]:
        clock = f"{made['fmax_mhz']:.1f} routed"
    rate = made["throughput_per_s"]
    return [
        f"`{row}`",
        str(made["dsp"]),
        f"{made['dsp_busy']:.1%}",
        f"{made['lut']:,}",
        f"{made['ff']:,}",
        f"{made['bram']:g}",
        str(latency),
        clock,
        f"{rate / 1e6:.3g} M" if rate else "",
    ]


def main(rows: list[str]) -> None:
    print("| " + " | ".join(HEADER) + " |")
    print("|" + "---|" * len(HEADER))
    for row in rows or ROWS:
        print("| " + " | ".join(cells(row)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
