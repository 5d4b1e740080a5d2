"""Kernels as graphs: their formats, and their bit-true results against float64."""

import dataclasses

import numpy as np
import pytest
from robot_kinds import of_cables

from solver_ref.domain import corner_poses, perturb, sample_poses
from solver_ref.graph import Graph
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.forward import forward_kernel
from solver_ref.kernels.lengths import lengths_kernel
from solver_ref.kernels.step import StepKind, step_kernel
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.levenberg_marquardt import lm_step
from solver_ref.robot import Cable, Robot
from solver_ref.robot_file import load
from solver_ref.status import Status

SEED = 3
ROBOTS = [name for name in of_cables() if load(name).closure in StepKind.closures]


def codes_of(formats, **columns):
    return {name: formats[name].encode(values) for name, values in columns.items()}


def decoded(graph: Graph, out, names) -> np.ndarray:
    return np.column_stack([graph.output_formats[name].decode(out[name]) for name in names])


def poses_in(robot: Robot, graph: Graph, poses: np.ndarray):
    return codes_of(graph.inputs, **dict(zip(robot.coordinates, poses.T, strict=True)))


@pytest.mark.parametrize("name", ROBOTS)
def test_lengths_and_jacobian_are_within_the_asked_accuracy(name):
    robot = load(name)
    graph = lengths_kernel(Domain.of(robot, "fine")).graph
    poses = np.vstack([corner_poses(robot), sample_poses(robot, 2000, np.random.default_rng(SEED))])
    inputs = poses_in(robot, graph, poses)
    out = evaluate(graph, inputs)
    poses = np.column_stack([graph.inputs[n].decode(inputs[n]) for n in robot.coordinates])
    count = len(robot.cables)
    lengths = decoded(graph, out, [f"L{i + 1}" for i in range(count)])
    rows = [decoded(graph, out, [f"J{i + 1}_{n}" for n in robot.coordinates]) for i in range(count)]
    assert np.all(out["status"] == Status.VALID)
    assert np.max(np.abs(lengths - cable_lengths(robot, poses))) <= robot.accuracy.length
    assert np.max(np.abs(np.stack(rows, 1) - jacobian(robot, poses))) <= robot.accuracy.length


@pytest.mark.parametrize("name", [n for n in ROBOTS if n != "four-cable-concurrent"])
@pytest.mark.parametrize("damping", [0.0, 1e-2])
def test_a_step_is_the_float_step_to_a_small_part_of_itself(name, damping):
    robot = load(name)
    graph = step_kernel(Domain.of(robot, "fine")).graph
    rng = np.random.default_rng(SEED)
    truth = sample_poses(robot, 1000, rng)
    starts = perturb(robot, truth, 0.01, 0.01, rng)
    inputs = poses_in(robot, graph, starts)
    lengths = cable_lengths(robot, truth)
    inputs |= codes_of(graph.inputs, **{f"L{i + 1}": x for i, x in enumerate(lengths.T)})
    inputs |= codes_of(graph.inputs, **{"lambda": np.full(1000, damping)})
    out = evaluate(graph, inputs)
    starts, measured = (
        np.column_stack([graph.inputs[n].decode(inputs[n]) for n in names])
        for names in (robot.coordinates, [f"L{i + 1}" for i in range(len(robot.cables))])
    )
    expected = lm_step(robot, starts, measured, graph.inputs["lambda"].decode(inputs["lambda"]))
    scale = np.ones(len(robot.free))
    scale[robot.translations :] = robot.characteristic_length
    error = np.abs(decoded(graph, out, robot.coordinates) - expected.poses) * scale
    moved = np.abs(expected.poses - starts) * scale
    assert np.all(out["status"] & Status.VALID)
    # The Jacobian's 18 bits enter normal equations with the square of the condition number, which
    # reaches 30 on acrobot and stays below 15 on the others.
    share = 0.03 if name == "acrobot" else 2e-3
    assert np.max(error) <= robot.accuracy.length + share * np.max(moved)


def test_inputs_beyond_the_grown_workspace_are_out_of_range():
    robot = load("four-cable")
    graph = lengths_kernel(Domain.of(robot, "fine")).graph
    pose = np.array([[3.04, 0, 2, 0, 0, 0], [3.06, 0, 2, 0, 0, 0], [0, 0, 2, 0.3, 0.3, 0.0]])
    out = evaluate(graph, poses_in(robot, graph, pose))
    assert list(out["status"] == Status.VALID) == [True, False, False]
    assert list((out["status"] & Status.OUT_OF_RANGE) != 0) == [False, True, True]


