"""Several folded cores behind one pair of streams: each transfer goes to one that is free."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Mux, Signal

from hdl.folded.kernel import FoldedKernel
from hdl.folded.passes import Passes
from hdl.reorder import ReorderBuffer
from hdl.shell import StreamPorts
from hdl.target import Target

LARGEST_TEAM = 32


def places(cores: int) -> int:
    """Results that may be under way or wait for one in front of them: a solve without an end takes
    five times as long as most, while each of the other cores ends as many."""
    return 1 << (4 * cores - 1).bit_length()


class Team(StreamPorts):
    """`cores` folded kernels, which take one transfer each.

    *Parameters*: the passes; the target; `cores`, at least 2; `tag_width`.

    *Contract*: that of `FoldedKernel`, results in input order. A turn goes round and stays at a
    free core, which loads the next transfer if there is a place for its result; of cores that are
    done the first one gives its result away. With outputs always taken, latency and II are those of
    `TeamClock`.
    """

    def __init__(
        self,
        passes: Passes,
        target: Target,
        *,
        cores: int,
        tag_width: int = 8,
        behavioural: bool = False,
    ) -> None:
        super().__init__(inputs=passes.fields, outputs=passes.results, tag_width=tag_width)
        self._reorder = ReorderBuffer(
            width=len(self.word("o")), tag_width=tag_width, depth=places(cores)
        )
        self._cores = [
            FoldedKernel(
                passes, target, tag_width=len(self._reorder.place), behavioural=behavioural
            )
            for _ in range(cores)
        ]

    def elaborate(self, platform) -> Module:
        m = Module()
        cores, reorder = self._cores, self._reorder
        m.submodules.reorder = reorder
        turn, busy = Signal(range(len(cores))), Signal(len(cores))
        enter, leave = Signal(len(cores)), Signal(len(cores))
        done = Cat(core.o_valid for core in cores)
        free = reorder.room & ~busy.bit_select(turn, 1)
        for number, core in enumerate(cores):
            m.submodules[f"core_{number}"] = core
            m.d.comb += [
                core.i_valid.eq(self.i_valid & free & (turn == number)),
                core.word("i").eq(self.word("i")),
                core.i_tag.eq(reorder.place),
                core.o_ready.eq(~done[:number].any()),
                enter[number].eq(core.i_valid & core.i_ready),
                leave[number].eq(core.o_valid & core.o_ready),
            ]
        moves = enter.any() | busy.bit_select(turn, 1)
        m.d.sync += [
            busy.eq((busy | enter) & ~leave),
            turn.eq(Mux(moves, Mux(turn == len(cores) - 1, 0, turn + 1), turn)),
        ]
        first = Signal.like(turn)
        for number in reversed(range(len(cores))):
            with m.If(done[number]):
                m.d.comb += first.eq(number)
        m.d.comb += [
            self.i_ready.eq(free & Array(core.i_ready for core in cores)[turn]),
            reorder.take.eq(enter.any()),
            reorder.take_tag.eq(self.i_tag),
            reorder.write.eq(done.any()),
            reorder.at.eq(Array(core.o_tag for core in cores)[first]),
            reorder.result.eq(Array(core.word("o") for core in cores)[first]),
            self.o_valid.eq(reorder.o_valid),
            reorder.o_ready.eq(self.o_ready),
            self.word("o").eq(reorder.o_result),
            self.o_tag.eq(reorder.o_tag),
        ]
        return m
