"""The three-region law of a cable's stretch under tension, once over the abstract scalar.

    k = infinite below the static friction, k0 + alpha T up to slip, k_max above

As printed, dL = T/k jumps at both thresholds. The integral of dT/k does not, and is the default.
"""

from __future__ import annotations

import math
from functools import partial

from solver_ref.arithmetic import Arithmetic, Scalar
from solver_ref.curves import curve, log1p, number, regions, scaled, within
from solver_ref.fixed_arithmetic import FixedArithmetic
from solver_ref.parts import Stiffness

LAWS = ("integrated", "printed")


def elongation(
    m: Arithmetic,
    stiffness: Stiffness,
    tension: Scalar,
    law: str = "integrated",
    *,
    error: float = 2.0**-24,
) -> Scalar:
    """How much longer (m) a cable is under `tension` (N) than without; 0 up to static friction.

    `integrated` is the integral of dT/k from the static friction on; `printed` is T/k(T), region by
    region, the thresholds being part of the middle one. ValueError for another law.

    In hardware each region is within 2.5 `error` (m) and the thresholds are those of the float law
    on the codes of the tension; the integrated law is a further quantum of the tension over k0 off
    where a threshold is no code.
    """
    if law not in LAWS:
        raise ValueError(f"the law must be one of {', '.join(LAWS)}, not {law!r}")
    if not isinstance(stiffness, Stiffness):  # one that is loaded has its own way
        return stiffness.elongation(m, tension, law, error)
    low = stiffness.static_friction
    slip = stiffness.slip if stiffness.slip is not None else math.inf
    if not _reaches(m, tension, low):
        return 0
    second = curve(
        m,
        within(m, tension, low, slip),
        partial(second_region, stiffness=stiffness, law=law),
        error,
    )
    slips = not math.isinf(slip) and _reaches(m, tension, slip)
    if law == "printed":
        third = scaled(m, tension, 1 / stiffness.k_max, error) if slips else second
        return regions(m, tension, (low, slip), (0, second, third))
    if not slips:
        return second
    beyond = within(m, tension - number(m, slip, error * stiffness.k_max), 0.0, math.inf)
    return second + scaled(m, beyond, 1 / stiffness.k_max, error)


def _reaches(m: Arithmetic, tension: Scalar, limit: float) -> bool:
    """Whether a tension may pass the limit; in hardware its range may say that it does not."""
    if not isinstance(m, FixedArithmetic):
        return True
    return tension.range.hi > math.ldexp(limit, tension.range.fraction)


def second_region(m: Arithmetic, tension: Scalar, *, stiffness: Stiffness, law: str) -> Scalar:
    """T/k, or the integral of dT/k, with k = k0 + alpha T."""
    k0, alpha, low = (
        m.constant(value, "geometry")
        for value in (stiffness.k0, stiffness.alpha, stiffness.static_friction)
    )
    if law == "printed":
        return tension / (k0 + alpha * tension)
    if not stiffness.alpha:
        return (tension - low) / k0
    return log1p(m, alpha * (tension - low) / (k0 + alpha * low)) / alpha
