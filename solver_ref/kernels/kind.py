"""What every kernel provides beside its graph: columns, float64 answers, test vectors, judgement.

A kernel is one class in one file of this package; `solver_ref.kernels.KERNELS` lists them. All
values here are SI, one array of shape (N,) by port or column name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from solver_ref.attitude import attitude_names
from solver_ref.damping import POLICIES
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.kernels.corrections import lengths_behind, tension_names, warming_names
from solver_ref.kernels.domain import Domain, Kernel, coordinate_limits, estimate_limits
from solver_ref.loop_limits import within_reach
from solver_ref.mechanisms import loops_of
from solver_ref.robot import Robot
from solver_ref.status import FAULTS, Status, status_words

Columns = dict[str, np.ndarray]

WRITTEN = ("status", "iterations", "residual", "pivot")
"""Columns of an earlier answer: they may stand in an input and are not read."""


HEALTH = ("residual", "pivot", "radius")
"""What a pose is worth, beside the residual of each cable."""


@dataclass(frozen=True)
class Choices:
    """Run-time choices of a batch: the policy of `solver_ref.damping.POLICIES` and its lambda."""

    damping: str = "marquardt"
    damping_lambda: float | None = None

    @property
    def first_lambda(self) -> float:
        if self.damping_lambda is None:
            return POLICIES[self.damping].initial
        return self.damping_lambda


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a batch: those it needs, those it may have, those that are not read.

    Of the first two, `positive` ones must be above zero and `not_negative` ones not below. `whole`:
    optional ones that come together or not at all. `either`: of these groups exactly one is given.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    not_negative: tuple[str, ...] = ()
    whole: tuple[tuple[str, ...], ...] = ()
    either: tuple[tuple[str, ...], ...] = ()


class KernelKind(ABC):
    """One kind of hardware: how it is traced, fed, answered in float64 and judged.

    `closures`: those that it is made for; `refusals`: why not for others; `loadable`: those with
    which the geometry of cables can be loaded at run time; `looped`: whether it is made for loop
    equations too; `serial`: whether it is made for serial arms, and for nothing else; `usual_ii`:
    the default.
    `sampled`: whether transfers are samples of a stream, taken at the robot's sample rate.
    `damped`: whether a damping policy and its lambda mean anything to it. `wild`: the share of test
    vectors whose codes are anything that the ports can carry, outside the domain too. `judged`: the
    quantity, and its unit, of which an accuracy is asked.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    closures: ClassVar[tuple[str, ...]] = ("lengths", "minimum-norm")
    refusals: ClassVar[Mapping[str, str]] = {}
    loadable: ClassVar[tuple[str, ...]] = ()
    looped: ClassVar[bool] = False
    serial: ClassVar[bool] = False
    usual_ii: ClassVar[int] = 4
    damped: ClassVar[bool] = False
    sampled: ClassVar[bool] = False
    wild: ClassVar[float] = 0.05
    judged: ClassVar[tuple[str, str]] = ("poses and lengths", "m")

    def fits(self, robot: Robot) -> bool:
        """Whether it is made for robots of such a kind at all."""
        if robot.arm is not None or self.serial:
            return self.serial and robot.arm is not None
        return bool(robot.cables) or self.looped

    def accuracy(self, robot: Robot) -> float:
        """The largest error that is asked of what is `judged`."""
        return robot.accuracy.length

    def quantum(self, kernel: Kernel) -> float:
        """The quantum of what is `judged`."""
        return 2.0**-kernel.profile.pose.bits

    def domain(self, robot: Robot, profile: str, *, loaded: bool) -> Domain:
        """The declared domain of a robot; `loaded`: with geometry that is loaded at run time."""
        return Domain.of(robot, profile, loaded=loaded)

    @abstractmethod
    def trace(self, domain: Domain) -> Kernel:
        """The graph, and for iterative kernels the iteration over it."""

    @abstractmethod
    def columns(self, robot: Robot) -> ColumnNames:
        """What a CSV file for this kernel holds."""

    @abstractmethod
    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """Values for every port, from the columns; what was left out has its default."""

    @abstractmethod
    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        """The outputs in float64, from port values that are not rounded to the ports' quanta."""

    @abstractmethod
    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        """Port values for test vectors inside the declared domain, its corners first."""

    @abstractmethod
    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """Largest |fixed - float64| by unit, on values as the ports carried them."""


def stack(values: Mapping[str, np.ndarray], names: Iterable[str]) -> np.ndarray:
    """Named columns side by side, shape (N, names)."""
    return np.column_stack([values[name] for name in names])


def unstack(array: np.ndarray, names: Iterable[str]) -> Columns:
    """The columns of an array (N, names) by name: `stack` backwards."""
    return dict(zip(names, array.T, strict=True))


def length_names(robot: Robot) -> tuple[str, ...]:
    """The columns and ports of what is measured: `L1` ... of cables, others of other joints."""
    return robot.joint_names


def pull_names(robot: Robot) -> tuple[str, ...]:
    """What the cables pull with (N)."""
    return tuple(f"T{i + 1}" for i in range(len(robot.cables)))


