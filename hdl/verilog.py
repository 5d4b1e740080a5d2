"""Amaranth to Verilog: the same text for the same hardware, byte for byte."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from amaranth.back import rtlil
from amaranth.hdl import Const, Value, ValueCastable
from amaranth.lib.wiring import Component

from hdl.multiplier import multiplier_verilog
from hdl.toolrun import run_tool

# Registers with an enable come out as such, and no process is left that needs `always @*`, which
# stays unknown at time 0 in some simulators. Flip-flops that never change become constants. A
# parallel multiplexer would become a function whose name Icarus takes for one of the system.
_PASSES = """
read_rtlil design.il
proc
opt_expr -keepdc
opt_clean
opt_dff
opt_clean
pmuxtree
memory_collect
attrmap -remove generator -remove top -remove src -remove amaranth.hierarchy
attrmap -modattr -remove generator -remove top -remove src -remove amaranth.hierarchy
write_verilog -norename design.v
"""
_RUN = "from pyosys import libyosys; libyosys.run_pass('script run.ys', libyosys.Design())"


def verilog(component: Component, name: str, header: str) -> str:
    """The component as module `name`, below `header` as comment, with the modules that it uses.

    Ports are the component's members (a member that is constant is no port) and `clk` and `rst`
    (synchronous, high).
    """
    text = rtlil.convert(component, name=name, ports=_ports(component), emit_src=False)
    with tempfile.TemporaryDirectory(prefix="kinegate-") as scratch:
        folder = Path(scratch)
        (folder / "design.il").write_text(text)
        (folder / "run.ys").write_text(_PASSES)
        command = [sys.executable, "-c", _RUN]
        run_tool(command, log=folder / "yosys.log", name="yosys", cwd=folder)
        body = (folder / "design.v").read_text()
    comment = "".join(f"// {line}".rstrip() + "\n" for line in header.splitlines())
    _, _, body = body.partition("\n")  # the generator's own banner
    return f"{comment}{body.strip()}\n\n{multiplier_verilog()}"


def _ports(component: Component) -> list[Value]:
    members = (value for _, _, value in component.signature.flatten(component))
    values = (value.as_value() if isinstance(value, ValueCastable) else value for value in members)
    return [value for value in values if not isinstance(value, Const)]
