"""Both ends of a kernel's AXI shell in cocotb: cocotbext-axi's sources and sinks, with stalls.

The channels of AXI4-Lite are driven one by one, so that addresses and data come in any order.
"""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.axi.axil_channels import (
    AxiLiteARBus,
    AxiLiteARSource,
    AxiLiteAWBus,
    AxiLiteAWSource,
    AxiLiteBBus,
    AxiLiteBSink,
    AxiLiteRBus,
    AxiLiteRSink,
    AxiLiteWBus,
    AxiLiteWSource,
)

from hdl.packing import Packing
from solver_ref.fixed import Format

LITE = {
    "aw": (AxiLiteAWBus, AxiLiteAWSource),
    "w": (AxiLiteWBus, AxiLiteWSource),
    "b": (AxiLiteBBus, AxiLiteBSink),
    "ar": (AxiLiteARBus, AxiLiteARSource),
    "r": (AxiLiteRBus, AxiLiteRSink),
}
PERIOD_NS = 10
STANDING = {
    "s_axis_t": ("valid", "ready", "data", "keep", "last"),
    "m_axis_t": ("valid", "ready", "data", "keep", "last"),
    "s_axi_b": ("valid", "ready", "resp"),
    "s_axi_r": ("valid", "ready", "resp", "data"),
}
"""Streams whose payload has to stand until it is taken."""


@dataclass(frozen=True)
class Setup:
    """What the file named by `KINEGATE_BENCH` says of the design."""

    inputs: Packing
    outputs: Packing
    rows: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    addresses: dict[str, int]
    access: dict[str, str]
    resets: dict[str, int]
    accesses: int

    @classmethod
    def read(cls) -> Setup:
        setup = json.loads(Path(os.environ["KINEGATE_BENCH"]).read_text())
        sides = [
            Packing({n: Format.parse(text) for n, text in setup[side].items()}, setup["beat_bits"])
            for side in ("inputs", "outputs")
        ]
        columns = [
            {name: np.array(codes, dtype=object) for name, codes in setup[side].items()}
            for side in ("rows", "expected")
        ]
        return cls(
            *sides,
            *columns,
            setup["addresses"],
            setup["access"],
            setup["resets"],
            setup["accesses"],
        )


