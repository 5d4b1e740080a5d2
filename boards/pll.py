"""The PLL that makes a kernel's clock from an oscillator: its dividers, and its hardware.

ECP5: EHXPLLL, fed back from its output (Lattice FPGA-TN-02200); iCE40: SB_PLL40_PAD, on the pad of
the oscillator (FPGA-TN-02052).
"""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Instance, Value


class PllError(ValueError):
    """A clock that no setting of the PLL gives."""


@dataclass(frozen=True, kw_only=True)
class Pll:
    """One setting. `input_mhz` times `multiply` over `divide` is the clock; `output_divide` is what
    lies between it and the oscillator inside (VCO)."""

    family: str
    input_mhz: float
    divide: int
    multiply: int
    output_divide: int

    @property
    def vco_mhz(self) -> float:
        inside = self.output_divide if self.family == "ecp5" else 1
        return self.input_mhz / self.divide * self.multiply * inside

    @property
    def mhz(self) -> float:
        """Of the clock that comes out."""
        return self.vco_mhz / self.output_divide

    def instance(self, *, osc: Value, clock: Value, locked: Value) -> Instance:
        """Its hardware, between the pin of the oscillator and the clock."""
        make = {"ecp5": self._ehxplll, "ice40": self._sb_pll40}[self.family]
        return make(osc, clock, locked)

    def _ehxplll(self, osc: Value, clock: Value, locked: Value) -> Instance:
        # The output is moved by half of its divider, so that its edge is where the VCO's is.
        return Instance(
            "EHXPLLL",
            a_ICP_CURRENT="12",  # loop filter: what suits a loop without a fractional divider
            a_LPF_RESISTOR="8",
            a_MFG_ENABLE_FILTEROPAMP="1",
            a_MFG_GMCREF_SEL="2",
            p_CLKI_DIV=self.divide,
            p_CLKFB_DIV=self.multiply,
            p_CLKOP_DIV=self.output_divide,
            p_CLKOP_CPHASE=self.output_divide // 2,
            p_CLKOP_ENABLE="ENABLED",
            p_FEEDBK_PATH="CLKOP",
            p_OUTDIVIDER_MUXA="DIVA",
            p_PLLRST_ENA="DISABLED",
            p_INTFB_WAKE="DISABLED",
            p_STDBY_ENABLE="DISABLED",
            p_DPHASE_SOURCE="DISABLED",
            i_RST=0,
            i_STDBY=0,
            i_CLKI=osc,
            i_CLKFB=clock,
            o_CLKOP=clock,
            o_LOCK=locked,
        )

    def _sb_pll40(self, osc: Value, clock: Value, locked: Value) -> Instance:
        reference = self.input_mhz / self.divide
        return Instance(
            "SB_PLL40_PAD",
            p_FEEDBACK_PATH="SIMPLE",
            p_DIVR=self.divide - 1,
            p_DIVF=self.multiply - 1,
            p_DIVQ=self.output_divide.bit_length() - 1,
            p_FILTER_RANGE=1 + sum(reference >= edge for edge in (17, 26, 44, 66, 101)),
            i_PACKAGEPIN=osc,
            i_RESETB=1,
            i_BYPASS=0,
            o_PLLOUTGLOBAL=clock,
            o_LOCK=locked,
        )


def nearest(family: str, input_mhz: float, asked_mhz: float) -> Pll:
    """The setting with the fastest clock that is not above what is asked.

    PllError where the PLL of the family (`ecp5` or `ice40`) goes no lower or takes no such input.
    """
    settings = {"ecp5": _ecp5, "ice40": _ice40}[family](input_mhz)
    possible = [pll for pll in settings if pll.mhz <= asked_mhz * (1 + 1e-9)]
    if not possible:
        raise PllError(f"no PLL makes {asked_mhz:g} MHz or less of {input_mhz:g} MHz")
    # Of equal clocks the one with the fastest comparison, then with the VCO in its middle.
    middle = {"ecp5": 600, "ice40": 800}[family]
    return max(possible, key=lambda p: (round(p.mhz, 9), -p.divide, -abs(p.vco_mhz - middle)))


def _ecp5(input_mhz: float) -> list[Pll]:
    """Comparison from 3.125 to 400 MHz, VCO from 400 to 800 MHz."""
    dividers = [divide for divide in range(1, 129) if 3.125 <= input_mhz / divide <= 400]
    settings = [
        _setting("ecp5", input_mhz, divide, multiply, output)
        for divide in dividers
        for multiply in range(1, 81)
        for output in range(1, 129)
    ]
    return [pll for pll in settings if 400 <= pll.vco_mhz <= 800]


def _ice40(input_mhz: float) -> list[Pll]:
    """Comparison from 10 to 133 MHz, VCO from 533 to 1066 MHz, its divider a power of two, and a
    clock from 16 to 275 MHz."""
    dividers = [divide for divide in range(1, 17) if 10 <= input_mhz / divide <= 133]
    settings = [
        _setting("ice40", input_mhz, divide, multiply, output)
        for divide in dividers
        for multiply in range(1, 129)
        for output in (2, 4, 8, 16, 32, 64)
    ]
    return [pll for pll in settings if 533 <= pll.vco_mhz <= 1066 and 16 <= pll.mhz <= 275]


def _setting(family: str, input_mhz: float, divide: int, multiply: int, output: int) -> Pll:
    return Pll(
        family=family,
        input_mhz=input_mhz,
        divide=divide,
        multiply=multiply,
        output_divide=output,
    )
