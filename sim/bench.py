"""Runs a design's Verilog against its golden vectors and measures what it sees."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hdl.design import Design
from hdl.testbench import BenchResult, parse_result, read_hex, read_trace, write_hex
from sim.accuracy import largest_errors
from sim.package import bench_text
from sim.tools import run_testbench
from sim.vectors import Codes, Vectors


def cache_directory() -> Path:
    """Where builds are kept for the next run: `$XDG_CACHE_HOME/kinegate` or `~/.cache/kinegate`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kinegate"


@dataclass(frozen=True)
class Simulation:
    """What a simulator saw, next to what the model says."""

    result: BenchResult
    mismatches: int
    latency: dict[str, float]
    ii: dict[str, float]
    timing_differs: int
    max_error: dict[str, float]

    @property
    def passed(self) -> bool:
        return self.result.passed and not self.mismatches and not self.timing_differs


def simulate(
    design: Design,
    vectors: Vectors,
    *,
    verilog: Path,
    simulator: str,
    directory: Path,
    waves: bool = False,
    options: tuple[str, ...] = (),
) -> Simulation:
    """Back-to-back run of all vectors: every bit, every cycle. `options` are more plusargs."""
    result, _, accept, present = run_vectors(
        design,
        vectors.inputs,
        vectors.outputs,
        verilog=verilog,
        simulator=simulator,
        directory=directory,
        waves=waves,
        options=options,
    )
    latency, gaps = present - accept, np.diff(accept)
    differs = 0
    if not options:
        expected_latency, expected_ii = expected_cycles(design, vectors)
        differs = int(np.sum(latency != expected_latency) + np.sum(gaps != expected_ii))
    return Simulation(
        result=result,
        mismatches=result.mismatches,
        latency=_three(latency),
        ii=_three(gaps),
        timing_differs=differs,
        max_error=largest_errors(design, vectors),
    )


def expected_cycles(design: Design, vectors: Vectors) -> tuple[np.ndarray, np.ndarray]:
    """The model's latency of each transfer and gap between accepted inputs."""
    if vectors.timing:
        return vectors.timing.latency, vectors.timing.ii
    count = len(vectors)
    return np.full(count, design.latency), np.full(max(count - 1, 0), design.options.ii)


def run_vectors(
    design: Design,
    inputs: Codes,
    expected: Codes | None,
    *,
    verilog: Path,
    simulator: str,
    directory: Path,
    waves: bool = False,
    options: tuple[str, ...] = (),
) -> tuple[BenchResult, Codes, np.ndarray, np.ndarray]:
    """Feed input codes; returns the bench's result, the output codes, accept and present cycles."""
    directory.mkdir(parents=True, exist_ok=True)
    name, count = design.name, len(next(iter(inputs.values())))
    bench = directory / f"{name}_tb.v"
    bench.write_text(bench_text(design, count))
    write_hex(directory / f"{name}_in.hex", design.inputs, inputs)
    arguments = ["in=" + f"{name}_in.hex", f"out={name}_out.hex", f"trace={name}_trace.txt"]
    if expected is not None:
        write_hex(directory / f"{name}_expected.hex", design.outputs, expected)
        arguments.append(f"expected={name}_expected.hex")
    printed = run_testbench(
        [verilog, bench], f"{name}_tb", directory, simulator, [*arguments, *options], waves=waves
    )
    outputs = read_hex(directory / f"{name}_out.hex", design.outputs)
    accept, present = read_trace(directory / f"{name}_trace.txt")
    return parse_result(printed), outputs, accept, present


def _three(values: np.ndarray) -> dict[str, float]:
    if not values.size:
        return {}
    return {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())}
