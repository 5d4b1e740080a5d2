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

_DEFINES = {"xc7": "KINEGATE_DSP48E1", "ecp5": "KINEGATE_MULT18X18D", "ice40": "KINEGATE_SB_MAC16"}
# Every multiplier block is instantiated, so what is left of `*` goes to LUTs: the count of blocks
# is the plan's. Ports stay without pads or clock buffers: the kernel is a part of a larger design.
#
# Measured on a step kernel with 87 blocks: synth_xilinx maps LUTs with abc9, which takes 59 s of
# its 90 s (CPU); the older `abc` takes 4 s and ends with as many LUTs (19 988 sites for 19 986). As
# nothing times a 7-series netlist here, its mapping step is replaced and the rest kept. synth_ecp5
# takes 70 s, 34 s of them in abc9, which knows the delays that the router reports: it stays.
_XC7 = "synth_xilinx -family xc7 -flatten -nodsp -noiopad -noclkbuf -top {top}"
#
# Each set of enable and reset takes slices of its own on ECP5: small ones become LUTs.
_ECP5 = "synth_ecp5 -nodsp -top {top}"
_ECP5_CELLS = " ".join(
    f"-cell {cell}"
    for cell in (
        "$_DFF_?_ 01",
        "$_DFF_?P?_ r",
        "$_SDFF_?P?_ r",
        "$_DFFE_??_ 01",
        "$_DFFE_?P??_ r",
        "$_SDFFE_?P??_ r",
    )
)
ROUTED = ("ecp5", "ice40")
"""Families whose netlist open tools can route."""
_SYNTHESIS = {
    "xc7": [
        f"{_XC7} -run begin:map_luts",
        "opt_expr -mux_undef -noclkinv",
        "abc -luts 2:2,3,6:5",
        "clean",
        "xilinx_srl -fixed -minlen 3",
        "techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6",
        "xilinx_dffopt",
        "opt_lut_ins -tech xilinx",
        f"{_XC7} -run finalize:edif",
    ],
    "ecp5": [
        f"{_ECP5} -run begin:map_ffs",
        f"dfflegalize -minsrst 200 -mince 8 {_ECP5_CELLS}",
        f"{_ECP5} -run map_ffs:edif",
    ],
    "ice40": ["synth_ice40 -device u -top {top}"],
}


def synthesise(verilog: Path, top: str, target: Target, build_dir: Path) -> SynthReport:
    """Synthesise the module `top` of the file `verilog` for `target` and count its cells.

    Leaves `<top>-<key>.json` (the netlist, where `ROUTED`), `<top>-<key>.stat.json` and
    `<top>-<key>.log` in `build_dir`, each written whole or not at all; the key is a hash of the
    source, the options and the Yosys release, and a finished synthesis with that key is used again.

    Raises `ToolMissing` without `pyosys`, `ToolError` with the end of the log when Yosys fails, and
    `ValueError` for a target that it cannot synthesise for or a name that is no plain identifier.
    """
    if target.family not in _SYNTHESIS:
        raise ValueError(f"no synthesis for target {target.name} of family {target.family!r}")
    if not re.fullmatch(r"[A-Za-z_]\w*", top):
        raise ValueError(f"top must be a plain Verilog identifier, not {top!r}")
    script = script_for(top, target.family)
    source = verilog.read_bytes()
    key = hashlib.sha256(f"{release()} {script}".encode() + source).hexdigest()[:16]
    build_dir.mkdir(parents=True, exist_ok=True)
    stat = build_dir / f"{top}-{key}.stat.json"
    netlist = build_dir / f"{top}-{key}.json" if target.family in ROUTED else None
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


def script_for(top: str, family: str) -> str:
    """Return the Yosys script that maps the module `top` of `design.v` and writes `stat.json`."""
    # A cell read before its library carries a wish to be elaborated again, which the last check
    # inside synth_ecp5 would grant by throwing the mapped netlist away.
    lines = [
        f"read_verilog -D {_DEFINES[family]} design.v",
        f"hierarchy -top {top}",
        "setattr -unset reprocess_after t:MULT18X18D",
        *(line.format(top=top) for line in _SYNTHESIS[family]),
        "tee -q -o stat.json stat -json",
    ]
    if family in ROUTED:
        lines.append("write_json netlist.json")
    return "\n".join(lines) + "\n"
