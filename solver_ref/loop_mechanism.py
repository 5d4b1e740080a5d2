"""Mechanisms of loop equations: how a module of equations becomes a kind of robot.

Beside the functions that `solver_ref.loops` names, a module has the constants

- ``KIND``: its word in robot files (a user's own has none);
- ``MOTIONS``: those that it can have;
- ``JOINTS``: the unit (`rad` or `m`) of each measured joint by its name;
- ``CHAIN``: what each `[[chain]]` table of the robot file holds, one for each joint; and
- ``GEOMETRY``: what its `[geometry]` table holds: by name a unit (`m`, `rad` or `1`), or a unit and
  the size of a vector; either may be left out.

``DYNAMICS``, of a kind whose files may have masses, is `solver_ref.dynamics.planar_robot` or
another module with its functions. ``faults(geometry)`` yields what is wrong with their values: key,
what was expected, what came.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from solver_ref.dynamics.planar_robot import TABLE
from solver_ref.fields import Table
from solver_ref.loop_fields import read_loops
from solver_ref.loop_rules import check_loops
from solver_ref.loops import Loops
from solver_ref.mechanism import Mechanism
from solver_ref.robot import Motion, Robot, Vector


class LoopMechanism(Mechanism):
    """The mechanism of one module of equations."""

    def __init__(self, equations: ModuleType) -> None:
        self.equations, self.kind, self.motions = equations, equations.KIND, equations.MOTIONS
        tables = {"geometry": "GEOMETRY", "chain": "CHAIN", TABLE: "DYNAMICS"}
        own = [key for key, constant in tables.items() if hasattr(equations, constant)]
        self.keys = (*own, "joints")

    def read(self, top: Table, motion: Motion) -> dict[str, Any]:
        masses = getattr(self.equations, "DYNAMICS", None)
        own = {} if masses is None else {"dynamics": masses.read_dynamics(top)}
        return read_loops(top, self.equations) | own

    def check(self, robot: Robot, top: Table) -> None:
        check_loops(self.loops(robot), top)
        if robot.dynamics is not None:
            self.equations.DYNAMICS.check_dynamics(robot, top)

    def vectors(self, robot: Robot) -> dict[str, Vector]:
        chains = enumerate(robot.chains, 1)
        return {
            f"chain[{number}].{name}": value
            for number, chain in chains
            for name, value in chain
            if isinstance(value, tuple) and len(value) == 3
        }

    def loops(self, robot: Robot) -> Loops:
        return Loops(robot, self.equations)

    def lines(self, robot: Robot, pose: np.ndarray) -> list[np.ndarray]:
        return self.loops(robot).lines(pose)
