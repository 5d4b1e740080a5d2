"""Driver of a kinegate kernel behind its AXI registers, for PYNQ or any Linux; needs NumPy only.

    solver = Solver.from_overlay(Overlay("design.bit"), "kinegate_0")   # PYNQ
    solver = Solver.from_file("/dev/uio0")                              # plain mmap
    pose, status, latency = solver.solve([6.71, 6.75, 6.80, 6.69])

The design, with the addresses of its registers, is in `design.json` beside this file. Values are in
metres, radians, newtons and seconds.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

IDENTITY = 0x4B474158
MAJOR, MINOR = 1, 0
PAGE = 4096
PATIENCE = 100_000  # reads of the state before something counts as stuck


class DriverError(RuntimeError):
    """The hardware is not what the driver was made for, or refused what it was asked."""


class Stuck(DriverError):
    """The hardware did not come to its end in time."""


class Solution(NamedTuple):
    """What a solve gives, for one row or for an array of rows.

    `pose`: shape (coordinates,) or (N, coordinates), empty for kernels without one; `status`: the
    status word; `latency`: clock cycles; `values`: every output by name.
    """

    pose: np.ndarray
    status: np.ndarray
    latency: np.ndarray
    values: dict[str, np.ndarray]

    def __iter__(self):
        return iter((self.pose, self.status, self.latency))


class MappedRegisters:
    """Registers in a file that maps them, such as `/dev/uio0`; reads and writes whole words."""

    def __init__(self, path: str, offset: int = 0) -> None:
        file = os.open(path, os.O_RDWR | os.O_SYNC)
        try:
            self._memory = mmap.mmap(file, PAGE, offset=offset)
        finally:
            os.close(file)
        self._words = memoryview(self._memory).cast("I")

    def read(self, offset: int) -> int:
        return self._words[offset // 4]

    def write(self, offset: int, word: int) -> None:
        self._words[offset // 4] = word


class Solver:
    """One kernel.

    `registers` has `read(offset)` and `write(offset, word)`, as PYNQ's `MMIO` has; `design` is the
    description (default: `design.json` beside this file); `geometry` the digest of the geometry
    that the hardware should have (default: that of its robot; None takes any).

    Raises `DriverError` where the hardware is another one.
    """

    def __init__(
        self,
        registers,
        design: Mapping | None = None,
        *,
        geometry: int | str | None = "its own",
        patience: int = PATIENCE,
    ) -> None:
        if design is None:
            design = json.loads(Path(__file__).with_name("design.json").read_text())
        self.registers, self.design, self.patience = registers, design, patience
        self._check(design["geometry"] if geometry == "its own" else geometry)

    @classmethod
    def from_overlay(cls, overlay, name: str, **options) -> Solver:
        """The kernel that a PYNQ overlay has under a name."""
        return cls(getattr(overlay, name).mmio, **options)

    @classmethod
    def from_file(cls, path: str, offset: int = 0, **options) -> Solver:
        """The kernel whose registers a file maps: `/dev/uio0`, or `/dev/mem` at an offset."""
        return cls(MappedRegisters(path, offset), **options)

    def _check(self, geometry: int | None) -> None:
        if self.get("control.identity") != IDENTITY:
            raise DriverError("no kinegate kernel at this address")
        version = self.get("control.version")
        if version >> 16 != MAJOR or version & 0xFFFF < MINOR:
            raise DriverError(f"the register block has version {version >> 16}.{version & 0xFFFF}")
        for name, what in (("map", "registers"), ("design", "design")):
            seen = self.get(f"control.{name}")
            if seen != self.design[name]:
                raise DriverError(f"the hardware has another {what}: digest {seen:08x}")
        if geometry is None:
            return
        self._await("agrees", True)  # after a reset the checksum takes a while
        if self.geometry != geometry:
            raise DriverError(f"the hardware has another geometry: digest {self.geometry:08x}")

    def get(self, register: str) -> int:
        """The word of a register, named as in the register map: `block.name`."""
        return self.registers.read(self.design["registers"][register]) & 0xFFFFFFFF

    def put(self, register: str, word: int) -> None:
        self.registers.write(self.design["registers"][register], int(word))

    def _bit(self, register: str, name: str) -> int:
        return 1 << self.design["bits"][register].index(name)

    def _await(self, bit: str, wanted: bool) -> None:
        mask = self._bit("state", bit)
        for _ in range(self.patience):
            if bool(self.get("control.state") & mask) == wanted:
                return
        raise Stuck(f"the state did not {'become' if wanted else 'cease to be'} {bit}")

    def solve(self, lengths: Sequence | np.ndarray | None = None, **values) -> Solution:
        """Solve through the registers, one row or many.

        `lengths`: shape (n,) or (N, n), the inputs L1 ... Ln; other inputs by name, a number or
        one for each row; those that are left out have their defaults. ValueError for a value that
        its input cannot carry or a missing input, `Stuck` where the hardware does not answer.
        """
        codes, single = self._codes(lengths, values)
        rows = [self._solve(row) for row in zip(*codes.values(), strict=True)]
        latency = np.array([row.pop() for row in rows])
        columns = dict(zip(self._names("outputs"), zip(*rows, strict=True), strict=True))
        return self._solution({n: np.array(c) for n, c in columns.items()}, latency, single)

    def _solve(self, codes: Iterable[int]) -> list[int]:
        for field, code in zip(self.design["inputs"], codes, strict=True):
            for number, word in enumerate(field["words"]):
                self.put(f"inputs.{word}", (int(code) >> (32 * number)) & 0xFFFFFFFF)
        if self.get("control.state") & self._bit("state", "solving"):
            raise DriverError("a solve is under way")
        self.put("control.command", self._bit("command", "solve"))
        self._await("solving", False)
        found = []
        for field in self.design["outputs"]:
            words = [self.get(f"outputs.{word}") for word in field["words"]]
            found.append(_code(field, words))
        return [*found, self.get("watch.solve_latency")]

    def _codes(self, lengths, values: dict) -> tuple[dict[str, np.ndarray], bool]:
        """Columns of codes for every input, and whether they are of one row that is no array."""
        known = set(self._names("inputs"))
        if lengths is not None:
            table = np.asarray(lengths, float)
            names = [f"L{number + 1}" for number in range(table.shape[-1])]
            values = dict(zip(names, np.moveaxis(table, -1, 0), strict=True)) | values
        if unknown := set(values) - known:
            raise ValueError(f"no input is called {', '.join(sorted(unknown))}")
        codes = {field["name"]: _encode(field, values) for field in self.design["inputs"]}
        single = all(np.ndim(value) == 0 for value in values.values())
        columns = np.broadcast_arrays(*(np.atleast_1d(column) for column in codes.values()))
        return dict(zip(codes, columns, strict=True)), single

    def _names(self, side: str) -> list[str]:
        return [field["name"] for field in self.design[side]]

    def _solution(self, codes: dict, latency: np.ndarray, single: bool) -> Solution:
        values = {
            field["name"]: codes[field["name"]]
            if field["name"] in self.design["integers"]
            else np.ldexp(codes[field["name"]].astype(float), -field["fraction"])
            for field in self.design["outputs"]
        }
        pose = [values[name] for name in self.design["pose"]]
        pose = np.stack(pose, axis=-1) if pose else np.zeros((len(latency), 0))
        status = values.get("status", np.zeros(len(latency), int))
        if single:
            values = {name: value[0] for name, value in values.items()}
            return Solution(pose[0], status[0], latency[0], values)
        return Solution(pose, status, latency, values)

    def status_names(self, status: int) -> str:
        """The names of a status word's bits, joined by bars."""
        names = [name for name, bit in self.design["status_bits"].items() if status >> bit & 1]
        return "|".join(names) or "NONE"

    def pack(self, lengths=None, **values) -> np.ndarray:
        """Words of transfers for the stream, uint32 of shape (N, words), for a DMA buffer."""
        codes, _ = self._codes(lengths, values)
        rows = len(next(iter(codes.values())))
        packed = np.zeros((rows, self._transfer_words("inputs")), np.uint32)
        at = 0
        for field in self.design["inputs"]:
            for number in range(len(field["words"])):
                packed[:, at] = (codes[field["name"]] >> (32 * number)) & 0xFFFFFFFF
                at += 1
        return packed

    def unpack(self, words: np.ndarray) -> Solution:
        """The results in words of the stream, any shape; their latency is not known here (0)."""
        table = np.asarray(words, np.uint32).reshape(-1, self._transfer_words("outputs"))
        codes, at = {}, 0
        for field in self.design["outputs"]:
            columns = [table[:, at + number] for number in range(len(field["words"]))]
            codes[field["name"]] = np.array(
                [_code(field, [int(w) for w in row]) for row in zip(*columns, strict=True)]
            )
            at += len(field["words"])
        return self._solution(codes, np.zeros(len(table), int), False)

    def _transfer_words(self, side: str) -> int:
        words, beat = sum(len(f["words"]) for f in self.design[side]), self.design["beat_words"]
        return -(-words // beat) * beat

    def stream(self, dma, allocate, lengths=None, **values) -> Solution:
        """Solve rows through a PYNQ `DMA`, as one packet; `allocate` is PYNQ's."""
        packed = self.pack(lengths, **values)
        sent = allocate(shape=packed.shape, dtype=np.uint32)
        taken = allocate(shape=(len(packed), self._transfer_words("outputs")), dtype=np.uint32)
        sent[:] = packed
        with self.mode("batch"):
            dma.recvchannel.transfer(taken)
            dma.sendchannel.transfer(sent)
            dma.sendchannel.wait()
            dma.recvchannel.wait()
        return self.unpack(taken)

    @contextmanager
    def mode(self, *names: str):
        """Modes that hold inside a `with`: `pause`, `batch`, `settings`."""
        before, mask = self.get("control.mode"), 0
        for name in names:
            mask |= self._bit("mode", name)
        self.put("control.mode", before | mask)
        try:
            yield
        finally:
            self.put("control.mode", before)

    def settings(self, **values: float) -> None:
        """Write inputs without solving: what the mode `settings` gives transfers of the stream."""
        for field in self.design["inputs"]:
            if field["name"] in values:
                code = int(_encode(field, values))
                for number, word in enumerate(field["words"]):
                    self.put(f"inputs.{word}", (code >> (32 * number)) & 0xFFFFFFFF)

    def observe(self) -> dict[str, int | float | None]:
        """What the hardware saw since its counters were cleared; residuals in metres."""
        seen = {
            name.removeprefix("watch."): self.get(name)
            for name in self.design["registers"]
            if name.startswith("watch.") and "cycles_" not in name
        }
        for name in ("residual_last", "residual_max"):
            seen[name] = float(np.ldexp(float(seen[name]), -self.design["residual_fraction"]))
        if seen["latency_min"] == 0xFFFFFFFF:
            seen["latency_min"] = None
        return seen | {"cycles": self.cycles}

    @property
    def cycles(self) -> int:
        """Clock cycles since the reset."""
        while True:
            high, low = self.get("watch.cycles_high"), self.get("watch.cycles_low")
            if high == self.get("watch.cycles_high"):
                return high << 32 | low

    def clear(self) -> None:
        """Clear the counters of `observe`."""
        self.put("control.command", self._bit("command", "clear"))

    def limits(self, *, latency: int | None = None, residual: float | None = None) -> None:
        """From which latency (cycles) and residual (m) on a result is an event."""
        if latency is not None:
            self.put("control.latency_limit", latency)
        if residual is not None:
            code = round(residual * 2.0 ** self.design["residual_fraction"])
            self.put("control.residual_limit", min(code, 0xFFFFFFFF))

    def events(self, *, clear: bool = True) -> set[str]:
        """The names of what has happened; with `clear`, not to be told again."""
        word = self.get("control.event")
        if clear:
            self.put("control.event", word)
        return {name for bit, name in enumerate(self.design["bits"]["event"]) if word >> bit & 1}

    def interrupt_on(self, *events: str) -> None:
        """Let these events, and no others, drive the interrupt."""
        self.put("control.interrupt", sum(self._bit("event", name) for name in events))

    @property
    def geometry(self) -> int:
        """The digest of the geometry that the hardware has."""
        return self.get("control.geometry")

    def load_geometry(self, words: Sequence[int]) -> None:
        """Load what `kinegate.geometry_words` gives, while no transfer is inside. On an error the
        kernel stays paused, so that nothing is solved with half a geometry."""
        if not self.design["geometry_words"] or len(words) != self.design["geometry_words"] + 1:
            raise DriverError(f"the hardware does not load {len(words)} words of geometry")
        before = self.get("control.mode")
        self.put("control.mode", before | self._bit("mode", "pause"))
        self._await("paused", True)
        fault = self._bit("event", "geometry_fault")
        self.put("control.event", fault)
        for address, word in enumerate(words):
            self.put("control.geometry_address", address)
            self.put("control.geometry_data", word)
            self._await("loading", False)
        if self.get("control.event") & fault:
            raise DriverError("the hardware refused a word of geometry")
        self._await("agrees", True)
        self.put("control.mode", before)


def _code(field: Mapping, words: Sequence[int]) -> int:
    """The code in a field's words, of which the last one extends its sign."""
    kind = ("<i" if field["signed"] else "<I") if len(words) == 1 else "<q"
    return struct.unpack(kind, struct.pack(f"<{len(words)}I", *words))[0]


def _encode(field: Mapping, values: Mapping) -> np.ndarray:
    """Nearest codes, ties to even, of an input's values or its default."""
    name = field["name"]
    if name not in values:
        if field["default"] is None:
            raise ValueError(f"the input {name} is missing")
        return np.array(field["default"])
    codes = np.rint(np.ldexp(np.asarray(values[name], float), field["fraction"]))
    most = 2.0 ** (field["width"] - field["signed"])
    if not np.all((codes < most) & (codes >= (-most if field["signed"] else 0.0))):
        raise ValueError(f"{name} has a value that its {field['width']} bits cannot carry")
    return codes.astype(np.int64)
