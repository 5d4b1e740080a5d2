"""The top level of a board: the PLL, a reset after the power comes, and what speaks over the serial
link with the world outside."""

from __future__ import annotations

from amaranth.hdl import ClockDomain, ClockSignal, Module, Mux, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from boards.definition import Board
from boards.pll import Pll

WAIT = 1023
"""Clock cycles of reset after the PLL has locked. Block RAM of an iCE40 reads as zero for some
microseconds after configuration (YosysHQ/icestorm, issue 76)."""


class BoardTop(wiring.Component):
    """Ports as the board's constraints name them: `osc`, `rx` -> `tx`, `led`.

    *Parameters*: `link`, a component with `rx`, which may change at any time, and `tx`, in the
    clock of the PLL; the PLL; the board. The LED is lit while the link is out of reset.
    """

    def __init__(self, link: wiring.Component, *, pll: Pll, board: Board) -> None:
        self._link, self._pll, self._board = link, pll, board
        super().__init__({"osc": In(1), "rx": In(1), "tx": Out(1), "led": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.domains.sync = ClockDomain()
        locked, stable = Signal(), Signal()
        m.submodules.pll = self._pll.instance(osc=self.osc, clock=ClockSignal(), locked=locked)
        # These registers make the reset, so it is not for them.
        m.submodules.locked = FFSynchronizer(locked, stable, reset_less=True)
        count = Signal(range(WAIT + 1), reset_less=True)
        reset = Signal(init=1, reset_less=True)
        waited = count == WAIT
        m.d.sync += [
            count.eq(Mux(stable, Mux(waited, count, count + 1), 0)),
            reset.eq(~(stable & waited)),
        ]
        m.d.comb += ResetSignal().eq(reset)

        m.submodules.link = link = self._link
        inverted = self._board.pins["led"].inverted
        m.d.comb += [
            link.rx.eq(self.rx),
            self.tx.eq(link.tx),
            self.led.eq(reset if inverted else ~reset),
        ]
        return m
