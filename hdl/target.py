"""What the generator knows of a chip: its resources and the shape and speed of its multipliers."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Resources:
    """How much of each there is; `bram` counts 36 Kbit (7-series), 18 Kbit (ECP5) or 4 Kbit
    (iCE40) blocks."""

    dsp: int
    lut: int
    ff: int
    bram: float


@dataclass(frozen=True, kw_only=True)
class Target:
    """A chip, or a stand-in for tests.

    `multiplier_shape`: the widths of a signed product that one DSP block takes;
    `multiplier_latency`: clock edges from its operands to its product, in the block's own registers
    (7-series: A/B, M, P; ECP5: input and output). `delay_line`: how the family keeps a value for
    many cycles (`srl` shift-register LUTs, `dram` distributed RAM). `gathered`: whether a block
    works for neighbouring products only, as wires are slow, which takes latency. `part`: the tools'
    device name.
    """

    name: str
    family: str
    part: str
    resources: Resources
    multiplier_shape: tuple[int, int]
    multiplier_latency: int
    delay_line: str
    gathered: bool = False

    @property
    def direct(self) -> Target:
        """The same chip for a short path of few operations, none of them shared: delays of one
        cycle, multipliers with an input and an output register."""
        return replace(self, family="direct", multiplier_latency=2)


def _zynq(name: str, *, dsp: int, lut: int, ff: int, bram: float) -> Target:
    return Target(
        name=name,
        family="xc7",
        part=f"{name}clg400-1",
        resources=Resources(dsp=dsp, lut=lut, ff=ff, bram=bram),
        multiplier_shape=(25, 18),
        multiplier_latency=3,
        delay_line="srl",
    )


def _lattice(
    name: str, family: str, part: str, *, factor: int, dsp: int, lut: int, bram: float
) -> Target:
    """`factor`: bits of either factor of a multiplier."""
    return Target(
        name=name,
        family=family,
        part=part,
        resources=Resources(dsp=dsp, lut=lut, ff=lut, bram=bram),
        multiplier_shape=(factor, factor),
        multiplier_latency=2,
        delay_line="dram",
        gathered=True,
    )


def _ecp5(name: str, part: str, *, dsp: int, lut: int, bram: float) -> Target:
    return _lattice(name, "ecp5", part, factor=18, dsp=dsp, lut=lut, bram=bram)


# Resources: Xilinx DS190 (Zynq-7000 overview), Lattice FPGA-DS-02012 (ECP5 family) and
# FPGA-DS-02008 (iCE40 UltraPlus family).
_TARGETS = {
    item.name: item
    for item in (
        _zynq("xc7z020", dsp=220, lut=53200, ff=106400, bram=140),
        _zynq("xc7z010", dsp=80, lut=17600, ff=35200, bram=60),
        _ecp5("ecp5-85k", "85k", dsp=156, lut=83640, bram=208),
        _ecp5("ecp5-45k", "45k", dsp=72, lut=43848, bram=108),
        _ecp5("ecp5-25k", "25k", dsp=28, lut=24288, bram=56),
        _lattice("ice40-up5k", "ice40", "up5k", factor=16, dsp=8, lut=5280, bram=30),
    )
}

UNIT = Target(
    name="unit",
    family="unit",
    part="",
    resources=Resources(dsp=10**6, lut=10**9, ff=10**9, bram=10**6),
    multiplier_shape=(25, 18),
    multiplier_latency=3,
    delay_line="srl",
)
"""For tests: unit delays and no end of resources."""


def targets() -> dict[str, Target]:
    """Every chip that can be named, in the order in which they are listed."""
    return dict(_TARGETS)


def target(name: str) -> Target:
    """The chip (or `unit`) of that name; ValueError lists the known ones."""
    if name == UNIT.name:
        return UNIT
    if name not in _TARGETS:
        raise ValueError(f"target must be one of {', '.join(_TARGETS)}, not {name!r}")
    return _TARGETS[name]
