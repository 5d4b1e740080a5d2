"""Runs a `Pipeline` over input codes in Amaranth's simulator or, as Verilog, in Icarus."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from amaranth.sim import Simulator

from hdl.pipeline import Pipeline
from hdl.toolrun import run_tool
from hdl.verilog import verilog

BENCH = Path(__file__).with_name("pipeline_bench.v")


def simulate(
    pipeline: Pipeline, codes: dict[str, np.ndarray], parameters: Mapping[str, int] | None = None
) -> dict[str, np.ndarray]:
    """Outputs of one transfer every II cycles; AssertionError if one comes at a wrong time."""
    count = len(next(iter(codes.values())))
    outputs = {name: [] for name in pipeline.graph.output_formats}
    entered, left = [], []

    async def drive(ctx):
        for name, code in (parameters or {}).items():
            port = getattr(pipeline, f"p_{name}")
            ctx.set(port, code & ((1 << len(port)) - 1))
        for cycle in range((count + 1) * pipeline.ii + pipeline.latency):
            offered = bool(ctx.get(pipeline.accept)) and len(entered) < count
            ctx.set(pipeline.i_valid, offered)
            for name, values in codes.items():
                # Whatever stands on the ports in other cycles must not matter.
                value = values[len(entered)] if offered else -1
                ctx.set(getattr(pipeline, f"i_{name}"), int(value))
            if offered:
                entered.append(cycle)
            if ctx.get(pipeline.o_valid):
                left.append(cycle)
                for name, values in outputs.items():
                    values.append(ctx.get(getattr(pipeline, f"o_{name}")))
            await ctx.tick()

    simulator = Simulator(pipeline)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    assert left == [cycle + pipeline.latency for cycle in entered]
    assert np.all(np.diff(entered) == pipeline.ii)
    return {name: np.array(values, dtype=object) for name, values in outputs.items()}


def icarus(pipeline: Pipeline, codes: dict[str, np.ndarray], folder: Path) -> dict[str, np.ndarray]:
    """The same with the generated Verilog."""
    inputs, outputs = pipeline.graph.inputs, pipeline.graph.output_formats
    widths = {name: form.width for name, form in inputs.items()}
    words = [pack(row, widths) for row in _rows(codes)]
    (folder / "inputs.hex").write_text("".join(f"{word:x}\n" for word in words))
    (folder / "pipeline.v").write_text(verilog(pipeline, "pipeline", "a test"))
    results = "{" + ", ".join(f"o_{name}" for name in reversed(outputs)) + "}"
    text = BENCH.read_text()
    for key, value in {
        "COUNT": len(words),
        "II": pipeline.ii,
        "LATENCY": pipeline.latency,
        "IN_WIDTH": sum(widths.values()),
        "OUT_WIDTH": sum(form.width for form in outputs.values()),
        "OUTPUTS": results,
        "PORTS": _ports(pipeline),
        "WIRES": "\n".join(f"wire [{f.width - 1}:0] o_{name};" for name, f in outputs.items()),
    }.items():
        text = text.replace(f"@{key}@", str(value))
    (folder / "bench.v").write_text(text)
    sources = ["bench.v", "pipeline.v"]
    command = ["iverilog", "-g2012", "-Wall", "-Wno-timescale", "-o", "bench", *sources]
    run_tool(command, log=folder / "iverilog.log", cwd=folder)
    run_tool(["vvp", "-n", "bench"], log=folder / "vvp.log", cwd=folder)
    return unpack((folder / "outputs.hex").read_text().split(), outputs)


def _rows(codes: dict[str, np.ndarray]) -> list[dict[str, int]]:
    count = len(next(iter(codes.values())))
    return [{name: int(values[k]) for name, values in codes.items()} for k in range(count)]


def _ports(pipeline: Pipeline) -> str:
    ports, low = [], 0
    for name, form in pipeline.graph.inputs.items():
        ports.append(f".i_{name}(word[{low + form.width - 1}:{low}])")
        low += form.width
    for name in pipeline.graph.parameters:
        port = getattr(pipeline, f"p_{name}")
        ports.append(f".p_{name}({len(port)}'d{port.init})")
    ports += [f".o_{name}(o_{name})" for name in pipeline.graph.output_formats]
    return ", ".join(ports)


def pack(row: dict[str, int], widths: dict[str, int]) -> int:
    """The fields of a row in one word, the first in the lowest bits."""
    word = low = 0
    for name, width in widths.items():
        word |= (row[name] & ((1 << width) - 1)) << low
        low += width
    return word


def unpack(lines: list[str], formats: dict) -> dict[str, np.ndarray]:
    """Codes by name from hexadecimal words; ValueError where a bit is unknown."""
    values = {name: [] for name in formats}
    for line in lines:
        word = int(line, 16)
        for name, form in formats.items():
            code = word & ((1 << form.width) - 1)
            values[name].append(code - (code << 1 & 1 << form.width) * form.signed)
            word >>= form.width
    return {name: np.array(column, dtype=object) for name, column in values.items()}
