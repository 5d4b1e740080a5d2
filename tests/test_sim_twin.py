"""The compiled software twin: equal to the bit-true model, in integers, values and double."""

import ctypes
import dataclasses

import numpy as np
import pytest
from toy_kernels import countdown, product, root
from twin_kernels import QUICK, SEED, STRICT, assert_equal, drawn, kernel, source

from hdl.toolrun import ToolError, ToolMissing
from sim.twin import compile_twin
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.interpreter import evaluate
from solver_ref.iteration import PassLimitExceeded, evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.robot_file import load
from solver_ref.split import split

ROBOTS = ("four-cable", "planar4", "hangprinter", "cogiro")


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """A directory of libraries that tests share."""
    return tmp_path_factory.mktemp("twins")


@pytest.mark.parametrize(
    ("robot", "name"),
    [*((robot, name) for robot in ROBOTS for name in ("step", "lengths")), ("puma560", "rnea")],
)
def test_a_graph_is_exact(builds, robot, name):
    codes = drawn(robot, name, 20_000 if robot == "four-cable" else 4_000)
    twin = compile_twin(source(robot, name), builds, flags=QUICK)
    assert_equal(twin.evaluate(codes), evaluate(kernel(robot, name).graph, codes))


@pytest.mark.parametrize(
    ("robot", "name"),
    [*((robot, "forward") for robot in ROBOTS), ("four-cable-concurrent", "rate")],
)
def test_an_iteration_is_exact_and_takes_as_many_passes(builds, robot, name):
    codes = drawn(robot, name, 20_000 if robot == "four-cable" else 1_000)
    twin = compile_twin(source(robot, name), builds, flags=QUICK)
    expected, passes = evaluate_iteration(source(robot, name), codes)
    assert passes.max() > 1
    found, taken = twin.evaluate_with_passes(codes)
    assert_equal(found, expected)
    assert np.array_equal(taken, passes)


def test_a_graph_cut_for_multipliers_has_the_same_integers(builds):
    graph = kernel("hangprinter", "step").graph
    codes = drawn("hangprinter", "step", 2_000)
    cut = compile_twin(split(graph, (25, 18)), builds, flags=QUICK)
    assert_equal(cut.evaluate(codes), compile_twin(graph, builds, flags=QUICK).evaluate(codes))


def test_codes_beyond_a_port_count_as_its_ends_and_are_told(tmp_path):
    twin = compile_twin(product(), tmp_path, flags=STRICT)
    beyond = [np.array([300, -300, 255]), np.array([5, 6, 7])]
    found = twin.columns(3)
    twin.call("many", beyond, found)
    assert list(found[0]) == [255 * 5, -256 * 6, 255 * 7]
    fits = ctypes.CDLL(str(twin.library)).twin_fits
    answers = [fits((ctypes.c_int64 * 2)(a, b)) for a, b in zip(*beyond, strict=True)]
    assert answers == [0, 0, 1]


def test_values_are_rounded_like_the_model_and_limits_are_counted(tmp_path):
    form = Format(True, 6, 4)
    nodes = (g.Input("x", form), g.Input("k", Format(False, 2, 0)))
    graph = Graph("ports", nodes, (g.Output("y", 0), g.Output("n", 1)))
    twin = compile_twin(graph, tmp_path, flags=STRICT)

    class Ports(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double), ("k", ctypes.c_int64)]

    rng = np.random.default_rng(SEED)
    values = np.concatenate([np.arange(-1100, 1100) / 32, rng.uniform(-40, 40, 500)])
    real, out = ctypes.CDLL(str(twin.library)).twin_real, Ports()
    for value in values:
        limited = real(ctypes.byref(Ports(value, 3)), ctypes.byref(out))
        code = form.encode(value)
        assert out.x == form.decode(code) and out.k == 3, value
        assert limited == (abs(value - form.decode(code)) > form.quantum / 2), value
    assert real(ctypes.byref(Ports(np.nan, 4)), ctypes.byref(out)) == 2
    assert real(ctypes.byref(Ports(np.inf, -1)), ctypes.byref(out)) == 2 and out.k == 0


@pytest.mark.parametrize("robot", ["four-cable", "planar4"])
@pytest.mark.parametrize("name", ["lengths", "step"])
def test_the_plain_double_is_nearer_to_float64_than_the_integers(builds, robot, name):
    made, kind = kernel(robot, name), KERNELS[name]
    twin = compile_twin(made.graph, builds, flags=QUICK)
    codes = drawn(robot, name, 1_000, wild=0)
    values = {port: form.decode(codes[port]) for port, form in twin.inputs.items()}
    exact = kind.answers(Domain.of(made.robot, "fine"), values)
    double, fixed = twin.evaluate_double(values), twin.evaluate(codes)
    good = fixed["status"] & 1 == 1
    assert np.array_equal(double["status"][good], fixed["status"][good])
    ports = [port for port in made.graph.output_formats if port.startswith(("L", "J", "x", "y"))]
    largest = [
        max(np.abs(found[port] - exact[port])[good].max() for port in ports)
        for found in (double, {p: form.decode(fixed[p]) for p, form in twin.outputs.items()})
    ]
    assert largest[0] < largest[1]
    assert largest[0] <= 3 * made.robot.accuracy.length


