"""Runs a stream kernel in the Amaranth simulator with random stalls and resets."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator


@dataclass
class Record:
    """What the bench saw since the last reset; cycles are counted from the first one."""

    accept: list[int] = field(default_factory=list)
    present: list[int] = field(default_factory=list)
    outputs: list[dict[str, int]] = field(default_factory=list)


@dataclass
class Bench:
    """`stall_in` and `stall_out` are chances, `reset_at` a cycle; `isolated` waits for each output
    before it offers the next input. After the last output it goes on for `after` cycles. `beside`
    is another testbench, called with the context and the record."""

    kernel: object
    stall_in: float = 0.0
    stall_out: float = 0.0
    isolated: bool = False
    reset_at: int | None = None
    seed: int = 1
    after: int = 40
    limit: int = 100_000
    beside: Callable | None = None

    def run(self, inputs: dict[str, list[int]]) -> Record:
        """Gives every input once (from the first one again after the reset); `outputs` have a
        `tag`, which is the input's position modulo 2**tag_width."""
        self._random = random.Random(self.seed)
        self._reset = Signal()
        self._inputs = inputs
        self._count = len(next(iter(inputs.values())))
        simulator = Simulator(ResetInserter(self._reset)(self.kernel))
        simulator.add_clock(1e-6)
        simulator.add_testbench(self._process)
        self._record = Record()
        if self.beside:
            simulator.add_testbench(self._beside, background=True)
        simulator.run()
        return self._record

    async def _beside(self, ctx) -> None:
        await self.beside(ctx, self._record)

    async def _process(self, ctx) -> None:
        offering = False
        quiet = 0
        for cycle in range(self.limit):
            record = self._record
            sent, got = len(record.accept), len(record.outputs)
            resetting = cycle == self.reset_at
            ctx.set(self._reset, resetting)
            wanted = sent < self._count and not (self.isolated and sent > got)
            offering = wanted and (offering or self._random.random() >= self.stall_in)
            self._offer(ctx, offering, sent)
            ctx.set(self.kernel.o_ready, self._random.random() >= self.stall_out)
            if resetting:
                self._record, offering = Record(), False
            else:
                offering = self._watch(ctx, cycle, offering)
            quiet = quiet + 1 if len(self._record.outputs) >= self._count else 0
            if quiet > self.after:
                return
            await ctx.tick()
        raise AssertionError(f"only {len(self._record.outputs)} of {self._count} outputs came")

    def _offer(self, ctx, offering: bool, number: int) -> None:
        ctx.set(self.kernel.i_valid, offering)
        ctx.set(self.kernel.i_tag, number % (1 << self.kernel.tag_width) if offering else 0)
        for name, codes in self._inputs.items():
            garbage = self._random.getrandbits(3)
            ctx.set(self.kernel.port("i", name), codes[number] if offering else garbage)

    def _watch(self, ctx, cycle: int, offering: bool) -> bool:
        """Notes this cycle's transfers; says whether the offer stands for the next cycle."""
        record, kernel = self._record, self.kernel
        if ctx.get(kernel.o_valid):
            names = (*kernel.outputs, "tag")
            output = {name: ctx.get(kernel.port("o", name)) for name in names}
            if len(record.present) == len(record.outputs):
                record.present.append(cycle)
                self._held = output
            assert output == self._held, "an output changed before it was taken"
            if ctx.get(kernel.o_ready):
                record.outputs.append(output)
        else:
            assert len(record.present) == len(record.outputs), "an output was withdrawn"
        if offering and ctx.get(kernel.i_ready):
            record.accept.append(cycle)
            return False
        return offering
