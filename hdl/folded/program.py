"""The program of the folded core: which instruction starts in which cycle, and where values lie.

One instruction starts in every cycle; those that start `latency` cycles later can read its result.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hdl.folded.cells import Cells
from hdl.folded.instruction import Instruction, execute
from hdl.folded.lowering import lowered
from hdl.folded.selection import select
from solver_ref import graph as g


@dataclass(frozen=True)
class Program:
    """Instructions over memory cells.

    `slots`: what starts in each cycle, None where nothing does; `cells`: how many there are;
    `initial`: codes of the constants by cell; `inputs`, `outputs`: cells by port; `width`: bits of
    a cell; `x_width`: of the widest X; `tables` by number; `latency`: cycles from an instruction's
    start to that of the first one that can read its result.
    """

    slots: tuple[Instruction | None, ...]
    cells: int
    initial: dict[int, int]
    inputs: dict[str, int]
    outputs: dict[str, int]
    width: int
    x_width: int
    tables: tuple[tuple[int, ...], ...]
    latency: int

    @property
    def cycles(self) -> int:
        """From the start of the first instruction until every result was written."""
        return len(self.slots) + self.latency


def compiled(
    graph: g.Graph,
    *,
    factor_bits: int,
    latency: int,
    following: Mapping[str, str] | None = None,
) -> Program:
    """The program of a graph.

    `factor_bits`: of the multiplier's operands; `latency`: as in `Program`; `following`: inputs by
    the outputs that become them in the next pass. ValueError for a graph that it cannot compute.
    """
    rewritten = lowered(graph)
    asked = {output.name: rewritten.positions[output.node] for output in graph.outputs}
    chosen = select(rewritten, tuple(asked.values()), factor_bits=factor_bits)
    outputs = dict(zip(asked, chosen.outputs, strict=True))
    cells = Cells(chosen, tuple(graph.inputs), outputs, following or {})
    starts = _starts(cells, latency)
    at, count = _allocated(cells, starts, latency)
    slots: list[Instruction | None] = [None] * (1 + max(starts.values(), default=0))
    for entry in cells.instructions:
        moved = {
            name: at[value]
            for name in ("result", "a", "b", "c")
            if (value := getattr(entry, name)) is not None
        }
        slots[starts[entry.result]] = replace(entry, **moved)
    formats = (*graph.inputs.values(), *graph.output_formats.values())
    width = max([*chosen.widths.values(), *(1 + form.width for form in formats)])
    return Program(
        slots=tuple(slots),
        cells=count,
        initial=cells.initial,
        inputs=cells.inputs,
        outputs=cells.outputs,
        width=width,
        x_width=chosen.x_width,
        tables=chosen.tables,
        latency=latency,
    )


def _starts(cells: Cells, latency: int) -> dict[int, int]:
    """Start cycles by result: of those that are ready, the one with the longest way to go."""
    makers = {entry.result: entry for entry in cells.instructions}
    waits = {name: {v for v in entry.operands if v in makers} for name, entry in makers.items()}
    height: dict[int, int] = dict.fromkeys(makers, 0)
    for entry in reversed(_ordered(makers, waits)):
        for value in waits[entry.result]:
            height[value] = max(height[value], height[entry.result] + latency)
    readers: dict[int, list[int]] = {name: [] for name in makers}
    for name in makers:
        for value in waits[name] | cells.guards.get(name, set()):
            readers[value].append(name)
    open_count = {name: len(waits[name] | cells.guards.get(name, set())) for name in makers}
    earliest = dict.fromkeys(makers, 0)
    coming = [(0, name) for name, count in open_count.items() if not count]
    ready: list[tuple[int, int]] = []
    starts: dict[int, int] = {}
    cycle = 0
    while coming or ready:
        if not ready:
            cycle = max(cycle, coming[0][0])
        while coming and coming[0][0] <= cycle:
            name = heapq.heappop(coming)[1]
            heapq.heappush(ready, (-height[name], name))
        name = heapq.heappop(ready)[1]
        starts[name] = cycle
        for reader in readers[name]:
            gap = latency if name in waits[reader] else 1
            earliest[reader] = max(earliest[reader], cycle + gap)
            open_count[reader] -= 1
            if not open_count[reader]:
                heapq.heappush(coming, (earliest[reader], reader))
        cycle += 1
    if len(starts) < len(makers):
        raise ValueError("states that replace each other in a circle")
    return starts


def _ordered(makers: Mapping[int, Instruction], waits: Mapping[int, set[int]]) -> list[Instruction]:
    """The instructions, operands first."""
    done: set[int] = set()
    order: list[Instruction] = []

    def visit(name: int) -> None:
        stack = [(name, iter(waits[name]))]
        while stack:
            top, rest = stack[-1]
            follower = next((v for v in rest if v not in done), None)
            if follower is None:
                stack.pop()
                if top not in done:
                    done.add(top)
                    order.append(makers[top])
            else:
                stack.append((follower, iter(waits[follower])))

    for name in makers:
        if name not in done:
            visit(name)
    return order


def _allocated(cells: Cells, starts: Mapping[int, int], latency: int) -> tuple[dict[int, int], int]:
    """Cells by value, and how many there are: one is free again behind its value's last reader."""
    last = {entry.result: starts[entry.result] for entry in cells.instructions}
    for entry in cells.instructions:
        for value in entry.operands:
            if value in last:
                last[value] = max(last[value], starts[entry.result])
    at, count = dict(cells.fixed), cells.count
    free: list[tuple[int, int]] = []
    for entry in sorted(cells.instructions, key=lambda e: starts[e.result]):
        value, written = entry.result, starts[entry.result] + latency
        if value in at:
            continue
        # Written behind the last reading of its old code, which is a cycle after that one's start.
        if free and free[0][0] + 1 < written:
            cell = heapq.heappop(free)[1]
        else:
            cell, count = count, count + 1
        at[value] = cell
        heapq.heappush(free, (last[value], cell))
    return at, count


def run(program: Program, memory: list[int]) -> None:
    """One pass over the cells' codes, in place, cycle by cycle as the hardware does."""
    landing: dict[int, tuple[int, int]] = {}
    for cycle in range(program.cycles):
        if cycle in landing:
            cell, code = landing.pop(cycle)
            memory[cell] = code
        entry = program.slots[cycle] if cycle < len(program.slots) else None
        if entry:
            codes = (0 if cell is None else memory[cell] for cell in (entry.a, entry.b, entry.c))
            result = execute(entry, *codes, tables=program.tables)
            landing[cycle + program.latency] = entry.result, result


def fresh(program: Program) -> list[int]:
    """The memory as it is after configuration: constants in their cells, else 0."""
    return [program.initial.get(cell, 0) for cell in range(program.cells)]
