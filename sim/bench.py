"""Runs a design's Verilog against its golden vectors and measures what it sees."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hdl.design import Design
from hdl.testbench import (
    BenchResult,
    parse_result,
    read_hex,
    read_trace,
    write_hex,
    write_words,
)
from hdl.toolrun import ToolError
from sim.accuracy import largest_errors
from sim.package import bench_text
from sim.tools import WAVES, run_testbench
from sim.vectors import Codes, Vectors
from solver_ref.parameters import words

OUT, TRACE, GEOMETRY = "out.hex", "trace.txt", "geometry.hex"


def cache_directory() -> Path:
    """Where builds are kept for the next run: `$XDG_CACHE_HOME/kinegate` or `~/.cache/kinegate`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kinegate"


@dataclass(frozen=True)
class Simulation:
    """What a simulator saw, next to what the model says; a lost transfer is a mismatch."""

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
        loaded=vectors.loaded,
    )
    timed = not options and not design.beat_bits
    return measured(design, vectors, result, accept, present, timed=timed)


def measured(
    design: Design,
    vectors: Vectors,
    result: BenchResult,
    accept: np.ndarray,
    present: np.ndarray,
    *,
    timed: bool = True,
) -> Simulation:
    """What a run says, next to the model; `timed` where nothing stalled it."""
    latency, gaps = present - accept, np.diff(accept)
    differs = 0
    if timed:
        expected_latency, expected_ii = expected_cycles(design, vectors)
        differs = _differing(latency, expected_latency) + _differing(gaps, expected_ii)
    return Simulation(
        result=result,
        mismatches=result.mismatches + max(result.vectors - result.received, 0),
        latency=spread(latency),
        ii=spread(gaps),
        timing_differs=differs,
        max_error=largest_errors(design, vectors),
    )


def _differing(seen: np.ndarray, expected: np.ndarray) -> int:
    """How many differ; one that was not seen does."""
    return len(expected) - int(np.sum(seen == expected[: len(seen)]))


def expected_cycles(design: Design, vectors: Vectors) -> tuple[np.ndarray, np.ndarray]:
    """The model's latency of each transfer and gap between accepted inputs."""
    if vectors.timing:
        return vectors.timing.latency, vectors.timing.ii
    count = len(vectors)
    return np.full(count, design.latency), np.full(max(count - 1, 0), design.cycles)


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
    loaded: Mapping[str, int] | None = None,
) -> tuple[BenchResult, Codes, np.ndarray, np.ndarray]:
    """Feed input codes; returns the bench's result, the output codes (none where a bit of them is
    unknown), accept and present cycles of what came out.

    `directory` keeps the builds, and `waves.vcd` where asked for. A geometry whose codes are
    `loaded` goes in first.
    """
    count = len(next(iter(inputs.values())))
    with _run_directory(directory) as run:
        bench, arguments = _bench_files(design, inputs, expected, run)
        arguments += [f"vectors={count}", *options]
        if loaded:
            write_words(run / GEOMETRY, words(design.parameters, loaded))
            arguments.append(f"geometry={GEOMETRY}")
        printed = run_testbench(
            [verilog, bench], bench.stem, directory, simulator, arguments, waves=waves, run_dir=run
        )
        try:
            outputs = read_hex(run / OUT, design.outputs)
        except ValueError:
            outputs = {}
        accept, present = read_trace(run / TRACE)
        if waves:
            os.replace(run / WAVES, directory / WAVES)
    return parse_result(printed), outputs, accept, present


@contextmanager
def _run_directory(directory: Path) -> Iterator[Path]:
    """A directory for the files of one run; it stays only when a tool fails, with its log."""
    directory.mkdir(parents=True, exist_ok=True)
    run = Path(tempfile.mkdtemp(dir=directory, prefix="run-"))
    failed = False
    try:
        yield run
    except ToolError:
        failed = True
        raise
    finally:
        if not failed:
            shutil.rmtree(run, ignore_errors=True)


def _bench_files(
    design: Design, inputs: Codes, expected: Codes | None, run: Path
) -> tuple[Path, list[str]]:
    """The testbench, and the plusargs that name its vectors. Its capacity is a power of two, so
    that one build serves many numbers of vectors."""
    count = len(next(iter(inputs.values())))
    bench = run / f"{design.name}_tb.v"
    bench.write_text(bench_text(design, max(1024, 1 << (count - 1).bit_length())))
    write_hex(run / "in.hex", design.inputs, inputs)
    arguments = ["in=in.hex", f"out={OUT}", f"trace={TRACE}"]
    if expected is not None:
        write_hex(run / "expected.hex", design.outputs, expected)
        arguments.append("expected=expected.hex")
    return bench, arguments


def spread(values: np.ndarray) -> dict[str, float]:
    """Their `min`, `mean` and `max`; empty without any."""
    if not values.size:
        return {}
    return {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())}
