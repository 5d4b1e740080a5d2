"""How long each value is kept, in which stages, and which of its bits.

A register is written once every II cycles and so holds its value for II; each further stage holds
it for II more. A shared unit's result stands for one cycle only and is caught if somebody reads it
later.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from hdl.network import Network

DIRECT = -1


@dataclass(frozen=True)
class Line:
    """The stages of one value.

    ready: the first cycle in which the result stands. passing: it stands for one cycle only, and
    stage 0 is a register that catches it; else stage 0 is the operation's own register. kept: for
    each stage that is read (`DIRECT`: the passing result itself) the bits [low, high) that it and
    later stages must have. lasting: where stage 0 needs no enable, as what feeds it stands as long
    as it is read, the last cycle in which it stands.
    """

    ready: int
    ii: int
    passing: bool
    kept: dict[int, tuple[int, int]]
    lasting: int | None = None

    def stage(self, cycle: int) -> int:
        return stage(cycle - self.ready, self.ii, self.passing)

    def stands(self, cycle: int) -> int:
        """The last cycle in which the stage that is read in a cycle still has the value."""
        at = self.stage(cycle)
        if at == DIRECT:
            return self.ready
        if at == 0 and self.lasting is not None:
            return self.lasting
        return self.ready + self.passing + (at + 1) * self.ii - 1

    @property
    def depth(self) -> int:
        """The last stage that is read."""
        return max(self.kept)

    @property
    def phase(self) -> int:
        """The phase at whose end all stages are written."""
        return (self.ready - (not self.passing)) % self.ii


def stage(wait: int, ii: int, passing: bool) -> int:
    """Where a value is read `wait` cycles after it is ready."""
    assert wait >= 0
    if passing:
        return DIRECT if wait == 0 else (wait - 1) // ii
    return wait // ii


def lines(
    network: Network, starts: dict[int, int], ii: int, passing: frozenset[int]
) -> dict[int, Line]:
    """One line for each operation, from the start cycles of all (the sink included)."""
    ready = {i: starts[i] + network.latency[i] for i in network.operations}
    reads: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for user, piece in network.bits_read():
        i = piece.source
        at = stage(starts[user] - ready[i], ii, i in passing)
        reads[i][at] += (piece.low, piece.high)
    result: dict[int, Line] = {}
    for i in network.operations:
        last = max(starts[user] for user in network.users[i])
        operands = [(result[o], starts[i]) for o in network.operands[i]]
        if i in passing:
            feeding = ready[i]
        elif network.latency[i] == 1:
            # The port of an input stands in cycle 0 only.
            feeding = min((line.stands(cycle) for line, cycle in operands), default=starts[i])
        else:
            feeding = starts[i] + ii  # registers inside, which are written once
        kept = _kept(reads[i])
        lasting = feeding + 1 if max(kept) <= 0 and last <= feeding + 1 else None
        result[i] = Line(ready[i], ii, i in passing, kept, lasting)
    return result


def _kept(reads: dict[int, list[int]]) -> dict[int, tuple[int, int]]:
    kept, bits = {}, []
    for at in sorted(reads, reverse=True):
        bits += reads[at]
        kept[at] = min(bits), max(bits)
    return dict(sorted(kept.items()))
