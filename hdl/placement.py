"""Start cycles under a limited number of units: modulo scheduling of a graph without feedback.

The tightest operation is placed first, and its neighbours' windows shrink with it. A linear program
tells where operations would like to be, so that values wait as little as possible.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Mapping

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from hdl.network import Network

Starts = dict[int, int]
ATTEMPTS = 24


class Windows:
    """For each operation the first and last cycle that its neighbours leave it."""

    def __init__(self, network: Network, length: int) -> None:
        self.network = network
        self.early = dict(network.earliest) | {network.sink: length}
        self.late = network.latest(length)

    def slack(self, operation: int) -> int:
        return self.late[operation] - self.early[operation]

    def fix(self, operation: int, start: int) -> list[int]:
        """Put an operation into a cycle of its window. Returns whose window changed."""
        network, changed = self.network, []
        self.early[operation] = self.late[operation] = start
        stack = [operation]
        while stack:
            i = stack.pop()
            if i == network.sink:
                continue
            ready = self.early[i] + network.latency[i]
            for user in network.users[i]:
                if self.early[user] < ready:
                    self.early[user] = ready
                    changed.append(user)
                    stack.append(user)
        stack = [operation]
        while stack:
            i = stack.pop()
            for operand in network.operands[i]:
                last = self.late[i] - network.latency[operand]
                if self.late[operand] > last:
                    self.late[operand] = last
                    changed.append(operand)
                    stack.append(operand)
        return changed


class DoesNotFit(Exception):
    """An operation found no free unit in its window."""

    def __init__(self, operation: int) -> None:
        super().__init__(operation)
        self.operation = operation


def place(
    network: Network,
    length: int,
    *,
    ii: int,
    pools: Mapping[int, Hashable],
    units: Mapping[Hashable, int],
    wanted: Mapping[int, int] | None = None,
) -> Starts | None:
    """Start cycles of the operations in `pools`, at most `units[pool]` of one in a phase.

    Each comes as near to its `wanted` cycle (default: as early) as its window allows. None if they
    were not made to fit into `length` cycles.
    """

    def attempt(rank: Callable[[Windows, int], int]) -> Starts:
        return _placed(network, length, ii, pools, units, wanted, rank)

    urgent: set[int] = set()
    while len(urgent) < ATTEMPTS:
        try:
            return attempt(lambda w, i: -1 if i in urgent else w.slack(i))
        except DoesNotFit as failure:
            if failure.operation in urgent:
                break
            urgent.add(failure.operation)
    try:
        # Operands before users: this fits sooner or later as the length grows.
        return attempt(lambda w, i: 0)
    except DoesNotFit:
        return None


def _placed(
    network: Network,
    length: int,
    ii: int,
    pools: Mapping[int, Hashable],
    units: Mapping[Hashable, int],
    wanted: Mapping[int, int] | None,
    rank: Callable[[Windows, int], int],
) -> Starts:
    """The operation of the lowest rank first, among equals the one that could start first."""
    windows = Windows(network, length)

    def urgency(i: int) -> tuple[int, int, int]:
        return rank(windows, i), windows.early[i], i

    slots = _Slots(ii, units)
    queue = [urgency(i) for i in pools]
    heapq.heapify(queue)
    starts: Starts = {}
    while queue:
        found = heapq.heappop(queue)
        i = found[-1]
        if i in starts:
            continue
        if found != urgency(i):
            heapq.heappush(queue, urgency(i))
            continue
        early, late = windows.early[i], windows.late[i]
        aim = early if wanted is None else min(max(wanted[i], early), late)
        choice = slots.nearest(pools[i], aim, early, late)
        if choice is None:
            raise DoesNotFit(i)
        starts[i] = choice
        slots.take(pools[i], choice)
        for j in windows.fix(i, choice):
            if j in pools and j not in starts:
                heapq.heappush(queue, urgency(j))
    return starts


class _Slots:
    """Which slots of which pool are taken, by phase and, for locality, by cycle."""

    def __init__(self, ii: int, units: Mapping[Hashable, int]) -> None:
        self.ii, self.units = ii, units
        self._phases: Counter[tuple[Hashable, int]] = Counter()
        self._cycles: Counter[tuple[Hashable, int]] = Counter()

    def take(self, pool: Hashable, cycle: int) -> None:
        self._phases[pool, cycle % self.ii] += 1
        self._cycles[pool, cycle] += 1

    def nearest(self, pool: Hashable, aim: int, first: int, last: int) -> int | None:
        """A free cycle in first..last near `aim`.

        Of those within II the one that evens out the phases just there: then operations of one
        time fill the slots of few units, which lie close together on the chip.
        """
        low, high = max(first, aim - self.ii), min(last, aim + self.ii)
        near = [c for c in range(low, high + 1) if self._free(pool, c)]
        if near:
            return min(near, key=lambda c: (self._crowd(pool, c) + abs(c - aim) / 4, c))
        return next((c for c in range(first, last + 1) if self._free(pool, c)), None)

    def _free(self, pool: Hashable, cycle: int) -> bool:
        return self._phases[pool, cycle % self.ii] < self.units[pool]

    def _crowd(self, pool: Hashable, cycle: int) -> int:
        """How many others have the same phase at about the same time."""
        return sum(self._cycles[pool, cycle + turn * self.ii] for turn in (-2, -1, 0, 1, 2))


def shortest_waits(network: Network, length: int, fixed: Mapping[int, int]) -> Starts:
    """Start cycles of all operations that minimise bits times cycles of waiting.

    Exact for the sum over values of width * (last reading - availability), with the `fixed`
    operations in their cycles: a linear program whose matrix has only integer corners.
    """
    if not network.operations:
        return {}
    early = network.earliest
    late = network.latest(length)
    column = {i: n for n, i in enumerate((*network.operations, network.sink))}
    count = len(network.operations)
    cost = np.zeros(2 * count + 1)
    rows: list[tuple[int, int, int]] = []
    for i in network.operations:
        cost[column[i]] -= network.width[i]
        cost[count + 1 + column[i]] += network.width[i]
        for user in network.users[i]:
            rows.append((column[i], column[user], -network.latency[i]))
            rows.append((column[user], count + 1 + column[i], 0))
    bounds = [(fixed.get(i, early[i]), fixed.get(i, late[i])) for i in network.operations]
    bounds += [(length, length)] + [(0, length)] * count
    index = np.repeat(np.arange(len(rows)), 2)
    columns = np.array([row[:2] for row in rows]).reshape(-1)
    matrix = csr_array((np.tile([1.0, -1.0], len(rows)), (index, columns)))
    limits = [row[2] for row in rows]
    result = linprog(cost, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs-ds")
    assert result.status == 0, result.message
    return {i: round(result.x[column[i]]) for i in network.operations}
