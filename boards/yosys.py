"""Synthesis with Yosys (the `pyosys` package), in a process of its own."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from boards.report import SynthReport, count
from hdl.target import Target
from hdl.toolrun import ToolMissing, run_tool

_PACKAGE = "pyosys"
_RUN = "from pyosys import libyosys; libyosys.run_pass('script run.ys', libyosys.Design())"

_DEFINES = {"xc7": "KINEGATE_DSP48E1", "ecp5": "KINEGATE_MULT18X18D"}
# Every multiplier block is instantiated, so what is left of `*` goes to LUTs: the count of blocks
# is the plan's. Ports stay without pads or clock buffers: the kernel is a part of a larger design.
_SYNTHESIS = {
    "xc7": "synth_xilinx -family xc7 -flatten -nodsp -noiopad -noclkbuf",
    "ecp5": "synth_ecp5 -nodsp",
}


def synthesise(verilog: Path, top: str, target: Target, build_dir: Path) -> SynthReport:
    """Synthesise the module `top` of the file `verilog` for `target` and count its cells.

    Leaves `<top>-<key>.json` (the netlist, ECP5 only), `<top>-<key>.stat.json` and
    `<top>-<key>.log` in `build_dir`, each written whole or not at all; the key is a hash of the
    source, the options and the Yosys release, and a finished synthesis with that key is used again.

    Raises `ToolMissing` without `pyosys`, `ToolError` with the end of the log when Yosys fails, and
    `ValueError` for a target that it cannot synthesise for or a name that is no plain identifier.
    """
    if target.family not in _SYNTHESIS:
        raise ValueError(f"no synthesis for target {target.name} of family {target.family!r}")
    if not re.fullmatch(r"[A-Za-z_]\w*", top):
        raise ValueError(f"top must be a plain Verilog identifier, not {top!r}")
    script = _script(top, target.family)
    source = verilog.read_bytes()
    key = hashlib.sha256(f"{release()} {script}".encode() + source).hexdigest()[:16]
    build_dir.mkdir(parents=True, exist_ok=True)
    stat = build_dir / f"{top}-{key}.stat.json"
    netlist = build_dir / f"{top}-{key}.json" if target.family == "ecp5" else None
    if not stat.exists() or (netlist and not netlist.exists()):
        with tempfile.TemporaryDirectory(prefix="yosys-", dir=build_dir) as scratch:
            folder = Path(scratch)
            (folder / "design.v").write_bytes(source)
            run_script(script, folder, build_dir / f"{top}-{key}.log")
            if netlist:
                os.replace(folder / "netlist.json", netlist)
            os.replace(folder / "stat.json", stat)
    cells = json.loads(stat.read_text())["design"]["num_cells_by_type"]
    return count(cells, target.family, netlist)


def run_script(script: str, folder: Path, log: Path) -> None:
    """Run a Yosys script, whose relative paths start in `folder`; its output goes to `log`."""
    release()
    (folder / "run.ys").write_text(script)
    run_tool([sys.executable, "-c", _RUN], log=log.resolve(), name="yosys", cwd=folder)


def release() -> str:
    """Return the installed release of `pyosys`, or raise `ToolMissing`."""
    try:
        return importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolMissing(
            f"yosys is not installed: {sys.executable} -m pip install {_PACKAGE}"
        ) from error


def share() -> Path:
    """Return the folder of Yosys' own cell libraries."""
    release()
    found = importlib.util.find_spec(_PACKAGE)
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "share"


def _script(top: str, family: str) -> str:
    # A cell read before its library carries a wish to be elaborated again, which the last check
    # inside synth_ecp5 would grant by throwing the mapped netlist away.
    lines = [
        f"read_verilog -D {_DEFINES[family]} design.v",
        f"hierarchy -top {top}",
        "setattr -unset reprocess_after t:MULT18X18D",
        f"{_SYNTHESIS[family]} -top {top}",
        "tee -q -o stat.json stat -json",
    ]
    if family == "ecp5":
        lines.append("write_json netlist.json")
    return "\n".join(lines) + "\n"
