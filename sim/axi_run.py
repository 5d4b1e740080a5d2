"""Runs the cocotb bench of the AXI shell (`sim.axi_bench`) on its Verilog."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hdl.axi_map import AxiInterface
from sim.cocotb_run import run_tests


def run_axi(
    verilog: Path,
    axi: AxiInterface,
    build_dir: Path,
    *,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    accesses: int = 1000,
    simulator: str = "icarus",
    test_module: str = "sim.axi_bench",
) -> int:
    """How many tests ran, all of them with success; `CocotbFailure` otherwise.

    Every row of the `inputs` goes through the stream, and `accesses` to registers are tried.
    """
    registers = {f"{block.name}.{r.name}": (block, r) for block, r in axi.registers}
    setup = {
        "inputs": {name: str(form) for name, form in axi.inputs.fields.items()},
        "outputs": {name: str(form) for name, form in axi.outputs.fields.items()},
        "beat_bits": axi.inputs.beat_bits,
        "rows": {name: [int(code) for code in codes] for name, codes in inputs.items()},
        "expected": {name: [int(code) for code in codes] for name, codes in outputs.items()},
        "addresses": {name: block.base + r.offset for name, (block, r) in registers.items()},
        "access": {name: r.access for name, (_, r) in registers.items()},
        "resets": {name: r.reset for name, (_, r) in registers.items()},
        "accesses": accesses,
    }
    top = axi.name
    return run_tests(
        [verilog], top, build_dir, setup=setup, simulator=simulator, test_module=test_module
    )
