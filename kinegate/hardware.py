"""Simulation and synthesis of a design, as the figures that the command line reports."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from boards.nextpnr import route as place_and_route
from boards.report import SynthReport
from boards.yosys import synthesise
from hdl.design import Design
from hdl.toolrun import ToolMissing
from kinegate.designs import Opened, OptionError, check_pace, refusing, unknown
from kinegate.progress import Report
from sim.amaranth_bench import simulate_amaranth
from sim.batch import build_directory
from sim.bench import Simulation, cache_directory, simulate, spread
from sim.geometry import tried_robot
from sim.tools import SIMULATORS, available
from sim.vectors import Vectors, golden_vectors

AMARANTH = "amaranth"
THROUGHPUT_VECTORS = 1000
"""Golden vectors over which the mean II of `forward` is taken."""


@contextmanager
def _verilog(opened: Opened) -> Iterator[Path]:
    """The Verilog file: the directory's own, or a passing copy of what is generated."""
    if opened.package:
        yield opened.package.verilog
        return
    with tempfile.TemporaryDirectory(prefix="kinegate-") as scratch:
        file = Path(scratch) / f"{opened.design.name}.v"
        file.write_text(opened.design.verilog)
        yield file


def _directory(opened: Opened, work: str) -> Path:
    if opened.package:
        return opened.package.directory / f"{work}_build"
    return build_directory(opened.design) if work == "sim" else cache(opened.design, work)


def cache(design: Design, work: str) -> Path:
    return cache_directory() / work / design.name


def simulation_of(
    opened: Opened, *, simulator: str, count: int, seed: int, waves: bool, report: Report
) -> dict[str, Any]:
    """`simulate`: the figures, ready for JSON."""
    _check_simulator(opened, simulator)
    design, directory = opened.design, _directory(opened, "sim")
    with refusing(opened.name):
        report(1, 4, f"{design.options.kernel} of {design.robot.name}: equations and schedule")
        _ = design.plan
        check_pace(opened.name, design)
        report(2, 4, "Verilog" if simulator != AMARANTH else "hardware")
        _ = simulator == AMARANTH or opened.package or design.verilog
    report(3, 4, f"{count} golden vectors")
    vectors = golden_vectors(design, count, seed, robot=tried_robot(design, seed))
    report(4, 4, f"{count} vectors in {simulator}")
    if simulator == AMARANTH:
        seen = simulate_amaranth(design, vectors, directory=directory, waves=waves)
    else:
        with _verilog(opened) as file:
            seen = simulate(
                design,
                vectors,
                verilog=file,
                simulator=simulator,
                directory=directory,
                waves=waves,
            )
    figures = _figures(design, vectors, seen) | {"simulator": simulator, "seed": seed}
    return figures | ({"waves": str(directory / "waves.vcd")} if waves else {})


def _check_simulator(opened: Opened, simulator: str) -> None:
    known = (*SIMULATORS, AMARANTH)
    if simulator not in known:
        raise unknown(opened.name, "simulator", simulator, known)
    if simulator == AMARANTH and opened.package:
        raise OptionError(
            opened.name,
            "simulator",
            wrong="reads no Verilog, which is what a generated directory holds",
            expected=" or ".join(SIMULATORS),
            got=simulator,
        )
    if simulator == AMARANTH and opened.design.beat_bits:
        raise OptionError(
            opened.name,
            "simulator",
            wrong="runs kernels with their own streams only",
            expected=f"{' or '.join(SIMULATORS)} with this shell",
            got=simulator,
        )
    if simulator in SIMULATORS and (reason := available(simulator)):
        raise ToolMissing(reason)


def _figures(design: Design, vectors: Vectors, seen: Simulation) -> dict[str, Any]:
    forward = vectors.timing is not None
    latency, ii = model_cycles(design, vectors)
    figures = {
        "robot": design.robot.name,
        "kernel": design.options.kernel,
        "ii": design.ii,
        "vectors": len(vectors),
        "mismatches": seen.mismatches,
        "cycles": seen.result.cycles,
        "latency_cycles": seen.latency if forward else _one(seen.latency),
        "latency_model": latency,
        "ii_measured": seen.ii if forward else _one(seen.ii),
        "ii_model": ii,
        "timing_differs": seen.timing_differs,
        "max_error": seen.max_error,
        "passed": seen.passed,
    }
    if design.beat_bits:  # packets add their cycles to those of the kernel, which are not compared
        figures |= dict.fromkeys(("latency_model", "ii_model", "timing_differs"))
    return figures | ({"step_ii": design.ii} if forward else {})


