"""`python -m bench.software`: processor time of the reference crane's kernels as generated C.

Prints a table in Markdown. One core; each figure is the best of several runs over the same rows.
*Rows* are independent of each other, so that the processor works on several at once; a *chain*
feeds each pose into the next step: what one answer takes. The integers are the bits of the
hardware, the double is the same graph without rounding (docs/software.md).
"""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinegate.api import load
from sim.twin import FLAGS, Twin, compile_twin, compiler
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain, Kernel

ROBOT, ROWS, RUNS, SEED = "four-cable", 100_000, 7, 0
OPTIONS = ("-O2", "-O3 -march=native")


def best(work: Callable[[], None]) -> float:
    """The shortest processor time of a run, ns for each row."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) / ROWS * 1e9


def codes(kernel: Kernel, twin: Twin) -> list[np.ndarray]:
    """Columns of inputs inside the declared domain."""
    values = KERNELS[kernel.name].draw(kernel.robot, ROWS, np.random.default_rng(SEED))
    return [form.encode(values[port]) for port, form in twin.inputs.items()]


def rows(kernel: Kernel, flags: tuple[str, ...]) -> tuple[float, float]:
    """ns of a row among independent ones: integers, double."""
    twin = compile_twin(kernel.iteration or kernel.graph, flags=flags)
    given, found = codes(kernel, twin), twin.columns(ROWS)
    integers = best(lambda: twin.call("many", given, found))
    formats = twin.inputs.values()
    values = [form.decode(column) for form, column in zip(formats, given, strict=True)]
    real = [np.empty(ROWS) for _ in found]
    return integers, best(lambda: twin.call("double_many", values, real))


def chain(kernel: Kernel, flags: tuple[str, ...]) -> float:
    """ns of a step whose pose is that of the step before, in integers."""
    poses = kernel.robot.coordinates
    twin = compile_twin(kernel.graph, feedback={name: name for name in poses}, flags=flags)
    values = KERNELS[kernel.name].draw(kernel.robot, 1, np.random.default_rng(SEED))
    first = {name: int(twin.inputs[name].encode(values[name])[0]) for name in poses}
    others = [port for port in twin.inputs if port not in poses]
    given = [np.full(ROWS, twin.inputs[port].encode(values[port])[0]) for port in others]
    found = twin.columns(ROWS)
    return best(lambda: twin.call("sequence", given, found, twin.start(first)))


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def main() -> None:
    version = subprocess.run([*compiler(), "--version"], capture_output=True, text=True).stdout
    print(f"`{ROBOT}`, {processor()}, {version.splitlines()[0]}, {ROWS:,} rows, best of {RUNS}.\n")
    print("| kernel | compiled with | integers, ns | integers in a chain, ns | double, ns |")
    print("|---|---|---|---|---|")
    domain = Domain.of(load(ROBOT), "fine")
    kernels = {name: KERNELS[name].trace(domain) for name in ("lengths", "step", "forward")}
    for name, kernel in kernels.items():
        for options in OPTIONS:
            flags = (*FLAGS, *options.split())
            integers, double = rows(kernel, flags)
            chained = f"{chain(kernel, flags):.0f}" if name == "step" else ""
            cells = f"{integers:.0f} | {chained} | {double:.0f}"
            print(f"| `{name}` | `{options}` | {cells} |", flush=True)


if __name__ == "__main__":
    main()