def test_a_pivot_below_its_bound_is_reported():
    robot = load("four-cable-concurrent")
    graph = step_kernel(Domain.of(load("four-cable"), "fine")).graph
    concurrent = dataclasses.replace(load("four-cable"), cables=robot.cables)
    domain = Domain.of(load("four-cable"), "fine")
    graph = step_kernel(Domain(concurrent, domain.profile, domain.bounds, domain.reach)).graph
    level = np.array([[0.0, 0, 2, 0, 0, 0], [1.0, 0.5, 3, 0, 0, 0]])
    inputs = poses_in(robot, graph, level)
    lengths = cable_lengths(concurrent, level)
    inputs |= codes_of(graph.inputs, **{f"L{i + 1}": x for i, x in enumerate(lengths.T)})
    out = evaluate(graph, inputs | {"lambda": np.zeros(2, int)})
    assert np.all(out["status"] & Status.NEAR_SINGULAR)


def test_graphs_survive_json_and_have_one_digest():
    domain = Domain.of(load("planar4"), "fine")
    graph = step_kernel(domain).graph
    again = Graph.from_json(graph.to_json())
    assert again == graph and again.digest == graph.digest
    assert step_kernel(Domain.of(load("planar4"), "fine")).graph.digest == graph.digest
    assert step_kernel(Domain.of(load("planar4"), "18bit")).graph.digest != graph.digest


def fast(half: float) -> Robot:
    """FAST (CASPR, 300 m radius, 6.5 m platform): the numbers are those of its cables file.

    The platform moves `half` a side (m) from the middle.
    """
    angles = np.radians([30, 90, 150, 210, 270, 330])
    anchors = [(300 * np.cos(a), 300 * np.sin(a), 270.0) for a in angles]
    attachments = [(3.25, 5.6292, 0.0)] * 2 + [(-6.5, 0.0, 0.0)] * 2 + [(3.25, -5.6292, 0.0)] * 2
    base = load("nist-robocrane")
    workspace = dataclasses.replace(
        base.workspace,
        position=((-half, half), (-half, half), (90.0, 140.0)),
        tilt=0.2,
        home=(0.0, 0.0, 100.0, 0.0, 0.0, 0.0),
    )
    cables = tuple(Cable(anchor=a, attachment=b) for a, b in zip(anchors, attachments, strict=True))
    return dataclasses.replace(base, name="fast", cables=cables, workspace=workspace)


def test_lengths_of_hundreds_of_metres_have_the_format_of_the_other_kernels():
    robot = fast(150.0)
    domain = Domain.of(robot, "fine")
    graph = lengths_kernel(domain).graph
    assert graph.output_formats["L1"] == domain.encoder_format()
    poses = sample_poses(robot, 500, np.random.default_rng(SEED))
    inputs = poses_in(robot, graph, poses)
    exact = np.column_stack([graph.inputs[n].decode(inputs[n]) for n in robot.coordinates])
    lengths = decoded(graph, evaluate(graph, inputs), [f"L{i}" for i in range(1, 7)])
    assert np.max(np.abs(lengths - cable_lengths(robot, exact))) <= robot.accuracy.length


def test_a_robot_of_300_metres_gets_wider_formats_and_keeps_its_accuracy():
    robot = fast(50.0)
    kernel = forward_kernel(Domain.of(robot, "fine"))
    fields = kernel.iteration.fields
    assert fields["L1"].width > 25
    rng = np.random.default_rng(SEED)
    truth = sample_poses(robot, 2000, rng)
    starts = perturb(robot, truth, 0.05, 0.05, rng)
    columns = {f"L{i + 1}": x for i, x in enumerate(cable_lengths(robot, truth).T)}
    columns |= {f"{n}0": starts[:, i] for i, n in enumerate(robot.coordinates)}
    columns |= {"policy": np.full(2000, 2), "lambda": np.full(2000, 1e-4), "cold": np.zeros(2000)}
    inputs = codes_of(fields, **columns)
    out, _ = evaluate_iteration(kernel.iteration, inputs)
    poses = np.column_stack([fields[f"{n}0"].decode(out[n]) for n in robot.coordinates])
    measured = np.column_stack([fields[f"L{i + 1}"].decode(inputs[f"L{i + 1}"]) for i in range(6)])
    assert np.all(out["status"] == Status.VALID | Status.CONVERGED)
    assert np.max(np.abs(cable_lengths(robot, poses) - measured)) <= robot.accuracy.length
