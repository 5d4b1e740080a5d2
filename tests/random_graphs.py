"""Seeded random graphs over every operation, and input codes that start at the corners."""

import random

import numpy as np

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.ranges import node_range

WIDEST = 70


def random_graph(seed: int, size: int = 40) -> g.Graph:
    maker = _Maker(random.Random(seed))
    while len(maker.nodes) < size:
        maker.grow()
    return maker.graph(f"random_{seed}")


def corner_codes(graph: g.Graph, seed: int, count: int) -> dict[str, np.ndarray]:
    """Input codes: the corners of each format in some order, then random ones."""
    rng = random.Random(seed)
    codes = {}
    for name, form in graph.inputs.items():
        corners = [form.lo, form.hi, 0, min(1, form.hi), max(-1, form.lo)]
        rng.shuffle(corners)
        rest = [rng.randint(form.lo, form.hi) for _ in range(count - len(corners))]
        codes[name] = np.array((corners + rest)[:count])
    return codes


def loaded_codes(graph: g.Graph, seed: int) -> dict[str, int]:
    """Codes of some of the parameters, often the first or the last that there is."""
    rng = random.Random(seed)
    return {
        name: rng.choice([p.lo, p.hi, rng.randint(p.lo, p.hi)])
        for name, p in graph.parameters.items()
        if rng.random() < 0.7
    }


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.nodes, self.spans = rng, [], []
        for number in range(rng.randint(2, 5)):
            width = rng.randint(2, 30)
            self.add(g.Input(f"x{number}", Format(rng.random() < 0.7, width - 4, 4)))
        for number in range(rng.randint(0, 3)):
            form = Format(rng.random() < 0.7, rng.randint(2, 30) - 4, 4)
            lo, initial, hi = sorted(rng.sample(range(form.lo, form.hi + 1), 3))
            self.add(g.Parameter(f"p{number}", form, lo, hi, initial))
        self.add(g.Constant(rng.randint(-1000, 1000), 3))
        self.add(g.Constant(rng.choice([1, 2, -4, 3, 7, 12, -5, 10007 << 3]), 2))
        self.codes = tuple(rng.randint(-500, 500) for _ in range(16))

    def add(self, node: g.Node) -> int:
        span = node_range(node, [self.spans[i] for i in node.operands])
        if span.width > WIDEST:
            raise ValueError("too wide")
        self.nodes.append(node)
        self.spans.append(span)
        return len(self.nodes) - 1

    def grow(self) -> None:
        """Add one operation on random operands, unless its contract forbids them."""
        maker = self.rng.choice(_OPERATIONS)
        try:
            node = maker(self, self.pick())
            if node is not None:
                self.add(node)
        except (ValueError, IndexError):
            return

    def pick(self) -> int:
        last = len(self.nodes)
        return self.rng.randrange(0 if self.rng.random() < 0.4 else max(0, last - 12), last)

    def alike(self, a: int) -> int:
        """A node of the same fraction."""
        fraction = self.spans[a].fraction
        return self.rng.choice([i for i, s in enumerate(self.spans) if s.fraction == fraction])

    def flag(self) -> int:
        flags = [i for i, s in enumerate(self.spans) if 0 <= s.lo and s.hi <= 1 and not s.fraction]
        return self.rng.choice(flags)

    def low_bits(self, a: int, bits: int, fraction: int) -> int:
        return self.add(g.Narrow(a, fraction, 0, (1 << bits) - 1, "floor", "wrap"))

    def graph(self, name: str) -> g.Graph:
        used = {operand for node in self.nodes for operand in node.operands}
        results = [i for i in range(len(self.nodes)) if i not in used]
        results += self.rng.sample(range(len(self.nodes)), 4)
        outputs = (g.Output(f"y{k}", i) for k, i in enumerate(dict.fromkeys(results)))
        return g.Graph(name, tuple(self.nodes), tuple(outputs))


def _narrow(m: _Maker, a: int) -> g.Node:
    fraction = m.spans[a].fraction - m.rng.choice([0, 0, 1, 2, 5, 10, 17, 20])
    rounding = m.rng.choice(["floor", "floor", "half_even"])
    overflow = m.rng.choice(["saturate", "wrap", "proven"])
    if overflow == "proven":
        return g.Narrow(a, fraction, -(1 << 80), 1 << 80, rounding)
    width = m.rng.randint(2, 25)
    lo, hi = (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    if m.rng.random() < 0.4:
        lo, hi = 0, (1 << width) - 1
    if overflow == "saturate" and m.rng.random() < 0.4:
        lo += m.rng.randint(0, 1)
    return g.Narrow(a, fraction, lo, hi, rounding, overflow)


def _outside(m: _Maker, a: int) -> g.Node:
    if m.rng.random() < 0.5:
        bound = 1 << m.rng.randint(1, 12)
        return g.Outside(a, -bound, bound - 1)
    lo = m.rng.randint(min(m.spans[a].lo, 0), max(m.spans[a].hi, 1))
    return g.Outside(a, lo, lo + m.rng.randint(0, 1 << m.rng.randint(1, 20)))


def _difference(m: _Maker, a: int) -> g.Node:
    bound = 1 << m.rng.randint(1, 20)
    return g.Difference(a, m.alike(a), -bound, bound - m.rng.randint(1, 2))


def _shift(m: _Maker, a: int) -> g.Node:
    b = m.pick()
    amount = m.low_bits(b, m.rng.randint(1, 5), min(m.spans[b].fraction, 0))
    if m.rng.random() < 0.5:
        return g.ShiftRight(a, amount)
    return g.ShiftLeft(a, amount, -(1 << 90), 1 << 90)


def _join(m: _Maker, a: int) -> g.Node:
    bits, b = m.rng.randint(1, 10), m.pick()
    fraction = m.spans[a].fraction
    low = m.low_bits(a, bits, fraction)
    high = m.add(g.Scale(b, m.spans[b].fraction - (fraction - bits)))
    return g.Join(high, low, bits)


_OPERATIONS = (
    *(lambda m, a: g.Add(a, m.pick()), lambda m, a: g.Subtract(a, m.pick())) * 2,
    *(lambda m, a: g.Multiply(a, m.pick()),) * 3,
    *(_narrow,) * 3,
    lambda m, a: g.Multiply(a, a),
    lambda m, a: g.Negate(a),
    lambda m, a: g.Absolute(a),
    lambda m, a: g.Maximum(a, m.alike(a)),
    lambda m, a: g.Minimum(a, m.alike(a)),
    lambda m, a: g.Less(a, m.alike(a)),
    lambda m, a: g.And(m.flag(), m.flag()),
    lambda m, a: g.Or(m.flag(), m.flag()),
    lambda m, a: g.Not(m.flag()),
    lambda m, a: g.Scale(a, m.rng.randint(-3, 3)),
    _outside,
    _difference,
    lambda m, a: g.Select(m.flag(), a, m.alike(a)),
    lambda m, a: g.LeadingZeros(a, m.spans[a].hi.bit_length() + m.rng.randint(0, 3)),
    _shift,
    lambda m, a: g.Table(m.low_bits(a, 4, min(m.spans[a].fraction, 0)), m.codes, 2),
    _join,
)
