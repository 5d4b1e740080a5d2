"""Where the limits of the closure `equilibrium` come from: steps towards poses in equilibrium.

They are taken in float64, from beside such poses and from home, with the true tensions and with
equal force densities, and watched. What passes a limit in operation saturates, and such a pass does
not count as converged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from solver_ref.arithmetic import Scalar
from solver_ref.domain import perturb
from solver_ref.equilibrium_equations import balance, equal_density
from solver_ref.equilibrium_poses import sample_equilibria
from solver_ref.equilibrium_step import EquilibriumBounds, equilibrium_step
from solver_ref.fixed import next_power
from solver_ref.geometry import drawn
from solver_ref.kinematics import cable_lengths
from solver_ref.logic import LogicArithmetic
from solver_ref.robot import Robot
from solver_ref.statics import weight_of
from solver_ref.step import SolveBounds
from solver_ref.stiffness import sensitivity

SAMPLES = 1000
GEOMETRIES = 6
"""How many other geometries are sampled where any can be loaded."""
NEAR = (1e-3, 1e-3)
"""The nearer starts (m, rad); the others are a start error away."""

SAFE = 2.0
"""What the sum of the densities keeps away from the least and the largest."""
MARGIN = 4.0
"""What the other limits keep away from the largest that was seen, and pivots from the smallest."""
ROOM = 1.2
"""The same for the matrix of the densities, whose diagonal hardly goes beyond squared lengths."""
DEEPEST = 2.0**-16
"""A smaller share of the mean diagonal entry is no pivot: rounding could make it up."""
RARE = 0.02
"""The share of poses, where the platform hangs least firmly, whose accuracy asks for no finer
quantum."""


@dataclass(frozen=True)
class Sampled:
    """What was seen.

    `length_gain`: how far (m) a coordinate of the position moves where every length is off by a
    metre, at most but for `RARE` poses. `total`: limits for the sum of the densities (1/m). `most`:
    a tension (N) beyond all. `bounds`: those inside the eliminations. `least_pivot`: the smallest
    one of the densities over the mean diagonal entry.
    """

    length_gain: float
    total: tuple[float, float]
    most: float
    bounds: EquilibriumBounds
    least_pivot: float


@cache
def sampled(robot: Robot, loaded: bool = False) -> Sampled:
    """`loaded`: of several geometries that can be loaded too. ValueError for a robot that does not
    hang in its workspace."""
    rng = np.random.default_rng(24)
    others = [drawn(robot, rng) for _ in range(GEOMETRIES)] if loaded else []
    meter = _Meter(robot)
    seen = [_hung(meter, each, rng) for each in (robot, *others)]
    diagonal = float(np.mean([one.diagonal for one in seen]))
    pivots = [max(pivot, DEEPEST * diagonal) for pivot in meter.smallest[robot.rotations :]]
    return Sampled(
        length_gain=max(one.gain for one in seen),
        total=(
            min(float(one.total.min()) for one in seen) / SAFE,
            SAFE * max(float(one.total.max()) for one in seen),
        ),
        most=next_power(SAFE * max(one.pull for one in seen)),
        bounds=meter.bounds(pivots),
        least_pivot=min(pivots) / diagonal,
    )


@dataclass(frozen=True)
class _Hung:
    """Of one geometry: the length gain, the sums of the densities (N,), the largest tension (N) and
    the mean squared length (m^2)."""

    gain: float
    total: np.ndarray
    pull: float
    diagonal: float


def _hung(meter: _Meter, robot: Robot, rng: np.random.Generator) -> _Hung:
    """Steps of a robot to where it hangs, watched by the meter."""
    meter.robot = robot
    poses, pulls = sample_equilibria(robot, SAMPLES, rng)
    lengths = cable_lengths(robot, poses)
    densities = pulls / lengths / weight_of(robot)
    total, diagonal = densities.sum(axis=1), float((lengths**2).mean())
    moved = np.abs(sensitivity(robot, poses, pulls).pose[:, : robot.translations]).sum(axis=2)
    for reach in (NEAR, robot.workspace.start_error):
        away = perturb(robot, poses, *reach, rng)
        equal = equal_density(meter, robot, list(away.T))[:, None] + np.zeros(pulls.shape)
        for guess in (densities, equal):
            meter.watch(away, guess, lengths)
    # What is left at last lies where lengths move the platform most.
    meter.watch(poses, densities, lengths + NEAR[0] * rng.uniform(-1, 1, lengths.shape))
    gain = float(np.quantile(moved.max(axis=1), 1 - RARE))
    return _Hung(gain, total, float(pulls.max()), diagonal)


NAMES = ("factor", "right_side", "solution", "step")
PARTS = ("turn", "length")
MARKS = {
    (part, name): 2.0 ** (900 + 8 * i + j)
    for i, part in enumerate(PARTS)
    for j, name in enumerate(NAMES)
}
MARKS |= {("turn", "matrix"): 2.0**920, ("length", "gram"): 2.0**921}
"""Limits that nothing reaches and that tell what was held to them."""


class _Meter(LogicArithmetic):
    """Float arithmetic that keeps the smallest of each pivot and the largest by limit, over rows
    where the platform hangs: the pivots of its turn are above zero."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.smallest: list[float] = []
        self.largest = dict.fromkeys(MARKS, 0.0)
        self._pivots: list[np.ndarray] = []
        self._seen: list[tuple[float, np.ndarray]] = []

    def watch(self, poses: np.ndarray, densities: np.ndarray, lengths: np.ndarray) -> None:
        """One undamped step of each row."""
        pose, density = list(poses.T), list(densities.T)
        self._pivots, self._seen = [], []
        turn, length = (SolveBounds(0.0, *(MARKS[part, name] for name in NAMES)) for part in PARTS)
        marked = EquilibriumBounds(
            turn, length, matrix=MARKS["turn", "matrix"], gram=MARKS["length", "gram"]
        )
        with np.errstate(all="ignore"):
            at = balance(self, self.robot, pose, density, list(lengths.T))
            equilibrium_step(self, self.robot, pose, density, at, bounds=marked)
        pivots = np.array([np.broadcast_to(p, len(poses)) for p in self._pivots])
        good = (pivots[: self.robot.rotations] > 0).all(axis=0)
        least = pivots[:, good].min(axis=1).tolist()
        self.smallest = [min(pair) for pair in zip(least, self.smallest or least, strict=True)]
        for mark, name in ((mark, name) for name, mark in MARKS.items()):
            values = [
                np.broadcast_to(x, len(poses))[good] for limit, x in self._seen if limit == mark
            ]
            largest = max((float(x.max()) for x in values), default=0.0)
            self.largest[name] = max(self.largest[name], largest)

    def bounds(self, pivots: Sequence[float]) -> EquilibriumBounds:
        """Limits with their margins; `pivots` are the smallest of the densities."""
        turns = self.smallest[: self.robot.rotations]
        return EquilibriumBounds(
            turn=self._part("turn", turns),
            length=self._part("length", pivots),
            matrix=self._limit("turn", "matrix"),
            gram=next_power(ROOM * self.largest["length", "gram"]),
            floors=tuple(_floor(pivot) for pivot in pivots),
        )

    def _part(self, part: str, pivots: Sequence[float]) -> SolveBounds:
        least = _floor(min(pivots, default=1.0))
        return SolveBounds(least, *(self._limit(part, name) for name in NAMES))

    def _limit(self, part: str, name: str) -> float:
        return next_power(MARGIN * (self.largest[part, name] or 1.0))

    def pivot(self, value: Scalar, floor: float) -> Scalar:
        self._pivots.append(value)
        return value

    def divide(self, value: Scalar, by: Scalar, limit: float, role: str, flag: str) -> Scalar:
        return self._see(value / by, limit)

    def limit(self, value: Scalar, size: float, flag: str) -> Scalar:
        return self._see(value, size)

    def dot_within(
        self, a: Sequence[Scalar], b: Sequence[Scalar], limit: float, role: str, flag: str
    ) -> Scalar:
        return self._see(self.dot(a, b, role), limit)

    def normalise(self, values: Sequence[Scalar], role: str) -> tuple[list[Scalar], Scalar]:
        top = np.max(np.abs(np.broadcast_arrays(*values)), axis=0)
        return [v / top for v in values], top

    def denormalise(self, value: Scalar, block: Scalar, fraction: int) -> Scalar:
        return value * block

    def _see(self, value: Scalar, limit: float) -> Scalar:
        self._seen.append((limit, np.abs(value)))
        return value


def _floor(pivot: float) -> float:
    """The power of two below a pivot, with its margin."""
    return 2.0 ** math.floor(math.log2(pivot / MARGIN))
