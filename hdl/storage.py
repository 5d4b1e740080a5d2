"""Keeps every value until its last reader: registers, shift registers or rotating memories."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from hdl.lifetimes import DIRECT, Line
from hdl.phases import Phases

SHORTEST_MEMORY = 5
"""Stages from which on a memory with its pointer is smaller than registers."""
MEMORY_DEPTH = 16
"""Words of a distributed RAM."""
POINTER_LOAD = 40
"""What one copy of a pointer may lead to: RAMs and write enables, by the bits that they keep."""


class Storage:
    """The stages of all values of a pipeline.

    *Parameters*: the module to write into; its phases; the target's kind of delay line: `srl`
    (shift registers become LUTs there) or `dram` (deep lines become memories with a rotating
    pointer, and an output register).
    """

    def __init__(self, m: Module, phases: Phases, delay_line: str) -> None:
        if delay_line not in ("srl", "dram"):
            raise ValueError(f"a delay line is srl or dram, not {delay_line!r}")
        self._m, self._phases = m, phases
        self._memories = delay_line == "dram"
        self._stages: dict[tuple[int, int], tuple[Value, int]] = {}
        self._lines: dict[int, Line] = {}
        self._pointers: dict[tuple[int, int], tuple[Signal, int]] = {}

    def keep(self, node: int, name: str, line: Line, result: Value) -> None:
        """Store a node's result; for a passing one `result` is the unit's registered output."""
        self._lines[node] = line
        if DIRECT in line.kept:
            self._stages[node, DIRECT] = result, 0
        taps = [at for at in line.kept if at != DIRECT]
        if not taps:
            return
        low, high = line.kept[taps[0]]
        value, last = Signal(high - low, name=name, reset_less=True), 0
        phase = line.phase if line.lasting is None else None
        self._phases.keep(value, result[low:high], phase)
        self._stages[node, 0] = value, low
        for tap in taps:
            if tap == 0:
                continue
            first, high = line.kept[tap]
            value = self._delayed(value[first - low : high - low], tap - last, name, tap, line)
            low, last = first, tap
            self._stages[node, tap] = value, low

    def read(self, node: int, low: int, high: int, cycle: int) -> Value:
        """Bits [low, high) of a node's result in a cycle."""
        value, offset = self._stages[node, self._lines[node].stage(cycle)]
        return value if high - low == len(value) else value[low - offset : high - offset]

    def _delayed(self, value: Value, stages: int, name: str, tap: int, line: Line) -> Value:
        while self._memories and stages >= SHORTEST_MEMORY:
            part = min(stages, MEMORY_DEPTH + 1)
            stages -= part
            value = self._memory(value, part, f"{name}_{tap - stages}", line.phase)
        if not stages:
            return value
        width = len(value)
        shift = Signal(stages * width, name=f"{name}_{tap}", reset_less=True)
        self._phases.keep(shift, Cat(value, shift)[: len(shift)], line.phase)
        return shift[len(shift) - width :]

    def _memory(self, value: Value, stages: int, name: str, phase: int) -> Value:
        """`stages` - 1 in the memory, one in its output register."""
        depth, width = stages - 1, len(value)
        memory = Memory(shape=width, depth=depth, init=[])
        self._m.submodules[name] = memory
        write, read = memory.write_port(), memory.read_port(domain="comb")
        pointer = self._pointer(depth, phase, width)
        kept = Signal(width, name=f"{name}_out", reset_less=True)
        self._m.d.comb += [
            write.addr.eq(pointer),
            write.data.eq(value),
            write.en.eq(self._phases.enable(phase, width // 4 + 1)),
            read.addr.eq(pointer),
        ]
        self._phases.keep(kept, read.data, phase)
        return kept

    def _pointer(self, depth: int, phase: int, load: int) -> Signal:
        """Counts 0..depth - 1, one step every II cycles; a copy for every so many bits."""
        pointer, used = self._pointers.get((depth, phase), (None, 0))
        if pointer is None or used + load > POINTER_LOAD:
            name = f"pointer_{depth}_{phase}_{len(self._pointers)}"
            pointer, used = Signal(range(depth), name=name, reset_less=True), 0
            following = Mux(pointer == depth - 1, 0, pointer + 1)
            self._phases.keep(pointer, following[: len(pointer)], phase)
        self._pointers[depth, phase] = pointer, used + load
        return pointer
