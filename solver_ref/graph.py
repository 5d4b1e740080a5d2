"""The graph: a static single-assignment list of fixed-point operations with one exact meaning.

Every node's value is an integer code with a binary point (`solver_ref.fixed.Range`). Sums and
products grow exactly; only `Narrow` loses bits, and it names how. Operands are positions of earlier
nodes. To add an operation: a class here, and what docs/architecture.md lists.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from solver_ref.fixed import Format, Range


@dataclass(frozen=True)
class Node:
    """One operation. `operand_fields` names the fields that are positions of other nodes."""

    operand_fields: ClassVar[tuple[str, ...]] = ()

    @property
    def operands(self) -> tuple[int, ...]:
        return tuple(getattr(self, name) for name in self.operand_fields)

    def with_operands(self, *operands: int) -> Node:
        return dataclasses.replace(self, **dict(zip(self.operand_fields, operands, strict=True)))


@dataclass(frozen=True)
class Input(Node):
    """A port. Any code of `format` may arrive."""

    name: str
    format: Format


@dataclass(frozen=True)
class Parameter(Node):
    """A number that stays while transfers pass: a code in [lo, hi], `initial` if none is given."""

    name: str
    format: Format
    lo: int
    hi: int
    initial: int

    def __post_init__(self) -> None:
        order = [self.format.lo, self.lo, self.initial, self.hi, self.format.hi]
        if order != sorted(order) or self.lo == self.hi:
            raise ValueError(f"needs lo < hi in its format, initial between: {self}")


@dataclass(frozen=True)
class Constant(Node):
    """A number that is built in."""

    code: int
    fraction: int


@dataclass(frozen=True)
class Unary(Node):
    """An operation on one value."""

    a: int
    operand_fields = ("a",)


@dataclass(frozen=True)
class Binary(Node):
    """An operation on two values."""

    a: int
    b: int
    operand_fields = ("a", "b")


class Add(Binary):
    """a + b, binary points aligned."""


class Subtract(Binary):
    """a - b, binary points aligned."""


class Multiply(Binary):
    """a * b, exact."""


class Negate(Unary):
    """-a."""


class Absolute(Unary):
    """|a|."""


class Maximum(Binary):
    """The larger of a and b; both have the same fraction."""


class Minimum(Binary):
    """The smaller of a and b; both have the same fraction."""


class Less(Binary):
    """1 where a < b, else 0; both have the same fraction."""


class And(Binary):
    """Logical and of two flags (0 or 1)."""


class Or(Binary):
    """Logical or of two flags (0 or 1)."""


class Not(Unary):
    """Logical not of a flag (0 or 1)."""


@dataclass(frozen=True)
class Scale(Unary):
    """a * 2**exponent by moving the binary point: no hardware."""

    exponent: int


@dataclass(frozen=True)
class Narrow(Unary):
    """Drop fraction bits down to `fraction`, then bring the code into [lo, hi].

    rounding: `floor` or `half_even`. overflow: `saturate` (to lo or hi), `wrap` (modulo the power
    of two of codes in [lo, hi]) or `proven` (cannot happen: the interpreter raises if it does).
    """

    fraction: int
    lo: int
    hi: int
    rounding: str = "floor"
    overflow: str = "proven"

    def __post_init__(self) -> None:
        if self.rounding not in ("floor", "half_even"):
            raise ValueError(f"rounding must be floor or half_even, not {self.rounding!r}")
        if self.overflow not in ("saturate", "wrap", "proven"):
            raise ValueError(f"overflow must be saturate, wrap or proven, not {self.overflow!r}")
        size = self.hi - self.lo + 1
        if self.overflow == "wrap" and (size & (size - 1) or self.lo not in (0, -size // 2)):
            raise ValueError(f"wrap needs a two's complement or unsigned word, not {self}")


@dataclass(frozen=True)
class Difference(Binary):
    """a - b brought into [lo, hi] by saturation, in one operation; both have the same fraction."""

    lo: int
    hi: int


@dataclass(frozen=True)
class Outside(Unary):
    """1 where the code of a is below lo or above hi (so a saturating Narrow would clip), else 0."""

    lo: int
    hi: int


@dataclass(frozen=True)
class Select(Node):
    """a where the flag `condition` is 1, else b; a and b have the same fraction."""

    condition: int
    a: int
    b: int
    operand_fields = ("condition", "a", "b")


@dataclass(frozen=True)
class LeadingZeros(Unary):
    """Zeros above the first one of a non-negative code in a word of `width` bits (width for 0)."""

    width: int


@dataclass(frozen=True)
class ShiftLeft(Binary):
    """code(a) << code(b), b in 0..limit; a's fraction. The result is declared to fit [lo, hi]."""

    lo: int
    hi: int


