"""Reference trajectories for tracking: a crane's drive and emergency stop, and endless paths.

Every position, rate and acceleration is a closed form of time, so that any sample can be had by
itself. Angular rates are true ones: omega = J_l(phi) phi_dot, and its derivative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver_ref.kinematics import cable_lengths, jacobian, rate_matrix
from solver_ref.robot import Robot

# The drive of a crane, in seconds and m/s: up to speed, at speed, and stopped in an emergency.
SPEED, START_TIME, CRUISE_TIME, STOP_TIME = 1.2, 0.5, 0.2, 0.2
TRAVEL = SPEED * (START_TIME / 2 + CRUISE_TIME + STOP_TIME / 2)
# Sway: at most so many metres along each axis and radians in all, at these frequencies (Hz).
SWAY, TURN = 0.03, 0.1
SWAY_FREQUENCIES, TURN_FREQUENCIES = (1.1, 1.4, 1.7), (1.3, 1.6, 1.9)
# The shares of the position box that a drive and, on either side, the sway may take.
DRIVE_SHARE, SWAY_SHARE = 0.6, 0.1
# An endless path repeats after this many seconds; each coordinate goes through whole turns of it.
PERIOD = 10.0
TURNS = (5, 7, 4, 9, 11, 13)
# Terms of the series of the rate matrix and its derivative: exact to rounding for |phi| <= pi.
_TERMS = 16


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """Samples of a motion; every array but `times` has the shape (samples, coordinates).

    `times` (samples,) in s; `poses` in m and rad; `rates`: their time derivatives; `twists`: (v,
    omega) in the free coordinates, base frame, m/s and rad/s; `accelerations`: of the twists.
    """

    times: np.ndarray
    poses: np.ndarray
    rates: np.ndarray
    twists: np.ndarray
    accelerations: np.ndarray


@dataclass(frozen=True)
class _Curve:
    """A function of time with its first two derivatives, each of shape (samples,)."""

    value: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def __add__(self, other: _Curve) -> _Curve:
        pairs = zip(self._parts, other._parts, strict=True)
        return _Curve(*(a + b for a, b in pairs))

    def __mul__(self, other: _Curve | float) -> _Curve:
        if not isinstance(other, _Curve):
            return _Curve(*(other * part for part in self._parts))
        first = self.first * other.value + self.value * other.first
        mixed = 2 * self.first * other.first
        second = self.second * other.value + mixed + self.value * other.second
        return _Curve(self.value * other.value, first, second)

    @property
    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.value, self.first, self.second


def sample_times(rate: float, duration: float, first: int = 0) -> np.ndarray:
    """round(duration * rate) sample times (s) at `rate` (Hz), the sample `first` onwards.

    Raises ValueError where the rate is not positive or there is no sample.
    """
    if not rate > 0:
        raise ValueError(f"the sample rate must be above 0 Hz, not {rate}")
    count = round(duration * rate)
    if count < 1:
        raise ValueError(f"{duration} s at {rate} Hz is no sample")
    return (first + np.arange(count)) / rate


def drive_scale(robot: Robot) -> float:
    """By what the crane's drive and its speed are multiplied to fit the workspace: at most 1."""
    widths = _widths(robot)
    needed = TRAVEL * np.abs(_direction(robot))
    return float(min(1.0, (DRIVE_SHARE * widths / needed).min()))


