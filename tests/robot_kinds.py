"""The built-in robots by what their joints are."""

from solver_ref.robot_file import builtin_names, load


def of_cables() -> list[str]:
    """Those whose joints are the lengths between anchors and attachments."""
    return [name for name in builtin_names() if load(name).cables]


def of_loops() -> list[str]:
    """Those with loop equations."""
    return [name for name in builtin_names() if not load(name).cables]
