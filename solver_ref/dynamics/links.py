"""The value objects that describe a serial arm, all in SI units: m, kg, N, rad, s."""

from __future__ import annotations

from dataclasses import dataclass

from solver_ref.parts import Vector

Matrix = tuple[Vector, Vector, Vector]

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_INERTIA: Matrix = ((0.0, 0.0, 0.0),) * 3


@dataclass(frozen=True, kw_only=True)
class Friction:
    """What a joint loses: viscous, Coulomb and Stribeck friction (`solver_ref.dynamics.friction`).

    `viscous` (N m s/rad, N s/m); `coulomb` (N m, N): the torque that opposes forward and backward
    motion, both from 0 up; `static` (N m, N): the torque at breakaway, None where it is the Coulomb
    torque; `stribeck` (rad/s, m/s): the speed at which half of what lies between the two is gone;
    `smooth` (rad/s, m/s): below it the Coulomb torque goes smoothly through 0.
    """

    viscous: float = 0.0
    coulomb: tuple[float, float] = (0.0, 0.0)
    static: float | None = None
    stribeck: float = 0.1
    smooth: float = 0.01


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a joint may be and how fast: angle (rad; m where prismatic), speed, acceleration,
    effort (N m, N). The last three are from 0 up, the same both ways; None where not known."""

    position: tuple[float, float]
    speed: float
    acceleration: float
    effort: float | None = None


@dataclass(frozen=True, kw_only=True)
class Link:
    """One joint and the link that it moves.

    `joint`: `revolute` or `prismatic`, about or along the unit vector `axis` (link frame).
    `origin` (m) and `rotation`: where the link's frame lies in the frame of the link before it
    when the joint is at 0. `mass` (kg), `com` (m) and `inertia` (kg m^2, about the centre of mass)
    in the link's frame. `rotor` (kg m^2, kg): what turns with the motor, as the joint feels it.
    """

    name: str
    axis: Vector
    mass: float
    limits: Limits
    joint: str = "revolute"
    origin: Vector = (0.0, 0.0, 0.0)
    rotation: Matrix = IDENTITY
    com: Vector = (0.0, 0.0, 0.0)
    inertia: Matrix = NO_INERTIA
    rotor: float = 0.0
    friction: Friction = Friction()


@dataclass(frozen=True, kw_only=True)
class Tip:
    """The frame in which an outside wrench is given: where it lies in the last link's frame."""

    origin: Vector = (0.0, 0.0, 0.0)
    rotation: Matrix = IDENTITY


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A chain of links from the base out; `gravity` (m/s^2) in the base frame; `accuracy` (N m, N):
    what is asked of hardware, the largest error of a torque."""

    links: tuple[Link, ...]
    gravity: Vector = (0.0, 0.0, -9.81)
    tip: Tip = Tip()
    accuracy: float = 0.01
