"""Rules for the damping lambda of a Levenberg-Marquardt solve."""

from dataclasses import dataclass

import numpy as np

# Measured on the built-in cranes: 1e-3 costs a part of a step more near the solution and leaves ten
# times as many starts stuck at a singular pose; below 1e-5 far starts are undone more often.
INITIAL_DAMPING = 2.0**-13


@dataclass(frozen=True, kw_only=True)
class Damping:
    """A rule for lambda: its first value and its factors after a better and a worse pose.

    It stays between `lowest` and `highest`. With `rolls_back`, a step that raises the cost is
    undone and tried again from the best pose; without, every step is taken.
    """

    initial: float
    on_success: float = 1.0
    on_failure: float = 1.0
    lowest: float = 0.0
    highest: float = np.inf
    rolls_back: bool = True


POLICIES: dict[str, Damping] = {
    "none": Damping(initial=0.0, rolls_back=False),
    "fixed": Damping(initial=INITIAL_DAMPING, rolls_back=False),
    "marquardt": Damping(initial=INITIAL_DAMPING, on_success=1 / 8, on_failure=8.0),
    # As some texts print it: lambda changes on failure only, and then it shrinks.
    "shrink-on-failure": Damping(initial=0.1, on_failure=0.1),
}
