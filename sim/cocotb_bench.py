"""A cocotb bench for any generated kernel: back-to-back, isolated, stalled and reset transfers.

Four small parts: a `Driver` offers inputs, a `Monitor` on either side sees transfers, a `Model`
knows the right outputs, a `Checker` compares. `sim.cocotb_run` builds a design and runs this file
in a simulator; the design's ports and vectors come from the JSON file named by `KINEGATE_BENCH`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic, LogicArray

from hdl.testbench import read_hex
from solver_ref.fixed import Format

QUIET_CYCLES = 300  # watched after the last output for one too many
PATIENCE = 100_000  # cycles without any transfer that are a failure


@dataclass(frozen=True)
class Transfer:
    """One transfer: the codes of the side's fields, its tag, and the clock edge that moved it."""

    codes: tuple[int, ...]
    tag: int
    cycle: int


class Driver:
    """Offers inputs; `stall` is the chance of a cycle without an offer. An offer stands until it is
    taken; without one the fields hold nonsense."""

    def __init__(self, dut, fields: dict[str, Format], tag_width: int, stall: float, seed: int):
        self.dut, self.fields, self.tag_width, self.stall = dut, fields, tag_width, stall
        self._random = random.Random(seed)

    async def send(self, vectors: Iterable[tuple[int, ...]]) -> None:
        for number, codes in enumerate(vectors):
            while self._random.random() < self.stall:
                self.idle()
                await RisingEdge(self.dut.clk)
            self._put(codes, number % (1 << self.tag_width))
            self.dut.i_valid.value = 1
            await RisingEdge(self.dut.clk)
            while self.dut.i_ready.value != 1:
                await RisingEdge(self.dut.clk)
        self.idle()

    def idle(self) -> None:
        self.dut.i_valid.value = 0
        nonsense = tuple(self._random.randint(f.lo, f.hi) for f in self.fields.values())
        self._put(nonsense, self._random.getrandbits(self.tag_width))

    def _put(self, codes: tuple[int, ...], tag: int) -> None:
        self.dut.i_tag.value = tag
        for (name, form), code in zip(self.fields.items(), codes, strict=True):
            getattr(self.dut, f"i_{name}").value = code & ((1 << form.width) - 1)


class Monitor:
    """Sees every transfer of the side `i` or `o`, and that what is offered stands until then."""

    def __init__(self, dut, side: str, fields: dict[str, Format]):
        self.dut, self.fields, self.side = dut, fields, side
        self.transfers: list[Transfer] = []
        self.offered: list[int] = []  # the cycle in which each transfer was first offered

    async def watch(self) -> None:
        held = None
        for cycle in itertools.count():
            await RisingEdge(self.dut.clk)
            valid, ready = self._bit("valid"), self._bit("ready")
            assert valid or held is None, f"{self.side}: an offer was withdrawn"
            if not valid:
                continue
            tag = self.dut[f"{self.side}_tag"].value
            seen = self._codes(), _code(tag, Format(False, len(tag), 0))
            assert held in (None, seen), f"{self.side}: an offer changed before it was taken"
            if held is None:
                self.offered.append(cycle)
            held = seen
            if ready:
                self.transfers.append(Transfer(*seen, cycle))
                held = None

    def _bit(self, name: str) -> bool:
        value = self.dut[f"{self.side}_{name}"].value
        assert value in (0, 1), f"{self.side}_{name} is {value}"
        return value == 1

    def _codes(self) -> tuple[int, ...]:
        return tuple(
            _code(self.dut[f"{self.side}_{name}"].value, form) for name, form in self.fields.items()
        )


def _code(value: Logic | LogicArray, form: Format) -> int:
    word = value.to_unsigned() if isinstance(value, LogicArray) else int(value)
    return word - (1 << form.width) if form.signed and word >> (form.width - 1) else word


class Model:
    """The right outputs by input, from the bit-true model's vectors."""

    def __init__(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]):
        self.inputs = inputs
        self._outputs = dict(zip(inputs, outputs, strict=True))

    def __call__(self, codes: tuple[int, ...]) -> tuple[int, ...]:
        return self._outputs[codes]


class Checker:
    """Compares what came out with the model of what went in, transfer by transfer."""

    def __init__(self, model: Model, names: Iterable[str]):
        self.model, self.names = model, tuple(names)

    def check(self, inputs: list[Transfer], outputs: list[Transfer]) -> None:
        assert len(outputs) == len(inputs), f"{len(inputs)} inputs, {len(outputs)} outputs"
        for number, (given, got) in enumerate(zip(inputs, outputs, strict=True)):
            assert got.tag == given.tag, f"transfer {number}: tag {got.tag}, not {given.tag}"
            right = self.model(given.codes)
            wrong = [
                f"{name} {code}, not {wanted}"
                for name, code, wanted in zip(self.names, got.codes, right, strict=True)
                if code != wanted
            ]
            assert not wrong, f"transfer {number} of {given.codes}: {'; '.join(wrong)}"