def model_cycles(design: Design, vectors: Vectors) -> tuple[Any, Any]:
    """Latency and II as the model has them: integers, or min, mean and max for `forward`."""
    if vectors.timing is None:
        return design.latency, design.cycles
    return spread(vectors.timing.latency), spread(vectors.timing.ii)


def _one(three: Mapping[str, float]) -> Any:
    """The one value that all transfers had; all three if they had several, None without any."""
    if not three:
        return None
    return three["min"] if three["min"] == three["max"] else dict(three)


def synthesis_of(opened: Opened, *, route: bool, seed: int, report: Report) -> dict[str, Any]:
    """`synth`: the figures, ready for JSON."""
    design, directory = opened.design, _directory(opened, "synth")
    target, options = design.target, design.options
    if route:
        _check_route(opened)
    steps = 3 + route
    with refusing(opened.name):
        report(1, steps, f"{options.kernel} of {design.robot.name}: equations and schedule")
        _ = design.plan
        check_pace(opened.name, design)
        report(2, steps, "Verilog")
        _ = opened.package or design.verilog
    report(3, steps, f"synthesis for {target.name}")
    with _verilog(opened) as file:
        made = synthesise(file, design.name, target, directory)
    fmax = None
    if route and made.fits(target):
        begun = f"place and route, seed {seed}"
        report(4, steps, begun)
        routed = place_and_route(
            made.json_netlist,
            target,
            directory,
            design.clock_mhz,
            filled=made.filled(target),
            seed=seed,
            speed=6,
            tell=lambda stage: report(4, steps, f"{begun}: {stage}"),
        )
        fmax = routed.fmax_mhz
    return _synthesised(design, made, fmax)


def _check_route(opened: Opened) -> None:
    target = opened.design.target
    if target.family != "ecp5":
        raise OptionError(
            opened.name,
            "route",
            wrong="places and routes ECP5 chips only",
            expected="--target ecp5-85k, ecp5-45k or ecp5-25k",
            got=f"--target {target.name}",
        )


def _synthesised(design: Design, made: SynthReport, fmax_mhz: float | None) -> dict[str, Any]:
    latency, ii = cycles(design)
    return {
        "target": design.target.name,
        "kernel": design.options.kernel,
        "ii": design.ii,
        "clock_mhz": design.clock_mhz,
        "fmax_mhz": fmax_mhz,
        "lut": made.lut,
        "ff": made.ff,
        "dsp": made.dsp,
        "bram": made.bram,
        "fits": made.fits(design.target),
        "latency_cycles": latency,
        "feedback_cycles": design.feedback_latency,
        "throughput_per_s": design.clock_mhz * 1e6 / ii,
        "dsp_busy": design.plan.slots / (made.dsp * design.plan.ii) if made.dsp else 1.0,
        "dsp_planned": design.plan.dsp,
        "lut_multipliers": design.plan.lut_multipliers,
    }


def cycles(design: Design) -> tuple[Any, float]:
    """The latency, and the mean clock cycles for each result."""
    if design.iteration is None:
        return design.latency, design.cycles
    vectors = golden_vectors(design, THROUGHPUT_VECTORS, 0)
    latency, ii = model_cycles(design, vectors)
    return latency, ii["mean"]


def shortcomings(figures: Mapping[str, Any]) -> list[str]:
    """What is not as it should be in the figures of `synth`; nothing where all is well."""
    found = []
    if not figures["fits"]:
        found.append(f"it does not fit {figures['target']}")
    if figures["dsp"] != figures["dsp_planned"]:
        found.append(
            f"it has {figures['dsp']} multipliers, not {figures['dsp_planned']} as planned"
        )
    fmax, clock = figures["fmax_mhz"], figures["clock_mhz"]
    if fmax is not None and fmax < clock:
        found.append(f"it reaches {fmax:.1f} MHz, not the clock of {clock:g} MHz")
    return found
