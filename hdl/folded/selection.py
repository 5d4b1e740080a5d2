"""Covers a lowered graph with instructions: a product, its shift and the sum behind it are one.

A value that one reader alone needs, in a form that the reader's instruction computes by itself, is
not stored. Stored values are named by their positions in the lowered graph, constants by numbers
behind those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hdl.folded.instruction import WORD, Instruction, Operation, Source
from hdl.folded.lowering import Differs, Limit, Lowered
from solver_ref import graph as g
from solver_ref.fixed import Range

_COMPARED = {
    g.Maximum: Operation.MAXIMUM,
    g.Minimum: Operation.MINIMUM,
    Differs: Operation.DIFFERS,
}


@dataclass(frozen=True)
class Selection:
    """Instructions in an order in which every operand comes first.

    `constants`: codes by name; `inputs`: names by port; `outputs`: the stored value of each node
    that was asked for; `widths`: of every stored value, in two's complement; `x_width`: of the
    widest X; `tables` by number.
    """

    instructions: tuple[Instruction, ...]
    constants: dict[int, int]
    inputs: dict[str, int]
    outputs: tuple[int, ...]
    widths: dict[int, int]
    x_width: int
    tables: tuple[tuple[int, ...], ...]


def select(graph: Lowered, outputs: Sequence[int], *, factor_bits: int) -> Selection:
    """Instructions that compute the nodes `outputs` of a lowered graph.

    `factor_bits`: of the multiplier's operands, signed; ValueError for a wider one.
    """
    return _Selector(graph, outputs, factor_bits).selection()


@dataclass(frozen=True)
class _X:
    """The part of an instruction that gives X, with the fields' names of `Instruction`."""

    source: Source
    a: int
    b: int | None = None
    shift: int = 0
    varying: bool = False
    even: bool = False


