"""Shared units as hardware: multiplexers over the slots, then the multiplier or the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amaranth.hdl import ClockSignal, Instance, Module, Signal, Value, signed
from amaranth.lib.memory import Memory

from hdl.binding import Unit, drive
from hdl.lifetimes import Line
from hdl.multiplier import LUT_MODULE, MODULE
from hdl.operators import extend, multiplexer, one_hot_multiplexer
from hdl.phases import Phases
from hdl.wires import Word
from solver_ref import graph as g
from solver_ref.fixed import Range

Read = Callable[[Word, int], Value]

CHOSEN, OPERAND, PRODUCT = 1, 2, 3
"""Cycles beside a multiplier's own: so many register the chosen operands, then each operand before
it is chosen too, then the product as well."""


class UnitEmitter:
    """Writes units into a module.

    *Parameters*: read, a word's bits in a cycle; lines, for what two slots have in common;
    start, by node; one_hot, multiplexers of gates and one select bit for each input, which suits
    LUTs of four inputs; behavioural, multipliers as plain registers instead of instances.
    """

    def __init__(
        self,
        m: Module,
        phases: Phases,
        *,
        words: tuple[Word, ...],
        lines: dict[int, Line],
        start: tuple[int | None, ...],
        latency: Mapping[int, int],
        multiplier_latency: int,
        nodes: tuple[g.Node, ...],
        one_hot: bool,
        behavioural: bool,
    ) -> None:
        self._m, self._phases, self._words, self._lines = m, phases, words, lines
        self._nodes, self._one_hot = nodes, one_hot
        self._multiplier_latency = multiplier_latency
        self._start, self._latency, self._behavioural = start, latency, behavioural

    def output(self, name: str, unit: Unit) -> Signal:
        """The unit's output register, still without its drivers: its readers come first."""
        if unit.kind == "table":
            return Signal(signed(self._table_width(unit)), name=f"{name}_q", reset_less=True)
        widths = [max(self._width(ports[port]) for ports in unit.ports) for port in range(2)]
        return Signal(signed(sum(widths)), name=f"{name}_p", reset_less=True)

    def connect(self, name: str, unit: Unit, output: Signal, read: Read) -> None:
        """The unit in front of its output register."""
        latency = self._latency[unit.nodes[0]]
        if unit.kind == "table":
            word = self.table(name, unit, read)
            for _ in range(latency - 1):
                word = self._registered(name, word)
            self._m.d.sync += output.eq(word)
            return
        a, b = (self._port(name, unit, port, read) for port in range(2))
        extra = latency - self._multiplier_latency
        if extra >= CHOSEN:
            a, b = self._registered(name, a), self._registered(name, b)
        product = output
        if extra >= PRODUCT:
            product = Signal.like(output, name=f"{name}_near")
            self._m.d.sync += output.eq(product)
        if self._behavioural:
            self._inline(name, a, b, product)
            return
        self._m.submodules[name] = Instance(
            LUT_MODULE if unit.kind == "lut" else MODULE,
            p_AW=len(a),
            p_BW=len(b),
            p_LATENCY=self._multiplier_latency,
            i_clk=ClockSignal(),
            i_a=a,
            i_b=b,
            o_p=product,
        )

    def _width(self, node: int) -> int:
        return sum(map(len, self._words[node]))

    def _table_width(self, unit: Unit) -> int:
        codes = self._nodes[unit.nodes[0]].codes
        return Range(min(codes), max(codes), 0).width

    def _inline(self, name: str, a: Value, b: Value, product: Signal) -> None:
        value: Value = self._registered(name, a) * self._registered(name, b)
        for _ in range(self._multiplier_latency - 2):
            value = self._registered(name, value)
        self._m.d.sync += product.eq(value)

    def _registered(self, name: str, value: Value) -> Signal:
        register = Signal(value.shape(), name=f"{name}_r", reset_less=True)
        self._m.d.sync += register.eq(value)
        return register

    def table(self, name: str, unit: Unit, read: Read) -> Value:
        """What the table holds at the unit's address in this cycle, not yet registered."""
        codes = self._nodes[unit.nodes[0]].codes
        address = self._port(name, unit, 0, read)
        index = max(1, (len(codes) - 1).bit_length())
        memory = Memory(shape=signed(self._table_width(unit)), depth=1 << index, init=codes)
        self._m.submodules[name] = memory
        port = memory.read_port(domain="comb")
        self._m.d.comb += port.addr.eq(extend(address, index))
        return port.data

    def _port(self, unit_name: str, unit: Unit, port: int, read: Read) -> Value:
        """One port of a unit: in each of its slots' phases that slot's operand."""
        name = f"{unit_name}_{'at' if unit.kind == 'table' else 'ab'[port]}"
        extra = self._latency[unit.nodes[0]] - self._multiplier_latency
        hop = unit.kind != "table" and extra >= OPERAND
        slots: dict[int, int] = {}
        choices: dict[object, int] = {}
        values: list[Value] = []
        for node, ports in zip(unit.nodes, unit.ports, strict=True):
            word, cycle = self._words[ports[port]], self._start[node]
            key = drive(word, self._lines, cycle)
            if key not in choices:
                choices[key] = len(values)
                value = read(word, cycle)
                values.append(self._registered(name, value) if hop else value)
            slots[(cycle + hop) % self._phases.ii] = choices[key]
        width = max(map(len, values))
        values = [extend(value, width) for value in values]
        if len(values) == 1:
            return values[0]
        count, one_hot = len(values), self._one_hot and len(values) > 2
        bits = count if one_hot else (count - 1).bit_length()
        select = [
            self._phases.pattern(
                unit_name,
                f"{name}_{bit}",
                {p: n == bit if one_hot else n >> bit & 1 for p, n in slots.items()},
            )
            for bit in range(bits)
        ]
        chosen = Signal(signed(width), name=name)
        choose = one_hot_multiplexer if one_hot else multiplexer
        self._m.d.comb += chosen.eq(choose(select, [v.as_unsigned() for v in values]))
        return chosen
