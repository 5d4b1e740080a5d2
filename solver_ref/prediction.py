"""Where the next pose of a stream will be: starts for a solve from the poses before it.

x + v dt + a dt^2 / 2 in the pose's own coordinates (m, rad), v and a from differences of the last
poses. A rotation vector is such a coordinate as long as it stays away from half a turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# How many past poses each predictor takes; the pose before stands for no prediction at all.
PREDICTORS: dict[str, int] = {"none": 1, "velocity": 2, "acceleration": 3}
# The weights of the poses k, k-1, k-2: what extends a constant, a line, a parabola by one sample.
_WEIGHTS = {1: (1.0,), 2: (2.0, -1.0), 3: (3.0, -3.0, 1.0)}


def predict(past: Sequence[np.ndarray], predictor: str = "acceleration") -> np.ndarray:
    """The next of equally spaced poses.

    `past`: poses (..., coordinates), the newest last; with fewer than the predictor wants, the
    lower order is taken. `velocity` is exact for constant rates: off by a dt^2 under an
    acceleration a, and an independent error of standard deviation s in each pose comes out as
    2.2 s. `acceleration` is off by the jerk times dt^3 and makes 4.4 s of it.

    Raises ValueError for no pose and for an unknown predictor.
    """
    if predictor not in PREDICTORS:
        known = ", ".join(PREDICTORS)
        raise ValueError(f"a predictor must be one of {known}, not {predictor}")
    if not len(past):
        raise ValueError("a prediction needs at least one past pose")
    weights = _WEIGHTS[min(PREDICTORS[predictor], len(past))]
    return sum(w * np.asarray(past[-1 - i], float) for i, w in enumerate(weights))


def extrapolate(
    pose: np.ndarray, rate: np.ndarray, dt: float, acceleration: np.ndarray | float = 0.0
) -> np.ndarray:
    """x + v dt + a dt^2 / 2 with known derivatives of the coordinates (1/s and 1/s^2)."""
    return pose + dt * (rate + dt / 2 * acceleration)
