"""From what an encoder shows to the length of the cable, and back, once over the abstract scalar.

With e the encoder's length, based on the bare drum of radius r:

    l = R e / r - b e^2 / (4 r^2),  R^2 = r^2 + b c     from r(l)^2 = r^2 + b (c - l)
    L = (l + offset) (1 + thermal dT) + elongation(T)

b is the drum's build-up, c its capacity, T the tension behind the pulley and dT the warming. In
hardware every result is within one quantum of the profile's role `residual` of the exact one, but
for what `elongation` says of its thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from solver_ref.arithmetic import Arithmetic, FloatArithmetic, Scalar, is_zero
from solver_ref.curves import curve, number, product, scaled
from solver_ref.elongation import elongation
from solver_ref.fixed_arithmetic import FixedArithmetic
from solver_ref.parts import Cable, Drum
from solver_ref.robot import Robot

FLOAT = FloatArithmetic()


def actual_tension(m: Arithmetic, cable: Cable, sensed: Scalar) -> Scalar:
    """The tension (N) behind the pulley, of which a sensor at the winch shows `sensed` (N)."""
    if cable.pulley is None or cable.pulley.efficiency == 1:
        return sensed
    stiffness = cable.stiffness.k0 if cable.stiffness else 1.0
    return scaled(m, sensed, cable.pulley.efficiency, _error(m) * stiffness)


def true_length(
    m: Arithmetic,
    cable: Cable,
    measured: Scalar,
    *,
    tension: Scalar = None,
    warming: Scalar = None,
    law: str = "integrated",
) -> Scalar:
    """The length L (m) of a cable whose encoder shows `measured` (m).

    `tension` (N) is that behind the pulley, see `actual_tension`; `warming` (K) counts from the
    temperature at which the robot was measured. What is None is not corrected for. `law` as in
    `elongation`.
    """
    error, length = _error(m), measured
    if cable.drum:
        length = _paid_out(m, cable.drum, length, error)
    length = length + number(m, cable.offset, error)
    if warming is not None and cable.thermal:
        strain = scaled(m, warming, cable.thermal, _share(m, length, error))
        length = length + product(m, length, strain, error / 2)
    if tension is not None and cable.stiffness:
        length = length + elongation(m, cable.stiffness, tension, law, error=error)
    return m.nearest(length, "residual")


def measured_length(
    m: Arithmetic,
    cable: Cable,
    length: Scalar,
    *,
    tension: Scalar = None,
    warming: Scalar = None,
    law: str = "integrated",
) -> Scalar:
    """What the encoder shows (m) of a cable of `length` L (m): the inverse of `true_length`.

    Hardware holds what a drum has paid out within its capacity, flag `drum`.
    """
    error = _error(m)
    if tension is not None and cable.stiffness:
        length = length - elongation(m, cable.stiffness, tension, law, error=error)
    if warming is not None and cable.thermal:
        shrinking = partial(_shrinking, thermal=cable.thermal)
        share = curve(m, warming, shrinking, _share(m, length, error))
        length = length - product(m, length, share, error / 2)
    length = length - number(m, cable.offset, error)
    if cable.drum:
        length = m.clamp(length, -cable.drum.capacity, cable.drum.capacity, "drum")
        length = curve(m, length, partial(_wound, drum=cable.drum), error)
    return m.nearest(length, "residual")


def _paid_out(m: Arithmetic, drum: Drum, wound: Scalar, error: float) -> Scalar:
    """l = e (R/r - e b / (4 r^2))."""
    slope = scaled(m, wound, drum.build_up / (4 * drum.radius**2), _share(m, wound, error))
    slope = number(m, _full_radius(drum) / drum.radius, _share(m, wound, error)) - slope
    return product(m, wound, slope, error / 2)


def _wound(m: Arithmetic, length: Scalar, *, drum: Drum) -> Scalar:
    """e = 2 r l / (R + r(l)): the root of the drum's equation that is 0 where l is 0."""
    r, full, build_up = (
        m.constant(value, "geometry") for value in (drum.radius, _full_radius(drum), drum.build_up)
    )
    radius, _ = m.square_root(full * full - build_up * length, "geometry")
    return 2 * r * length / (full + radius)


def _full_radius(drum: Drum) -> float:
    """R: the drum's radius with the whole cable wound on."""
    return math.sqrt(drum.radius**2 + drum.build_up * drum.capacity)


def _shrinking(m: Arithmetic, warming: Scalar, *, thermal: float) -> Scalar:
    """1 - 1 / (1 + thermal dT)."""
    strain = m.constant(thermal, "geometry") * warming
    return strain / (1 + strain)


def _error(m: Arithmetic) -> float:
    """The unit of error of a part of a correction (m). They come to less than five, and to half a
    quantum; the other half is the last rounding's."""
    return 2.0 ** -(m.profile.residual.bits + 4) if isinstance(m, FixedArithmetic) else 1.0


def _share(m: Arithmetic, length: Scalar, error: float) -> float:
    """The error of a factor of the length that leaves a quarter of `error` in the product."""
    return error if is_zero(length) else error / (4 * m.magnitude(length))


def true_lengths(
    robot: Robot,
    measured: np.ndarray,
    *,
    tensions: np.ndarray | None = None,
    warming: np.ndarray | float | None = None,
    law: str = "integrated",
) -> np.ndarray:
    """`true_length` of every cable in float64: (..., cables) in m to (..., cables).

    `tensions` (..., cables) in N behind the pulleys; `warming` (...) in K, one for all cables.
    """
    return _every(true_length, robot, measured, tensions, warming, law)


def measured_lengths(
    robot: Robot,
    lengths: np.ndarray,
    *,
    tensions: np.ndarray | None = None,
    warming: np.ndarray | float | None = None,
    law: str = "integrated",
) -> np.ndarray:
    """`measured_length` of every cable in float64, shapes and units as in `true_lengths`."""
    return _every(measured_length, robot, lengths, tensions, warming, law)


def _every(
    function: Callable[..., Scalar],
    robot: Robot,
    lengths: np.ndarray,
    tensions: np.ndarray | None,
    warming: np.ndarray | float | None,
    law: str,
) -> np.ndarray:
    lengths = np.asarray(lengths, float)
    columns = [
        function(
            FLOAT,
            cable,
            lengths[..., i],
            tension=None if tensions is None else np.asarray(tensions, float)[..., i],
            warming=warming,
            law=law,
        )
        for i, cable in enumerate(robot.cables)
    ]
    return np.stack(np.broadcast_arrays(*columns), axis=-1)
