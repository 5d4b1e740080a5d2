"""What kernels do between an encoder and the geometry: ports, spans and columns of the corrections.

Robots whose cables have none of `stiffness`, `thermal`, `offset` and `drum` have none of this.
Tensions come from sensors at the winches (`S1` ...) or, where a robot has none, are given as they
are behind the pulleys (`T1` ...).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.correction import (
    actual_tension,
    measured_length,
    measured_lengths,
    true_length,
    true_lengths,
)
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.loaded_stretch import corners
from solver_ref.parts import OVERLOAD, Cable
from solver_ref.robot import Robot
from solver_ref.sag import static_tensions

TENSION = Format(False, 16, 2)
"""A tension (N)."""
WARMING = Format(True, 8, 8)
"""A warming (K)."""
USUAL_TENSION = 1000.0
"""The largest tension (N) of test vectors for a cable without a bound."""
USUAL_WARMING = 40.0
"""The largest warming (K) of test vectors."""
ROOM = 2.0**-10
"""What an encoder's span has beyond the sampled ends (m)."""

FLOAT = FloatArithmetic()


def is_corrected(robot: Robot) -> bool:
    """Whether the lengths of some cable are not those that its encoder shows."""
    return stretches(robot) or warms(robot) or any(c.offset or c.drum for c in robot.cables)


def stretches(robot: Robot) -> bool:
    """Whether a length depends on the pull of its cable."""
    return any(cable.stiffness for cable in robot.cables)


def warms(robot: Robot) -> bool:
    """Whether a length depends on the temperature."""
    return any(cable.thermal for cable in robot.cables)


def tension_names(robot: Robot) -> tuple[str, ...]:
    """The tensions that corrections need, none of them or one for each cable."""
    letter = "S" if "tension" in robot.sensors else "T"
    return tuple(f"{letter}{i + 1}" for i in range(len(robot.cables))) if stretches(robot) else ()


def warming_names(robot: Robot) -> tuple[str, ...]:
    """The warming since the robot was measured (K), where a length depends on it."""
    return ("dT",) if warms(robot) else ()


@dataclass(frozen=True)
class CableConditions:
    """Tensions behind the pulleys (N) and the warming (K) of every cable; None is not corrected."""

    tensions: tuple[Fixed | None, ...]
    warming: Fixed | None

    def of(self, robot: Robot, place: int) -> dict[str, object]:
        """The keywords of a cable's correction."""
        return {
            "tension": self.tensions[place],
            "warming": self.warming,
            "law": robot.elongation,
        }


def condition_inputs(m: TracedArithmetic, robot: Robot) -> CableConditions:
    """The ports of tensions and warming. Flag `length` where a cable pulls too hard."""
    names, sensed = tension_names(robot), "tension" in robot.sensors
    tensions: list[Fixed | None] = [None] * len(robot.cables)
    for i, (name, cable) in enumerate(zip(names, robot.cables, strict=False)):
        port = m.input(name, TENSION)
        if cable.stiffness:
            port = m.clamp(port, 0.0, largest_tension(robot, cable), "length")
            tensions[i] = actual_tension(m, cable, port) if sensed else port
    warming = m.input("dT", WARMING) if warms(robot) else None
    return CableConditions(tuple(tensions), warming)


def largest_tension(robot: Robot, cable: Cable) -> float:
    """The largest tension (N) that a port stands for."""
    top = TENSION.hi * TENSION.quantum
    if cable.tension_max is None:
        return top
    sensed = "tension" in robot.sensors and cable.pulley
    return min(top, math.ceil(OVERLOAD * cable.tension_max / (sensed.efficiency if sensed else 1)))


