"""The kinds of mechanisms: every module of this package has one, as `MECHANISM`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from solver_ref.mechanism import Mechanism
from solver_ref.robot import Robot


@cache
def mechanisms() -> dict[str, Mechanism]:
    """All mechanisms by their kind, in the order of their modules' names."""
    modules = (
        import_module(f"{__name__}.{entry.name}") for entry in pkgutil.iter_modules(__path__)
    )
    return {module.MECHANISM.kind: module.MECHANISM for module in modules}


def mechanism_of(robot: Robot) -> Mechanism:
    """The mechanism that a robot is."""
    return mechanisms()[robot.kind]
