"""Corrected lengths in the kernels: ports, columns, and bit-true results against float64."""

from dataclasses import replace

import numpy as np
import pytest

from solver_ref.correction import true_lengths
from solver_ref.domain import sample_poses
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.corrections import WARMING, is_corrected, tension_names, warming_names
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.forward import Forward
from solver_ref.kernels.kind import Choices
from solver_ref.kernels.lengths import Lengths
from solver_ref.kernels.step import StepKind
from solver_ref.kinematics import cable_lengths
from solver_ref.parts import Drum
from solver_ref.robot_file import load
from solver_ref.sag import static_tensions
from solver_ref.status import Status

SEED = 17
GOOD = Status.VALID | Status.CONVERGED
FULL = load("four-cable-full").with_options(closure="minimum-norm")
SENSED = replace(FULL, sensors=("tension",))
PLAIN = load("four-cable")


def changed(robot, **keys):
    return replace(robot, cables=tuple(replace(cable, **keys) for cable in robot.cables))


WOUND = changed(FULL, offset=0.0132, drum=Drum(radius=0.06, build_up=1.2e-4, capacity=25.0))
RELATIVE = changed(PLAIN, offset=20.0)
ROBOTS = {
    "crane": FULL,
    "sensed": SENSED,
    "wound": WOUND,
    "relative": RELATIVE,
    "printed": FULL.with_options(elongation="printed"),
}


@pytest.fixture(scope="module")
def domains():
    return {name: Domain.of(robot, "fine") for name, robot in ROBOTS.items()}


def through(graph, values):
    """Decoded inputs and outputs of one pass of a graph."""
    codes = {name: form.encode(values[name]) for name, form in graph.inputs.items()}
    out = evaluate(graph, codes)
    decoded = {n: f.decode(out[n]) for n, f in graph.output_formats.items() if n != "status"}
    inputs = {name: form.decode(codes[name]) for name, form in graph.inputs.items()}
    return inputs, decoded | {"status": out["status"]}


def solved(domain, columns):
    iteration = Forward().trace(domain).iteration
    values = Forward().port_values(domain.robot, columns, Choices())
    codes = {name: form.encode(values[name]) for name, form in iteration.fields.items()}
    out, _ = evaluate_iteration(iteration, codes)
    inputs = {name: form.decode(codes[name]) for name, form in iteration.fields.items()}
    poses = {n: f.decode(out[n]) for n, f in iteration.result_formats.items() if n != "status"}
    return inputs, poses | {"status": out["status"]}


def test_plain_robots_keep_their_ports():
    for name in ("four-cable", "cogiro", "hangprinter", "irma4u"):
        robot = load(name)
        assert not is_corrected(robot)
        assert tension_names(robot) == warming_names(robot) == ()
    domain = Domain.of(PLAIN, "fine")
    assert domain.encoder == domain.reach
    assert domain.encoder_format() == domain.length_format()


def test_tensions_are_named_by_where_they_are_measured():
    """S at the winches, T behind the pulleys: the two cannot be confused."""
    assert tension_names(FULL) == ("T1", "T2", "T3", "T4")
    assert tension_names(SENSED) == ("S1", "S2", "S3", "S4")
    computed, sensed = (Forward().columns(robot) for robot in (FULL, SENSED))
    assert "T1" in computed.optional and "dT" in computed.optional
    assert "S1" in sensed.required and "T1" not in sensed.optional
    assert computed.not_negative == tension_names(FULL)
    massless = replace(FULL, platform=replace(FULL.platform, mass=None))
    assert "T1" in Lengths().columns(massless).required


