"""The status word of a result: the same bits in hardware, models, drivers and manifests."""

from collections.abc import Mapping
from enum import IntFlag

import numpy as np

# What stands for a word without any bit, so that a CSV cell is never empty.
NO_BITS = "NONE"


class Status(IntFlag):
    """What is known of one result. A result may be used where VALID is set, and only there.

    NEAR_SINGULAR and SLACK are warnings beside VALID; ITERATION_LIMIT, OUT_OF_RANGE, NO_SOLUTION,
    STALE and JUMP each exclude it.
    """

    VALID = 1 << 0
    CONVERGED = 1 << 1
    ITERATION_LIMIT = 1 << 2
    NEAR_SINGULAR = 1 << 3
    OUT_OF_RANGE = 1 << 4
    SLACK = 1 << 5
    NO_SOLUTION = 1 << 6
    STALE = 1 << 7
    JUMP = 1 << 8

    def names(self) -> str:
        """The names of the bits that are set, lowest first, joined by ``|``; ``NONE`` for none."""
        return "|".join(bit.name or "" for bit in type(self) if bit in self) or NO_BITS

    @classmethod
    def parse(cls, text: str) -> "Status":
        """The word that `names` writes as `text`. Raises ValueError for another name."""
        status = cls(0)
        for name in text.split("|") if text != NO_BITS else ():
            if name not in cls.__members__:
                raise ValueError(
                    f"a status name must be one of {'|'.join(cls.__members__)}, not {name!r}"
                )
            status |= cls[name]
        return status


def status_words(bits: Mapping[Status, np.ndarray]) -> np.ndarray:
    """The words of rows, (N,), from whether each row has a bit, (N,) each."""
    return sum(np.where(where, int(bit), 0) for bit, where in bits.items())


# The bits that say why a result may not be used.
FAULTS = (
    Status.ITERATION_LIMIT | Status.OUT_OF_RANGE | Status.NO_SOLUTION | Status.STALE | Status.JUMP
)
STATUS_BITS = len(Status)
