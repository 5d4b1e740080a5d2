"""What the AXI shell remembers of the results that it saw: the block `watch` and its events."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdl.axi_map import COUNTED, STATUS_EVENTS
from hdl.register_map import WORD_BITS, Block

TAG = data.StructLayout(
    {"time": unsigned(WORD_BITS), "solve": unsigned(1), "unfit": unsigned(1), "ends": unsigned(1)}
)
"""What the shell's tags carry through a kernel: the cycle in which the transfer entered, whether a
one-shot solve asked for it, whether an input was no code of its field, and whether a packet ends
with it."""

_OBSERVED = ("iterations", "residual")


class Watch(wiring.Component):
    """Counts results and keeps the last and largest of what they say.

    *Parameters*: the block of registers; the `fields` that the kernel's results have.

    *Members*: `offered` (a result stands at the kernel's output), `leaves` (it is taken), `tag`,
    and a word for each of `status`, `iterations` and `residual` (0 without such a field); `clear`;
    one `happens_<name>` for each counted fault of packets; `latency_limit`, `residual_limit`; out:
    `now`, the lowest word of the cycle counter; a word `shows_<register>` for each register; the
    events `failed`, `late`, `inexact` and `said`, the status bits of a result, for one cycle.

    *Contract*: the latency of a result runs to the cycle in which it is first offered, so a slow
    reader lengthens that of the next ones only. Registers follow a result two cycles after it left.
    """

    def __init__(self, block: Block, fields: Mapping[str, int]) -> None:
        self.block, self.fields = block, dict(fields)
        inward = ("offered", "leaves", "clear", *(f"happens_{name}" for name in COUNTED))
        words = ("status", *_OBSERVED, "latency_limit", "residual_limit")
        super().__init__(
            {name: In(1) for name in inward}
            | {name: In(WORD_BITS) for name in words}
            | {"tag": In(TAG), "now": Out(WORD_BITS), "said": Out(len(STATUS_EVENTS))}
            | {name: Out(1) for name in ("failed", "late", "inexact")}
            | {f"shows_{r.name}": Out(WORD_BITS, init=r.reset) for r in block.registers}
        )

    def _shows(self, name: str) -> Signal:
        return getattr(self, f"shows_{name}")

    def elaborate(self, platform) -> Module:
        m = Module()
        cycles = Signal(2 * WORD_BITS)
        m.d.sync += cycles.eq(cycles + 1)
        m.d.comb += [
            self.now.eq(cycles[:WORD_BITS]),
            self.shows_cycles_low.eq(cycles[:WORD_BITS]),
            self.shows_cycles_high.eq(cycles[WORD_BITS:]),
        ]
        seen, solve, latency = self._noted(m)
        status = self._shows("status_last")
        bad = Signal()
        m.d.comb += [
            bad.eq(~status[0] if "status" in self.fields else 0),
            self.said.eq(Mux(seen, status, 0)),
            self.failed.eq(seen & bad),
            self.late.eq(seen & (latency > self.latency_limit)),
            self.inexact.eq(seen & (self._shows("residual_last") > self.residual_limit)),
        ]
        self._count(m, "results", seen)
        self._count(m, "failures", self.failed)
        for number, name in enumerate(STATUS_EVENTS):
            possible = number < self.fields.get("status", 0)
            self._count(m, f"count_{name}", self.said[number] if possible else Const(0))
        for name in COUNTED:
            self._count(m, f"count_{name}", getattr(self, f"happens_{name}"))
        self._extreme(m, "latency_min", seen, latency, latency < self._shows("latency_min"))
        self._extreme(m, "latency_max", seen, latency, latency > self._shows("latency_max"))
        for name in _OBSERVED:
            value, largest = self._shows(f"{name}_last"), f"{name}_max"
            self._extreme(m, largest, seen, value, value > self._shows(largest))
        with m.If(seen & solve):
            m.d.sync += self.shows_solve_latency.eq(latency)
        return m

    def _noted(self, m: Module) -> tuple[Signal, Signal, Signal]:
        """What a result says, in registers: one cycle after it left, for the rest to look at."""
        standing, first = Signal(), Signal(WORD_BITS, reset_less=True)
        seen, solve = Signal(), Signal(reset_less=True)
        latency = self._shows("latency_last")
        passed = Signal(WORD_BITS)
        m.d.comb += passed.eq(Mux(standing, first, self.now - self.tag.time))
        m.d.sync += [
            standing.eq(self.offered & ~self.leaves),
            first.eq(passed),
            seen.eq(self.leaves),
        ]
        with m.If(self.leaves):
            m.d.sync += [latency.eq(passed), solve.eq(self.tag.solve)]
            m.d.sync += [
                self._shows(f"{name}_last").eq(getattr(self, name))
                for name in ("status", *_OBSERVED)
            ]
        return seen, solve, latency

    def _count(self, m: Module, name: str, happens: Value) -> None:
        count = self._shows(name)
        m.d.sync += count.eq(Mux(self.clear, 0, count + happens))

    def _extreme(self, m: Module, name: str, seen: Value, value: Value, beyond: Value) -> None:
        """A register that keeps the value that lies beyond all before."""
        kept = self._shows(name)
        with m.If(self.clear):
            m.d.sync += kept.eq(kept.init)
        with m.Elif(seen & beyond):
            m.d.sync += kept.eq(value)