def encoder_spans(
    robot: Robot, reach: tuple[tuple[float, float], ...], more: float = 0.0
) -> tuple[tuple[float, float], ...]:
    """What each encoder shows (m), at least and at most, of lengths within `reach`.

    `more`: by so much an offset may differ from the robot's own (m); above 0 the stiffness may be
    another too.
    """
    if not is_corrected(robot):
        return tuple((low - more, high + more) for low, high in reach)
    warm = (WARMING.lo * WARMING.quantum, WARMING.hi * WARMING.quantum)
    spans = []
    for cable, ends in zip(robot.cables, reach, strict=True):
        pulls = (0.0, largest_tension(robot, cable))
        length, tension, warming = np.array(list(itertools.product(ends, pulls, warm))).T
        own = cable.stiffness
        stiffnesses = corners(own) if own and more else [own]
        shown = np.array(
            [
                measured_length(
                    FLOAT,
                    replace(cable, stiffness=stiffness),
                    length,
                    tension=tension,
                    warming=warming,
                    law=robot.elongation,
                )
                for stiffness in stiffnesses
            ]
        )
        spans.append((float(shown.min()) - ROOM - more, float(shown.max()) + ROOM + more))
    return tuple(spans)


def encoder_format(spans: tuple[tuple[float, float], ...], fraction: int) -> Format:
    """Of what encoders show; signed where an offset takes one below zero."""
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    if low >= 0:
        return Format(False, math.floor(math.log2(high)) + 1, fraction)
    return Format(True, math.floor(math.log2(max(high, -low))) + 2, fraction)


def corrected(
    m: TracedArithmetic,
    robot: Robot,
    shown: list[Fixed],
    conditions: CableConditions,
    cables: Sequence[Cable] | None = None,
) -> list[Fixed]:
    """The lengths of the cables (the robot's own) whose encoders show `shown`.

    At the precision of residuals: those of the pose's quantum would cost half of it in accuracy,
    and save no multiplier.
    """
    return [
        true_length(m, cable, shown[i], **conditions.of(robot, i))
        for i, cable in enumerate(cables or robot.cables)
    ]


def shown_length(
    m: TracedArithmetic,
    robot: Robot,
    place: int,
    length: Fixed,
    conditions: CableConditions,
    cables: Sequence[Cable] | None = None,
) -> Fixed:
    """What the encoder of one cable (of the robot's own) shows of its length, at the pose's
    quantum."""
    cable = (cables or robot.cables)[place]
    return m.nearest(measured_length(m, cable, length, **conditions.of(robot, place)), "pose")


def condition_values(
    robot: Robot, columns: Mapping[str, np.ndarray], poses: np.ndarray
) -> dict[str, np.ndarray]:
    """What the columns of a batch leave out: no warming, and tensions that hold the platform at
    `poses` (N, coordinates), where they are no sensor's."""
    values = {}
    count = len(poses)
    for name in warming_names(robot):
        values[name] = np.zeros(count)
    names = tension_names(robot)
    if any(name not in columns for name in names):
        limits = [largest_tension(robot, cable) for cable in robot.cables]
        pulls = np.clip(static_tensions(robot, poses), 0.0, limits)
        values |= dict(zip(names, pulls.T, strict=True))
    return values


def drawn_conditions(robot: Robot, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Tensions and warming of test vectors: pulls up to the cables' bounds, small ones mostly."""
    values = {}
    for name, cable in zip(tension_names(robot), robot.cables, strict=False):
        top = cable.tension_max or USUAL_TENSION
        values[name] = top * rng.uniform(size=count) ** 3
    for name in warming_names(robot):
        values[name] = USUAL_WARMING * rng.uniform(-1, 1, count)
    return values


def lengths_shown(
    robot: Robot, lengths: np.ndarray, values: Mapping[str, np.ndarray]
) -> np.ndarray:
    """What the encoders show (N, cables), m, of cables of these lengths."""
    if not is_corrected(robot):
        return lengths
    return measured_lengths(robot, lengths, law=robot.elongation, **_conditions(robot, values))


def lengths_behind(robot: Robot, shown: np.ndarray, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The lengths (N, cables), m, of cables whose encoders show these."""
    if not is_corrected(robot):
        return shown
    return true_lengths(robot, shown, law=robot.elongation, **_conditions(robot, values))


def _conditions(robot: Robot, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray | None]:
    """The keywords of `true_lengths`: tensions behind the pulleys, and the warming."""
    pulls = None
    if names := tension_names(robot):
        pulls = np.column_stack([values[name] for name in names])
        if "tension" in robot.sensors:
            cables = enumerate(robot.cables)
            pulls = np.column_stack([actual_tension(FLOAT, c, pulls[:, i]) for i, c in cables])
    return {"tensions": pulls, "warming": values["dT"] if warms(robot) else None}
