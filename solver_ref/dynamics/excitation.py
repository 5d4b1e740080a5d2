"""Motions that show all of an arm's parameters: finite Fourier series within its limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver_ref.dynamics.links import Arm

SHARE = 0.9
"""How much of each limit a motion uses."""


@dataclass(frozen=True)
class Excitation:
    """Positions middle + sum of sine[k] sin(k w t) + cosine[k] cos(k w t); both are (harmonics, n),
    `period` in s."""

    middle: np.ndarray
    sine: np.ndarray
    cosine: np.ndarray
    period: float

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, speed and acceleration at times (N,), each (N, n)."""
        rates = 2 * np.pi / self.period * np.arange(1, len(self.sine) + 1)
        phase = np.asarray(times, float)[:, None] * rates
        s, c = np.sin(phase), np.cos(phase)
        position = self.middle + s @ self.sine + c @ self.cosine
        speed = (c * rates) @ self.sine - (s * rates) @ self.cosine
        acceleration = -(s * rates**2) @ self.sine - (c * rates**2) @ self.cosine
        return position, speed, acceleration


def drawn_excitation(
    arm: Arm, rng: np.random.Generator, *, harmonics: int = 5, period: float = 10.0
) -> Excitation:
    """A random motion that uses `SHARE` of the tightest limit of every joint."""
    count = len(arm.links)
    low, high = np.array([link.limits.position for link in arm.links]).T
    sine, cosine = rng.normal(size=(2, harmonics, count))
    motion = Excitation(np.zeros(count), sine, cosine, period)
    reach, speed, acceleration = (
        np.abs(values).max(axis=0) for values in motion.at(np.linspace(0, period, 1000))
    )
    room = SHARE * np.min(
        [
            (high - low) / 2 / reach,
            [link.limits.speed for link in arm.links] / speed,
            [link.limits.acceleration for link in arm.links] / acceleration,
        ],
        axis=0,
    )
    return Excitation((low + high) / 2, sine * room, cosine * room, period)
