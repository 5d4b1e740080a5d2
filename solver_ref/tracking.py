"""Tracking a stream of lengths in float64: predict, prepare, correct, verify.

Everything that depends on the predicted pose is prepared before the lengths arrive: the rows, the
gain K and the predicted lengths. Then x = x_pred + K (L - L_pred): one subtraction, one product,
one sum. It is one Gauss-Newton step, whose error is of second order in that of the prediction.
Arrays hold any number of streams, shape (streams, ...).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from solver_ref import detection, domain
from solver_ref.detection import USUAL_LIMITS, Limits
from solver_ref.kinematics import rate_matrix
from solver_ref.measurement import Model, gain, length_model
from solver_ref.robot import Robot
from solver_ref.status import FAULTS, Status

# Where the rates are not known at the start, they are after so many time constants of the filter.
SETTLING = 8


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Gains of the rates: v += `velocity` d and a += `acceleration` d, d = K (L - L_pred).

    The pose itself takes all of d. Powers of two, so that hardware shifts: see `at`. (1, 0) is the
    plain difference of two poses.

    Raises ValueError where the velocity's gain is not above 0 and at most 1.
    """

    velocity: float = 1 / 8
    acceleration: float = 1 / 128

    def __post_init__(self) -> None:
        if not 0 < self.velocity <= 1:
            raise ValueError(
                f"the velocity's gain must be above 0 and at most 1, not {self.velocity}"
            )

    @classmethod
    def at(cls, rate: float) -> Filter:
        """The gains that suit a sample rate (Hz): 1/8 and 1/128 at 10 kHz, 1/2 and 1/8 at 1 kHz and
        below, a quarter of the velocity's with each decade; acceleration = velocity^2 / 2 is damped
        well."""
        velocity = 2.0 ** -max(1, round(3 + 2 * math.log10(rate / 10_000)))
        return cls(velocity=velocity, acceleration=velocity**2 / 2)


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Quanta of the state as hardware keeps it; None is exact.

    `pose` (m, rad); `rate` (m, rad per sample) and so of the accelerations; `gain_bits`: of an
    entry of K, sign included, all with the binary point that the largest one needs.
    """

    pose: float | None = None
    rate: float | None = None
    gain_bits: int | None = None


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What is ready before a sample: `state` (..., n), `measured` (..., m), `gain` (..., n, m)."""

    state: np.ndarray
    measured: np.ndarray
    gain: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Update:
    """What a sample gives: `poses` and `twists` (..., coordinates) as published; `innovation`
    (..., m): measured minus predicted; `status` (...): faults alone, `verify` knows the rest."""

    poses: np.ndarray
    twists: np.ndarray
    innovation: np.ndarray
    status: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The check behind a sample: `residual` (..., m) of the published pose, measured minus true;
    `radius` (..., 2): the exact solution is within that many m and rad; `status` (...)."""

    residual: np.ndarray
    radius: np.ndarray
    status: np.ndarray


class Tracker:
    """Follows streams of samples at `rate` (Hz): the robot's lengths, or those of a `model`.

    In turn: `prepare`, `correct` with a sample (or `coast` where none came), `verify`. A refused
    sample (frozen, jumped) leaves the published pose as it was while the state coasts on; after
    `detection.PATIENCE` refusals in a row the stream is given up until `start`.
    """

    def __init__(
        self,
        robot: Robot,
        rate: float,
        *,
        model: Model | None = None,
        filter: Filter = Filter(),
        precision: Precision = Precision(),
        limits: Limits = USUAL_LIMITS,
    ) -> None:
        if not rate > 0:
            raise ValueError(f"the sample rate must be above 0 Hz, not {rate}")
        self.robot, self.period = robot, 1 / rate
        self.model = length_model(robot) if model is None else model
        self.filter, self.precision, self.limits = filter, precision, limits

    def start(self, state: np.ndarray, rates: np.ndarray | None = None) -> None:
        """Begin at states (streams, n), with their rates (1/s) where they are known.

        Where they are not, they are zero and the first samples may be further from the prediction.
        """
        self.state = _rounded(np.array(state, float), self.precision.pose)
        known = rates is not None
        self.step = np.array(rates, float) * self.period if known else np.zeros_like(self.state)
        self.bend = np.zeros_like(self.state)
        self.published, self.twist = self.state, self._twists()
        streams = self.state.shape[:-1]
        self.settling = np.full(streams, 0 if known else round(SETTLING / self.filter.velocity))
        self.missed, self.gap = np.zeros(streams, int), np.zeros(streams, bool)
        # The lengths of the last sample and of the last accepted one; by how much the prediction
        # moved them in this sample, since then, and since their encoder's code changed last.
        self.before = self.accepted = np.full((*streams, self.model.lengths), np.nan)
        self.moved = self.travel = self.sums = np.zeros((*streams, self.model.lengths))

    def prepare(self) -> Prediction:
        """Extend the state by one period; its rows, gain and measurements. No sample is needed."""
        state = _rounded(self.state + self.step + self.bend / 2, self.precision.pose)
        measured, derivatives = self.model.rows(state)
        factors = gain(self.model, derivatives)
        if self.precision.gain_bits is not None:
            top = 2.0 ** np.ceil(np.log2(np.abs(factors).max()))
            factors = _rounded(factors, top * 2.0 ** (1 - self.precision.gain_bits))
        rows = derivatives[..., : self.model.lengths, :]
        self.moved = (rows @ (state - self.state)[..., None])[..., 0]
        self.travel = self.travel + self.moved
        self.prediction = Prediction(state=state, measured=measured, gain=factors)
        return self.prediction

    def correct(self, measured: np.ndarray) -> Update:
        """Take samples (streams, m): the feedback path, then the faults and the rates."""
        ready, self.measured = self.prediction, np.asarray(measured, float)
        innovation = self.measured - ready.measured
        step = (ready.gain @ innovation[..., None])[..., 0]
        state = _rounded(ready.state + step, self.precision.pose)
        fresh = np.isnan(self.accepted[..., :1])
        faults = self._faults(innovation[..., : self.model.lengths])
        self.refused = faults != 0
        good = ~self.refused[..., None]
        state = np.where(good, state, ready.state)
        # The rates follow the state as it was rounded: or, at rest, they would push it for ever.
        # The first correction says how far off the start was, and nothing of a movement.
        self._advance(state, np.where(fresh, 0.0, state - ready.state))
        self.missed = np.where(self.refused, self.missed + 1, 0)
        self.published = np.where(good, self.state, self.published)
        self.twist = np.where(good, self._twists(), self.twist)
        self.status = faults | self._bit(Status.STALE, self.gap)
        self.gap = np.zeros_like(self.gap)
        return self._update(innovation)

    def coast(self) -> Update:
        """No sample came in its time: the state goes on as predicted, the published pose stays.

        STALE is said now, and of the sample that follows too, although it is used.
        """
        self.measured = np.full(self.prediction.measured.shape, np.nan)
        self._advance(self.prediction.state, np.zeros_like(self.state))
        self.missed, self.gap = self.missed + 1, np.ones_like(self.gap)
        self.refused = np.ones_like(self.gap)
        self.status = self._bit(Status.STALE, self.gap)
        return self._update(self.measured)

    def verify(self) -> Verdict:
        """The published pose against the last sample: its true residual, its radius, its status.

        VALID: not refused, in range, the residual within the robot's limit, and the correction
        that it still asks for within the accuracy. The radius is |K| (|residual| + quantum).
        """
        rows, _ = self.model.rows(self.published)
        residual, scale = self.measured - rows, self.model.scale
        factors = self.prediction.gain
        left = np.abs((factors @ residual[..., None])[..., 0] * scale).max(axis=-1)
        bound = np.abs(residual) + self.model.quanta
        reach = (np.abs(factors) @ bound[..., None])[..., 0]
        translations, size = self.robot.translations, len(self.robot.free)
        parts = (reach[..., :translations], reach[..., translations:size])
        radius = np.stack([np.linalg.norm(part, axis=-1) for part in parts], axis=-1)
        largest = np.abs(residual[..., : self.model.lengths]).max(axis=-1)
        accuracy, poses = self.robot.accuracy, self.published[..., :size]
        status = self.status | self._bit(Status.OUT_OF_RANGE, ~domain.inside(self.robot, poses))
        unsolved = ~self.refused & ~(largest <= accuracy.residual_limit)
        status = status | self._bit(Status.NO_SOLUTION, unsolved)
        converged = ~self.refused & (left <= accuracy.length)
        valid = converged & (status & int(FAULTS) == 0)
        status = status | self._bit(Status.CONVERGED, converged) | self._bit(Status.VALID, valid)
        return Verdict(residual=residual, radius=radius, status=status)

    def _faults(self, innovation: np.ndarray) -> np.ndarray:
        """STALE and JUMP of a sample, and STALE of a stream that was given up."""
        lengths = self.measured[..., : self.model.lengths]
        first = np.isnan(self.accepted)
        # Movement against movement, so that a constant contradiction of the lengths is no jump; the
        # first sample has nothing to be compared with, and `verify` judges it.
        surprise = np.where(first, innovation, lengths - self.accepted - self.travel)
        threshold = detection.innovation_threshold(
            self.period,
            float(self.model.quanta[0]),
            self.limits,
            self.filter.velocity,
            missed=self.missed,
            settling=self.settling > 0,
        )[..., None]
        allowed = np.where(first, np.inf, threshold)
        self.settling = np.maximum(self.settling - 1, 0)
        self.sums = detection.unchanged_sums(self.sums, lengths, self.before, self.moved)
        stuck = detection.frozen(self.sums, threshold)
        apart = detection.jumped(surprise, allowed) & ~stuck
        stale = stuck.any(axis=-1) | (self.missed >= detection.PATIENCE)
        faults = self._bit(Status.STALE, stale) | self._bit(Status.JUMP, apart.any(axis=-1))
        good = (faults == 0)[..., None]
        self.before, self.accepted = lengths, np.where(good, lengths, self.accepted)
        self.travel = np.where(good, 0.0, self.travel)
        return faults

    def _advance(self, state: np.ndarray, correction: np.ndarray) -> None:
        """The state of this sample, and its rates (per sample) filtered by the correction."""
        rate, gains = self.precision.rate, self.filter
        self.state = state
        self.step = _rounded(self.step + self.bend + gains.velocity * correction, rate)
        self.bend = _rounded(self.bend + gains.acceleration * correction, rate)

    def _twists(self) -> np.ndarray:
        """(v, omega) in the free coordinates from the filtered rates, 1/s."""
        size, first = len(self.robot.free), self.robot.translations
        rates = self.step[..., :size] / self.period
        if self.robot.rotations < 3:
            return rates
        turned = rate_matrix(self.state[..., first:size]) @ rates[..., first:, None]
        return np.concatenate([rates[..., :first], turned[..., 0]], axis=-1)

    def _update(self, innovation: np.ndarray) -> Update:
        poses = self.published[..., : len(self.robot.free)]
        return Update(poses=poses, twists=self.twist, innovation=innovation, status=self.status)

    @staticmethod
    def _bit(bit: Status, where: np.ndarray) -> np.ndarray:
        return np.where(where, int(bit), 0)


def _rounded(values: np.ndarray, quantum: float | None) -> np.ndarray:
    return values if quantum is None else np.rint(values / quantum) * quantum
