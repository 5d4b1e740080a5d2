"""Toy kernels in an AXI shell, and rows for them."""

import numpy as np
from toy_kernels import A, DelayPipeline, observed

from hdl.axi_map import AxiInterface, Facts
from hdl.axi_shell import TAG_BITS, AxiShell
from hdl.packing import Packing
from hdl.shell import StreamKernel
from hdl.verilog import verilog
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.parameters import words

FACTS = Facts(design=0x89ABCDEF, geometry=0xFEDCBA98)
NAME = "toy_axi"


def loaded() -> g.Graph:
    """y = a * p + q, where p and q are loaded."""
    p = g.Parameter("p", Format(True, 9, 0), -200, 150, -7)
    q = g.Parameter("q", Format(False, 8, 0), 3, 250, 100)
    nodes = (g.Input("a", A), p, q, g.Multiply(0, 1), g.Add(3, 2))
    return g.Graph("loaded", nodes, (g.Output("y", 4),))


def toy_interface(beat_bits=32, graph=None):
    graph = graph or observed()
    facts = FACTS
    if graph.parameters:
        count, checksum = len(graph.parameters), words(graph.parameters)[-1]
        facts = Facts(design=FACTS.design, geometry=checksum, geometry_words=count)
    sides = {"inputs": graph.inputs, "outputs": graph.output_formats}
    packed = {side: Packing(fields, beat_bits) for side, fields in sides.items()}
    return AxiInterface(name=NAME, facts=facts, **packed)


def write_toy(folder, beat_bits=32, graph=None, change=str):
    """The Verilog of a toy in its shell."""
    pipeline = DelayPipeline(graph or observed(), latency=5, ii=2)
    kernel = StreamKernel(pipeline, tag_width=TAG_BITS)
    shell = AxiShell(kernel, toy_interface(beat_bits, graph))
    file = folder / f"{NAME}.v"
    file.write_text(change(verilog(shell, NAME, "a toy")))
    return file


def toy_rows(count, seed=1, graph=None):
    """Input codes over the whole of every format, and what comes out."""
    graph, random = graph or observed(), np.random.default_rng(seed)
    rows = {n: random.integers(f.lo, f.hi, count, endpoint=True) for n, f in graph.inputs.items()}
    return rows, evaluate(graph, rows)
