"""The cables' unit rows in a graph: [u, (r x u) / l] in the free coordinates, long words."""

from __future__ import annotations

import math

from solver_ref.cable import CableState, Rotation, cable_at
from solver_ref.fixed import next_power
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.geometry import LEVER_ROOM
from solver_ref.kernels.domain import Domain


def unit_rows(
    m: TracedArithmetic, domain: Domain, position: list[Fixed], turn: Rotation
) -> list[list[Fixed]]:
    """A row of the scaled Jacobian for every cable (l the characteristic length), at the precision
    of `unit`; a length out of reach is flagged `length`."""
    robot, rows = domain.robot, []
    room = LEVER_ROOM if domain.loaded else 0.0
    ways = zip(domain.cables(m), robot.cables, domain.wraps, domain.reach, strict=True)
    for cable, own, wraps, (low, high) in ways:
        state = cable_at(m, position, turn, cable, wraps)
        square = m.clamp(state.square, low * low, high * high, "length")
        _, inverse = m.square_root(square, "unit")
        unit = [within_word(m, x * inverse, 1.0) for x in state.vector]
        lever = (math.hypot(*own.attachment) + room) / robot.characteristic_length
        size = next_power(lever or 1.0)
        row = unit + _moment(m, state, unit, robot.characteristic_length, size)
        rows.append([row[index] for index in robot.free])
    return rows


def _moment(
    m: TracedArithmetic, state: CableState, unit: list[Fixed], length: float, size: float
) -> list[Fixed]:
    """(r x u) / l, within the size of r / l."""
    scale = m.constant(1 / length, "unit")
    arm = [m.nearest(x * scale, "unit") for x in state.lever]
    turns = ((1, 2), (2, 0), (0, 1))
    return [within_word(m, arm[j] * unit[k] - arm[k] * unit[j], size) for j, k in turns]


def within_word(m: TracedArithmetic, value: Fixed | int, size: float) -> Fixed | int:
    """The value as a word of +-size, which is no fault: rounding alone can pass it."""
    if not isinstance(value, Fixed):
        return value
    return m.nearest(value.into(-size, size * (1 - 2.0**-24), "saturate"), "unit")
