"""`track`: a stream of lengths -> a stream of poses and twists at the shortest latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from solver_ref.attitude import attitude_names
from solver_ref.correction import measured_lengths
from solver_ref.kernels.corrections import TENSION, WARMING, lengths_shown, warming_names
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    by_unit,
    health_names,
    length_names,
    measured,
    stack,
    twist_names,
    verdict,
    written_names,
)
from solver_ref.kernels.track_formats import CLOCK, FLAG
from solver_ref.kernels.track_graphs import TrackGraphs
from solver_ref.kernels.track_values import (
    solved,
    stream_of,
    stream_with,
    tension_names,
    twists_of,
)
from solver_ref.kinematics import cable_lengths
from solver_ref.robot import Robot
from solver_ref.sequence import Register, Sequence, Stage
from solver_ref.status import Status
from solver_ref.trajectory import crane_trajectory, quasi_static_lengths

FINDING = 150
"""Samples of a test stream in which the pose is searched for."""
SOLVE_STEPS = 30
"""Steps of a float64 solve from home."""
LONGEST_PATH = 10**6
"""Samples of a slow path of which test streams are pieces."""


def track_kernel(domain: Domain) -> Kernel:
    """The sequence of one sample."""
    graphs = TrackGraphs(domain)
    sequence = _sequence(graphs)
    return Kernel("track", domain.robot, graphs.profile, graphs.prepare, sequence=sequence)


def _sequence(t: TrackGraphs) -> Sequence:
    robot, lengths = t.robot, t.lengths
    fields = dict.fromkeys(lengths, t.length_format)
    fields |= dict.fromkeys((f"m{axis}" for axis in t.axes), t.attitude_format)
    fields |= dict.fromkeys(tension_names(robot), TENSION)
    fields |= dict.fromkeys(warming_names(robot), WARMING)
    fields |= {"t": CLOCK, "restart": FLAG, "homing": FLAG}
    registers, health = _registers(t), health_names(robot)
    prepared = [name for name in t.prepare.output_formats if name not in ("near", *health)]
    own = {name: name for name in t.prepare.inputs if name in registers or name in fields}
    verify = own | {name: f"at_{name}" for name in robot.coordinates}
    ahead = own | {name: f"pred_{name}" for name in robot.coordinates}
    seen = {f"seen_{name}": f"pred_{name}" for name in lengths}
    stages = (
        Stage("feedback", "feedback", _same(t.feedback.inputs), _feedback_outputs(t)),
        Stage("update", "update", _same(t.update.inputs), _same(t.update.output_formats)),
        Stage("verify", "prepare", verify, seen | _same((*health, "near")), after="update"),
        Stage("prepare", "prepare", ahead, _same(prepared), after="update"),
        Stage("arm", "arm", _same(t.arm.inputs), _same(t.arm.output_formats)),
    )
    results = {name: f"fresh_{name}" for name in robot.coordinates}
    results |= _same((*twist_names(robot), *t.tensions, "status", *health))
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
    pose, densities = t.home
    for name, share in zip(t.densities, densities, strict=True):
        registers[name] = Register(t.density_format, int(t.density_format.encode(share)))
    for name, home in zip(robot.coordinates, pose, strict=True):
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
    closures = ("lengths", "attitude", "equilibrium")
    loadable = closures
    refusals: ClassVar[Mapping[str, str]] = {
        "minimum-norm": "drifts away while it reproduces every length, so it is not tracked"
    }
    usual_ii = 32
    sampled = True
    wild = 0.003

    def trace(self, domain: Domain) -> Kernel:
        return track_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        lengths = length_names(robot)
        return ColumnNames(
            required=("t", *lengths, *attitude_names(robot), *tension_names(robot)),
            optional=warming_names(robot),
            ignored=(*written_names(robot), *robot.coordinates, *twist_names(robot)),
            # An encoder with an offset may show anything.
            positive=tuple(n for n, c in zip(lengths, robot.cables, strict=True) if not c.offset),
            not_negative=tension_names(robot),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """The first row starts from home; `t` (s) becomes the number of the sample."""
        count = len(columns["t"])
        number = np.rint((columns["t"] - columns["t"][0]) * robot.sample_rate) % (CLOCK.hi + 1)
        nothing = np.zeros(count)
        warming = dict.fromkeys(warming_names(robot), nothing)
        return warming | dict(columns) | {"t": number, "restart": nothing, "homing": nothing}

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        """Each row solved by itself; the twist is the difference of neighbouring poses."""
        robot = domain.robot
        home = np.tile(np.array(robot.workspace.home), (len(inputs["t"]), 1))
        poses, tensions = solved(robot, home, inputs, steps=SOLVE_STEPS)
        values = {name: inputs[name] for name in inputs if name not in length_names(robot)}
        if tensions is not None:
            values |= {f"T{i + 1}": column for i, column in enumerate(tensions.T)}
        shown = lengths_shown(robot, cable_lengths(robot, poses), values)
        residual = np.abs(shown - measured(robot, inputs)).max(axis=1)
        rates = np.gradient(poses, 1 / robot.sample_rate, axis=0) if len(poses) > 1 else 0.0 * poses
        found = residual <= robot.accuracy.residual_limit
        bits = {
            Status.CONVERGED: found,
            Status.NO_SOLUTION: ~found,
            Status.OUT_OF_RANGE: beyond(TrackGraphs(domain).robot, poses),
        }
        result = dict(zip(robot.coordinates, poses.T, strict=True))
        result |= dict(zip(twist_names(robot), twists_of(robot, poses, rates).T, strict=True))
        if tensions is not None:
            result |= {f"T{i + 1}": column for i, column in enumerate(tensions.T)}
        return result | {"residual": residual, "status": verdict(bits)}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        """A piece of a movement, sampled at the rate; before it, time to find the pose."""
        finding, rate = min(FINDING, count // 2), robot.sample_rate
        if robot.closure == "equilibrium":
            first = int(rng.integers(0, LONGEST_PATH))
            duration = max(count - finding, 1) / rate
            moving, _ = quasi_static_lengths(robot, rate, duration, first=first)
            lengths = np.vstack([np.repeat(moving[:1], finding, axis=0), moving])[:count]
            shown = measured_lengths(robot, lengths)
            return stream_with(robot, shown, {n: np.zeros(count) for n in warming_names(robot)})
        motion = crane_trajectory(robot, rate=rate)
        moving = min(count - finding, len(motion.poses))
        first = int(rng.integers(0, len(motion.poses) - moving + 1))
        places = np.clip(np.arange(count) - finding, 0, moving - 1) + first
        return stream_of(robot, motion.poses[places])

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """The distance to the float64 pose of the same measurements; `N` of tensions."""
        poses = stack(outputs, robot.coordinates)
        truth, tensions = solved(robot, poses, inputs, steps=4)
        found = by_unit(robot, poses - truth)
        if tensions is not None:
            own = stack(outputs, [f"T{i + 1}" for i in range(len(robot.cables))])
            found["N"] = float(np.max(np.abs(own - tensions)))
        return found
