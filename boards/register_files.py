"""Header, page and IP-XACT of a register map, made by PeakRDL from its SystemRDL.

PeakRDL runs as the program that it is, in a process of its own, like the other tools.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

from boards.ip_xact import completed
from boards.systemrdl import systemrdl
from hdl.axi_map import AxiInterface
from hdl.toolrun import ToolMissing, run_tool

RDL = "registers.rdl"
PAGE = "registers.md"
IP_XACT = "component.xml"
_MODULES = ("peakrdl", "peakrdl_cheader", "peakrdl_markdown", "peakrdl_ipxact")


def header_name(axi: AxiInterface) -> str:
    return f"{axi.name}_registers.h"


def register_files(axi: AxiInterface, *, vendor: str, version: str) -> dict[str, str]:
    """The texts by file name: SystemRDL, C header, Markdown page and an IP-XACT 2009 component.

    Raises `ToolMissing` without PeakRDL and `ToolError` where it fails.
    """
    for module in _MODULES:
        if importlib.util.find_spec(module) is None:
            name = module.replace("_", "-")
            raise ToolMissing(f"{name} is not installed: {sys.executable} -m pip install {name}")
    header = header_name(axi)
    xact = ["--standard", "2009", "--vendor", vendor, "--library", "user", "--version", version]
    commands = {
        header: ["c-header", "--std", "gnu11"],
        PAGE: ["markdown"],
        IP_XACT: ["ip-xact", *xact],
    }
    with tempfile.TemporaryDirectory(prefix="kinegate-") as scratch:
        folder = Path(scratch)
        (folder / RDL).write_text(systemrdl(axi.registers))
        for file, words in commands.items():
            command = [sys.executable, "-m", "peakrdl", *words, RDL, "-o", file]
            run_tool(command, log=folder / "log", name="peakrdl", cwd=folder)
        made = {name: (folder / name).read_text() for name in (RDL, *commands)}
    return made | {IP_XACT: completed(made[IP_XACT], axi)}
