"""`forward` with the closure `equilibrium`, bit-true: poses and tensions of hanging platforms."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from published_robots import robot_of

from solver_ref.equilibrium_poses import sample_equilibria
from solver_ref.errors import InputError
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.equilibrium_domain import EquilibriumDomain
from solver_ref.kernels.equilibrium_pass import EquilibriumPass
from solver_ref.kernels.kind import Choices, out_of_reach
from solver_ref.kernels.stopping import ITERATION_LIMIT
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.status import Status

FORWARD = KERNELS["forward"]
GOOD = int(Status.VALID | Status.CONVERGED)
SEED = 6


def swing() -> Robot:
    """A planar bar, hung unevenly on two ropes."""
    anchors, attachments = [[-1, 0, 2], [1.2, 0, 2]], [[-0.3, 0, 0.1], [0.4, 0, 0]]
    robot = robot_of("swing", anchors, attachments, motion="planar-xz")
    platform = replace(robot.platform, mass=3.0, com=(0.1, 0.0, -0.2))
    return replace(robot, closure="equilibrium", platform=platform)


def hook() -> Robot:
    """A load on two ropes, which swings out of their plane."""
    robot = robot_of("hook", [[-1, 0, 2], [1.2, 0.1, 2.2]], [[0, 0, 0]] * 2, motion="point")
    return replace(robot, closure="equilibrium", platform=replace(robot.platform, mass=3.0))


def sensing() -> Robot:
    """The full crane, whose winches measure what their ropes pull."""
    return replace(load("four-cable-full"), sensors=("tension",))


ROBOTS = {"swing": swing, "hook": hook, "sensing": sensing}
# Largest errors: m, rad and N, with some room above what 2000 rows of each kind of start show.
LARGEST = {
    "four-cable": (1.2e-6, 2.5e-6, 0.004),
    "four-cable-full": (1.5e-6, 3e-6, 0.006),
    "irma4u": (3e-6, 30e-6, 0.2),
    "swing": (1e-6, 1e-6, 0.001),
    "hook": (1e-6, 0.0, 0.001),
    "sensing": (1.5e-6, 3e-6, 0.006),
}


@cache
def made(name: str) -> Kernel:
    robot = ROBOTS[name]() if name in ROBOTS else load(name)
    return FORWARD.trace(Domain.of(robot.with_options(closure="equilibrium"), "fine"))


def answers(kernel: Kernel, values: dict[str, np.ndarray]) -> tuple[dict, dict, np.ndarray]:
    """Inputs as the ports carry them, outputs, and status words."""
    fields, results = kernel.iteration.fields, kernel.iteration.result_formats
    codes = {name: form.encode(values[name]) for name, form in fields.items()}
    out, _ = evaluate_iteration(kernel.iteration, codes)
    inputs = {name: form.decode(codes[name]) for name, form in fields.items()}
    return inputs, {n: form.decode(out[n]) for n, form in results.items()}, out["status"]


def from_home(robot: Robot, lengths: np.ndarray, **columns: np.ndarray) -> dict[str, np.ndarray]:
    shown = {f"L{i + 1}": column for i, column in enumerate(lengths.T)}
    return FORWARD.port_values(robot, shown | columns, Choices())


@pytest.mark.parametrize("name", LARGEST)
def test_every_drawn_row_ends_in_the_float64_equilibrium(name: str) -> None:
    kernel = made(name)
    values = FORWARD.draw(kernel.robot, 200, np.random.default_rng(SEED))
    inputs, outputs, status = answers(kernel, values)
    assert np.all(status & ~int(Status.SLACK) == GOOD), f"seed {SEED}"
    errors = FORWARD.errors(kernel.robot, inputs, outputs)
    for unit, limit in zip(("m", "rad", "N"), LARGEST[name], strict=True):
        assert errors.get(unit, 0.0) <= limit, f"{unit}, seed {SEED}"
    assert errors["m"] <= kernel.robot.accuracy.length
    assert outputs["iterations"].mean() < 4


def test_the_published_tensions_of_irma4u_come_out_of_its_lengths() -> None:
    kernel = made("irma4u")
    pose = np.array([0.4, -0.4, 0.6, -0.145595, -0.154499, -0.011161])
    # The published angles are those of Rx Ry Rz; as a rotation vector:
    cx, cy, cz = np.cos(pose[3:])
    sx, sy, sz = np.sin(pose[3:])
    turn = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    turn = turn @ [[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]] @ [[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]
    angle = np.arccos((np.trace(turn) - 1) / 2)
    axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    pose[3:] = axis / (2 * np.sin(angle)) * angle
    lengths = cable_lengths(kernel.robot, pose[None])
    _, outputs, status = answers(kernel, from_home(kernel.robot, lengths))
    assert status[0] == GOOD
    pulls = [outputs[f"T{i}"][0] for i in (1, 2, 3, 4)]
    assert pulls == pytest.approx([81.175193, 55.900918, 31.006417, 53.855798], abs=0.05)


def test_the_float_answers_say_the_same_as_the_hardware() -> None:
    kernel = made("four-cable-full")
    values = FORWARD.draw(kernel.robot, 100, np.random.default_rng(SEED))
    inputs, outputs, _ = answers(kernel, values)
    own = FORWARD.answers(Domain.of(kernel.robot, "fine"), inputs)
    assert list(own) == list(outputs)
    assert np.all(own["status"] & GOOD == GOOD), f"seed {SEED}"
    for name in ("x", "y", "z", "rx", "ry", "rz"):
        assert np.abs(own[name] - outputs[name]).max() < 3e-6, f"seed {SEED}"
    assert np.all(np.abs(own["pivot"] - outputs["pivot"]) < 0.02 * own["pivot"]), f"seed {SEED}"


def test_lengths_that_no_equilibrium_has_are_never_valid() -> None:
    kernel = made("four-cable")
    poses, _ = sample_equilibria(kernel.robot, 100, np.random.default_rng(SEED))
    lengths = cable_lengths(kernel.robot, poses) + np.array([-0.5, 0.5, -0.5, 0.5])
    inputs, outputs, status = answers(kernel, from_home(kernel.robot, lengths))
    assert np.all(status & int(Status.VALID) == 0), f"seed {SEED}"
    assert np.all(status & int(Status.ITERATION_LIMIT | Status.NO_SOLUTION) != 0)
    # What comes out is the best pose that was seen, with the residual that it has.
    given = np.column_stack([inputs[f"L{i}"] for i in (1, 2, 3, 4)])
    best = np.column_stack([outputs[name] for name in kernel.robot.coordinates])
    residual = np.abs(cable_lengths(kernel.robot, best) ** 2 - given**2) / (2 * given)
    off = np.abs(residual.max(axis=1) / outputs["residual"] - 1)
    domain = EquilibriumDomain.of(Domain.of(kernel.robot, "fine")).domain
    within = ~out_of_reach(domain, given) & (np.linalg.norm(best[:, 3:], axis=1) < 0.7)
    assert within.sum() > 20 and off[within].max() < 1e-4, f"seed {SEED}"


def test_a_start_outside_the_grown_workspace_is_reported() -> None:
    kernel = made("irma4u")
    poses, _ = sample_equilibria(kernel.robot, 20, np.random.default_rng(SEED))
    starts = {f"{n}0": column for n, column in zip(kernel.robot.coordinates, poses.T, strict=True)}
    starts["x0"] = np.full(20, 0.6)
    lengths = cable_lengths(kernel.robot, poses)
    _, _, status = answers(kernel, from_home(kernel.robot, lengths, **starts))
    assert np.all(status & int(Status.OUT_OF_RANGE) != 0), f"seed {SEED}"
    assert np.all(status & int(Status.VALID) == 0)


def test_a_cable_that_pulls_too_little_is_slack_and_the_pose_still_good() -> None:
    kernel = made("four-cable")
    poses, pulls = sample_equilibria(kernel.robot, 60, np.random.default_rng(SEED))
    # The same formats, another bound.
    own = EquilibriumDomain.of(Domain.of(kernel.robot, "fine"))
    bound = tuple(replace(cable, tension_min=150.0) for cable in kernel.robot.cables)
    strict = replace(own.domain, robot=replace(own.domain.robot, cables=bound))
    iteration = EquilibriumPass(replace(own, domain=strict), ITERATION_LIMIT).build()
    lengths = cable_lengths(kernel.robot, poses)
    values = from_home(kernel.robot, lengths)
    _, _, status = answers(replace(kernel, iteration=iteration), values)
    clear = np.abs(pulls - 150.0).min(axis=1) > 0.1
    slack = (pulls < 150.0).any(axis=1)
    assert slack.any() and not slack.all()
    assert np.array_equal((status[clear] & int(Status.SLACK)) != 0, slack[clear]), f"seed {SEED}"
    assert np.all(status & GOOD == GOOD)


def test_no_damping_converges_too_and_policies_that_undo_steps_are_refused() -> None:
    kernel = made("irma4u")
    poses, _ = sample_equilibria(kernel.robot, 50, np.random.default_rng(SEED))
    columns = {f"L{i + 1}": x for i, x in enumerate(cable_lengths(kernel.robot, poses).T)}
    values = FORWARD.port_values(kernel.robot, columns, Choices("none"))
    assert not values["lambda"].any()
    _, _, status = answers(kernel, values)
    assert np.all(status == GOOD), f"seed {SEED}"
    for policy in ("fixed", "shrink-on-failure"):
        with pytest.raises(InputError, match=rf"^irma4u: damping: .*got {policy}$"):
            FORWARD.port_values(kernel.robot, columns, Choices(policy))


def test_a_platform_that_nothing_pulls_down_is_refused_by_name() -> None:
    robot = replace(swing(), gravity=(0.0, -9.81, 0.0))
    with pytest.raises(InputError, match="^swing: gravity: pulls nowhere"):
        FORWARD.columns(robot)


@pytest.mark.parametrize("name", ["four-cable", "irma4u"])
def test_no_input_breaks_a_limit_that_counts_as_proven(name: str) -> None:
    """Any code that the ports carry, its extremes most often."""
    kernel, rng = made(name), np.random.default_rng(SEED)
    codes = {}
    for key, form in kernel.iteration.fields.items():
        ends = np.where(rng.uniform(size=200) < 0.5, form.lo, form.hi)
        anything = rng.integers(form.lo, form.hi, 200, endpoint=True)
        codes[key] = np.where(rng.uniform(size=200) < 0.5, ends, anything)
    evaluate_iteration(kernel.iteration, codes)


# Largest errors of one step from up to 5 cm and 50 mrad: m, rad and N.
STEP = {"four-cable": (15e-6, 40e-6, 0.05), "irma4u": (60e-6, 400e-6, 3.0)}


@pytest.mark.parametrize("name", STEP)
def test_one_step_is_that_of_float64(name: str) -> None:
    kind, robot = KERNELS["step"], load(name).with_options(closure="equilibrium")
    domain = Domain.of(robot, "fine")
    graph = kind.trace(domain).graph
    values = kind.draw(robot, 200, np.random.default_rng(SEED))
    codes = {key: form.encode(values[key]) for key, form in graph.inputs.items()}
    out = evaluate(graph, codes)
    assert np.all(out["status"] & ~int(Status.SLACK) == int(Status.VALID)), f"seed {SEED}"
    inputs = {key: form.decode(codes[key]) for key, form in graph.inputs.items()}
    outputs = {key: form.decode(out[key]) for key, form in graph.output_formats.items()}
    errors = kind.errors(robot, inputs, outputs)
    for unit, limit in zip(("m", "rad", "N"), STEP[name], strict=True):
        assert errors[unit] <= limit, f"{unit}, seed {SEED}"
    own = kind.answers(domain, inputs)
    assert list(own) == list(outputs)
    assert np.abs(own["residual"] - outputs["residual"]).max() < 1e-5, f"seed {SEED}"


def test_steps_feed_on_their_own_answers() -> None:
    """What one step writes, the next one reads; without tensions the first begins by itself."""
    kind, robot = KERNELS["step"], load("irma4u")
    graph = kind.trace(Domain.of(robot, "fine")).graph
    poses, pulls = sample_equilibria(robot, 20, np.random.default_rng(SEED))
    columns = {f"L{i + 1}": x for i, x in enumerate(cable_lengths(robot, poses).T)}
    for _ in range(7):
        values = kind.port_values(robot, columns, Choices("none"))
        codes = {key: form.encode(values[key]) for key, form in graph.inputs.items()}
        out = evaluate(graph, codes)
        found = {key: form.decode(out[key]) for key, form in graph.output_formats.items()}
        columns |= {f"{name}0": found[name] for name in robot.coordinates}
        columns |= {name: found[name] for name in ("T1", "T2", "T3", "T4")}
    assert np.all(out["status"] & int(Status.VALID) != 0), f"seed {SEED}"
    for i, name in enumerate(robot.coordinates):
        assert np.abs(found[name] - poses[:, i]).max() < 3e-5, f"seed {SEED}"
    assert np.abs(found["T1"] - pulls[:, 0]).max() < 0.2, f"seed {SEED}"
