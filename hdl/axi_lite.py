"""An AXI4-Lite subordinate: the five channels on one side, accesses to words on the other."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.register_map import ADDRESS_BITS, WORD_BITS

OKAY, SLVERR = 0, 2
WORD_ADDRESS_BITS = ADDRESS_BITS - 2


def lite_ports() -> dict[str, In | Out]:
    """Members of a component with an AXI4-Lite subordinate, named as Verilog tools expect them."""
    ports = {}
    for channel in ("aw", "ar"):
        ports[f"s_axi_{channel}addr"] = In(ADDRESS_BITS)
        ports[f"s_axi_{channel}prot"] = In(3)
        ports[f"s_axi_{channel}valid"] = In(1)
        ports[f"s_axi_{channel}ready"] = Out(1)
    return ports | {
        "s_axi_wdata": In(WORD_BITS),
        "s_axi_wstrb": In(WORD_BITS // 8),
        "s_axi_wvalid": In(1),
        "s_axi_wready": Out(1),
        "s_axi_bresp": Out(2),
        "s_axi_bvalid": Out(1),
        "s_axi_bready": In(1),
        "s_axi_rdata": Out(WORD_BITS),
        "s_axi_rresp": Out(2),
        "s_axi_rvalid": Out(1),
        "s_axi_rready": In(1),
    }


class AxiLite(wiring.Component):
    """Takes addresses and data in any order, one write and one read at a time.

    *Members*: the channels of `lite_ports`; for a write `write` (high for one cycle),
    `write_address` (of words), `write_data` and `write_mask` (the bits whose strobe was high); for
    a read `read` and `read_address`. In the same cycle `write_good` and `read_good` say whether
    there is a register for it, which decides between OKAY and SLVERR, and `read_data` what it has.

    *Contract*: every output comes from a register or an inverter behind one, so that no ready
    depends on a valid in the same cycle, nor the other way round. A write is done when its address
    and its data have come and the response of the one before has gone. `prot` is not looked at.
    """

    def __init__(self) -> None:
        super().__init__(
            lite_ports()
            | {
                "write": Out(1),
                "write_address": Out(WORD_ADDRESS_BITS),
                "write_data": Out(WORD_BITS),
                "write_mask": Out(WORD_BITS),
                "write_good": In(1),
                "read": Out(1),
                "read_address": Out(WORD_ADDRESS_BITS),
                "read_data": In(WORD_BITS),
                "read_good": In(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        addressed = self._kept(m, "aw", self.write, {"awaddr": self.write_address})
        strobe = Signal(WORD_BITS // 8)
        given = self._kept(m, "w", self.write, {"wdata": self.write_data, "wstrb": strobe})
        asked = self._kept(m, "ar", self.read, {"araddr": self.read_address})
        m.d.comb += [
            self.write.eq(addressed & given & ~self.s_axi_bvalid),
            self.read.eq(asked & ~self.s_axi_rvalid),
            self.write_mask.eq(Cat(bit.replicate(8) for bit in strobe)),
        ]
        m.d.sync += [
            self.s_axi_bvalid.eq(self.write | (self.s_axi_bvalid & ~self.s_axi_bready)),
            self.s_axi_rvalid.eq(self.read | (self.s_axi_rvalid & ~self.s_axi_rready)),
        ]
        with m.If(self.write):
            m.d.sync += self.s_axi_bresp.eq(Mux(self.write_good, OKAY, SLVERR))
        with m.If(self.read):
            m.d.sync += [
                self.s_axi_rresp.eq(Mux(self.read_good, OKAY, SLVERR)),
                self.s_axi_rdata.eq(self.read_data),
            ]
        return m

    def _kept(self, m: Module, channel: str, done: Signal, payload: dict[str, Signal]) -> Signal:
        """High while a transfer of the channel waits until `done`; its payload waits with it."""
        valid = getattr(self, f"s_axi_{channel}valid")
        ready = getattr(self, f"s_axi_{channel}ready")
        full = Signal(name=f"{channel}_full")
        m.d.comb += ready.eq(~full)
        m.d.sync += full.eq((full & ~done) | (valid & ready))
        for port, place in payload.items():
            given = getattr(self, f"s_axi_{port}")
            kept = Signal(len(given), name=f"{port}_kept", reset_less=True)
            with m.If(valid & ready):
                m.d.sync += kept.eq(given)
            m.d.comb += place.eq(kept[2:] if port.endswith("addr") else kept)
        return full
