"""Amaranth's own simulator sees what the model says, and a wrong bit or cycle is seen."""

import dataclasses

import numpy as np
import pytest

from hdl.design import Design
from hdl.options import Options
from sim.amaranth_bench import simulate_amaranth
from sim.vectors import golden_vectors
from solver_ref.iteration import Timing
from solver_ref.robot_file import load

COUNT = 12


@pytest.fixture(scope="module")
def lengths():
    design = Design(load("hangprinter"), Options(kernel="lengths", ii=3))
    return design, golden_vectors(design, COUNT, 5)


def test_a_design_is_bit_exact_and_cycle_exact(lengths, tmp_path):
    design, vectors = lengths
    seen = simulate_amaranth(design, vectors, directory=tmp_path, waves=True)
    assert seen.passed and seen.mismatches == 0 and seen.timing_differs == 0
    assert seen.latency == {"min": design.latency, "mean": design.latency, "max": design.latency}
    assert seen.ii == {"min": 3, "mean": 3, "max": 3}
    assert seen.result.received == COUNT
    assert seen.result.cycles == 3 * (COUNT - 1) + design.latency + 1
    assert (tmp_path / "waves.vcd").stat().st_size > 0


def test_whole_solves_take_the_cycles_of_their_model(tmp_path):
    design = Design(load("hangprinter"), Options(kernel="forward", ii=8))
    seen = simulate_amaranth(design, golden_vectors(design, 3, 1), directory=tmp_path)
    assert seen.passed
    assert seen.latency["min"] < seen.latency["max"]


def test_a_wrong_bit_is_a_mismatch(lengths, tmp_path):
    design, vectors = lengths
    codes = vectors.outputs["L2"].copy()
    codes[7] ^= 1
    wrong = dataclasses.replace(vectors, outputs=vectors.outputs | {"L2": codes})
    seen = simulate_amaranth(design, wrong, directory=tmp_path)
    assert seen.mismatches == 1 and not seen.passed


def test_a_wrong_cycle_is_seen(lengths, tmp_path):
    design, vectors = lengths
    accept = 3 * np.arange(COUNT)
    late = accept + design.latency
    late[4] += 1
    wrong = dataclasses.replace(vectors, timing=Timing(accept, late))
    seen = simulate_amaranth(design, wrong, directory=tmp_path)
    assert (seen.mismatches, seen.timing_differs) == (0, 1) and not seen.passed
