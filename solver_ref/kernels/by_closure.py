"""A kernel that is other hardware for another closure, under one name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.kind import Choices, ColumnNames, Columns, KernelKind
from solver_ref.robot import Robot


class ByClosure(KernelKind):
    """Each method is that of the part which is made for the robot's closure, else of the first.

    What is said of kernels in general is what the first part says of itself.
    """

    def __init__(self, *parts: KernelKind) -> None:
        first = parts[0]
        self.parts, self.name, self.what = parts, first.name, first.what
        self.closures = tuple(closure for part in parts for closure in part.closures)
        self.loadable = tuple(closure for part in parts for closure in part.loadable)
        self.refusals, self.usual_ii = first.refusals, first.usual_ii
        self.looped = first.looped
        self.damped, self.wild = first.damped, first.wild

    def part(self, robot: Robot) -> KernelKind:
        """The part for the robot's closure."""
        fitting = (part for part in self.parts if robot.closure in part.closures)
        return next(fitting, self.parts[0])

    def trace(self, domain: Domain) -> Kernel:
        return self.part(domain.robot).trace(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        return self.part(robot).columns(robot)

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        return self.part(robot).port_values(robot, columns, how)

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        return self.part(domain.robot).answers(domain, inputs)

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        return self.part(robot).draw(robot, count, rng)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        return self.part(robot).errors(robot, inputs, outputs)
