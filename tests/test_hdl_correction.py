"""The length corrections as hardware: equal to the interpreter, also at the jumps of the law."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from pipeline_bench import icarus, simulate
from traced import tracer

from hdl.pipeline import Pipeline
from hdl.schedule import schedule
from hdl.target import target
from solver_ref.correction import actual_tension, measured_length, true_length
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.interpreter import evaluate
from solver_ref.parts import Cable, Drum, Pulley, Stiffness
from solver_ref.split import split

CABLE = Cable(
    anchor=(0.0, 0.0, 6.0),
    attachment=(0.0, 0.0, 0.0),
    pulley=Pulley(radius=0.05, axis=(0.0, 0.0, 1.0), efficiency=0.92),
    stiffness=Stiffness(k0=2e5, alpha=2.0, static_friction=30.0, slip=8e3, k_max=4e5),
    thermal=1.2e-5,
    offset=-0.0321,
    drum=Drum(radius=0.05, build_up=1.1e-4, capacity=14.0),
)
LENGTH, TENSION, WARMING = Format(False, 4, 20), Format(False, 14, 6), Format(True, 7, 6)


def both_ways(law: str) -> Graph:
    """True and shown length of one cable from one length, the winch's tension and the warming."""
    m = tracer()
    length, warming = m.input("x", LENGTH), m.input("dT", WARMING)
    tension = actual_tension(m, CABLE, m.clamp(m.input("S", TENSION), 0.0, 12000.0))
    state = {"tension": tension, "warming": warming, "law": law}
    outputs = {
        "true": true_length(m, CABLE, length, **state),
        "shown": measured_length(m, CABLE, length, **state),
    }
    return m.builder.graph("correction", outputs)


def codes() -> dict[str, np.ndarray]:
    """Random codes, and sensed tensions next to both thresholds behind the pulley."""
    rng = np.random.default_rng(12)
    near = np.array([30.0, 8000.0])[:, None] / 0.92 * 64 + np.arange(-4, 5)
    sensed = np.concatenate([near.ravel().astype(int), rng.integers(0, 12000 << 6, 42)])
    return {
        "x": rng.integers(LENGTH.lo, LENGTH.hi, 60, endpoint=True),
        "dT": rng.integers(WARMING.lo, WARMING.hi, 60, endpoint=True),
        "S": sensed,
    }


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
@pytest.mark.parametrize("law", ["integrated", "printed"])
def test_corrections_are_bit_exact_in_verilog(law: str, tmp_path: Path) -> None:
    graph, chip = both_ways(law), target("ecp5-85k")
    expected = evaluate(graph, codes())
    cut = split(graph, chip.multiplier_shape)
    pipeline = Pipeline(cut, schedule(cut, 4, chip), chip, behavioural=True)
    for name, got in icarus(pipeline, codes(), tmp_path).items():
        assert np.array_equal(got, expected[name]), name


def test_corrections_are_bit_exact_in_amaranth() -> None:
    graph, chip = both_ways("printed"), target("xc7z020")
    inputs = {name: values[:24] for name, values in codes().items()}
    expected = evaluate(graph, inputs)
    cut = split(graph, chip.multiplier_shape)
    pipeline = Pipeline(cut, schedule(cut, 4, chip), chip, behavioural=True)
    for name, got in simulate(pipeline, inputs).items():
        assert np.array_equal(got, expected[name]), name