def free_names(robot: Robot, names: str) -> tuple[str, ...]:
    """Those of six names, one for each spatial coordinate, that the robot's motion leaves free."""
    each = names.split()
    return tuple(each[index] for index in robot.free)


def twist_names(robot: Robot) -> tuple[str, ...]:
    """v and omega (m/s, rad/s) in the free coordinates."""
    return free_names(robot, "vx vy vz wx wy wz")


def start_names(robot: Robot) -> tuple[str, ...]:
    """The pose that a solve starts from (m, rad)."""
    return tuple(f"{name}0" for name in robot.coordinates)


def residual_names(robot: Robot) -> tuple[str, ...]:
    """The residual of each joint (m)."""
    return tuple(f"r{i + 1}" for i in range(len(robot.joint_names)))


def health_names(robot: Robot) -> tuple[str, ...]:
    """Ports and columns that say what a pose is worth."""
    return (*residual_names(robot), *HEALTH)


def written_names(robot: Robot) -> tuple[str, ...]:
    """Columns of an earlier answer: they may stand in an input and are not read."""
    return (*WRITTEN, *residual_names(robot), "radius")


def jacobian_names(robot: Robot) -> tuple[str, ...]:
    count = len(robot.joint_names)
    return tuple(f"J{i + 1}_{name}" for i in range(count) for name in robot.coordinates)


def measured(robot: Robot, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """What the joints measure, shape (N, joints), m or rad."""
    return stack(inputs, length_names(robot))


def drawn_poses(robot: Robot, count: int, rng: np.random.Generator) -> np.ndarray:
    """Poses of the workspace, its corners first, shape (count, coordinates); of loops those that
    are within reach."""
    poses = np.vstack([corner_poses(robot), sample_poses(robot, count, rng)])
    if loops_of(robot):
        poses = poses[within_reach(robot, poses)]
        while len(poses) < count:
            more = sample_poses(robot, count, rng)
            poses = np.vstack([poses, more[within_reach(robot, more)]])
    return poses[:count]


def beyond(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Whether each pose lies outside the grown workspace."""
    low, high = np.array(coordinate_limits(robot)).T
    turn = np.linalg.norm(poses[:, robot.translations :], axis=1)
    return ~((poses >= low) & (poses <= high)).all(axis=1) | (turn > robot.tilt_bound)


def led_astray(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Whether each pose lies where hardware lets no estimate go."""
    low, high = np.array(estimate_limits(robot)).T
    return ~((poses >= low) & (poses <= high)).all(axis=1)


def out_of_reach(domain: Domain, lengths: np.ndarray) -> np.ndarray:
    """Whether a joint (N, joints) of each row is where no pose of the grown workspace has it."""
    low, high = np.array(domain.reach).T
    return ~((lengths >= low) & (lengths <= high)).all(axis=1)


def lengths_of(robot: Robot, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """The joints (N, joints), m or rad: of cables the lengths whose encoders show the measured."""
    return lengths_behind(robot, measured(robot, inputs), inputs)


def attitude_of(robot: Robot, inputs: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The measured angles (N, axes), rad, where the closure has any."""
    names = attitude_names(robot)
    return stack(inputs, names) if names else None


def condition_columns(robot: Robot, lengths: tuple[str, ...] = ()) -> ColumnNames:
    """The encoders' `lengths`, if any, and what corrects them: tensions, warming.

    Sensors' tensions are needed; others are, where no mass says what holds the platform. What a
    robot's cables do not feel is not read.
    """
    tensions, warming = tension_names(robot), warming_names(robot)
    needed = "tension" in robot.sensors or robot.platform.mass is None
    cables = robot.cables
    unfelt = () if tensions else tuple(f"S{i + 1}" for i in range(len(cables)))
    return ColumnNames(
        required=(*lengths, *(tensions if needed else ())),
        optional=(*(() if needed else tensions), *warming),
        ignored=(*written_names(robot), "t", *unfelt, *(() if warming else ("dT",))),
        # An encoder with an offset may show anything.
        positive=tuple(n for n, cable in zip(lengths, cables, strict=False) if not cable.offset),
        not_negative=tensions,
        whole=() if needed else (tensions,),
    )


def verdict(bits: Mapping[Status, np.ndarray]) -> np.ndarray:
    """The status word of each row, VALID where no fault is set."""
    word = status_words(bits)
    return np.where(word & int(FAULTS), word, word | int(Status.VALID))


def out_of_range(status: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The status words, those of the rows `outside` OUT_OF_RANGE and not VALID."""
    refused = status & ~int(Status.VALID) | int(Status.OUT_OF_RANGE)
    return np.where(outside, refused, status)


def by_unit(robot: Robot, errors: np.ndarray) -> dict[str, float]:
    """The largest error of positions (`m`) and rotations (`rad`) among (N, coordinates)."""
    largest = {"m": float(np.max(np.abs(errors[:, : robot.translations])))}
    if robot.rotations:
        largest["rad"] = float(np.max(np.abs(errors[:, robot.translations :])))
    return largest
