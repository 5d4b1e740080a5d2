"""`python -m kinegate.demo`: the reference crane from its robot file to sized, bit-exact hardware.

Every figure of the table comes from one command of the command line, two of them at a time.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rich.text import Text

from kinegate import tables
from kinegate.progress import Report, reporting

ROBOT = "four-cable"
KERNELS = ("step", "forward")
FAMILIES = ("xc7z020", "ecp5-85k")
OUT = Path("out")
AT_ONCE = 2
POLL_SECONDS = 0.1


def directory(kernel: str) -> str:
    """Where the demo writes a kernel."""
    return str(OUT / f"{ROBOT}-{kernel}")


@dataclass
class Job:
    """One command: its words, the job that must be done before, and what it printed."""

    words: tuple[str, ...]
    after: Job | None = None
    process: subprocess.Popen[bytes] | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    status: int | None = None
    _files: tuple[IO[bytes], ...] = ()

    @property
    def text(self) -> str:
        return " ".join(("kinegate", *self.words))

    @property
    def ready(self) -> bool:
        before = self.after is None or self.after.status == 0
        return self.process is None and self.status is None and before

    def start(self) -> None:
        self._files = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        command = [sys.executable, "-m", "kinegate", *self.words, "--json"]
        self.process = subprocess.Popen(command, stdout=self._files[0], stderr=self._files[1])

    def finished(self) -> bool:
        """Whether it ran and has ended just now; its figures are there then."""
        if self.process is None or self.status is not None or self.process.poll() is None:
            return False
        self.status = self.process.returncode
        out, err = (self._read(file) for file in self._files)
        if self.status == 0:
            self.figures = json.loads(out)
        else:
            print(f"{self.text}\n{err}", end="", file=sys.stderr)
        return True

    @staticmethod
    def _read(file: IO[bytes]) -> str:
        with file:
            file.seek(0)
            return file.read().decode()


def jobs() -> dict[tuple[str, str], Job]:
    """All commands by kernel and what they give: `generated`, `simulated`, or a target."""
    plan = {}
    for kernel in KERNELS:
        place = directory(kernel)
        made = Job(("generate", ROBOT, "--kernel", kernel, "-o", place))
        plan[kernel, "generated"] = made
        plan[kernel, "simulated"] = Job(("simulate", place), made)
        plan[kernel, FAMILIES[0]] = Job(("synth", place), made)
        words = ("synth", ROBOT, "--kernel", kernel, "--target", FAMILIES[1])
        plan[kernel, FAMILIES[1]] = Job(words)
    return plan


def run(plan: list[Job], report: Report) -> None:
    """Run all commands, `AT_ONCE` at a time; what waits for a failed one is left out."""
    begun = 0
    try:
        while True:
            for job in plan:
                job.finished()
            running = sum(job.process is not None and job.status is None for job in plan)
            ready = [job for job in plan if job.ready]
            for job in ready[: AT_ONCE - running]:
                begun += 1
                report(begun, len(plan), job.text)
                job.start()
            if not running and not ready:
                return
            time.sleep(POLL_SECONDS)
    finally:
        for job in plan:
            if job.process is not None and job.process.poll() is None:
                job.process.send_signal(signal.SIGINT)
                job.process.wait()


def row(plan: dict[tuple[str, str], Job], kernel: str, family: str) -> list[object]:
    """One kernel on one chip; what was simulated is the first family's Verilog."""
    made, seen = plan[kernel, family].figures, plan[kernel, "simulated"].figures
    first = family == FAMILIES[0]
    latency = made["latency_cycles"]
    if isinstance(latency, dict):
        latency = f"{latency['min']:.0f} to {latency['max']:.0f}"
    return [
        kernel,
        family,
        f"{seen['vectors']:,}" if first else "",
        str(seen["mismatches"]) if first else "",
        tables.errors(seen["max_error"]) if first else "",
        f"{made['lut']:,}",
        f"{made['ff']:,}",
        f"{made['dsp']}",
        f"{made['dsp_busy']:.0%}",
        latency,
        f"{made['clock_mhz']:g}",
        f"{made['throughput_per_s'] / 1e6:.3g}",
    ]


def show(plan: dict[tuple[str, str], Job], seconds: float) -> None:
    """The table, how to read it, and what to try next."""
    header = ("kernel", "chip", "vectors", "wrong", "largest error", "LUT", "FF", "DSP", "busy")
    header += ("latency", "MHz", "M/s")
    rows = [row(plan, kernel, family) for kernel in KERNELS for family in FAMILIES]
    out = tables.console()
    out.print(tables.table(f"{ROBOT} in hardware, a step every 4 cycles", header, rows))
    for line in (
        "step: one Levenberg-Marquardt update; forward: whole solves, as many steps as they take.",
        "wrong: vectors with a bit or cycle unlike the model. error: fixed point against float64;",
        "for forward, the largest length residual. busy: the multipliers' slots. latency: in clock",
        "cycles. MHz: asked, not routed. M/s: results a second at that clock (forward: the mean).",
        "",
        f"Took {seconds:.0f} s. Each figure is from one of these commands, with --json:",
        *(f"  {job.text}" for job in plan.values()),
        "Try next:",
        "  kinegate list",
        f"  kinegate check {ROBOT}-concurrent",
        f"  kinegate simulate {ROBOT} --ii 1 --simulator icarus --vectors 200",
        f"  kinegate synth {ROBOT} --ii 12",
        f"  kinegate synth {ROBOT} --ii 6 --target ecp5-85k --route",
        "  kinegate simulate cogiro --ii 8",
    ):
        out.print(Text(line), soft_wrap=True)


def main() -> int:
    """Run the demo; 0 where all commands succeeded."""
    begun, plan = time.monotonic(), jobs()
    with reporting("demo") as report:
        run(list(plan.values()), report)
    if any(job.status != 0 for job in plan.values()):
        print("error: a command of the demo failed, see above", file=sys.stderr)
        return 1
    show(plan, time.monotonic() - begun)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