def crane_trajectory(robot: Robot, rate: float = 10_000, duration: float = 1.0) -> Trajectory:
    """A drive from 0 to 1.2 m/s in 0.5 s, 0.2 s at speed and an emergency stop within 0.2 s.

    The drive goes 0.66 m along a slanting line through the middle of the position box. It sways
    meanwhile and afterwards: up to 3 cm along each axis and 0.1 rad in all, at 1.1 to 1.9 Hz, about
    the attitude of home; the sway grows from nothing within the start. All of it begins at rest.

    Scaled to the workspace: the drive takes at most 60 % of the box's width along any axis (its
    speed and accelerations shrink alike, by `drive_scale`), the sway 10 % on either side, and the
    rotation stays within half the tilt. Beyond 0.9 s the platform stands and sways.

    Bounded: the speed is a quintic in time, so that the drive's acceleration is at most 4.5 m/s^2
    at the start and 11.25 m/s^2 in the stop and its jerk 28 and 173 m/s^3; the acceleration is
    smooth, the jerk continuous. The sway adds up to 3.5 m/s^2 along an axis.
    """
    times = sample_times(rate, duration)
    start = ramp(times, START_TIME, SMOOTH_STEP)
    travel = _drive(times) * drive_scale(robot)
    middle = np.array(robot.workspace.position).mean(axis=1)
    curves = []
    for i, along in enumerate(_direction(robot)):
        amplitude = min(SWAY, SWAY_SHARE * _widths(robot)[i])
        sway = _sine(times, SWAY_FREQUENCIES[i], amplitude) * start
        curves.append(travel * along + sway + _constant(times, middle[i]))
    for i, centre in enumerate(robot.workspace.home[robot.translations :]):
        sway = _sine(times, TURN_FREQUENCIES[i], _turn_amplitude(robot)) * start
        curves.append(sway + _constant(times, centre))
    return _trajectory(robot, times, curves)


def endless_trajectory(
    robot: Robot, rate: float = 10_000, duration: float = PERIOD, *, first: int = 0
) -> Trajectory:
    """A smooth path within 60 % of the position box that repeats every 10 s, without an end.

    Each coordinate is a sine with its own whole number of turns in a period, no axis faster than
    0.5 m/s; `first` is the number of the first sample, so that a long run can be had in pieces.
    """
    times = sample_times(rate, duration, first)
    curves = []
    for i, (low, high) in enumerate(robot.workspace.position):
        frequency = TURNS[i] / PERIOD
        amplitude = min(DRIVE_SHARE / 2 * (high - low), 0.5 / (2 * math.pi * frequency))
        curve = _sine(times, frequency, amplitude, phase=float(i))
        curves.append(curve + _constant(times, (low + high) / 2))
    for i, centre in enumerate(robot.workspace.home[robot.translations :]):
        curve = _sine(times, TURNS[3 + i] / PERIOD, _turn_amplitude(robot), phase=float(i))
        curves.append(curve + _constant(times, centre))
    return _trajectory(robot, times, curves)


def quasi_static_lengths(
    robot: Robot,
    rate: float = 10_000,
    duration: float = 1.0,
    *,
    first: int = 0,
    share: float = 0.1,
    speed: float = 0.05,
) -> tuple[np.ndarray, np.ndarray]:
    """Slow lengths for the `equilibrium` closure, which gives the pose: L and L_dot.

    They are those of a slow path of poses about home: a sine along each axis over `share` of the
    box's width on either side, at most `speed` (m/s), and about the vertical (a spatial robot) over
    0.05 rad. Four lengths have these four parameters. The pose in equilibrium is near that path,
    not on it: it tilts as it must. Both arrays have the shape (samples, cables), m and m/s.
    """
    times = sample_times(rate, duration, first)
    curves = [_constant(times, centre) for centre in robot.workspace.home]
    amplitudes = list(share * _widths(robot)) + [0.0] * robot.rotations
    if robot.rotations:
        amplitudes[-1] = min(0.05, robot.workspace.tilt / 2)
    for i, amplitude in enumerate(amplitudes):
        # Frequencies that are not multiples of each other fill the box.
        frequency = speed / (2 * math.pi * max(amplitudes)) / (1 + 0.3 * i)
        curves[i] += _sine(times, frequency, amplitude)
    path = _trajectory(robot, times, curves)
    lengths = cable_lengths(robot, path.poses)
    rows = jacobian(robot, path.poses)
    return lengths, (rows @ path.twists[..., None])[..., 0]


