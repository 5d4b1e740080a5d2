"""How far the fixed-point answers are from float64, on the codes as the ports carried them."""

from __future__ import annotations

import numpy as np

from hdl.design import Design
from sim.vectors import Codes, Vectors
from solver_ref.fixed import Format
from solver_ref.status import Status


def largest_errors(design: Design, vectors: Vectors) -> dict[str, float]:
    """Largest |fixed - float64| over the nominal rows whose status is VALID, by unit.

    What is compared is the kernel's own word (`solver_ref.kernels`); empty where no row counts.
    """
    rows = vectors.nominal & ((vectors.outputs["status"] & Status.VALID) != 0)
    if not rows.any():
        return {}
    inputs = _decoded(design.inputs, vectors.inputs, rows)
    outputs = _decoded(design.outputs, vectors.outputs, rows)
    return design.kind.errors(vectors.robot, inputs, outputs)


def _decoded(formats: dict[str, Format], codes: Codes, rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: fmt.decode(codes[name][rows]) for name, fmt in formats.items()}