def test_what_is_left_out_is_no_warming_and_the_platform_at_rest_where_the_solve_starts():
    poses = sample_poses(FULL, 5, np.random.default_rng(SEED))
    columns = {f"L{i + 1}": x for i, x in enumerate(cable_lengths(FULL, poses).T)}
    cold = Forward().port_values(FULL, columns, Choices())
    starts = dict(zip((f"{n}0" for n in FULL.coordinates), poses.T, strict=True))
    warm = Forward().port_values(FULL, columns | starts, Choices())
    home = static_tensions(FULL, np.array(FULL.workspace.home))
    there = np.maximum(static_tensions(FULL, poses), 0.0)
    assert not cold["dT"].any()
    assert np.allclose(cold["T2"], home[1]) and np.allclose(warm["T2"], there[:, 1])
    given = Forward().port_values(FULL, columns | {"dT": np.full(5, 7.0)}, Choices())
    assert np.all(given["dT"] == 7.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_lengths_are_what_the_encoders_show_within_the_asked_accuracy(domains, name):
    domain = domains[name]
    robot, kind = domain.robot, Lengths()
    values = kind.draw(robot, 500, np.random.default_rng(SEED))
    inputs, outputs = through(kind.trace(domain).graph, values)
    assert np.all(outputs["status"] == Status.VALID)
    assert kind.errors(robot, inputs, outputs)["m"] <= robot.accuracy.length


@pytest.mark.parametrize("name", ROBOTS)
def test_a_step_from_what_the_encoders_show_is_the_float_step(domains, name):
    domain = domains[name]
    robot, kind = domain.robot, StepKind()
    values = kind.draw(robot, 300, np.random.default_rng(SEED))
    inputs, outputs = through(kind.trace(domain).graph, values)
    assert np.array_equal(outputs["status"], kind.answers(domain, inputs)["status"])
    assert kind.errors(robot, inputs, outputs)["m"] <= robot.accuracy.length


@pytest.mark.parametrize("name", ["crane", "sensed", "wound"])
def test_forward_solves_for_the_corrected_lengths(domains, name):
    domain = domains[name]
    robot = domain.robot
    values = Forward().draw(robot, 200, np.random.default_rng(SEED))
    near = values["cold"] == 0
    columns = {k: v[near] for k, v in values.items() if k not in ("policy", "cold", "lambda")}
    inputs, outputs = solved(domain, columns)
    assert np.all(outputs["status"] == GOOD)
    assert Forward().errors(robot, inputs, outputs)["m"] <= robot.accuracy.length
    # Without the corrections the same poses would be millimetres off.
    poses = np.column_stack([outputs[n] for n in robot.coordinates])
    raw = np.column_stack([inputs[f"L{i + 1}"] for i in range(4)])
    assert np.max(np.abs(cable_lengths(robot, poses) - raw)) > 5e-3


def test_a_sensed_tension_acts_through_the_pulley(domains):
    """The same encoders and the same number of newtons: sensed at the winch, 8 % less pull."""
    poses = sample_poses(FULL, 20, np.random.default_rng(SEED))
    columns = {f"L{i + 1}": x for i, x in enumerate(cable_lengths(FULL, poses).T)}
    columns |= {f"{n}0": x for n, x in zip(FULL.coordinates, poses.T, strict=True)}
    pulls = np.full((20, 4), 2000.0)
    for name, letter, share in (("crane", "T", 1.0), ("sensed", "S", 0.92)):
        given = {f"{letter}{i + 1}": x for i, x in enumerate(pulls.T)}
        inputs, outputs = solved(domains[name], columns | given)
        found = np.column_stack([outputs[n] for n in FULL.coordinates])
        shown = np.column_stack([inputs[f"L{i + 1}"] for i in range(4)])
        wanted = true_lengths(FULL, shown, tensions=share * pulls, warming=0.0)
        assert np.max(np.abs(cable_lengths(FULL, found) - wanted)) <= FULL.accuracy.length


def test_an_overloaded_cable_is_out_of_range(domains):
    graph = Lengths().trace(domains["crane"]).graph
    values = Lengths().draw(FULL, 2, np.random.default_rng(SEED)) | {"T3": np.array([24e3, 25e3])}
    _, outputs = through(graph, values)
    assert list(outputs["status"]) == [Status.VALID, Status.OUT_OF_RANGE]


def test_the_span_of_an_encoder_holds_every_correction(domains):
    """Cold slack cables and hot ones under the largest load, at both ends of the reach."""
    domain = domains["wound"]
    for pull, warming in ((0.0, WARMING.lo / 256), (24e3, WARMING.hi / 256)):
        for end in (0, 1):
            shown = np.array([span[end] for span in domain.encoder])
            state = {"tensions": np.full(4, pull), "warming": warming}
            length = true_lengths(domain.robot, shown, **state)
            reach = np.array([limits[end] for limits in domain.reach])
            assert np.all(length <= reach + 0.1) if end == 0 else np.all(length >= reach - 0.1)


def test_an_offset_beyond_the_reach_makes_the_ports_signed(domains):
    domain = domains["relative"]
    assert domain.encoder_format().signed
    assert Forward().columns(RELATIVE).positive == ()
    assert Forward().columns(PLAIN).positive == ("L1", "L2", "L3", "L4")


def test_the_law_of_elongation_changes_the_answer_and_the_digest(domains):
    printed = ROBOTS["printed"]
    assert printed.digest != FULL.digest
    assert FULL.with_options(elongation="integrated").digest == FULL.digest
    values = Lengths().draw(FULL, 100, np.random.default_rng(SEED))
    values |= {f"T{i + 1}": np.full(100, 9000.0) for i in range(4)}
    graphs = [Lengths().trace(domains[name]).graph for name in ("crane", "printed")]
    integrated, jumped = (through(graph, values)[1]["L1"] for graph in graphs)
    # Above the slip threshold the printed law has fallen by 17 mm.
    assert np.all(jumped - integrated > 5e-3)


def test_a_stream_with_a_negative_tension_is_refused_like_a_solve():
    robot = replace(SENSED, closure="attitude")
    for kind in (KERNELS["track"], KERNELS["forward"]):
        assert kind.columns(robot).not_negative == ("S1", "S2", "S3", "S4")
        assert kind.columns(robot).positive == ("L1", "L2", "L3", "L4")
    relative = changed(robot, offset=20.0)
    assert KERNELS["track"].columns(relative).positive == ()
