"""Rewrites a graph so that each product fits one hardware multiplier, without changing a value.

A wide operand b is cut into b = bh * 2**k + bl with bl in 0..2**k - 1, so that
a * b = (a * bh + floor(a * bl / 2**k)) * 2**k + a * bl mod 2**k: one adder on the high part only.
"""

from __future__ import annotations

import dataclasses
from functools import cache

from solver_ref import graph as g
from solver_ref.balance import balance
from solver_ref.fixed import Range
from solver_ref.ranges import node_range
from solver_ref.simplify import Builder


def split(graph: g.Graph, shape: tuple[int, int], *, csd_limit: int = 2) -> g.Graph:
    """An equal graph whose every `Multiply` fits `shape`, and without superfluous nodes.

    shape: widths of the signed multiplier's two ports, the wider first. A constant factor of up to
    `csd_limit` nonzero canonical signed digits becomes additions. Inputs, outputs, the formats of
    both and all output values stay.
    """
    wide, narrow = shape
    if wide < narrow or narrow < 3:
        raise ValueError(f"a multiplier shape is (wide, narrow) of at least 3 bits, not {shape}")
    splitter = _Splitter(shape, csd_limit)
    new: list[int] = []
    for node in graph.nodes:
        operands = [new[i] for i in node.operands]
        if isinstance(node, g.Multiply):
            new.append(splitter.multiply(*operands))
        else:
            new.append(splitter.add(node.with_operands(*operands)))
    formats = graph.output_formats
    outputs = [g.Output(o.name, new[o.node], formats[o.name]) for o in graph.outputs]
    cut = _without_dead_nodes(g.Graph(graph.name, tuple(splitter.nodes), tuple(outputs)))
    return _without_dead_nodes(balance(cut))


def fits(a: Range, b: Range, shape: tuple[int, int]) -> bool:
    """Whether one multiplier of this shape computes a * b."""
    return max(a.width, b.width) <= shape[0] and min(a.width, b.width) <= shape[1]


@cache
def _best_cut(a: int, b: int, shape: tuple[int, int]) -> tuple[int, int, bool, int]:
    """(products, their area, whether to cut b, cut position) for operands of a and b bits."""
    if max(a, b) <= shape[0] and min(a, b) <= shape[1]:
        return 1, a * b, False, 0
    options = []
    for cut_b, kept, cut in ((True, a, b), (False, b, a)):
        for k in {shape[0] - 1, shape[1] - 1}:
            if cut > k + 1:
                low, high = (_best_cut(kept, w, shape) for w in (k + 1, cut - k))
                options.append((low[0] + high[0], low[1] + high[1], cut_b, k))
    return min(options)


def signed_digits(value: int) -> list[tuple[int, int]]:
    """The canonical signed digits of an integer: (sign, position), no two side by side."""
    digits = []
    position = 0
    while value:
        if value & 1:
            sign = 2 - (value & 3)
            digits.append((sign, position))
            value -= sign
        value >>= 1
        position += 1
    return digits


