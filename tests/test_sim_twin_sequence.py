"""Software that remembers: sequences in C and in Structured Text, transfer after transfer."""

import ctypes
import re
from functools import cache

import numpy as np
import pytest
from st_evaluator import FunctionBlock
from twin_kernels import QUICK, SEED, assert_equal, kernel

from sim.twin import compile_twin
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.kernels import KERNELS
from solver_ref.sequence import Register, Sequence, Stage, evaluate_sequence
from solver_ref.software import software


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """A directory of libraries that tests share."""
    return tmp_path_factory.mktemp("twins")


@cache
def stream(robot: str, count: int) -> dict[str, np.ndarray]:
    """Field codes of a moving robot, with samples that jump, are late or ask for a restart."""
    sequence, rng = kernel(robot, "track").sequence, np.random.default_rng(SEED)
    values = KERNELS["track"].draw(kernel(robot, "track").robot, count, rng)
    codes = {name: form.encode(values[name]) for name, form in sequence.fields.items()}
    odd = rng.uniform(size=count) < 0.02
    for name, form in sequence.fields.items():
        codes[name] = np.where(odd, rng.integers(form.lo, form.hi + 1, count), codes[name])
    return codes


@pytest.mark.parametrize("robot", ["planar4", "hangprinter"])
def test_tracking_is_exact(builds, robot):
    sequence, codes = kernel(robot, "track").sequence, stream(robot, 600)
    twin = compile_twin(sequence, builds, flags=QUICK)
    expected = evaluate_sequence(sequence, codes)
    assert_equal(twin.evaluate(codes), expected)
    assert len(np.unique(expected["status"])) > 3
    state, found = twin.start(), []
    for rows in np.split(np.arange(600), [1, 200]):
        found.append(twin.advance(state, {name: column[rows] for name, column in codes.items()}))
    assert_equal(
        {name: np.concatenate([part[name] for part in found]) for name in expected}, expected
    )


def test_the_answer_comes_before_what_the_next_transfer_waits_for(builds):
    sequence, codes = kernel("planar4", "track").sequence, stream("planar4", 100)
    twin = compile_twin(sequence, builds, flags=QUICK)
    library, expected = ctypes.CDLL(str(twin.library)), evaluate_sequence(sequence, codes)
    state, out = (ctypes.c_int64 * len(twin.start()))(), (ctypes.c_int64 * len(sequence.results))()
    library.twin_reset(state)
    for row in range(100):
        given = (ctypes.c_int64 * len(codes))(*(int(column[row]) for column in codes.values()))
        library.twin_answer(state, given, out)
        assert list(out) == [column[row] for column in expected.values()]
        library.twin_prepare(state)


def test_the_double_of_tracking_follows_the_integers(builds):
    sequence = kernel("planar4", "track").sequence
    rng = np.random.default_rng(SEED)
    values = KERNELS["track"].draw(kernel("planar4", "track").robot, 600, rng)
    twin = compile_twin(sequence, builds, flags=QUICK)
    codes = {name: form.encode(values[name]) for name, form in sequence.fields.items()}
    double, fixed = twin.evaluate_double(values), twin.evaluate(codes)
    good = (double["status"] == fixed["status"]) & (fixed["status"] & 1 == 1)
    assert np.mean(good[300:]) > 0.95
    decoded = {name: form.decode(fixed[name]) for name, form in twin.outputs.items()}
    for name in ("x", "y", "theta"):
        assert np.abs(double[name] - decoded[name])[good].max() < 1e-4


def average() -> Sequence:
    """Two stages over registers: the mean of a sample and the last mean, held where it is odd."""
    word = Format(True, 9, 0)
    mean = (g.Input("x", word), g.Input("last", word), g.Add(0, 1))
    mean += (g.Narrow(2, -1, word.lo, word.hi, "half_even"), g.Scale(3, -1))
    mean += (g.Narrow(2, 0, 0, 1, overflow="wrap"),)
    turned = (g.Input("mean", word), g.Negate(0), g.Narrow(1, 0, word.lo, word.hi, "floor", "wrap"))
    graphs = {
        "mean": Graph("mean", mean, (g.Output("mean", 4, word), g.Output("odd", 5))),
        "turn": Graph("turn", turned, (g.Output("out", 2, word),)),
    }
    return Sequence(
        graphs=graphs,
        stages=(
            Stage("mean", "mean", {"x": "x", "last": "turned"}, {"mean": "mean", "odd": "odd"}),
            Stage("turn", "turn", {"mean": "mean"}, {"turned": "out"}),
            Stage("again", "turn", {"mean": "turned"}, {"second": "out"}),
        ),
        fields={"x": word},
        registers={
            "turned": Register(word, -7),
            "mean": Register(word, 3),
            "odd": Register(Format(False, 1, 0)),
            "second": Register(word),
        },
        results={"mean": "mean", "odd": "odd", "before": "second"},
        hold="odd",
        held=frozenset({"mean"}),
    )


CODES = {"x": np.random.default_rng(SEED).integers(-256, 256, 300)}


def test_a_small_sequence_is_exact_in_c_and_structured_text(tmp_path):
    expected = evaluate_sequence(average(), CODES)
    twin = compile_twin(average(), tmp_path, flags=(*QUICK, "-DKG_CHECK"))
    assert_equal(twin.evaluate(CODES), expected)
    block = FunctionBlock(software(average(), "twin").files["twin.st"])
    for row, x in enumerate(CODES["x"].tolist()):
        found = block(i_x=x)
        assert found == {f"o_{name}": column[row] for name, column in expected.items()}


def test_a_result_that_is_not_held_would_be_seen():
    """The mutant: the results are given out whatever the flag says."""
    text = software(average(), "twin").files["twin.st"]
    broken = re.sub(r"IF r_odd = LINT#0 THEN\s+(o_mean := r_mean;)\s+END_IF;", r"\1", text)
    assert broken != text
    expected, block = evaluate_sequence(average(), CODES)["mean"], FunctionBlock(broken)
    assert any(
        block(i_x=x)["o_mean"] != y for x, y in zip(CODES["x"].tolist(), expected, strict=True)
    )


def test_tracking_in_structured_text_is_exact():
    sequence = kernel("planar4", "track").sequence
    codes = {name: column[:60] for name, column in stream("planar4", 600).items()}
    block = FunctionBlock(software(sequence, "twin").files["twin.st"])
    expected = evaluate_sequence(sequence, codes)
    for row in range(60):
        found = block(**{f"i_{name}": int(column[row]) for name, column in codes.items()})
        assert found == {f"o_{name}": column[row] for name, column in expected.items()}, row


def test_a_sequence_takes_no_feedback():
    with pytest.raises(ValueError, match="carries its registers itself and takes no feedback"):
        software(average(), "twin", feedback={"x": "mean"})