class _Selector:
    def __init__(self, graph: Lowered, outputs: Sequence[int], factor_bits: int) -> None:
        self.nodes, self.ranges, self.asked = graph.nodes, graph.ranges, outputs
        self.factor_bits = factor_bits
        self.readers: Counter[int] = Counter(outputs)
        alive = set(outputs)
        for position in reversed(range(len(self.nodes))):
            if position in alive:
                alive.update(self.nodes[position].operands)
                self.readers.update(self.nodes[position].operands)
        self.constants: dict[int, int] = {}
        self.spans: dict[int, Range] = {}
        self.tables: dict[tuple[int, ...], int] = {}
        self.x_width = 0

    def selection(self) -> Selection:
        outputs = tuple(self.stored(position) for position in self.asked)
        found: list[Instruction] = []
        inputs: dict[str, int] = {}
        for position in reversed(range(len(self.nodes))):
            if position in self.spans:
                node = self.nodes[position]
                if isinstance(node, g.Input):
                    inputs[node.name] = position
                else:
                    found.append(self._instruction(position, node))
        return Selection(
            tuple(reversed(found)),
            {name: code for code, name in self.constants.items()},
            inputs,
            outputs,
            {name: span.width for name, span in self.spans.items()},
            self.x_width,
            tuple(self.tables),
        )

    # -- values ----------------------------------------------------------------------------------

    def stored(self, position: int) -> int:
        """The name of a node's code, which is stored from now on."""
        span = self.ranges[position]
        position = self._alias(position)
        if isinstance(self.nodes[position], g.Constant):
            return self.constant(self.nodes[position].code)
        known = self.spans.get(position, self.ranges[position])
        # An alias may be proven to be narrower than what it names.
        self.spans[position] = Range(max(known.lo, span.lo), min(known.hi, span.hi), 0)
        return position

    def constant(self, code: int) -> int:
        if code not in self.constants:
            self.constants[code] = len(self.nodes) + len(self.constants)
            self.spans[self.constants[code]] = Range(code, code, 0)
        return self.constants[code]

    def _alias(self, position: int) -> int:
        """The node whose code this one has: binary points that move and proven ranges are none."""
        while True:
            node = self.nodes[position]
            if not isinstance(node, g.Scale) and not self._idle(position):
                return position
            position = node.a

    def _idle(self, position: int) -> bool:
        node = self.nodes[position]
        return isinstance(node, g.Narrow) and self._drop(node) == 0

    def _drop(self, node: g.Narrow) -> int:
        return self.ranges[node.a].fraction - node.fraction

    def _lone(self, position: int) -> bool:
        """Whether nobody but its reader needs the node, nor what it is an alias of."""
        while self.readers[position] == 1:
            node = self.nodes[position]
            if not isinstance(node, g.Scale) and not self._idle(position):
                return True
            position = node.a
        return False

    # -- X ---------------------------------------------------------------------------------------

    def _x(
        self, position: int, lift: int = 0, *, b_free: bool = True, rounding: bool = False
    ) -> _X:
        """How X becomes the node's code, moved left by `lift`.

        b_free: whether B may be used; rounding: whether X may round, which takes the adder's carry.
        """
        self.x_width = max(self.x_width, self.ranges[position].width + lift)
        if lift:
            return _X(Source.LEFT, self.stored(position), shift=lift)
        if self._lone(position) and (rounding or not self._rounds(position)):
            found = self._inlined(self._alias(position), b_free)
            if found:
                return found
        return _X(Source.PASS, self.stored(position))

    def _inlined(self, position: int, b_free: bool) -> _X | None:
        """X from the node's operands; None where it takes an instruction of its own."""
        node = self.nodes[position]
        if isinstance(node, g.Narrow):
            return self._narrowed(node, b_free)
        if isinstance(node, g.Table):
            number = self.tables.setdefault(node.codes, len(self.tables))
            return _X(Source.TABLE, self.stored(node.a), shift=number)
        if not b_free:
            return None
        if isinstance(node, g.Multiply):
            return self._product(node)
        if isinstance(node, g.ShiftLeft):
            return _X(Source.LEFT, self.stored(node.a), self.stored(node.b), varying=True)
        if isinstance(node, g.ShiftRight):
            return _X(Source.PASS, self.stored(node.a), self.stored(node.b), varying=True)
        return None

    def _narrowed(self, node: g.Narrow, b_free: bool) -> _X:
        shift, even = self._drop(node), node.rounding == "half_even"
        inner = self._alias(node.a)
        if b_free and isinstance(self.nodes[inner], g.Multiply) and self._lone(node.a):
            product = self._product(self.nodes[inner])
            return _X(product.source, product.a, product.b, shift=shift, even=even)
        return _X(Source.PASS, self.stored(node.a), shift=shift, even=even)

    def _product(self, node: g.Multiply) -> _X:
        for position in node.operands:
            width = self.ranges[position].width
            if width > self.factor_bits:
                raise ValueError(f"a factor of {width} bits: the core has {self.factor_bits}")
        return _X(Source.PRODUCT, self.stored(node.a), self.stored(node.b))

    def _rounds(self, position: int) -> bool:
        node = self.nodes[self._alias(position)]
        return isinstance(node, g.Narrow) and node.rounding == "half_even"

    def _simple(self, position: int) -> bool:
        """Whether the node would be read as it is stored."""
        if not self._lone(position):
            return True
        node = self.nodes[self._alias(position)]
        kinds = g.Narrow | g.Table | g.Multiply | g.ShiftLeft | g.ShiftRight
        return not isinstance(node, kinds)

    # -- instructions ----------------------------------------------------------------------------

    def _instruction(self, position: int, node: g.Node) -> Instruction:
        if isinstance(node, g.Narrow) and self._drop(node) == 1 and node.rounding == "floor":
            inner = self._alias(node.a)
            if isinstance(self.nodes[inner], g.Add | g.Subtract) and self._lone(node.a):
                return self._sum(position, inner, drop=True)
        if isinstance(node, g.Add | g.Subtract):
            return self._sum(position, position, drop=False)
        if isinstance(node, g.Less):
            return self._made(position, Operation.LESS, self._x(node.b), self.stored(node.a))
        if type(node) in _COMPARED:
            a, b = node.operands
            x, c = (b, a) if self._simple(a) else (a, b)
            return self._made(position, _COMPARED[type(node)], self._x(x), self.stored(c))
        if isinstance(node, g.Select):
            x = replace(self._x(node.a, b_free=False), b=self.stored(node.condition))
            return self._made(position, Operation.SELECT, x, self.stored(node.b))
        if isinstance(node, Limit):
            x = replace(self._x(node.a, b_free=False), b=self.constant(node.lo))
            return self._made(position, Operation.LIMIT, x, self.constant(node.hi))
        if isinstance(node, g.LeadingZeros):
            x = _X(Source.ZEROS, self.stored(node.a))
            return self._made(position, Operation.ADD, x, self.constant(node.width - WORD))
        x = self._inlined(position, True)
        assert x is not None, node
        return self._made(position, Operation.ADD, x, self.constant(0))

    def _sum(self, position: int, at: int, *, drop: bool) -> Instruction:
        """a + b or a - b, the finer operand as it is and the other moved up to it."""
        node = self.nodes[at]
        a, b = node.operands
        lift_a, lift_b = (self.ranges[at].fraction - self.ranges[i].fraction for i in (a, b))
        turned = isinstance(node, g.Subtract)
        # One of them becomes X: what has to be moved far, else what X computes on the way.
        if lift_a > 1 or (lift_b <= 1 and self._simple(b) and not (lift_a or self._simple(a))):
            operation = Operation.REVERSE if turned else Operation.ADD
            x, c, lift = self._x(a, lift_a, rounding=not turned), self.stored(b), lift_b
        else:
            operation = Operation.SUBTRACT if turned else Operation.ADD
            x, c, lift = self._x(b, lift_b, rounding=True), self.stored(a), lift_a
        return self._made(position, operation, x, c, lift=lift > 0, drop=drop)

    def _made(
        self, position: int, operation: Operation, x: _X, c: int, **more: bool
    ) -> Instruction:
        return Instruction(position, operation, c=c, **vars(x), **more)
