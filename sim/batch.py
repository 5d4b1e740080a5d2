"""Batches of rows through a kernel: float64, the bit-true model, or the generated Verilog."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from hdl.design import Design
from sim.bench import cache_directory, run_vectors
from sim.vectors import Codes, expected
from solver_ref.status import Status

Engine = Literal["float", "fixed", "rtl"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
INTEGERS = ("iterations", "status", "active")
"""Outputs that are no quantities: they stay integers."""


class BatchError(RuntimeError):
    """The generated hardware did not answer as it should."""


def run_batch(
    design: Design,
    values: Mapping[str, np.ndarray],
    engine: Engine,
    *,
    simulator: str = "verilator",
) -> dict[str, np.ndarray]:
    """Outputs by port name from SI values by port name, each of shape (N,).

    Inputs are rounded to the ports' quanta (not by `float`). A value that its port cannot carry is
    limited, and its row says OUT_OF_RANGE and is not VALID. `fixed` and `rtl` give the same arrays.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if engine == "float":
        # Rows far outside the domain may overflow: their status says so.
        with np.errstate(all="ignore"):
            return design.kind.answers(design.domain, values)
    codes, limited = encode(design, values)
    if engine == "fixed":
        outputs, _ = expected(design, codes)
    else:
        outputs = _hardware(design, codes, simulator)
    return decode(design, outputs, limited)


def decode(design: Design, outputs: Codes, limited: np.ndarray) -> dict[str, np.ndarray]:
    """SI values of output codes; the status of a row of which an input was `limited` says so."""
    result = {
        name: outputs[name] if name in INTEGERS else form.decode(outputs[name])
        for name, form in design.outputs.items()
    }
    status = result["status"]
    fault = status & ~int(Status.VALID) | int(Status.OUT_OF_RANGE)
    return result | {"status": np.where(limited, fault, status)}


def encode(design: Design, values: Mapping[str, np.ndarray]) -> tuple[Codes, np.ndarray]:
    """Port codes, and the rows in which a value had to be limited to what its port carries."""
    codes, limited = {}, np.zeros(len(next(iter(values.values()))), dtype=bool)
    for name, form in design.inputs.items():
        codes[name] = form.encode(values[name])
        limited |= np.abs(values[name] - form.decode(codes[name])) > form.quantum / 2
    return codes, limited


def _hardware(design: Design, codes: Codes, simulator: str) -> Codes:
    directory = build_directory(design)
    with tempfile.TemporaryDirectory(prefix="kinegate-") as scratch:
        verilog = Path(scratch) / f"{design.name}.v"
        verilog.write_text(design.verilog)
        result, outputs, _, _ = run_vectors(
            design, codes, None, verilog=verilog, simulator=simulator, directory=directory
        )
    if not result.passed or not outputs:
        raise BatchError(
            f"{design.name} gave {result.received} of {result.vectors} results, "
            f"{result.mismatches} of them with a fault of the stream"
        )
    return outputs


def build_directory(design: Design) -> Path:
    """Where the simulations of a design keep their builds, one directory for each design."""
    return cache_directory() / "sim" / design.name