class _Splitter(Builder):
    def __init__(self, shape: tuple[int, int], csd_limit: int) -> None:
        super().__init__()
        self._shape = shape
        self._csd_limit = csd_limit
        self._products: dict[tuple[object, object], tuple[int, int]] = {}

    def multiply(self, a: int, b: int) -> int:
        """The position of a * b, shared with an equal or opposite product."""
        if self.code(a) is not None:
            a, b = b, a
        if self.code(b) is not None:
            return self._by_constant(a, self.code(b), self.ranges[b].fraction)
        (sign_a, base_a), (sign_b, base_b) = self._signed(a), self._signed(b)
        key = tuple(sorted((base_a, base_b)))
        sign = sign_a * sign_b
        if key in self._products:
            known, known_sign = self._products[key]
            return known if known_sign == sign else self.add(g.Negate(known))
        product = self._product(a, b)
        self._products[key] = (product, sign)
        return product

    def _signed(self, position: int) -> tuple[int, tuple[int, ...]]:
        """The value as a sign and the name of a magnitude: x and -x, a - b and b - a agree."""
        node = self.nodes[position]
        if isinstance(node, g.Negate):
            sign, base = self._signed(node.a)
            return -sign, base
        if isinstance(node, g.Subtract):
            return (1, (node.a, node.b)) if node.a < node.b else (-1, (node.b, node.a))
        return 1, (position,)

    def _product(self, a: int, b: int) -> int:
        spans = self.ranges[a], self.ranges[b]
        if fits(*spans, self._shape):
            return self.append(g.Multiply(min(a, b), max(a, b)))
        exact = node_range(g.Multiply(a, b), spans)
        if a == b and spans[0].width > self._shape[0]:
            return self._square(a, exact)
        *_, cut_b, k = _best_cut(spans[0].width, spans[1].width, self._shape)
        kept, cut = (a, b) if cut_b else (b, a)
        high, low = self._cut(cut, k)
        high, low = self.multiply(kept, high), self.multiply(kept, low)
        carry, rest = self._cut(low, k)
        return self._join(self.add(g.Add(high, carry)), rest, k, exact)

    def _square(self, a: int, exact: Range) -> int:
        k = self._shape[1] - 1
        high, low = self._cut(a, k)
        carry, rest = self._cut(self.multiply(low, low), k)
        middle = self.add(g.Scale(self.multiply(high, low), 1))
        middle = self.add(g.Add(middle, carry))
        return self._join(self.add(g.Add(self.multiply(high, high), middle)), rest, k, exact)

    def _cut(self, a: int, k: int) -> tuple[int, int]:
        """(floor(a / 2**k), a mod 2**k) by wires."""
        span = self.ranges[a]
        high = g.Narrow(a, span.fraction - k, span.lo >> k, span.hi >> k)
        low = g.Narrow(a, span.fraction, 0, (1 << k) - 1, "floor", "wrap")
        return self.add(high), self.add(low)

    def _join(self, high: int, low: int, k: int, exact: Range) -> int:
        bounds = Range(exact.lo >> k, exact.hi >> k, exact.fraction - k)
        joined = self.add(g.Join(self.bounded(high, bounds), low, k))
        return self.bounded(joined, exact)

    def _by_constant(self, a: int, code: int, fraction: int) -> int:
        span = self.ranges[a]
        if code == 0:
            return self.constant(0, span.fraction + fraction)
        zeros = (code & -code).bit_length() - 1
        odd, odd_fraction = code >> zeros, fraction - zeros
        digits = signed_digits(odd)
        if len(digits) <= self._csd_limit:
            product = self._digit_sum(a, digits, -odd_fraction)
            factor = Range(odd, odd, odd_fraction)
            exact = node_range(g.Multiply(0, 1), (span, factor))
            product = self.bounded(product, exact)
        else:
            product = self._product(a, self.constant(odd, odd_fraction))
        if not zeros:
            return product
        padding = self.constant(0, span.fraction + fraction)
        return self.add(g.Join(product, padding, zeros))

    def _digit_sum(self, a: int, digits: list[tuple[int, int]], exponent: int) -> int:
        """The sum of sign * a * 2**(position + exponent)."""
        digits = sorted(digits, key=lambda digit: -digit[0])
        terms = [self.add(g.Scale(a, position + exponent)) for _, position in digits]
        total = terms[0] if digits[0][0] > 0 else self.add(g.Negate(terms[0]))
        for (sign, _), term in zip(digits[1:], terms[1:], strict=True):
            total = self.add((g.Add if sign > 0 else g.Subtract)(total, term))
        return total


def _without_dead_nodes(graph: g.Graph) -> g.Graph:
    """Only what the outputs use, and every input: it is a port."""
    used = {output.node for output in graph.outputs}
    for position in range(len(graph.nodes) - 1, -1, -1):
        if position in used:
            used.update(graph.nodes[position].operands)
    used |= {i for i, node in enumerate(graph.nodes) if isinstance(node, g.Input)}
    new = {old: position for position, old in enumerate(sorted(used))}
    nodes = [graph.nodes[i].with_operands(*(new[o] for o in graph.nodes[i].operands)) for i in new]
    outputs = [dataclasses.replace(output, node=new[output.node]) for output in graph.outputs]
    return g.Graph(graph.name, tuple(nodes), tuple(outputs))
