"""`rnea`, bit-true: within the asked accuracy of float64, for every state that the limits allow."""

import dataclasses

import numpy as np
import published_arms as published
import pytest
from robot_kinds import built_in

from solver_ref.dynamics.control import computed_torque
from solver_ref.dynamics.links import Arm, Friction, Link
from solver_ref.dynamics.serial import torques
from solver_ref.interpreter import evaluate
from solver_ref.kernels import KERNELS, KernelKind
from solver_ref.kernels.arm_domain import ArmDomain
from solver_ref.robot import Robot
from solver_ref.status import Status

RNEA = KERNELS["rnea"]
SEED = 4


def robot_of(arm: Arm, accuracy: float = 0.01) -> Robot:
    return dataclasses.replace(
        built_in("pendulum"), name="arm", arm=dataclasses.replace(arm, accuracy=accuracy)
    )


def sliding() -> Arm:
    """A turning column with a slide on it, and a wrist that turns about no coordinate axis."""
    limits = dataclasses.replace(published.ANY, position=(-0.2, 0.6), speed=1.0)
    column, *_ = published.spong().links
    body = {"mass": 2.0, "com": (0.1, -0.2, 0.3), "inertia": published.rows(0.1 * np.eye(3))}
    slide = Link(
        name="slide",
        joint="prismatic",
        axis=(1.0, 0.0, 0.0),
        origin=(0.3, 0.1, 0.0),
        limits=limits,
        **body,
    )
    law = Friction(viscous=0.2, coulomb=(1.0, 0.5), static=1.5, stribeck=0.2, smooth=0.05)
    wrist = Link(
        name="wrist",
        axis=(0.48, 0.6, 0.64),
        rotation=published.rows(published.rpy(0.3, -0.4, 0.5)),
        origin=(0.2, 0.0, 0.1),
        limits=published.ANY,
        rotor=0.05,
        friction=law,
        **body,
    )
    return Arm(links=(column, slide, wrist), gravity=(1.0, -2.0, -9.0))


ARMS = {
    "pendulum": built_in("pendulum"),
    "two-link": built_in("two-link"),
    "puma560": built_in("puma560"),
    "iiwa7": robot_of(published.iiwa7()),
    "iiwa7-coarse": robot_of(published.iiwa7(), 0.5),
    "sliding": robot_of(sliding()),
    "sliding-fine": robot_of(sliding(), 1e-4),
}


def answered(
    robot: Robot, values: dict[str, np.ndarray], kind: KernelKind = RNEA
) -> tuple[dict, dict, np.ndarray]:
    """Port values as the codes have them, bit-true outputs, and the status."""
    graph = kind.trace(ArmDomain.of(robot)).graph
    codes = {name: fmt.encode(values[name]) for name, fmt in graph.inputs.items()}
    out = evaluate(graph, codes)
    inputs = {name: fmt.decode(codes[name]) for name, fmt in graph.inputs.items()}
    outputs = {name: fmt.decode(out[name]) for name, fmt in graph.output_formats.items()}
    return inputs, outputs, out["status"]


@pytest.mark.parametrize("name", sorted(ARMS))
def test_torques_are_within_the_asked_accuracy(name: str) -> None:
    robot = ARMS[name]
    values = RNEA.draw(robot, 3000, np.random.default_rng(SEED))
    inputs, outputs, status = answered(robot, values)
    assert (status == Status.VALID).mean() > 0.9
    assert (status & ~(Status.VALID | Status.OUT_OF_RANGE) == 0).all()
    errors = RNEA.errors(robot, inputs, outputs)
    assert errors
    for unit, error in errors.items():
        assert error <= robot.arm.accuracy, unit
    # Formats follow the accuracy: with far finer ones nobody would be served.
    assert max(errors.values()) > robot.arm.accuracy / 50


@pytest.mark.parametrize("name", ["puma560", "sliding", "two-link"])
def test_controlled_torques_are_within_the_asked_accuracy(name: str) -> None:
    robot, kind = ARMS[name], KERNELS["computed-torque"]
    values = kind.draw(robot, 3000, np.random.default_rng(SEED))
    inputs, outputs, status = answered(robot, values, kind)
    good = status == Status.VALID
    assert good.mean() > 0.3
    assert (kind.answers(ArmDomain.of(robot), inputs)["status"] == status).mean() > 0.999
    rows = ({key: column[good] for key, column in part.items()} for part in (inputs, outputs))
    for unit, error in kind.errors(robot, *rows).items():
        assert error <= robot.arm.accuracy, unit


def test_controlled_torques_are_those_of_the_control_law() -> None:
    robot, kind = ARMS["two-link"], KERNELS["computed-torque"]
    columns = {"q1": 0.1, "q2": 0.2, "qr1": 0.15, "qr2": 0.18, "qd1": 0.3, "qdr2": 0.1, "kp": 49.0}
    values = kind.port_values(robot, {key: np.array([x]) for key, x in columns.items()}, None)
    found = kind.answers(ArmDomain.of(robot), values)
    due = computed_torque(
        robot.arm,
        np.array([0.1, 0.2]),
        np.array([0.3, 0.0]),
        (np.array([0.15, 0.18]), np.array([0.0, 0.1]), np.zeros(2)),
        stiffness=49.0,
        damping=14.0,
    )
    assert [found["tau1"][0], found["tau2"][0]] == due.tolist()


def test_a_state_beyond_a_limit_is_out_of_range_and_held_to_it() -> None:
    robot = ARMS["two-link"]
    low = {name: np.zeros(4) for name in ArmDomain.of(robot).spans}
    low["q1"] = np.array([3.0, 3.3, 0.0, 0.0])
    low["qd2"] = np.array([3.0, 0.0, -3.5, 0.0])
    low["qdd1"] = np.array([-10.0, 0.0, 0.0, 11.0])
    inputs, outputs, status = answered(robot, low)
    out = int(Status.OUT_OF_RANGE)
    assert status.tolist() == [int(Status.VALID), out, out, out]
    answers = RNEA.answers(ArmDomain.of(robot), inputs)
    assert answers["status"].tolist() == status.tolist()
    held = torques(robot.arm, np.array([3.2, 0.0]))
    assert abs(outputs["tau1"][1] - held[0]) < robot.arm.accuracy


def test_columns_that_are_left_out_are_at_rest() -> None:
    robot = ARMS["two-link"]
    assert RNEA.columns(robot).required == ("q1", "q2")
    values = RNEA.port_values(robot, {"q1": np.array([0.5]), "q2": np.array([0.1])}, None)
    answers = RNEA.answers(ArmDomain.of(robot), values)
    weight = torques(robot.arm, np.array([0.5, 0.1]))
    assert [answers["tau1"][0], answers["tau2"][0]] == weight.tolist()


def test_the_kernel_is_made_for_arms_alone() -> None:
    for name, kind in KERNELS.items():
        assert kind.fits(ARMS["two-link"]) == (name in ("rnea", "computed-torque"))
        others = ("rnea", "computed-torque", "dynamics")
        assert kind.fits(built_in("four-cable")) == (name not in others)