def test_the_double_of_an_iteration_converges_like_the_integers(builds):
    codes = drawn("planar4", "forward", 1_000, wild=0)
    twin = compile_twin(source("planar4", "forward"), builds, flags=QUICK)
    values = {port: form.decode(codes[port]) for port, form in twin.inputs.items()}
    double, fixed = twin.evaluate_double(values), twin.evaluate(codes)
    assert np.mean(double["status"] == fixed["status"]) > 0.99
    assert np.mean(double["iterations"] == fixed["iterations"]) > 0.95


def integrator() -> Graph:
    """sum + rate, wrapped, and what was before: `sum` and `old` are fed back."""
    word = Format(True, 12, 0)
    nodes = (
        g.Input("rate", Format(True, 8, 0)),
        g.Input("sum", word),
        g.Input("old", word),
        g.Add(0, 1),
        g.Narrow(3, 0, word.lo, word.hi, overflow="wrap"),
        g.Subtract(4, 2),
    )
    outputs = (("next", 4), ("same", 1), ("change", 5))
    return Graph("integrator", nodes, tuple(g.Output(*item) for item in outputs))


def test_a_sequence_carries_outputs_into_the_next_row(tmp_path):
    twin = compile_twin(
        integrator(), tmp_path, feedback={"sum": "next", "old": "same"}, flags=STRICT
    )
    rate = np.random.default_rng(SEED).integers(-128, 128, 1_000)
    state = twin.start({"old": 7, "sum": 100})
    found = twin.advance(state, {"rate": rate})
    sums = (np.cumsum(rate) + 100 + 2048) % 4096 - 2048
    before = np.concatenate([[7, 100], sums])[:1_000]
    assert np.array_equal(found["next"], sums)
    assert np.array_equal(found["change"], sums - before)
    assert list(state) == [sums[-1], sums[-2]]
    again = twin.start({"old": 7, "sum": 100})
    parts = [twin.advance(again, {"rate": part}) for part in np.split(rate, [300, 301])]
    assert_equal({name: np.concatenate([part[name] for part in parts]) for name in found}, found)


def test_a_sequence_of_solves_starts_each_from_the_one_before(tmp_path):
    iteration, robot = source("planar4", "forward"), load("planar4")
    feedback = {f"{name}0": name for name in robot.coordinates}
    twin = compile_twin(iteration, tmp_path, feedback=feedback, flags=QUICK)
    codes = drawn("planar4", "forward", 8, wild=0) | {"cold": np.zeros(8, int)}
    first = {port: int(codes[port][0]) for port in feedback}
    others = {port: column for port, column in codes.items() if port not in feedback}
    found = twin.advance(twin.start(first), others)
    now = first
    for row in range(8):
        given = {port: column[row : row + 1] for port, column in codes.items()}
        expected, _ = evaluate_iteration(iteration, given | {k: [v] for k, v in now.items()})
        assert {k: v[row] for k, v in found.items()} == {k: v[0] for k, v in expected.items()}
        now = {port: int(expected[output][0]) for port, output in feedback.items()}


def test_a_library_is_built_once_for_one_text_and_set_of_flags(tmp_path):
    first = compile_twin(product(), tmp_path).library
    changed = first.stat().st_mtime_ns
    assert compile_twin(product(), tmp_path).library == first
    assert first.stat().st_mtime_ns == changed
    assert compile_twin(product(), tmp_path, flags=("-O1",)).library != first
    assert compile_twin(root(), tmp_path).library != first


def test_an_iteration_that_does_not_end_is_an_error(tmp_path):
    short = dataclasses.replace(countdown(), max_passes=3)
    twin = compile_twin(short, tmp_path, flags=STRICT)
    with pytest.raises(PassLimitExceeded, match="not done in row 1"):
        twin.evaluate({"count": np.array([1, 9]), "step": np.array([1, 1])})


@pytest.mark.parametrize(
    "codes, message",
    [
        ({"a": [1]}, "the twin needs an input 'b'"),
        ({"a": [1], "b": [64]}, r"input 'b' has codes outside SQ\(7, 0\)"),
        ({"a": [0.5], "b": [1]}, "input 'a' must be integer codes, not float64"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(tmp_path, codes, message):
    with pytest.raises(ValueError, match=message):
        compile_twin(product(), tmp_path).evaluate(codes)


def test_a_missing_compiler_and_a_failing_one_are_told(tmp_path, monkeypatch):
    with pytest.raises(ToolError, match="compiling twin with"):
        compile_twin(product(), tmp_path, flags=("-nonsense",))
    monkeypatch.setenv("CC", "no-such-compiler -m32")
    with pytest.raises(ToolMissing, match="no-such-compiler is installed: apt install gcc"):
        compile_twin(product(), tmp_path)
