"""What synthesis and place-and-route report, in the resources of the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hdl.target import Target


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one cell of the netlist occupies: LUT sites, flip-flops, DSP and memory blocks."""

    lut: int = 0
    ff: int = 0
    dsp: int = 0
    bram: float = 0


_FREE, _ONE_LUT, _FF, _DSP = Cost(), Cost(lut=1), Cost(ff=1), Cost(dsp=1)

# 7-series. Every LUT counts one site: two small LUTs that could share one are not paired, so this
# is an upper bound. Shift registers and distributed RAM occupy the LUT sites they are made of.
_XC7 = {
    **dict.fromkeys(("LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "INV"), _ONE_LUT),
    **dict.fromkeys(("SRL16E", "SRLC16E", "SRLC32E", "RAM32X1S", "RAM64X1S"), _ONE_LUT),
    **dict.fromkeys(("RAM32X1D", "RAM64X1D", "RAM128X1S"), Cost(lut=2)),
    **dict.fromkeys(("RAM32M", "RAM64M", "RAM128X1D", "RAM256X1S"), Cost(lut=4)),
    **dict.fromkeys(("FDRE", "FDSE", "FDCE", "FDPE"), _FF),
    **dict.fromkeys(("CARRY4", "MUXF7", "MUXF8", "BUFG", "IBUF", "OBUF"), _FREE),
    "DSP48E1": _DSP,
    "RAMB18E1": Cost(bram=0.5),
    "RAMB36E1": Cost(bram=1),
}

# ECP5. A wide multiplexer joins LUT outputs and costs no site. A 16 x 4 distributed RAM is four LUT
# sites and blocks two more, which turn into its write port (as nextpnr places it).
_ECP5 = {
    "LUT4": _ONE_LUT,
    "CCU2C": Cost(lut=2),
    "TRELLIS_DPR16X4": Cost(lut=6),
    "TRELLIS_FF": _FF,
    **dict.fromkeys(("PFUMX", "L6MUX21", "EHXPLLL"), _FREE),
    "MULT18X18D": _DSP,
    **dict.fromkeys(("DP16KD", "PDPW16KD"), Cost(bram=1)),
}

# iCE40. A carry belongs to the site of the LUT that it feeds.
_ICE40 = {
    "SB_LUT4": _ONE_LUT,
    **dict.fromkeys(("SB_CARRY", "SB_PLL40_PAD"), _FREE),
    **{f"SB_DFF{kind}": _FF for kind in ("", "E", "R", "S", "SR", "SS", "ER", "ES", "ESR", "ESS")},
    "SB_MAC16": _DSP,
    "SB_RAM40_4K": Cost(bram=1),
}

_COSTS = {"xc7": _XC7, "ecp5": _ECP5, "ice40": _ICE40}
# Notes that Yosys keeps as cells; they are no hardware.
_NOTES = ("$scopeinfo",)


@dataclass(frozen=True, kw_only=True)
class SynthReport:
    """Resources after synthesis, before placement; `cells` counts each cell type of the netlist."""

    lut: int
    ff: int
    dsp: int
    bram: float
    cells: Mapping[str, int]
    json_netlist: Path | None

    def filled(self, target: Target) -> float:
        """The larger share of the target's LUT sites and flip-flops."""
        return max(self.lut / target.resources.lut, self.ff / target.resources.ff)

    def fits(self, target: Target) -> bool:
        """Whether the target has as many of each resource."""
        have = target.resources
        return (
            self.lut <= have.lut
            and self.ff <= have.ff
            and self.dsp <= have.dsp
            and self.bram <= have.bram
        )


@dataclass(frozen=True, kw_only=True)
class RouteReport:
    """After routing: the slowest clock's frequency, and (used, available) for each site type."""

    fmax_mhz: float
    utilisation: Mapping[str, tuple[int, int]]


def count(cells: Mapping[str, int], family: str, json_netlist: Path | None = None) -> SynthReport:
    """Add up what `cells` (type -> number) occupy.

    Raises `ValueError` for a family or a cell type whose cost is not known: a figure is never
    reported with something left out.
    """
    if family not in _COSTS:
        raise ValueError(f"family must be one of {', '.join(_COSTS)}, not {family!r}")
    costs = _COSTS[family]
    real = {kind: number for kind, number in sorted(cells.items()) if kind not in _NOTES}
    if unknown := [kind for kind in real if kind not in costs]:
        raise ValueError(f"netlist has cells of unknown cost: {', '.join(unknown)}")

    def total(resource: str) -> float:
        return sum(getattr(costs[kind], resource) * number for kind, number in real.items())

    return SynthReport(
        lut=int(total("lut")),
        ff=int(total("ff")),
        dsp=int(total("dsp")),
        bram=total("bram"),
        cells=real,
        json_netlist=json_netlist,
    )
