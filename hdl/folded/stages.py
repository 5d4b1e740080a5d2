"""In which stage of the folded core each part of an instruction is done, by family of chips.

Counted from the cycle in which an instruction is addressed: 1 its word, 2 its operands; its result
is written at the end of stage `latency`, to be read by what starts `latency` cycles later.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stages:
    """The stages in which these stand: the `product`; what is shifted, `wide`; the `coarse` shift
    and the whole one, `shifted`; the sum, `added`. Equal neighbours share a cycle."""

    product: int
    wide: int
    coarse: int
    shifted: int
    added: int

    @property
    def latency(self) -> int:
        return self.added + 1


LONG = Stages(product=6, wide=7, coarse=8, shifted=9, added=10)
SHORT = Stages(product=5, wide=5, coarse=5, shifted=6, added=7)
"""For chips with a slow clock, where fewer cycles are worth more than short ones."""


def stages(family: str) -> Stages:
    """Those of a family of chips."""
    return SHORT if family == "ice40" else LONG
