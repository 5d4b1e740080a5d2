"""When the transfers of a team of folded cores come and go, to the cycle."""

from __future__ import annotations

import numpy as np

from solver_ref.iteration import Timing


class TeamClock:
    """The cycles of transfers that are offered, and whose results are taken, without a pause.

    *Parameters*: how many `cores` and `places` there are; the cycles in which a core `loads`; those
    of a pass.

    A core loads in a row of cycles, the last of which accepts, works one cycle and its passes, and
    is free the cycle after its result was written. A result may be popped one cycle after it was
    written and one after the one in front of it, and is presented one cycle later.
    """

    def __init__(self, *, cores: int, places: int, loads: int, cycles: int) -> None:
        self._cores, self._places, self._loads, self._cycles = cores, places, loads, cycles

    def timing(self, passes: np.ndarray) -> Timing:
        """Of transfers of so many passes each; cycle 0 is that of the first accepted input."""
        self._work = [1 + int(count) * self._cycles for count in passes]
        self._free = dict.fromkeys(range(self._cores), 1 - self._loads)
        self._ready: dict[int, tuple[int, int]] = {}  # by core: when, and the transfer
        self._written: dict[int, int] = {}
        self._popped: list[int] = []
        self._last_write, self._turn, self._since = -1, 0, 1 - self._loads
        accept = [self._accepted(k) for k in range(len(self._work))]
        while self._ready:
            self._write()
        return Timing(np.array(accept, np.int64), np.array(self._popped, np.int64) + 1)

    def _accepted(self, k: int) -> int:
        """The cycle in which transfer `k` is accepted, after all writes that matter to it."""
        while len(self._popped) <= k - self._places:
            self._write()
        found = self._found()
        while found is None or (self._ready and self._next_write() < found[0]):
            self._write()
            found = self._found()
        at, core = found
        room = self._popped[k - self._places] + 1 if k >= self._places else at
        accept = max(at, room) + self._loads - 1
        # What is written while the core loads changes nothing for this transfer.
        del self._free[core]
        self._ready[core] = (accept + self._work[k], k)
        self._turn, self._since = (core + 1) % self._cores, accept + 1
        return accept

    def _found(self) -> tuple[int, int] | None:
        """When the turn stays at which of the cores that are free by now."""
        arrivals = []
        for core, free in self._free.items():
            at = self._since + (core - self._turn) % self._cores
            rounds = max(0, -(-(free - at) // self._cores))
            arrivals.append((at + rounds * self._cores, core))
        return min(arrivals, default=None)

    def _next_write(self) -> int:
        return max(min(self._ready.values())[0], self._last_write + 1)

    def _write(self) -> None:
        """The next result leaves its core: that of the first core of those that are done."""
        at = self._next_write()
        core = min(core for core, (ready, _) in self._ready.items() if ready <= at)
        _, k = self._ready.pop(core)
        self._free[core] = at + 1
        self._written[k], self._last_write = at, at
        while (k := len(self._popped)) in self._written:
            before = self._popped[-1] if self._popped else -1
            self._popped.append(max(self._written.pop(k), before) + 1)