@dataclass
class Bench:
    """The parts around one design, from a reset on."""

    dut: object
    inputs: dict[str, Format]
    outputs: dict[str, Format]
    tag_width: int
    model: Model
    latency: int | None  # None where it depends on the data
    ii: int | None
    seen: dict[str, Monitor] = field(default_factory=dict)
    tasks: list = field(default_factory=list)

    @classmethod
    async def start(cls, dut) -> Bench:
        """The design with its clock running; `reset` has still to be called."""
        setup = json.loads(Path(os.environ["KINEGATE_BENCH"]).read_text())
        sides = [
            {name: Format.parse(text) for name, text in setup[side].items()}
            for side in ("inputs", "outputs")
        ]
        columns = [
            read_hex(Path(setup[file]), fields)
            for file, fields in zip(("in", "expected"), sides, strict=True)
        ]
        rows = [list(zip(*(c.tolist() for c in side.values()), strict=True)) for side in columns]
        fixed = setup["tag_width"], Model(*rows), setup["latency"], setup["ii"]
        bench = cls(dut, *sides, *fixed)
        loading = ["geometry_valid"] * hasattr(dut, "geometry_valid")
        for port in ("clk", "rst", "i_valid", "o_ready", *loading):
            getattr(dut, port).value = 0
        await Timer(1, "ns")
        cocotb.start_soon(Clock(dut.clk, 10, "ns").start(start_high=False))
        return bench

    async def reset(self, cycles: int = 1) -> None:
        """Reset the design for so many clock edges and forget what was seen."""
        for task in self.tasks:
            task.cancel()
        self.dut.rst.value = 1
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)
        for port in ("rst", "i_valid", "o_ready"):
            getattr(self.dut, port).value = 0
        self.seen = {
            side: Monitor(self.dut, side, fields)
            for side, fields in (("i", self.inputs), ("o", self.outputs))
        }
        self.tasks = [cocotb.start_soon(monitor.watch()) for monitor in self.seen.values()]

    def begin(self, vectors, *, stall_in=0.0, stall_out=0.0, seed=1) -> None:
        """Start to send and to take."""
        driver = Driver(self.dut, self.inputs, self.tag_width, stall_in, seed)
        for work in (self._take(stall_out, seed), driver.send(vectors)):
            self.tasks.append(cocotb.start_soon(work))

    async def _take(self, stall: float, seed: int) -> None:
        chance = random.Random(-seed)
        while True:
            self.dut.o_ready.value = chance.random() >= stall
            await RisingEdge(self.dut.clk)

    async def finish(self, count: int) -> None:
        """Wait for `count` outputs, watch for more, and check them all."""
        seen, quiet = self.seen, 0
        before = 0
        while quiet < (PATIENCE if before < 2 * count else QUIET_CYCLES):
            await RisingEdge(self.dut.clk)
            now = len(seen["i"].transfers) + len(seen["o"].transfers)
            quiet, before = (0, now) if now != before else (quiet + 1, now)
        assert len(seen["o"].transfers) == count, f"{len(seen['o'].transfers)} of {count} outputs"
        Checker(self.model, self.outputs).check(seen["i"].transfers, seen["o"].transfers)

    async def run(self, vectors, **stalls) -> None:
        """Reset, send all, check all."""
        await self.reset()
        self.begin(vectors, **stalls)
        await self.finish(len(vectors))

    @property
    def latencies(self) -> set[int]:
        """Clock edges from accepting an input to presenting its output."""
        given, presented = self.seen["i"].transfers, self.seen["o"].offered
        return {p - g.cycle for g, p in zip(given, presented, strict=True)}


@cocotb.test()
async def back_to_back_transfers(dut):
    bench = await Bench.start(dut)
    await bench.run(bench.model.inputs)
    assert bench.latency is None or bench.latencies == {bench.latency}, bench.latencies
    cycles = [transfer.cycle for transfer in bench.seen["i"].transfers]
    gaps = {later - earlier for earlier, later in itertools.pairwise(cycles)}
    assert bench.ii is None or gaps == {bench.ii}, gaps


@cocotb.test()
async def isolated_transfers(dut):
    bench = await Bench.start(dut)
    await bench.reset()
    for number, codes in enumerate(bench.model.inputs):
        bench.begin([codes])
        while len(bench.seen["o"].transfers) <= number:
            await RisingEdge(dut.clk)
        for task in bench.tasks[2:]:
            task.cancel()
    await bench.finish(len(bench.model.inputs))
    assert bench.latency is None or bench.latencies == {bench.latency}, bench.latencies


@cocotb.test()
async def random_stalls_on_both_ends(dut):
    bench = await Bench.start(dut)
    for seed, (stall_in, stall_out) in enumerate([(0, 0.9), (0.9, 0), (0.5, 0.5), (0.1, 0.7)]):
        await bench.run(bench.model.inputs, stall_in=stall_in, stall_out=stall_out, seed=seed)


@cocotb.test()
async def resets_in_mid_flight(dut):
    bench = await Bench.start(dut)
    chance = random.Random(1)
    for seed in range(6):
        await bench.reset()
        bench.begin(bench.model.inputs, stall_out=chance.choice([0, 0.8]), seed=seed)
        for _ in range(chance.randint(1, 4 * len(bench.model.inputs))):
            await RisingEdge(dut.clk)
        await bench.run(bench.model.inputs, stall_out=chance.choice([0, 0.8]), seed=seed)
