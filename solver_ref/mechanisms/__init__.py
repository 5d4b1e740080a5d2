"""The kinds of mechanisms, one module of this package each.

A module has loop equations (`solver_ref.loops`, `solver_ref.loop_mechanism`), or a whole mechanism
as `MECHANISM`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from solver_ref.loop_mechanism import LoopMechanism
from solver_ref.loops import Loops
from solver_ref.mechanism import Mechanism
from solver_ref.robot import Robot


@cache
def mechanisms() -> dict[str, Mechanism]:
    """All mechanisms by their kind, in the order of their modules' names."""
    found = {}
    for entry in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        mechanism = getattr(module, "MECHANISM", None) or LoopMechanism(module)
        found[mechanism.kind] = mechanism
    return found


def mechanism_of(robot: Robot) -> Mechanism:
    """The mechanism that a robot is."""
    return mechanisms()[robot.kind]


def loops_of(robot: Robot) -> Loops | None:
    """The loop equations of a robot; None where its joints are the lengths of its `cables`."""
    return mechanism_of(robot).loops(robot)
