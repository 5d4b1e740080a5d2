"""What a stream of samples says about itself: late, lost, frozen, jumped, slack.

Each rule is a comparison with a threshold that is fixed beforehand, so that hardware can hold it as
one number. A rule answers for the sample at hand; none looks ahead. Lengths in m, times in s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A sample is late when so many periods have passed since the one before it.
LATE = 1.5
# The quanta that a predicted length may be off at best: its own, and those of the pose behind it.
NOISE_QUANTA = 4
# After so many samples in a row that could not be used, the prediction is no more to be trusted.
PATIENCE = 8
# The share of a predicted movement that each further sample forgets.
FORGOTTEN = 1 / 8


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What physics allows, and how finely it is measured.

    `acceleration` (m/s^2): the largest of a cable's length, with what a stop or an impact adds;
    `speed` (m/s): the largest of a length, for the first samples, when the velocity is not known;
    `noise` (m): how far a measured length may be off beside its quantum, or a predicted one because
    of other sensors' noise (an attitude's).
    """

    acceleration: float = 30.0
    speed: float = 3.0
    noise: float = 0.0


USUAL_LIMITS = Limits()


def late(elapsed: float | np.ndarray, period: float) -> np.ndarray:
    """STALE: no sample for 1.5 periods (one lost, or one late). `elapsed` since the last one."""
    return np.asarray(elapsed) > LATE * period


def lost_samples(elapsed: float | np.ndarray, period: float) -> np.ndarray:
    """How many samples are missing between two that came `elapsed` apart: 0 where none is."""
    return np.maximum(np.rint(np.asarray(elapsed) / period).astype(int) - 1, 0)


def unchanged_sums(
    sums: np.ndarray, lengths: np.ndarray, before: np.ndarray, moved: np.ndarray
) -> np.ndarray:
    """The movement that was predicted of each encoder since its code changed last, m.

    `sums`: what this gave for the sample before; `lengths`, `before`: this sample and that one;
    `moved`: how the prediction for this sample changed the lengths. (Not the innovations: those
    of more lengths than unknowns have a constant part, which adds up.) An encoder whose code
    changes starts from zero, and an eighth is forgotten with each sample: a state of few bits may
    be predicted to move by one quantum, and corrected back, for ever.
    """
    return np.where(lengths == before, (1 - FORGOTTEN) * sums + moved, 0.0)


def frozen(sums: np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    """STALE: an encoder that should have moved by more than the threshold, and has not.

    `sums` as `unchanged_sums` gives them; the threshold is that of a jump. What moves by more than
    it from one sample to the next is seen in one sample (6.2 um, so 62 mm/s at 10 kHz with the
    usual limits), a quarter of that some samples later. At standstill nothing is predicted to
    move, so that nothing is frozen.
    """
    return np.abs(sums) > threshold


def innovation_threshold(
    period: float,
    quantum: float,
    limits: Limits,
    velocity_gain: float,
    *,
    missed: int | np.ndarray = 0,
    settling: bool | np.ndarray = False,
) -> np.ndarray:
    """The largest innovation |L - L_pred| that physics allows, m.

    a dt^2 / beta is the lag of a velocity that is filtered with the gain beta under a steady
    acceleration a, more than what a change of acceleration makes of one sample; `missed` samples
    before this one add a (missed dt)^2 / 2. While `settling` the velocity is not known yet, and
    the speed takes its part. Rounding and noise come on top.
    """
    lag = limits.acceleration * period**2 / velocity_gain
    coasted = limits.acceleration * (np.asarray(missed) * period) ** 2 / 2
    unknown = np.where(settling, limits.speed * period * (1 + np.asarray(missed)), 0.0)
    return lag + coasted + unknown + NOISE_QUANTA * quantum + limits.noise


def jumped(innovation: np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    """JUMP: a length further from its prediction than physics allows. NaN counts as a jump."""
    return ~(np.abs(innovation) <= threshold)


def slack(tensions: np.ndarray, lowest: np.ndarray | float) -> np.ndarray:
    """SLACK: a measured tension (N) at or below its cable's bound. NaN counts as slack.

    A cable without a bound has the bound 0: it is slack when nothing pulls.
    """
    return ~(np.asarray(tensions) > lowest)
