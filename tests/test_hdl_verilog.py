"""The generated text: the same bytes each time, plain registers, ports as named."""

import re

from amaranth.hdl import Const, Module
from amaranth.lib.wiring import Component, In, Out
from random_graphs import random_graph

from hdl.pipeline import Pipeline
from hdl.schedule import schedule
from hdl.target import target
from hdl.verilog import verilog
from solver_ref.split import split

CHIP = target("ecp5-85k")


def generated(seed: int, ii: int) -> str:
    graph = split(random_graph(seed), CHIP.multiplier_shape)
    return verilog(Pipeline(graph, schedule(graph, ii, CHIP), CHIP), "solver", "first\n\nsecond")


def test_two_runs_give_the_same_bytes():
    assert generated(3, 2) == generated(3, 2)


def test_the_header_is_a_comment_above_the_module():
    text = generated(4, 1)
    assert text.startswith("// first\n//\n// second\n")
    assert len(re.findall(r"^module solver\(", text, re.M)) == 1
    assert "Yosys" not in text, "a tool's release would change the bytes"


def test_the_multipliers_are_in_the_file():
    modules = re.findall(r"^module (\w+)", generated(4, 1), re.M)
    assert modules[0] == "solver" and {"kg_mul", "kg_mul_lut"} <= set(modules)


def test_no_process_is_combinational():
    """`always @*` stays unknown at time 0 in some simulators."""
    text = generated(5, 3)
    body = text[: text.index("endmodule")]
    assert "always @(posedge clk)" in body
    assert not re.search(r"always\s*@\s*\*|always_comb|always @\((?!posedge clk\))", body)


def test_sources_and_paths_stay_out_of_the_text():
    text = generated(6, 2)
    assert not re.search(r"\.py|/tmp|src *=", text)


class _Tied(Component):
    a: In(3)
    q: Out(3)

    def __init__(self) -> None:
        super().__init__()
        self.tied = Const(1, 1)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.sync += self.q.eq(self.a)
        return m


def test_members_that_are_constant_are_no_ports():
    class AlwaysReady(_Tied):
        ready: Out(1)

        def __init__(self) -> None:
            super().__init__()
            self.ready = Const(1, 1)

    head = re.search(r"module top\(([^)]*)\)", verilog(AlwaysReady(), "top", ""))[1]
    assert sorted(re.findall(r"\w+", head)) == ["a", "clk", "q", "rst"]