def spatial_rates(
    phi: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """omega = J_l phi_dot and its time derivative, from phi and its derivatives, (..., 3) each."""
    omega = (rate_matrix(phi) @ first[..., None])[..., 0]
    s, s_dot = (phi * phi).sum(axis=-1), 2 * (phi * first).sum(axis=-1)
    # J_l phi_dot = phi_dot + b (phi x phi_dot) + c phi x (phi x phi_dot); b, c are functions of s.
    turned = np.cross(phi, first)
    turned_dot = np.cross(phi, second)
    twice = np.cross(phi, turned)
    twice_dot = np.cross(first, turned) + np.cross(phi, turned_dot)
    (b, b_dot), (c, c_dot) = (_coefficient(s, s_dot, order) for order in (2, 3))
    alpha = second + b_dot * turned + b * turned_dot + c_dot * twice + c * twice_dot
    return omega, alpha


def _coefficient(s: np.ndarray, s_dot: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """sum (-s)^k / (order + 2k)! and its time derivative, each (..., 1)."""
    terms = [(-1) ** k / math.factorial(order + 2 * k) for k in range(_TERMS)]
    series = np.polynomial.Polynomial(terms)
    return series(s)[..., None], (series.deriv()(s) * s_dot)[..., None]


def _trajectory(robot: Robot, times: np.ndarray, curves: Sequence[_Curve]) -> Trajectory:
    """The samples of one curve for each coordinate."""
    poses = np.stack([curve.value for curve in curves], axis=-1)
    rates = np.stack([curve.first for curve in curves], axis=-1)
    seconds = np.stack([curve.second for curve in curves], axis=-1)
    twists, accelerations = rates, seconds
    if robot.rotations == 3:
        turns = [array[:, 3:] for array in (poses, rates, seconds)]
        omega, alpha = spatial_rates(*turns)
        twists = np.hstack([rates[:, :3], omega])
        accelerations = np.hstack([seconds[:, :3], alpha])
    return Trajectory(
        times=times, poses=poses, rates=rates, twists=twists, accelerations=accelerations
    )


def _widths(robot: Robot) -> np.ndarray:
    low, high = np.array(robot.workspace.position).T
    return high - low


def _direction(robot: Robot) -> np.ndarray:
    """The unit direction of the drive: along the box, less and less from x to z."""
    along = _widths(robot) / 2.0 ** np.arange(robot.translations)
    return along / np.linalg.norm(along)


def _turn_amplitude(robot: Robot) -> float:
    """The amplitude (rad) of each rotation, such that their norm is within half the tilt."""
    return min(TURN, robot.workspace.tilt / 2) / math.sqrt(max(robot.rotations, 1))


def _constant(times: np.ndarray, value: float) -> _Curve:
    zero = np.zeros_like(times)
    return _Curve(zero + value, zero, zero)


def _sine(times: np.ndarray, frequency: float, amplitude: float, phase: float = 0.0) -> _Curve:
    pulse = 2 * math.pi * frequency
    sine, cosine = np.sin(pulse * times + phase), np.cos(pulse * times + phase)
    return _Curve(amplitude * sine, amplitude * pulse * cosine, -amplitude * pulse**2 * sine)


# Steps from 0 to 1 with two and three derivatives zero at both ends: of a speed, of a position.
_STEP = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
SMOOTH_STEP = np.polynomial.Polynomial([0, 0, 0, 0, 35, -84, 70, -20])


def ramp(times: np.ndarray, length: float, step: np.polynomial.Polynomial) -> _Curve:
    """The step over the first `length` seconds, then 1."""
    x = np.clip(times / length, 0.0, 1.0)
    return _Curve(step(x), step.deriv()(x) / length, step.deriv(2)(x) / length**2)


def _drive(times: np.ndarray) -> _Curve:
    """The crane's way (m) from its middle: speed up, cruise, stop."""
    begin = START_TIME + CRUISE_TIME
    up, down = ramp(times, START_TIME, _STEP), ramp(times - begin, STOP_TIME, _STEP)
    way = SPEED * (_ramp_way(times, START_TIME) - _ramp_way(times - begin, STOP_TIME))
    speed = SPEED * (up.value - down.value)
    return _Curve(way - TRAVEL / 2, speed, SPEED * (up.first - down.first))


def _ramp_way(times: np.ndarray, length: float) -> np.ndarray:
    """The integral of the quintic step over `length` seconds, and of the 1 that follows it."""
    inside = _STEP.integ()(np.clip(times / length, 0.0, 1.0)) * length
    return inside + np.maximum(times - length, 0.0)
