"""`track`: a stream of lengths -> a stream of poses and twists at the shortest latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.kind import (
    WRITTEN,
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    by_unit,
    length_names,
    measured,
    stack,
    verdict,
)
from solver_ref.kernels.track_formats import CLOCK, FLAG, SAMPLE_RATE, TENSION, twist_names
from solver_ref.kernels.track_graphs import TrackGraphs
from solver_ref.kinematics import cable_lengths, rate_matrix
from solver_ref.measurement import Model, attitude_model, gain, length_model
from solver_ref.robot import Robot
from solver_ref.sequence import Register, Sequence, Stage
from solver_ref.status import Status
from solver_ref.trajectory import crane_trajectory

HEALTH = ("residual", "pivot", "radius")
"""What the verification says of the sample before: given out beside the next pose."""

FINDING = 150
"""Samples of a test stream in which the pose is searched for."""
SOLVE_STEPS, LARGEST_STEP = 30, 0.5
"""Of a float64 solve from home: steps, and the longest one (m, scaled)."""


def track_kernel(domain: Domain) -> Kernel:
    """The sequence of one sample."""
    graphs = TrackGraphs(domain)
    sequence = _sequence(graphs)
    return Kernel("track", domain.robot, graphs.profile, graphs.prepare, sequence=sequence)


def _sequence(t: TrackGraphs) -> Sequence:
    robot, lengths = t.robot, t.lengths
    fields = dict.fromkeys(lengths, t.length_format)
    fields |= dict.fromkeys((f"m{axis}" for axis in t.axes), t.attitude_format)
    if "tension" in robot.sensors:
        fields |= {f"S{i + 1}": TENSION for i in range(len(lengths))}
    fields |= {"t": CLOCK, "restart": FLAG, "homing": FLAG}
    registers = _registers(t)
    prepared = [name for name in t.prepare.output_formats if name not in ("near", *HEALTH)]
    own = {name: name for name in t.prepare.inputs if name in registers or name in fields}
    verify = own | {name: f"at_{name}" for name in robot.coordinates}
    ahead = own | {name: f"pred_{name}" for name in robot.coordinates}
    seen = {f"seen_{name}": f"pred_{name}" for name in lengths}
    stages = (
        Stage("feedback", "feedback", _same(t.feedback.inputs), _feedback_outputs(t)),
        Stage("update", "update", _same(t.update.inputs), _same(t.update.output_formats)),
        Stage("verify", "prepare", verify, seen | _same((*HEALTH, "near")), after="update"),
        Stage("prepare", "prepare", ahead, _same(prepared), after="update"),
        Stage("arm", "arm", _same(t.arm.inputs), _same(t.arm.output_formats)),
    )
    results = {name: f"fresh_{name}" for name in robot.coordinates}
    results |= _same((*twist_names(robot), "status", *HEALTH))
    return Sequence(
        graphs={"feedback": t.feedback, "update": t.update, "prepare": t.prepare, "arm": t.arm},
        stages=stages,
        fields=fields,
        registers=registers,
        results=results,
        hold="hold",
        held=frozenset(robot.coordinates),
    )


def _same(names) -> dict[str, str]:
    return {name: name for name in names}


def _feedback_outputs(t: TrackGraphs) -> dict[str, str]:
    """The register of each output; the sample itself stays as `last_...` behind it."""
    outputs = {f"fresh_{name}": name for name in t.robot.coordinates}
    outputs |= {name: name for name in ("status", "refused", "hold")}
    outputs |= _same(f"changed_{name}" for name in t.lengths)
    outputs |= {f"last_{name}": f"kept_{name}" for name in t.lengths}
    return outputs | {"expected_t": "next_t", "started": "began"}


def _registers(t: TrackGraphs) -> dict[str, Register]:
    """Everything that stays, at rest at home and searching after a reset."""
    robot = t.robot
    registers = {name: Register(form) for name, form in t.prepare.output_formats.items()}
    registers |= {f"seen_{name}": Register(t.length_format) for name in t.lengths}
    registers |= {f"last_{name}": Register(t.length_format) for name in t.lengths}
    for graph in (t.feedback, t.update, t.arm):
        for name, form in graph.output_formats.items():
            registers.setdefault(name, Register(form))
    for name, home in zip(robot.coordinates, robot.workspace.home, strict=True):
        form = t.pose_formats[name]
        code = int(form.encode(home))
        registers |= {f"{role}_{name}": Register(form, code) for role in ("pred", "at")}
        registers[f"fresh_{name}"] = Register(t.feedback.output_formats[name], code)
        del registers[name]
    registers |= {"expected_t": Register(CLOCK), "started": Register(FLAG)}
    registers["searching"] = Register(FLAG, 1)
    for name in ("next_t", "began", *(f"kept_{n}" for n in t.lengths)):
        registers.pop(name, None)
    return registers


class Track(KernelKind):
    name = "track"
    what = "a stream of lengths -> a stream of poses and twists, with the shortest latency"
    closures = ("lengths", "attitude")
    refusals: ClassVar[Mapping[str, str]] = {
        "minimum-norm": "drifts away while it reproduces every length, so it is not tracked"
    }
    usual_ii = 32
    wild = 0.003

    def trace(self, domain: Domain) -> Kernel:
        return track_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        lengths = length_names(robot)
        return ColumnNames(
            required=("t", *lengths, *attitude_names(robot), *tension_names(robot)),
            ignored=(*WRITTEN, *HEALTH, *robot.coordinates, *twist_names(robot)),
            positive=lengths,
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """The first row starts from home; `t` (s) becomes the number of the sample."""
        count = len(columns["t"])
        number = np.rint((columns["t"] - columns["t"][0]) * SAMPLE_RATE) % (CLOCK.hi + 1)
        nothing = np.zeros(count)
        return dict(columns) | {"t": number, "restart": nothing, "homing": nothing}

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        """Each row solved by itself; the twist is the difference of neighbouring poses."""
        robot = domain.robot
        home = np.tile(np.array(robot.workspace.home), (len(inputs["t"]), 1))
        poses = solved(robot, home, inputs, steps=SOLVE_STEPS)
        residual = np.abs(cable_lengths(robot, poses) - measured(robot, inputs)).max(axis=1)
        rates = np.gradient(poses, 1 / SAMPLE_RATE, axis=0) if len(poses) > 1 else 0.0 * poses
        twists = twists_of(robot, poses, rates)
        found = residual <= robot.accuracy.residual_limit
        bits = {
            Status.CONVERGED: found,
            Status.NO_SOLUTION: ~found,
            Status.OUT_OF_RANGE: beyond(robot, poses),
        }
        result = dict(zip(robot.coordinates, poses.T, strict=True))
        result |= dict(zip(twist_names(robot), twists.T, strict=True))
        return result | {"residual": residual, "status": verdict(bits)}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        """A piece of a crane's movement, sampled at the rate; before it, time to find the pose."""
        motion = crane_trajectory(robot, rate=SAMPLE_RATE)
        finding = min(FINDING, count // 2)
        moving = min(count - finding, len(motion.poses))
        first = int(rng.integers(0, len(motion.poses) - moving + 1))
        places = np.clip(np.arange(count) - finding, 0, moving - 1) + first
        return stream_values(robot, motion.poses[places])

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """The distance to the float64 pose of the same measurements."""
        poses = stack(outputs, robot.coordinates)
        return by_unit(robot, poses - solved(robot, poses, inputs, steps=4))


def model_of(robot: Robot) -> Model:
    """What the robot measures, by its closure."""
    axes = [name[1:] for name in attitude_names(robot)]
    return attitude_model(robot, axes=axes) if axes else length_model(robot)


def solved(
    robot: Robot, starts: np.ndarray, inputs: Mapping[str, np.ndarray], *, steps: int
) -> np.ndarray:
    """The pose of each row's measurements, by Gauss-Newton steps of limited size."""
    model, poses = model_of(robot), starts.copy()
    given = stack(inputs, (*length_names(robot), *attitude_names(robot)))
    for _ in range(steps):
        expected, rows = model.rows(poses)
        step = (gain(model, rows) @ (given - expected)[..., None])[..., 0]
        size = np.linalg.norm(step * model.scale, axis=1, keepdims=True)
        poses += step * np.minimum(1.0, LARGEST_STEP / np.maximum(size, 1e-30))
    return poses


def twists_of(robot: Robot, poses: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """(v, omega) in the free coordinates from the poses' rates."""
    if robot.rotations < 3:
        return rates
    first = robot.translations
    turned = (rate_matrix(poses[:, first:]) @ rates[:, first:, None])[..., 0]
    return np.hstack([rates[:, :first], turned])


def attitude_names(robot: Robot) -> tuple[str, ...]:
    if robot.closure != "attitude":
        return ()
    names = robot.coordinates[robot.translations :]
    return tuple(f"m{n}" for n in (names[:2] if "inclinometer" in robot.sensors else names))


def tension_names(robot: Robot) -> tuple[str, ...]:
    if "tension" not in robot.sensors:
        return ()
    return tuple(f"S{i + 1}" for i in range(len(robot.cables)))


def stream_values(robot: Robot, poses: np.ndarray) -> Columns:
    """What exact sensors give at the poses of successive samples."""
    count = len(poses)
    values = dict(zip(length_names(robot), cable_lengths(robot, poses).T, strict=True))
    for name in attitude_names(robot):
        values[name] = poses[:, robot.coordinates.index(name[1:])]
    for name, cable in zip(tension_names(robot), robot.cables, strict=False):
        values[name] = np.full(count, 2 * (cable.tension_min or 0.0) + 10.0)
    clock = np.arange(count) % (CLOCK.hi + 1)
    return values | {"t": clock, "restart": np.zeros(count), "homing": np.zeros(count)}
