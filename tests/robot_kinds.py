"""The built-in robots by what they are."""

import warnings
from functools import cache

from solver_ref.robot import Robot
from solver_ref.robot_file import builtin_names, load
from solver_ref.robot_rules import InertiaWarning


@cache
def built_in(name: str) -> Robot:
    """One of them, whatever is published of its inertia."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)
        return load(name)


def of_cables() -> list[str]:
    """Those that hang on cables."""
    return _of("cable")


def of_legs() -> list[str]:
    """The Stewart platforms."""
    return _of("stewart")


def of_links() -> list[str]:
    """The serial arms."""
    return _of("serial")


def of_loops() -> list[str]:
    """Those with loop equations."""
    others = {*of_links(), *of_legs(), *of_cables()}
    return [name for name in builtin_names() if name not in others]


def with_poses() -> list[str]:
    """Those whose platforms have poses."""
    return [name for name in builtin_names() if name not in of_links()]


def _of(kind: str) -> list[str]:
    return [name for name in builtin_names() if built_in(name).kind == kind]