class AxiBench:
    """A design behind its bus objects, from a reset on; `chance` draws everything random."""

    def __init__(self, dut, seed: int = 1) -> None:
        self.dut, self.setup, self.chance = dut, Setup.read(), random.Random(seed)

    @classmethod
    async def start(cls, dut, seed: int = 1) -> AxiBench:
        """The clock runs and the reset is over; bus objects stand at every interface."""
        bench = cls(dut, seed)
        for name in ("aclk", "aresetn", "m_axis_tready", "s_axi_bready", "s_axi_rready"):
            getattr(dut, name).value = 0
        for prefix, names in (
            ("s_axis_t", ("data", "keep", "last", "valid")),
            ("s_axi_aw", ("addr", "prot", "valid")),
            ("s_axi_w", ("data", "strb", "valid")),
            ("s_axi_ar", ("addr", "prot", "valid")),
        ):
            for name in names:
                getattr(dut, prefix + name).value = 0
        await Timer(1, "ns")
        cocotb.start_soon(Clock(dut.aclk, PERIOD_NS, "ns").start(start_high=False))
        await bench.edges(3)
        await FallingEdge(dut.aclk)
        dut.aresetn.value = 1
        clock = dut.aclk
        bench.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), clock)
        bench.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), clock)
        bench.lite = {
            name: kind(bus.from_prefix(dut, "s_axi"), clock) for name, (bus, kind) in LITE.items()
        }
        for channel in bench.channels:
            channel.log.setLevel(logging.WARNING)  # each packet would be a line
        bench._begin_watching()
        return bench

    def _begin_watching(self) -> None:
        self.watches = [
            cocotb.start_soon(self._watch(prefix, names)) for prefix, names in STANDING.items()
        ]

    async def reset(self, cycles: int = 3) -> None:
        """Reset the design in whatever it does, and forget what was sent and received."""
        for watch in self.watches:
            watch.cancel()
        await FallingEdge(self.dut.aclk)
        self.dut.aresetn.value = 0
        for channel in self.channels:
            channel.assert_reset(True)
            channel.clear()
        for _ in range(cycles):
            await FallingEdge(self.dut.aclk)
            for name in ("m_axis_tvalid", "s_axi_bvalid", "s_axi_rvalid"):
                assert getattr(self.dut, name).value == 0, f"{name} in a reset"
        self.dut.aresetn.value = 1
        for channel in self.channels:
            channel.assert_reset(False)
        self._begin_watching()

    @property
    def channels(self) -> list:
        """All bus objects."""
        return [self.source, self.sink, *self.lite.values()]

    async def edges(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.aclk)

    def stall(self, share: float | None) -> None:
        """Stalls of every channel, each by itself and as often as `share`; None draws shares."""
        for channel in self.channels:
            often = self.chance.choice((0.1, 0.5, 0.9)) if share is None else share
            channel.set_pause_generator(self._stalls(often, self.chance.getrandbits(32)))

    @staticmethod
    def _stalls(share: float, seed: int) -> Iterator[bool]:
        chance = random.Random(seed)
        while True:
            yield chance.random() < share

    async def _watch(self, prefix: str, names: tuple[str, ...]) -> None:
        """What is offered stands until it is taken."""
        signals = [getattr(self.dut, prefix + name) for name in names]
        held = None
        while True:
            await RisingEdge(self.dut.aclk)
            valid, ready, *payload = (signal.value for signal in signals)
            assert held is None or valid == 1, f"{prefix}valid was withdrawn"
            seen = [str(value) for value in payload] if valid == 1 else None
            assert held is None or seen == held, f"{prefix}* changed before it was taken"
            held = seen if ready != 1 else None

    async def write(self, address: int, word: int, strobes: int = 15) -> int:
        """Write a word; returns the response."""
        await self.write_begin(address, word, strobes)
        return int((await self.lite["b"].recv()).bresp)

    async def write_begin(self, address: int, word: int, strobes: int = 15) -> None:
        """Hand the address and the data to their channels, which send them when they like."""
        kinds = {name: self.lite[name]._transaction_obj for name in ("aw", "w")}
        await self.lite["aw"].send(kinds["aw"](awaddr=address, awprot=self.chance.getrandbits(3)))
        await self.lite["w"].send(kinds["w"](wdata=word, wstrb=strobes))

    async def read(self, address: int) -> tuple[int, int]:
        """The word and the response."""
        await self.lite["ar"].send(self.lite["ar"]._transaction_obj(araddr=address))
        answer = await self.lite["r"].recv()
        return int(answer.rdata), int(answer.rresp)

    async def get(self, register: str) -> int:
        """The word of a register `block.name`."""
        word, response = await self.read(self.setup.addresses[register])
        assert response == 0, f"{register} answered with {response}"
        return word

    async def put(self, register: str, word: int) -> None:
        response = await self.write(self.setup.addresses[register], word)
        assert response == 0, f"{register} answered with {response}"

    def packets(self) -> list[bytes]:
        """One packet a row."""
        return [row.tobytes() for row in self.setup.inputs.pack(self.setup.rows).astype("<u4")]

    async def send(self, packet: bytes, keep: list[int] | None = None) -> None:
        await self.source.send(AxiStreamFrame(packet, tkeep=keep))

    async def receive(self, count: int = 1) -> list[tuple[int, ...]]:
        """So many results from the stream, each the whole of a packet."""
        width = 4 * self.setup.outputs.beats * self.setup.outputs.words_per_beat
        results = []
        for _ in range(count):
            frame = await self.sink.recv()
            assert len(frame.tdata) == width, f"a packet of {len(frame.tdata)} bytes"
            results += self.unpacked(bytes(frame.tdata))
        return results

    def unpacked(self, packet: bytes) -> list[tuple[int, ...]]:
        """The results in a packet."""
        width = self.setup.outputs.beats * self.setup.outputs.words_per_beat
        words = np.frombuffer(packet, "<u4").reshape(-1, width)
        return list(zip(*self.setup.outputs.unpack(words).values(), strict=True))

    def right(self, rows: list[int] | range) -> list[tuple[int, ...]]:
        """The results of rows."""
        columns = [self.setup.expected[name] for name in self.setup.outputs.fields]
        return [tuple(int(column[row]) for column in columns) for row in rows]

    async def solve(self, row: int) -> tuple[int, ...]:
        """The result of a row through the registers."""
        inputs = self.setup.inputs
        words = inputs.pack({name: codes[row : row + 1] for name, codes in self.setup.rows.items()})
        for word, value in zip(inputs.words, words[0], strict=False):
            await self.put(f"inputs.{word.name}", int(value))
        await self.put("control.command", 1)
        while await self.get("control.state") & 1:
            pass
        outputs = self.setup.outputs
        padding = outputs.beats * outputs.words_per_beat - len(outputs.words)
        found = [await self.get(f"outputs.{word.name}") for word in outputs.words]
        packed = np.array([found + [0] * padding], np.uint32)
        return tuple(int(column[0]) for column in outputs.unpack(packed).values())
