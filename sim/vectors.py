"""Golden vectors: inputs from every part of a kernel's domain, with exact expected outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hdl.design import Design
from solver_ref.geometry import loaded_codes, recalibrated
from solver_ref.interpreter import evaluate
from solver_ref.iteration import Timing, evaluate_iteration
from solver_ref.robot import Robot
from solver_ref.sequence import evaluate_sequence

Codes = dict[str, np.ndarray]


@dataclass(frozen=True)
class Vectors:
    """Input and output codes by port name; `nominal` marks rows inside the declared domain, from
    starts within the start error; `timing` is `forward`'s exact model, None for the others.
    `robot` is the one that they are of, `loaded` the codes of its geometry where the design has
    loaded them."""

    inputs: Codes
    outputs: Codes
    nominal: np.ndarray
    timing: Timing | None
    robot: Robot
    loaded: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.nominal)


def golden_vectors(design: Design, count: int, seed: int, *, robot: Robot | None = None) -> Vectors:
    """`count` vectors: the workspace's corners first, then random poses, some of them wild.

    `robot`: one whose geometry the design has loaded, in place of its own.
    """
    rng = np.random.default_rng(seed)
    loaded = {}
    if robot is not None and design.parameters:
        loaded = loaded_codes(design.robot, design.parameters, robot)
        robot = recalibrated(design.robot, robot.cables)
    robot = robot or design.robot
    inputs, nominal = draw_inputs(design, count, rng, robot)
    outputs, timing = expected(design, inputs, loaded)
    return Vectors(inputs, outputs, nominal, timing, robot, loaded)


def expected(
    design: Design, inputs: Codes, loaded: Mapping[str, int] | None = None
) -> tuple[Codes, Timing | None]:
    """What the hardware must answer, bit for bit, and for `forward` the cycles that it takes.

    `loaded`: codes of the geometry that it has loaded.
    """
    inputs = inputs | dict(loaded or {})
    if design.sequence:
        return evaluate_sequence(design.sequence, inputs), None
    if design.iteration is None:
        return evaluate(design.graph, inputs), None
    outputs, passes = evaluate_iteration(design.iteration, inputs)
    return outputs, design.timing(passes)


def draw_inputs(
    design: Design, count: int, rng: np.random.Generator, robot: Robot
) -> tuple[Codes, np.ndarray]:
    """Input codes by port, and which rows are nominal."""
    formats, values = design.inputs, design.kind.draw(robot, count, rng)
    inputs = {name: formats[name].encode(values[name]) for name in formats}
    wild = rng.uniform(size=count) < design.kind.wild
    for name, fmt in formats.items():
        anything = rng.integers(fmt.lo, fmt.hi, count, endpoint=True)
        inputs[name] = np.where(wild, anything, inputs[name])
    return inputs, ~wild
