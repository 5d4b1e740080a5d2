"""The delay model: how many cycles each operation takes from its operands to its registered result.

Data only, per family. An operation of 0 cycles is wires: it has no register of its own, and whoever
reads it reads its operands' registers.
"""

from __future__ import annotations

from solver_ref import graph as g

# Wires in every family. `Narrow` joins them where it neither rounds up nor saturates.
WIRES: tuple[type[g.Node], ...] = (g.Constant, g.Scale, g.Join)

_ONE_CYCLE: tuple[type[g.Node], ...] = (
    *(g.Input, g.Add, g.Subtract, g.Negate, g.Absolute, g.Maximum, g.Minimum, g.Less, g.Outside),
    *(g.And, g.Or, g.Not, g.Select, g.Narrow, g.Table),
)
_TWO_CYCLES: tuple[type[g.Node], ...] = (g.LeadingZeros, g.ShiftLeft, g.ShiftRight)
UNIT: dict[type[g.Node], int] = dict.fromkeys(_ONE_CYCLE, 1) | dict.fromkeys(_TWO_CYCLES, 2)

# A block RAM of an ECP5 takes most of a cycle to answer: its word is registered once more.
_ECP5 = UNIT | {g.Table: 2}

TABLES: dict[str, dict[type[g.Node], int]] = {
    "unit": UNIT,
    "xc7": UNIT,
    "ecp5": _ECP5,
    "ice40": _ECP5,
}


def is_wire(node: g.Node) -> bool:
    """Whether the node takes no cycle and holds no register."""
    if isinstance(node, g.Narrow):
        return node.rounding == "floor" and node.overflow != "saturate"
    return isinstance(node, WIRES)


def latency(node: g.Node, family: str, multiplier_latency: int) -> int:
    """Clock edges from the operands to the registered result; 0 for wires.

    ValueError for a node with no single operation in hardware: `solver_ref.split` separates those.
    """
    if is_wire(node):
        return 0
    if isinstance(node, g.Multiply):
        return multiplier_latency
    if isinstance(node, g.Narrow) and node.rounding == "half_even" and node.overflow != "proven":
        raise ValueError(f"rounding and overflow are separate operations in hardware: {node}")
    if family not in TABLES:
        raise ValueError(f"no delay table for family {family!r}; known are {', '.join(TABLES)}")
    return TABLES[family][type(node)]
