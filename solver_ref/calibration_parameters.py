"""The numbers of a robot that a calibration may change, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solver_ref.robot import Robot

PARTS = ("anchor", "attachment", "offset")
AXES = "xyz"


@dataclass(frozen=True)
class Parameter:
    """One number of one cable: a coordinate of its anchor or attachment, or its offset."""

    part: str
    cable: int
    axis: int = 0

    @property
    def name(self) -> str:
        """Such as "anchor 3 x" or "offset 3": cables count from 1."""
        axis = "" if self.part == "offset" else f" {AXES[self.axis]}"
        return f"{self.part} {self.cable + 1}{axis}"

    def value(self, robot: Robot) -> float:
        """The number in the robot (m)."""
        value = getattr(robot.cables[self.cable], self.part)
        return value if self.part == "offset" else value[self.axis]


def chosen(robot: Robot, words: Sequence[str] | None) -> tuple[Parameter, ...]:
    """The parameters of all cables that the words name: "anchor", "attachment.z", "offset".

    A part without an axis means those along which the platform moves. None stands for anchors and,
    where the platform turns, attachments. Raises ValueError for other words and for a part twice.
    """
    if words is None:
        words = ("anchor", "attachment") if robot.rotations else ("anchor",)
    along = [index for index in robot.free if index < 3]
    places: list[tuple[str, int]] = []
    for word in words:
        part, dot, axis = word.partition(".")
        known = part in PARTS and (not dot or (axis and axis in AXES and part != "offset"))
        if not known:
            raise ValueError(
                f"a parameter must be one of {', '.join(PARTS)}, or an axis such as anchor.x, "
                f"not {word}"
            )
        axes = [AXES.index(axis)] if dot else [0] if part == "offset" else along
        places += [(part, index) for index in axes]
    if len(set(places)) < len(places):
        raise ValueError(f"each parameter can be named once: {', '.join(words)}")
    return tuple(
        Parameter(part, cable, axis) for cable in range(len(robot.cables)) for part, axis in places
    )


def moved(robot: Robot, parameters: Sequence[Parameter], change: np.ndarray) -> Robot:
    """The robot with each parameter changed by so much (m)."""
    cables = list(robot.cables)
    for item, amount in zip(parameters, change.tolist(), strict=True):
        cable = cables[item.cable]
        value = getattr(cable, item.part)
        if item.part == "offset":
            value += amount
        else:
            value = (*value[: item.axis], value[item.axis] + amount, *value[item.axis + 1 :])
        cables[item.cable] = replace(cable, **{item.part: value})
    return replace(robot, cables=tuple(cables))
