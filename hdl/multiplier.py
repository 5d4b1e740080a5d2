"""The multiplier module that generated Verilog instantiates, and the models that prove it."""

from __future__ import annotations

from pathlib import Path

PRIMITIVES = Path(__file__).parent / "primitives"
MODULE = "kg_mul"
LUT_MODULE = "kg_mul_lut"
MODEL_FILES = {
    "KINEGATE_DSP48E1": PRIMITIVES / "dsp48e1.v",
    "KINEGATE_MULT18X18D": PRIMITIVES / "mult18x18d.v",
}


def multiplier_verilog() -> str:
    """Return the Verilog of `kg_mul` and `kg_mul_lut`, which ends every generated file.

    Both take `AW`, `BW`, `LATENCY` (2 or 3) and the ports `clk`, `a`, `b`, `p`; both return the
    exact signed product `p = a * b` of AW + BW bits, `LATENCY` clock edges after the operands, one
    per clock, without enable or reset. `kg_mul` is behavioural until `KINEGATE_DSP48E1`,
    `KINEGATE_MULT18X18D` or `KINEGATE_SB_MAC16` is defined; then it is that block with its own
    registers, and a shape the block cannot hold fails as the missing module `kg_mul_outside_...`.
    The text is the same for every target.
    """
    return "\n".join((PRIMITIVES / f"{name}.v").read_text() for name in (MODULE, LUT_MODULE))
