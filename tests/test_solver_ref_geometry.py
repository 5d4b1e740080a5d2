"""Geometry that is loaded: bit-true models of robots that were measured again, against float64."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from solver_ref.domain import sample_poses
from solver_ref.errors import InputError
from solver_ref.geometry import cables_with, loaded_codes, numbers, recalibrated
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.kinematics import cable_lengths, cable_ways
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot_file import load
from solver_ref.sequence import evaluate_sequence
from solver_ref.status import Status

SEED = 31


@cache
def kernel_of(robot: str, kernel: str, loaded: bool = True, closure: str | None = None):
    made_for = load(robot).with_options(closure=closure)
    return KERNELS[kernel].trace(Domain.of(made_for, "fine", loaded=loaded))


def moved(robot, seed: int, farthest: bool = False):
    """The robot measured again: every number somewhere in its tolerance, or at its ends."""
    rng = np.random.default_rng(seed)

    def number(n):
        share = rng.choice([-1.0, 1.0]) if farthest else rng.uniform(-1, 1)
        return n.of(robot) + 0.9999 * share * n.tolerance

    return recalibrated(robot, cables_with(robot, number))


def run(kernel, inputs):
    if kernel.sequence:
        return evaluate_sequence(kernel.sequence, inputs)
    if kernel.iteration:
        return evaluate_iteration(kernel.iteration, inputs)[0]
    return evaluate(kernel.graph, inputs)


def answered(kernel, robot, count: int, codes=None):
    """Decoded inputs and outputs of test vectors of a robot, and which rows are VALID."""
    source = kernel.sequence or kernel.iteration
    fields = source.fields if source else kernel.graph.inputs
    results = source.result_formats if source else kernel.graph.output_formats
    values = KERNELS[kernel.name].draw(robot, count, np.random.default_rng(SEED))
    inputs = {name: form.encode(values[name]) for name, form in fields.items()}
    outputs = run(kernel, inputs | (codes or {}))
    valid = (outputs["status"] & int(Status.VALID)) != 0
    return [
        {name: form.decode(columns[name]) for name, form in forms.items()}
        for forms, columns in ((fields, inputs), (results, outputs))
    ] + [valid]


def errors(kernel, robot, count: int, codes):
    """The largest errors by unit, and the share of rows that are VALID."""
    *columns, valid = answered(kernel, robot, count, codes)
    inputs, outputs = ({n: x[valid] for n, x in side.items()} for side in columns)
    return KERNELS[kernel.name].errors(robot, inputs, outputs), valid.mean()


# Errors of one step from 5 cm away; with built-in geometry it has 4.0e-6 and 4e-5.
STEP = {"four-cable": 5e-6, "planar4": 2e-4}


@pytest.mark.parametrize("farthest", [False, True])
@pytest.mark.parametrize("kernel, count", [("lengths", 2000), ("step", 2000), ("forward", 700)])
@pytest.mark.parametrize("robot", ["four-cable", "planar4"])
def test_a_loaded_geometry_is_as_accurate_as_was_asked(robot, kernel, count, farthest):
    made = kernel_of(robot, kernel)
    other = moved(made.robot, SEED, farthest)
    codes = loaded_codes(made.robot, made.graph.parameters, other)
    found, valid = errors(made, other, count, codes)
    asked = STEP[robot] if kernel == "step" else made.robot.accuracy.length
    assert found["m"] <= asked and valid > 0.97, f"seed {SEED}: {found}, valid {valid}"
    if kernel == "lengths":  # The numbers matter: those that it was made with are far off.
        assert errors(made, other, count, {})[0]["m"] > 0.01


# With a measured attitude a step's equations are weighted, which costs it as much built in.
@pytest.mark.parametrize(
    "kernel, closure, asked", [("lengths", None, 4e-6), ("step", "attitude", 1e-3)]
)
def test_pulleys_and_stretching_cables_can_be_measured_again(kernel, closure, asked):
    made = kernel_of("four-cable-full", kernel, closure=closure)
    other = moved(made.robot, SEED, farthest=True)
    codes = loaded_codes(made.robot, made.graph.parameters, other)
    found, valid = errors(made, other, 600, codes)
    assert found["m"] <= asked and valid == 1.0, found
    assert {"radius3", "offset2", "stretch4_1", "slip_1", "compliance_2"} <= set(codes)


def test_the_stiffness_that_is_loaded_is_the_one_that_counts():
    made = kernel_of("four-cable-full", "lengths")
    stiffness = dataclasses.replace(made.robot.cables[0].stiffness, k0=1.6e5, slip=6.5e3)
    softer = with_cable(made.robot, 0, stiffness=stiffness)
    other = recalibrated(made.robot, softer.cables)
    codes = loaded_codes(made.robot, made.graph.parameters, other)
    changed = [n for n, p in made.graph.parameters.items() if codes[n] != p.initial]
    assert {"slip_1", "stretch1_0", "stretch1_1"} <= set(changed)
    assert all(n == "slip_1" or n.startswith("stretch1_") for n in changed)
    found, valid = errors(made, other, 300, codes)
    assert found["m"] <= made.robot.accuracy.length and valid == 1.0, found
    assert errors(made, other, 300, {})[0]["m"] > 1e-3


@pytest.mark.parametrize(
    "robot, closure, tenth",
    [
        ("planar4", None, 0.1),
        ("cogiro", None, 1.0),
        ("four-cable", "attitude", 0.1),
        ("four-cable-full", "equilibrium", 0.1),
    ],
)
def test_tensions_follow_a_geometry_and_limits_that_were_measured_again(robot, closure, tenth):
    made = kernel_of(robot, "tension", closure=closure)
    other = moved(made.robot, SEED, farthest=True)
    codes = loaded_codes(made.robot, made.graph.parameters, other)
    assert {"anchor2_x", "attachment2_y", "tension_max2"} <= set(codes) and "offset2" not in codes
    found, valid = errors(made, other, 400, codes)
    assert found["N"] <= tenth and found["sets"] <= 0.01 and valid > 0.7, f"seed {SEED}: {found}"
    # The numbers matter: tensions of the robot that it was made for are others.
    assert errors(made, other, 400, {})[0]["N"] > 100 * found["N"]


@pytest.mark.parametrize("robot", ["four-cable", "irma4u", "four-cable-full"])
def test_equilibria_follow_a_geometry_that_was_measured_again(robot):
    made = kernel_of(robot, "forward", closure="equilibrium")
    for seed, farthest in ((SEED, False), (SEED + 1, True)):
        other = moved(made.robot, seed, farthest)
        codes = loaded_codes(made.robot, made.graph.parameters, other)
        found, valid = errors(made, other, 200, codes)
        assert found["m"] <= made.robot.accuracy.length and valid == 1.0, f"seed {seed}: {found}"
    assert {"tension_min1", "attachment3_z"} <= set(codes)
    # What it was made with leads to no pose, or to others.
    *_, valid = answered(made, other, 200)
    assert not valid.any() or errors(made, other, 200, {})[0]["m"] > 1e-3


@pytest.mark.parametrize("robot", ["four-cable-full", "irma4u"])
def test_a_hanging_platform_is_tracked_with_another_geometry(robot):
    made = kernel_of(robot, "track", closure="equilibrium")
    other = moved(made.robot, SEED, farthest=True)
    codes = loaded_codes(made.robot, made.sequence.parameters, other)
    found, valid = errors(made, other, 250, codes)
    assert found["m"] <= made.robot.accuracy.length and found["N"] <= 1.0, f"seed {SEED}: {found}"
    assert valid >= 0.8


def test_a_step_to_an_equilibrium_follows_it_too():
    made = kernel_of("four-cable", "step", closure="equilibrium")
    other = moved(made.robot, SEED, farthest=True)
    codes = loaded_codes(made.robot, made.graph.parameters, other)
    found, valid = errors(made, other, 300, codes)
    assert found["m"] <= 1e-5 and found["N"] <= 0.1 and valid == 1.0, found


def test_a_cable_is_slack_below_the_tension_that_was_loaded():
    sensed = load("four-cable").with_options(closure="attitude")
    sensed = dataclasses.replace(sensed, sensors=("tension",))
    made = KERNELS["track"].trace(Domain.of(sensed, "fine", loaded=True))
    assert made.sequence.parameters["tension_min2"].format.fraction == 2
    values = KERNELS["track"].draw(sensed, 20, np.random.default_rng(SEED))
    values |= {f"S{i + 1}": np.full(20, 22.0) for i in range(4)}
    inputs = {name: form.encode(values[name]) for name, form in made.sequence.fields.items()}
    for least, slack in ((20.0, False), (21.75, False), (22.0, True), (25.0, True)):
        other = with_cable(sensed, 1, tension_min=least)
        codes = loaded_codes(sensed, made.sequence.parameters, other)
        status = evaluate_sequence(made.sequence, inputs | codes)["status"]
        assert ((status & int(Status.SLACK) != 0) == slack).all()


def test_a_tracked_robot_can_be_measured_again():
    made = kernel_of("four-cable", "track", closure="attitude")
    other = moved(made.robot, SEED)
    codes = loaded_codes(made.robot, made.sequence.parameters, other)
    found, valid = errors(made, other, 400, codes)
    assert found["m"] <= made.robot.accuracy.length and valid > 0.95, f"{found}, {valid}"
    assert errors(made, other, 400, {})[0]["m"] > 0.01


@pytest.mark.parametrize("kernel", ["lengths", "step", "forward"])
@pytest.mark.parametrize("robot", ["four-cable", "planar4"])
def test_nothing_loaded_is_as_if_it_were_built_in(robot, kernel):
    built, made = kernel_of(robot, kernel, loaded=False), kernel_of(robot, kernel)
    assert not built.graph.parameters and made.graph.parameters
    (_, own, valid), (_, new, also) = (answered(k, built.robot, 500) for k in (built, made))
    assert (valid == also).all() and (own["status"] == new["status"]).all()
    names = built.robot.coordinates if kernel != "lengths" else ("L1", "L2", "L3", "L4")
    # `forward` may end a pass sooner or later, each time within the tolerance.
    near = {"lengths": 2.0**-made.profile.pose.bits, "step": STEP[robot], "forward": 2e-4}[kernel]
    assert max(np.abs(own[name] - new[name]).max() for name in names) <= near


def test_numbers_are_those_that_the_motion_leaves_open():
    assert [n.name for n in numbers(load("planar4"))[:6]] == [
        *("anchor1_x", "anchor1_y", "attachment1_x", "attachment1_y", "offset1", "anchor2_x")
    ]
    assert [n.name for n in numbers(load("hangprinter"))[:5]] == [
        *("anchor1_x", "anchor1_y", "anchor1_z", "offset1", "anchor2_x")
    ]
    crane = numbers(load("four-cable-full"))
    assert [n.name for n in crane[:8]][-2:] == ["radius1", "offset1"]
    assert crane[0].tolerance == 0.05 and crane[6].tolerance == pytest.approx(0.005)
    names = [n.name for n in numbers(load("four-cable"))]
    limits = [f"tension_{end}{i + 1}" for i in range(4) for end in ("min", "max")]
    assert names[-8:] == limits
    assert kernel_of("four-cable", "step").graph.parameters.keys() == set(names[:-8])
    # Of the limits below a newton nothing is loaded.
    assert not any("tension_min" in n.name for n in numbers(load("planar4")))


def test_a_small_robot_has_small_tolerances():
    by_name = {n.name: n.tolerance for n in numbers(load("planar4"))}
    assert by_name["anchor1_x"] == pytest.approx(0.02 * 2**0.5)
    assert by_name["attachment1_x"] == pytest.approx(0.0125)


def test_what_is_declared_covers_every_geometry_that_can_be_loaded():
    robot = load("four-cable-full")
    domain, limits = Domain.of(robot, "fine", loaded=True), pulley_limits(robot, loaded=True)
    poses = sample_poses(robot, 400, np.random.default_rng(SEED), margin=(0.05, 0.05))
    for seed in range(6):
        other = moved(robot, seed, farthest=True)
        lengths = cable_lengths(other, poses)
        low, high = np.array(domain.reach).T
        assert (low <= lengths).all() and (lengths <= high).all()
        for way, limit in zip(cable_ways(other, poses), limits, strict=True):
            for value, (first, last) in (
                (way.angle, limit.angle),
                (way.free, limit.free),
                (way.frame.height, limit.height),
            ):
                assert first <= value.min() and value.max() <= last, f"seed {seed}"


def refused(change, match):
    made = kernel_of("four-cable-full", "lengths")
    with pytest.raises(InputError, match=match):
        loaded_codes(made.robot, made.graph.parameters, change(made.robot))


def with_cable(robot, place, **changes):
    cables = list(robot.cables)
    cables[place] = dataclasses.replace(cables[place], **changes)
    return dataclasses.replace(robot, cables=tuple(cables))


@pytest.mark.parametrize(
    "change, match",
    [
        (
            lambda r: with_cable(r, 2, anchor=(5.0, 4.0, 6.0501)),
            "anchor3_z: is out of the tolerance .*; expected 5.95 to 6.05 m; got 6.0501 m$",
        ),
        (
            lambda r: with_cable(r, 1, tension_max=None),
            "cable 2 tension_max: is built into the hardware; expected True; got False",
        ),
        (lambda r: with_cable(r, 0, offset=-0.2), "offset1: .* expected -0.1 to 0.1 m"),
        (
            lambda r: with_cable(
                r, 1, pulley=dataclasses.replace(r.cables[1].pulley, radius=0.056)
            ),
            "radius2: .* expected 0.045 to 0.055 m",
        ),
        (
            lambda r: with_cable(
                r, 1, pulley=dataclasses.replace(r.cables[1].pulley, axis=(0.0, 1.0, 0.0))
            ),
            "cable 2 pulley: is built into the hardware",
        ),
        (
            lambda r: with_cable(
                r, 1, stiffness=dataclasses.replace(r.cables[1].stiffness, k0=1.4e5)
            ),
            "k0_2: is out of the tolerance .*; expected 150000 to 250000 N/m; got 140000 N/m",
        ),
        (lambda r: with_cable(r, 1, stiffness=None), "cable 2 stiffness: is built into"),
        (
            lambda r: with_cable(r, 3, thermal=1e-5),
            "cable 4 thermal: is built into .* expected 1.2e-05; got 1e-05",
        ),
        (lambda r: with_cable(r, 3, pulley=None), "cable 4 pulley: .* expected True; got False"),
        (
            lambda r: dataclasses.replace(r, cables=r.cables[:3]),
            "cables: is built into the hardware; expected 4; got 3",
        ),
        (
            lambda r: dataclasses.replace(r, workspace=dataclasses.replace(r.workspace, tilt=0.2)),
            "workspace: is built into the hardware",
        ),
    ],
)
def test_a_robot_that_differs_otherwise_is_refused_by_name(change, match):
    refused(change, match)


def test_a_limit_out_of_its_tolerance_is_named_in_newtons():
    made = kernel_of("four-cable", "tension", closure="attitude")
    with pytest.raises(InputError, match="tension_max1: .* expected 9000 to 15000 N; got 8999 N"):
        loaded_codes(
            made.robot, made.graph.parameters, with_cable(made.robot, 0, tension_max=8999.0)
        )


def test_the_characteristic_length_stays_that_of_the_hardware():
    robot = load("four-cable")
    other = moved(robot, SEED)
    assert other.characteristic_length == robot.characteristic_length
    assert dataclasses.replace(robot, cables=other.cables).characteristic_length != (
        robot.characteristic_length
    )