class ShiftRight(Binary):
    """code(a) >> code(b) rounded to floor, b not negative; a's fraction."""


@dataclass(frozen=True)
class Table(Unary):
    """codes[code(a)]: a read-only memory; a's code lies in 0..len(codes) - 1."""

    codes: tuple[int, ...]
    fraction: int


@dataclass(frozen=True)
class Join(Node):
    """code(high) * 2**bits + code(low), low in 0..2**bits - 1: wires only; low's fraction."""

    high: int
    low: int
    bits: int
    operand_fields = ("high", "low")


OPERATIONS: dict[str, type[Node]] = {
    cls.__name__: cls
    for cls in (
        *(Input, Constant, Add, Subtract, Multiply, Negate, Absolute, Maximum, Minimum, Less, And),
        *(Or, Not, Scale, Narrow, Outside, Select, LeadingZeros, ShiftLeft, ShiftRight, Table),
        *(Join, Difference, Parameter),
    )
}


@dataclass(frozen=True)
class Output:
    """A named result. `format` is the port's; by default the smallest that the range needs."""

    name: str
    node: int
    format: Format | None = None


@dataclass(frozen=True)
class Graph:
    """Nodes in order of evaluation, and the named results."""

    name: str
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """The exact range of every node; ValueError names a node that breaks its contract."""
        from solver_ref.ranges import ranges

        return ranges(self.nodes)

    @property
    def inputs(self) -> dict[str, Format]:
        return {node.name: node.format for node in self.nodes if isinstance(node, Input)}

    @property
    def parameters(self) -> dict[str, Parameter]:
        return {node.name: node for node in self.nodes if isinstance(node, Parameter)}

    @property
    def output_formats(self) -> dict[str, Format]:
        return {output.name: self._port_format(output) for output in self.outputs}

    def _port_format(self, output: Output) -> Format:
        span, fmt = self.ranges[output.node], output.format
        if fmt is None:
            return span.format
        if fmt.fraction != span.fraction or span.lo < fmt.lo or span.hi > fmt.hi:
            raise ValueError(f"output {output.name!r} has {span}, which does not fit {fmt}")
        return fmt

    def to_json(self) -> str:
        """Canonical text; `from_json` gives an equal graph."""
        nodes = [[type(node).__name__, *_fields(node)] for node in self.nodes]
        outputs = [_fields(output) for output in self.outputs]
        content = {"name": self.name, "nodes": nodes, "outputs": outputs}
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Graph:
        content = json.loads(text)
        nodes = tuple(_node(operation, fields) for operation, *fields in content["nodes"])
        outputs = tuple(
            Output(name, node, fmt and Format.parse(fmt)) for name, node, fmt in content["outputs"]
        )
        return cls(content["name"], nodes, outputs)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def _fields(node: Node | Output) -> list[object]:
    values = [getattr(node, field.name) for field in dataclasses.fields(node)]
    return [str(value) if isinstance(value, Format) else value for value in values]


def _node(operation: str, fields: list[object]) -> Node:
    if operation not in OPERATIONS:
        raise ValueError(f"unknown operation {operation!r}; known are {', '.join(OPERATIONS)}")
    if operation in ("Input", "Parameter"):
        fields = [fields[0], Format.parse(str(fields[1])), *fields[2:]]
    return OPERATIONS[operation](*(tuple(f) if isinstance(f, list) else f for f in fields))
