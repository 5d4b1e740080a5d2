"""The built-in robots by what they are."""

from solver_ref.robot_file import builtin_names, load


def of_cables() -> list[str]:
    """Those that hang on cables."""
    return [name for name in builtin_names() if load(name).kind == "cable"]


def of_loops() -> list[str]:
    """Those with loop equations."""
    return [name for name in builtin_names() if not load(name).cables]


def of_legs() -> list[str]:
    """The Stewart platforms."""
    return [name for name in builtin_names() if load(name).kind == "stewart"]
