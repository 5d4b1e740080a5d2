"""The same vectors and measurements as `sim.bench`, in Amaranth's own simulator.

It runs the hardware's description itself, without Verilog in between, with multipliers as plain
registers; some hundred cycles a second for a whole solver, so for few vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from amaranth.sim import Simulator

from hdl.design import Design
from hdl.shell import StreamPorts
from hdl.testbench import BenchResult
from sim.bench import Simulation, measured
from sim.tools import WAVES
from sim.vectors import Codes, Vectors
from solver_ref.parameters import words

DRAIN = 64  # cycles watched after the last output for one too many
SUMMED = 34  # cycles for each loaded word until its checksum is there
WATCHDOG = 100_000  # cycles without a transfer that are a failure


def simulate_amaranth(
    design: Design, vectors: Vectors, *, directory: Path, waves: bool = False
) -> Simulation:
    """Back-to-back run of all vectors; `waves` leaves `waves.vcd` in `directory`."""
    component = design.component(behavioural=True)
    loaded = words(design.parameters, vectors.loaded) if vectors.loaded else []
    bench = _Bench(component, vectors.inputs, vectors.outputs, loaded)
    simulator = Simulator(component)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench.run)
    if waves:
        directory.mkdir(parents=True, exist_ok=True)
        with simulator.write_vcd(str(directory / WAVES)):
            simulator.run()
    else:
        simulator.run()
    seen = min(len(bench.accept), len(bench.present))
    accept, present = np.array(bench.accept, np.int64), np.array(bench.present, np.int64)
    result = bench.result(len(vectors))
    return measured(design, vectors, result, accept[:seen], present[:seen])


@dataclass
class _Bench:
    """Loads words of geometry, if there are any; then offers every input as early as it is taken,
    takes every output at once, compares."""

    kernel: StreamPorts
    inputs: Codes
    outputs: Codes
    loaded: list[int] = field(default_factory=list)
    accept: list[int] = field(default_factory=list)
    present: list[int] = field(default_factory=list)
    mismatches: int = 0
    timeout: bool = False

    async def run(self, ctx) -> None:
        await self._load(ctx)
        count, cycle, quiet = len(next(iter(self.inputs.values()))), 0, 0
        ctx.set(self.kernel.o_ready, 1)
        while quiet <= (DRAIN if len(self.present) >= count else WATCHDOG):
            moved = self._cycle(ctx, cycle, count)
            quiet = 0 if moved else quiet + 1
            await ctx.tick()
            cycle += 1
        self.timeout = len(self.present) < count

    async def _load(self, ctx) -> None:
        """The words by address; what the kernel then does not agree with is a mismatch."""
        kernel = self.kernel
        for address, word in enumerate(self.loaded):
            ctx.set(kernel.geometry_valid, 1)
            ctx.set(kernel.geometry_address, address)
            ctx.set(kernel.geometry_data, word)
            while not ctx.get(kernel.geometry_ready):
                await ctx.tick()
            await ctx.tick()
        if self.loaded:
            ctx.set(kernel.geometry_valid, 0)
            await ctx.tick().repeat(SUMMED * len(self.loaded))
            self.mismatches += not ctx.get(kernel.geometry_agrees)

    def _cycle(self, ctx, cycle: int, count: int) -> bool:
        """One clock cycle; says whether anything was transferred."""
        kernel, sent = self.kernel, len(self.accept)
        ctx.set(kernel.i_valid, sent < count)
        if sent < count:
            ctx.set(kernel.i_tag, sent % (1 << kernel.tag_width))
            for name, codes in self.inputs.items():
                ctx.set(kernel.port("i", name), int(codes[sent]))
        came = bool(ctx.get(kernel.o_valid))
        if came:
            self.mismatches += not self._right(ctx, len(self.present))
            self.present.append(cycle)
        taken = sent < count and bool(ctx.get(kernel.i_ready))
        if taken:
            self.accept.append(cycle)
        return came or taken

    def _right(self, ctx, number: int) -> bool:
        if number >= len(self.accept):
            return False
        tag = number % (1 << self.kernel.tag_width)
        return ctx.get(self.kernel.o_tag) == tag and all(
            ctx.get(self.kernel.port("o", name)) == int(codes[number])
            for name, codes in self.outputs.items()
        )

    def result(self, vectors: int) -> BenchResult:
        received = min(len(self.present), len(self.accept))
        accept, present = np.array(self.accept), np.array(self.present)
        latency, gaps = present[:received] - accept[:received], np.diff(accept)
        return BenchResult(
            vectors=vectors,
            received=len(self.present),
            mismatches=self.mismatches,
            cycles=self.present[-1] + 1 if self.present else 0,
            latency_min=int(latency.min()) if received else 0,
            latency_max=int(latency.max(initial=0)),
            latency_sum=int(latency.sum()),
            ii_min=int(gaps.min()) if gaps.size else 0,
            ii_max=int(gaps.max(initial=0)),
            ii_sum=int(gaps.sum()),
            resets=0,
            timeout=int(self.timeout),
        )
