"""The delay model: how many cycles each operation takes from its operands to its registered result.

Data only, per family. An operation of 0 cycles is wires: it has no register of its own, and whoever
reads it reads its operands' registers.
"""

from __future__ import annotations

from solver_ref import graph as g

# Wires in every family. `Narrow` joins them where it neither rounds up nor saturates.
WIRES: tuple[type[g.Node], ...] = (g.Parameter, g.Constant, g.Scale, g.Join)

_ONE_CYCLE = (
    *("Input", "Add", "Subtract", "Negate", "Absolute", "Maximum", "Minimum", "Less", "Outside"),
    *("And", "Or", "Not", "Select", "Narrow", "Clamp", "Table", "Difference"),
)
_TWO_CYCLES = ("LeadingZeros", "ShiftLeft", "ShiftRight")
UNIT: dict[str, int] = dict.fromkeys(_ONE_CYCLE, 1) | dict.fromkeys(_TWO_CYCLES, 2)
"""Cycles by kind of operation (see `kind`); `Multiply` is what comes beside the multiplier."""

# LUTs of four inputs, wires that are slow beside them, and memories that take most of a cycle to
# answer: comparisons and table words are registered once more; around a shared multiplier, which
# may be far from whom it works for, its operands before and after they are chosen, and its product.
_SLOW = UNIT | {"Table": 2, "Clamp": 2, "Multiply": 3}

TABLES: dict[str, dict[str, int]] = {
    "unit": UNIT | {"Multiply": 0},
    "xc7": UNIT | {"Multiply": 0},
    "ecp5": _SLOW,
    "ice40": _SLOW,
    # A short path of few operations, none of them shared: placed closely, it needs no more.
    "direct": UNIT | {"Multiply": 0},
}


def is_wire(node: g.Node) -> bool:
    """Whether the node takes no cycle and holds no register (of a parameter: the kernel's)."""
    if isinstance(node, g.Narrow):
        return node.rounding == "floor" and node.overflow != "saturate"
    return isinstance(node, WIRES)


def kind(node: g.Node) -> str:
    """The key of the delay tables: the operation, or `Clamp` where it compares with two bounds."""
    if isinstance(node, g.Narrow) and node.overflow == "saturate":
        return "Narrow" if is_word(node.lo, node.hi) else "Clamp"
    return type(node).__name__


def is_word(lo: int, hi: int) -> bool:
    """Whether lo..hi are the codes of a whole two's complement word of at least 2 bits."""
    return hi > 0 and hi & (hi + 1) == 0 and lo == -hi - 1


def latency(node: g.Node, family: str, multiplier_latency: int) -> int:
    """Clock edges from the operands to the registered result; 0 for wires.

    ValueError for a node with no single operation in hardware: `solver_ref.split` separates those.
    """
    if is_wire(node):
        return 0
    if isinstance(node, g.Narrow) and node.rounding == "half_even" and node.overflow != "proven":
        raise ValueError(f"rounding and overflow are separate operations in hardware: {node}")
    if family not in TABLES:
        raise ValueError(f"no delay table for family {family!r}; known are {', '.join(TABLES)}")
    cycles = TABLES[family][kind(node)]
    return cycles + multiplier_latency if isinstance(node, g.Multiply) else cycles
