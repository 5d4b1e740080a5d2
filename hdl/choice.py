"""One of many values, as an expression: a case statement becomes text that not every tool reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Const, Value


def chosen(key: Value, values: Mapping[int, Value]) -> Value:
    """The value whose number `key` is, as wide as the widest one; 0 where there is none."""
    masked = [
        Value.cast(value)[:] & (key == number).replicate(len(Value.cast(value)))
        for number, value in values.items()
    ]
    return reduce(or_, masked, Const(0, 1))
