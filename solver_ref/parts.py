"""The parts of a cable as a robot file describes them, in SI units: m, kg, N, K."""

from __future__ import annotations

from dataclasses import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Pulley:
    """A guide pulley of `radius` (m) that the cable enters at its anchor, moving along `axis`.

    `axis` is a unit vector of the base frame: the direction in which the cable arrives. Without
    `axle` the pulley swivels about the line through the anchor along `axis`, so that its plane
    always holds the attachment. With `axle`, a unit vector perpendicular to `axis`, it is fixed and
    the cable turns about the axle by the right-hand rule; off its plane the cable lies on it as on
    a cylinder. `efficiency` is the tension behind the pulley over that before it.
    """

    radius: float
    axis: Vector
    axle: Vector | None = None
    efficiency: float = 1.0


OVERLOAD = 2.0
"""A pull of this many times a cable's bound is corrected for; a larger one is out of range."""


@dataclass(frozen=True, kw_only=True)
class Stiffness:
    """The three-region law of a cable's stiffness k (N/m) over its tension T (N).

    No motion below `static_friction` (N); k = `k0` + `alpha` T (alpha in 1/m) up to `slip` (N);
    `k_max` (N/m) above. Without `slip` the second region has no end.
    """

    k0: float
    alpha: float = 0.0
    static_friction: float = 0.0
    slip: float | None = None
    k_max: float | None = None


@dataclass(frozen=True, kw_only=True)
class Drum:
    """A winch drum on which the cable piles up, so that equal turns pay out unequal lengths.

    `radius` (m) of the bare drum, on which the encoder's lengths are based; `build_up` (m): how
    much the squared radius grows for each metre wound on (m^2/m); `capacity` (m): the cable on the
    drum where the paid-out length is 0.
    """

    radius: float
    build_up: float
    capacity: float


@dataclass(frozen=True, kw_only=True)
class Cable:
    """One cable, from `anchor` (m, base frame) to `attachment` (m, platform frame).

    `tension_min` and `tension_max` (N) bound the pull that is allowed; None where not known.
    `thermal` (1/K) is the cable's expansion; `offset` (m) is added to the length that the encoder
    gives; `linear_density` (kg/m) makes it sag. A cable without `pulley` starts at its anchor, one
    without `stiffness` does not stretch.
    """

    anchor: Vector
    attachment: Vector
    tension_min: float | None = None
    tension_max: float | None = None
    pulley: Pulley | None = None
    stiffness: Stiffness | None = None
    thermal: float = 0.0
    linear_density: float = 0.0
    offset: float = 0.0
    drum: Drum | None = None
