"""Fixed steps of mechanisms with closed loops in float64, with the motors' torques held meanwhile.

State: coordinates and rates (..., n); `STEPS` has every method by its name.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solver_ref.dynamics.closed_loop import Baumgarte, System, forward_dynamics

State = tuple[np.ndarray, np.ndarray]
Accelerate = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Accelerations at coordinates and rates."""


def semi_implicit_euler(acceleration: Accelerate, q: np.ndarray, v: np.ndarray, h: float) -> State:
    """Order 1: the rates first, then the coordinates by the new ones."""
    v = v + h * acceleration(q, v)
    return q + h * v, v


def midpoint(acceleration: Accelerate, q: np.ndarray, v: np.ndarray, h: float) -> State:
    """Order 2: the whole step by the rates and accelerations halfway."""
    middle = q + h / 2 * v, v + h / 2 * acceleration(q, v)
    return q + h * middle[1], v + h * acceleration(*middle)


def runge_kutta(acceleration: Accelerate, q: np.ndarray, v: np.ndarray, h: float) -> State:
    """Order 4: the classical rule of four accelerations."""
    first = v, acceleration(q, v)
    slopes = [first]
    for share in (h / 2, h / 2, h):
        speed, change = slopes[-1]
        place, rate = q + share * speed, v + share * change
        slopes.append((rate, acceleration(place, rate)))
    weights = np.array([1, 2, 2, 1]) / 6
    q, v = (
        x + h * sum(w * slope[i] for w, slope in zip(weights, slopes, strict=True))
        for i, x in enumerate((q, v))
    )
    return q, v


STEPS = {
    "semi-implicit Euler": semi_implicit_euler,
    "midpoint": midpoint,
    "Runge-Kutta": runge_kutta,
}


def stepped(
    system: System,
    q: np.ndarray,
    v: np.ndarray,
    torque: np.ndarray,
    h: float,
    *,
    stabilise: Baumgarte,
    method: str = "midpoint",
) -> State:
    """The state after one step of h (s) under torques (..., motors), N m."""

    def acceleration(place: np.ndarray, rate: np.ndarray) -> np.ndarray:
        return forward_dynamics(system, place, rate, torque, stabilise=stabilise)[0]

    return STEPS[method](acceleration, q, v, h)
