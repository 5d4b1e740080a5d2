"""Moves operations within their windows so that values wait in fewer registers.

The linear program of `hdl.placement` counts cycles; registers come in stages of II cycles, and a
passing result that is read at once needs none. Single moves make up the difference.
"""

from __future__ import annotations

from collections.abc import Set

from hdl.lifetimes import DIRECT, stage
from hdl.network import Network
from hdl.storage import SHORTEST_MEMORY
from solver_ref import graph as g

SWEEPS = 3
REACH = 24
"""Only that many cycles from where it is an operation looks for a better place."""


def refine(
    network: Network, starts: dict[int, int], *, ii: int, passing: Set[int], fixed: Set[int]
) -> dict[int, int]:
    """Start cycles of all operations and the sink; those not in `fixed` moved where it helps."""
    mover = _Mover(network, dict(starts), ii, passing)
    movable = [
        i
        for i in network.operations
        if i not in fixed and not isinstance(network.graph.nodes[i], g.Input)
    ]
    for sweep in range(SWEEPS):
        moves = [mover.improve(i) for i in (movable if sweep % 2 else reversed(movable))]
        if not any(moves):
            break
    return mover.starts


class _Mover:
    def __init__(self, network: Network, starts: dict[int, int], ii: int, passing) -> None:
        self.network, self.starts, self.ii, self.passing = network, starts, ii, passing

    def improve(self, i: int) -> bool:
        """Move an operation to its cheapest cycle; whether it moved."""
        network, starts, now = self.network, self.starts, self.starts[i]
        first = max([1, *(starts[o] + network.latency[o] for o in network.operands[i])])
        last = min(starts[user] for user in network.users[i]) - network.latency[i]
        reads = [
            (o, max([0, *(starts[user] for user in network.users[o] if user != i)]))
            for o in network.operands[i]
        ]
        final = max(starts[user] for user in network.users[i])

        def cost(cycle: int) -> float:
            total = self._line(i, cycle + network.latency[i], final)
            for operand, other in reads:
                ready = starts[operand] + network.latency[operand]
                total += self._line(operand, ready, max(other, cycle))
            return total

        choices = range(max(first, now - REACH), min(last, now + REACH) + 1)
        best = min(choices, key=lambda cycle: (cost(cycle), abs(cycle - now), cycle))
        starts[i] = best
        return best != now

    def _line(self, i: int, ready: int, last: int) -> float:
        """Register bits of a value's stages, with a little for each cycle of waiting."""
        stages = stage(last - ready, self.ii, i in self.passing)
        kept = 0.0 if stages == DIRECT else 1 + _stages(stages)
        return self.network.width[i] * (kept + (last - ready) / (64 * self.ii))


def _stages(count: int) -> float:
    """The first few stages are registers; more of them share a shift register or a memory."""
    short = SHORTEST_MEMORY - 1
    return count if count <= short else short + (count - short) / 16
