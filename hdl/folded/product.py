"""A signed product of two long factors from four of a chip's multipliers."""

from __future__ import annotations

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.multiplier import MODULE
from hdl.target import Target

MULTIPLIERS = 4
MULTIPLIER_LATENCY = 2


def low_bits(target: Target) -> int:
    """Bits of a factor's lower part, which is not negative."""
    return min(target.multiplier_shape) - 1


def factor_bits(target: Target) -> int:
    """Bits of a factor, sign included."""
    return 2 * low_bits(target) + 1


class Product(wiring.Component):
    """p = a * b of `factor_bits` each, `latency` clock edges later, one each cycle.

    A latency of 3 sums the parts in one cycle, one of 4 in two.
    """

    def __init__(self, target: Target, *, latency: int, behavioural: bool = False) -> None:
        if latency not in (3, 4):
            raise ValueError(f"the latency of a product must be 3 or 4, not {latency}")
        self.low, self.latency, self._behavioural = low_bits(target), latency, behavioural
        width = factor_bits(target)
        super().__init__(
            {"a": In(signed(width)), "b": In(signed(width)), "p": Out(signed(2 * width))}
        )

    def elaborate(self, platform) -> Module:
        m, low = Module(), self.low
        parts = {
            name: (Cat(port[:low], Const(0, 1)).as_signed(), port[low:].as_signed())
            for name, port in (("a", self.a), ("b", self.b))
        }
        p = [
            [self._multiplied(m, f"p{i}{j}", parts["a"][i], parts["b"][j]) for j in range(2)]
            for i in range(2)
        ]
        middle = Signal(signed(2 * low + 3), reset_less=True)
        outer = Signal(signed(4 * low + 2), reset_less=True)
        between = m.d.sync if self.latency == 4 else m.d.comb
        between += [
            middle.eq(p[0][1] + p[1][0]),
            outer.eq(Cat(p[0][0][: 2 * low], p[1][1]).as_signed()),
        ]
        m.d.sync += [
            self.p.eq(Cat(outer[:low], (outer[low:].as_signed() + middle)).as_signed()),
        ]
        return m

    def _multiplied(self, m: Module, name: str, a: Value, b: Value) -> Signal:
        product = Signal(signed(len(a) + len(b)), name=name, reset_less=True)
        if self._behavioural:
            first, second = (
                Signal(value.shape(), name=f"{name}_{side}", reset_less=True)
                for side, value in (("a", a), ("b", b))
            )
            m.d.sync += [first.eq(a), second.eq(b), product.eq(first * second)]
        else:
            m.submodules[name] = Instance(
                MODULE,
                p_AW=len(a),
                p_BW=len(b),
                p_LATENCY=MULTIPLIER_LATENCY,
                i_clk=ClockSignal(),
                i_a=a,
                i_b=b,
                o_p=product,
            )
        return product
