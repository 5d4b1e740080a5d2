"""Iterations: their contract, their repetition bit for bit, and the cycle model of the ring."""

import dataclasses

import numpy as np
import pytest
from toy_kernels import B, N, countdown, root

from solver_ref.fixed import Format
from solver_ref.iteration import PassLimitExceeded, Ring, evaluate_iteration


def test_the_integer_root_by_counting_is_the_integer_root():
    x = np.arange(256)
    results, passes = evaluate_iteration(root(), {"x": x})
    assert np.array_equal(results["root"], np.floor(np.sqrt(x)))
    assert np.array_equal(passes, results["root"] + 1)


def test_the_countdown_takes_as_many_passes_as_it_is_told():
    count, step = np.meshgrid(np.arange(N.lo, N.hi + 1), np.arange(B.lo, B.hi + 1))
    inputs = {"count": count.ravel(), "step": step.ravel()}
    results, passes = evaluate_iteration(countdown(), inputs)
    assert np.array_equal(passes, count.ravel() + 1)
    assert np.array_equal(results["next_sum"], 5 + step.ravel() * (count.ravel() + 1))


def test_many_rows_are_solved_in_chunks():
    x = np.arange(100_000) % 256
    results, passes = evaluate_iteration(root(), {"x": x})
    assert np.array_equal(results["root"], np.floor(np.sqrt(x)))
    assert passes.shape == (100_000,)


def test_no_rows_give_no_results():
    results, passes = evaluate_iteration(root(), {"x": np.zeros(0, np.int64)})
    assert results["root"].shape == passes.shape == (0,)


def test_a_solve_that_does_not_end_is_an_error_that_names_its_inputs():
    short = dataclasses.replace(root(), max_passes=3)
    with pytest.raises(PassLimitExceeded, match=r"root is not done after 3 passes from {'x': 9}"):
        evaluate_iteration(short, {"x": np.array([1, 9, 100])})


def test_the_fields_are_the_inputs_then_the_external_ones():
    assert list(countdown().fields) == ["step", "count"]
    assert countdown().result_formats == {"next_sum": Format(True, 12, 0)}


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"state": ("n",)},
            "state and inputs must be the graph's inputs n, sum, step, not n, step",
        ),
        ({"done": "next_n"}, "done must be a flag"),
        ({"done": "ready"}, "the graph has no output 'ready'"),
        ({"results": ("total",)}, "the graph has no output 'total'"),
        ({"initial": {"n": "count"}}, "state 'sum' has no initial field or code"),
        ({"initial": {"n": "count", "sum": 4000}}, "the initial code 4000 of 'sum' is outside"),
        ({"initial": {"n": "many", "sum": 0}}, "state 'n' starts from 'many', which is no field"),
        ({"external": {"count": Format(False, 5, 0)}}, "does not fit the state 'n'"),
        ({"external": {"count": Format(False, 3, 1)}}, "does not fit the state 'n'"),
        ({"external": {"count": N, "step": N}}, "external fields step are inputs of the graph"),
        ({"max_passes": 0}, "max_passes must be at least 1, not 0"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(countdown(), **change)


@pytest.mark.parametrize(
    "codes, message",
    [
        ({"step": [1]}, "the solve needs a field 'count'"),
        ({"step": [1], "count": [16]}, "field 'count' has codes outside"),
        ({"step": [0.5], "count": [1]}, "field 'step' must be integer codes"),
    ],
)
def test_fields_that_are_missing_or_out_of_range_are_refused(codes, message):
    with pytest.raises(ValueError, match=message):
        evaluate_iteration(countdown(), {name: np.array(code) for name, code in codes.items()})


@pytest.mark.parametrize("latency, ii", [(1, 1), (1, 3), (5, 1), (10, 4), (11, 4), (100, 7)])
def test_the_ring_has_room_for_the_pipeline_and_its_two_registers(latency, ii):
    ring = Ring(latency=latency, ii=ii)
    assert ring.round_cycles - ii < latency + 2 <= ring.round_cycles
    assert ring.places >= 2 * ring.positions
    assert ring.places & (ring.places - 1) == 0


def test_equal_solves_keep_the_pipeline_full():
    ring = Ring(latency=10, ii=4)
    timing = ring.timing(np.full(1000, 3))
    assert set(timing.latency) == {3 * ring.round_cycles + 2}
    cycles = timing.accept[-1] - timing.accept[0]
    assert cycles == pytest.approx(1000 * 3 * 4, rel=0.01)


def test_a_long_solve_holds_back_those_behind_it_until_the_places_run_out():
    ring = Ring(latency=1, ii=1)  # three positions, eight places
    timing = ring.timing(np.array([20] + [1] * 20))
    assert list(timing.accept[:8]) == [0, 1, 2, 4, 5, 7, 8, 10]
    assert timing.present[0] == 62
    assert list(timing.present[:8]) == list(range(62, 70))
    assert timing.accept[8] == 62


def test_the_summary_has_the_extremes_and_means():
    summary = Ring(latency=1, ii=1).timing(np.array([1, 2])).summary()
    assert summary == {
        "latency_min": 5,
        "latency_mean": 6.5,
        "latency_max": 8,
        "ii_min": 1,
        "ii_mean": 1,
        "ii_max": 1,
    }


def test_a_solve_without_passes_is_refused():
    with pytest.raises(ValueError, match="at least one pass"):
        Ring(latency=1, ii=1).timing(np.array([1, 0]))
