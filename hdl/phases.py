"""The phase counter of a pipeline: one-hot rings, as many copies as the fan-out asks for.

Each copy is a ring of its own registers, so that synthesis does not merge the copies again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Const, Module, Mux, Signal, Value

ENABLE_LOAD = 96
SELECT_LOAD = 4


class Phases:
    """Phase p of a pipeline is the cycles whose number is p modulo II; 0 follows the reset.

    *Parameters*: near, whether whatever is far from a ring is too late there: then each value has
    an enable bit and each unit has a ring of its own, so that they lie beside what they drive.
    """

    def __init__(self, m: Module, ii: int, *, near: bool = False) -> None:
        self.ii = ii
        self._near = near
        self._m = m
        self._rings: dict[str, list[list[Value]]] = {"enable": [], "select": []}
        self._unit_rings: dict[str, list[Value]] = {}
        self._loads: dict[tuple[str, int], tuple[int, int]] = {}
        self.main = self._ring("phase")

    def _ring(self, name: str) -> list[Value]:
        if self.ii == 1:
            return [Const(1, 1)]
        ring = Signal(self.ii, name=name, init=1)
        self._m.d.sync += ring.eq(ring.rotate_left(1))
        return list(ring)

    def _loaded(self, use: str, phase: int, load: int, limit: int) -> Value:
        """A ring's bit for one more load; of the next ring when this one's has enough."""
        if self._near:
            limit = 1
        number, used = self._loads.get((use, phase), (0, 0))
        if used and used + load > limit:
            number, used = number + 1, 0
        self._loads[use, phase] = number, used + load
        rings = self._rings[use]
        if number == len(rings):
            rings.append(self._ring(f"{use}_phase_{number}"))
        return rings[number][phase]

    def keep(self, register: Signal, value: Value, phase: int | None) -> None:
        """Write the register at the end of a phase, once every II cycles; without one, always."""
        if self.ii == 1 or phase is None:
            self._m.d.sync += register.eq(value)
            return
        enable = self._loaded("enable", phase, len(register), ENABLE_LOAD)
        self._m.d.sync += register.eq(Mux(enable, value, register))

    def enable(self, phase: int, load: int) -> Value:
        """High in a phase, for `load` bits of registers."""
        return self._loaded("enable", phase, load, ENABLE_LOAD) if self.ii > 1 else Const(1, 1)

    def pattern(self, unit: str, name: str, ones: Mapping[int, int]) -> Value:
        """A register bit that is `ones[p]` in phase p (whatever in phases that are not named)."""
        if self._near and unit not in self._unit_rings:
            self._unit_rings[unit] = self._ring(f"{unit}_phase")

        def bit(phase: int) -> Value:
            if self._near:
                return self._unit_rings[unit][phase]
            return self._loaded("select", phase, 1, SELECT_LOAD)

        high = sorted(phase for phase, one in ones.items() if one)
        if len(high) == 1:
            return bit(high[0])
        bits = [bit((phase - 1) % self.ii) for phase in high]
        register = Signal(name=name, reset_less=True)
        self._m.d.sync += register.eq(reduce(or_, bits, Const(0, 1)))
        return register
