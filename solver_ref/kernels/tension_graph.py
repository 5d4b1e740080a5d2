"""The graph of one pass of `tension`, and the iteration over it.

A pass computes the cables' rows and the wrench afresh, as all that stays between passes is the
state of `solver_ref.tension_pass`.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

from solver_ref import graph as g
from solver_ref.cable import Rotation, rotation, spatial
from solver_ref.elongation import elongation
from solver_ref.fixed import FLAG, Format, next_power
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.geometry import LIMITS
from solver_ref.iteration import Iteration
from solver_ref.kernels.domain import pose_formats, pose_inputs, tracer
from solver_ref.kernels.kind import pull_names
from solver_ref.kernels.ports import status_word
from solver_ref.kernels.tension_domain import TensionDomain
from solver_ref.kernels.tension_ports import (
    ACCELERATION,
    LOAD,
    SPEED,
    acceleration_names,
    earth_weight,
    elongation_names,
    motion_names,
    twist_names,
    unbalanced_names,
    wrench_names,
)
from solver_ref.kernels.tension_samples import pass_limit
from solver_ref.kernels.unit_rows import unit_rows
from solver_ref.statics import carried_wrench
from solver_ref.status import Status
from solver_ref.tension import BALANCE, UNBALANCED_LIMIT
from solver_ref.tension_pass import TensionLimits, TensionPass, TensionState, tension_pass

STRETCH_ERROR = 2.0**-24
"""The error that is allowed to an elongation (m)."""
SQUARED_BITS = 18
"""Bits of the components whose squares say how much stays unbalanced."""
INPUT_FLAGS = ("pose", "beyond", "tilt", "length", "motion")
INNER_FLAGS = ("left", "right_side", "solution", "tension")


class TensionGraph:
    """Builds the graph of one pass."""

    def __init__(self, domain: TensionDomain) -> None:
        self.domain, self.profile = domain, domain.profile
        self.robot = robot = domain.domain.robot
        self.m = tracer(robot, self.profile)
        self.limits = self._limits()
        self.redundant = len(robot.cables) > len(robot.free)
        self.limit = pass_limit(robot)

    def _limits(self) -> TensionLimits:
        """The robot's own, or what is loaded."""
        if not self.domain.domain.loaded:
            return self.domain.limits
        cables = []
        for cable in self.domain.domain.cables(self.m):
            given = {part: getattr(cable, part) for part in LIMITS}
            known = {part: x for part, x in given.items() if x is not None}
            fixed = {part: self.m.constant(x, "tension") for part, x in known.items()}
            cables.append(dataclasses.replace(cable, **fixed))
        return TensionLimits.of(self.robot, cables)

    def build(self) -> Iteration:
        m, robot, domain = self.m, self.robot, self.domain
        pose = spatial(pose_inputs(m, robot), robot.free)
        motion = self._motion()
        state, count = self._state(), m.input("count", Format(False, self.limit.bit_length(), 0))
        turn = rotation(m, pose[3:])
        rows = unit_rows(m, domain.domain, pose[:3], turn)
        wrench = self._wrench(turn, motion)
        judged = tension_pass(m, self.limits, rows, wrench, state, domain.bounds, domain.precision)
        last = m.negation(m.less(count, float(self.limit - 1)))
        outputs = self._following(judged.following) | {"next_count": count + 1.0}
        top = 2 ** self.limit.bit_length() - 1.0
        outputs["next_count"] = outputs["next_count"].into(0.0, top, "saturate")
        results = self._results(state, judged, wrench) | {"iterations": outputs["next_count"]}
        return self._iteration(outputs | results | {"done": m.any([judged.done, last])}, results)

    @cached_property
    def motion_formats(self) -> dict[str, Format]:
        """Of twist, acceleration and applied wrench: signed, as wide as declared."""
        robot, bits = self.robot, self.profile.motion.bits
        formats = {name: _format(SPEED, bits) for name in twist_names(robot)}
        formats |= {name: _format(ACCELERATION, bits) for name in acceleration_names(robot)}
        for name, most in zip(wrench_names(robot), self._loads, strict=True):
            formats[name] = _format(most, self.profile.wrench.bits)
        return formats

    @property
    def _loads(self) -> list[float]:
        """Declared limits of the applied wrench (N, N m)."""
        robot, force = self.robot, LOAD * earth_weight(self.robot)
        arms = [1.0] * robot.translations + [robot.characteristic_length] * robot.rotations
        return [force * arm for arm in arms]

    def _motion(self) -> list[list[Fixed]]:
        """Twist, acceleration and applied wrench, held within the declared limits."""
        robot, size = self.robot, len(self.robot.free)
        limits = [SPEED] * size + [ACCELERATION] * size + self._loads
        values = [
            self.m.clamp(self.m.input(name, self.motion_formats[name]), -most, most, "motion")
            for name, most in zip(motion_names(robot), limits, strict=True)
        ]
        return [values[i * size : (i + 1) * size] for i in range(3)]

    def _state(self) -> TensionState:
        m, cables = self.m, len(self.robot.cables)
        low = [m.input(f"low{i + 1}", FLAG) for i in range(cables)]
        high = [m.builder.constant(0.0)] * cables
        if self.redundant:
            high = [m.input(f"high{i + 1}", FLAG) for i in range(cables)]
        solution = [m.input(name, self._solution_format) for name in self._solution_names]
        return TensionState(solution, low, high, m.input("kept", FLAG))

    @property
    def _solution_names(self) -> list[str]:
        return [f"y{i + 1}" for i in range(min(len(self.robot.cables), len(self.robot.free)))]

    @property
    def _solution_format(self) -> Format:
        return _format(self.domain.bounds.step, self.profile.tension.bits)

    def _following(self, state: TensionState) -> dict[str, Fixed]:
        values = dict(zip(self._solution_names, state.solution, strict=True))
        values |= {f"low{i + 1}": flag for i, flag in enumerate(state.low)}
        if self.redundant:
            values |= {f"high{i + 1}": flag for i, flag in enumerate(state.high)}
        return {f"next_{name}": value for name, value in (values | {"kept": state.kept}).items()}

    def _wrench(self, turn: Rotation, motion: list[list[Fixed]]) -> list[Fixed]:
        """W, moments divided by the characteristic length."""
        m, robot = self.m, self.robot
        scale = m.constant(1 / robot.characteristic_length, "unit")
        twist, acceleration, applied = motion
        carried = carried_wrench(m, robot, turn, twist, acceleration, applied)
        return [
            m.nearest(x * scale, "wrench") if i >= robot.translations else x
            for i, x in enumerate(carried)
        ]

    def _results(
        self, state: TensionState, judged: TensionPass, wrench: list[Fixed]
    ) -> dict[str, Fixed]:
        m, robot, limits = self.m, self.robot, self.limits
        free = [m.negation(m.any([a, b])) for a, b in zip(state.low, state.high, strict=True)]
        tensions = [
            self._given_out(value, high)
            for value, high in zip(judged.tensions, limits.highest, strict=True)
        ]
        results = dict(zip(pull_names(robot), tensions, strict=True))
        results["active"] = _mask(free)
        scale = [1.0] * robot.translations + [robot.characteristic_length] * robot.rotations
        for name, x, unit in zip(unbalanced_names(robot), judged.unbalanced, scale, strict=True):
            results[name] = x if unit == 1.0 else m.nearest(x * m.constant(unit, "unit"), "wrench")
        for name in elongation_names(robot):
            number = int(name[1:]) - 1
            stiffness = self.domain.domain.cables(m)[number].stiffness
            law, tension = robot.elongation, tensions[number]
            stretch = elongation(m, stiffness, tension, law, error=STRETCH_ERROR)
            results[name] = m.builder.constant(0.0) if stretch == 0 else stretch
        return results | {"status": status_word(m, self._status(free, judged, wrench))}

    def _given_out(self, value: Fixed, high: Fixed | float | None) -> Fixed:
        """A tension between 0 and its bound."""
        if not isinstance(high, Fixed):
            return value.into(0.0, self.domain.bounds.step if high is None else high, "saturate")
        return self.m.minimum([value.into(0.0, self.domain.bounds.step, "saturate"), high])

    def _status(
        self, free: list[Fixed], judged: TensionPass, wrench: list[Fixed]
    ) -> dict[Status, Fixed]:
        m = self.m
        dropped = m.any([m.negation(flag) for flag in free])
        bad = [*self._beyond(judged.tensions), self._unbalanced(judged.unbalanced, wrench)]
        outside = m.flagged(*INPUT_FLAGS)
        if not self.redundant:
            bad.append(m.negation(m.any(free)))
            outside += m.flagged(*INNER_FLAGS)
        none, out = m.any(bad), m.any(outside)
        fine = m.negation(m.any([none, out]))
        found, late = judged.done, m.negation(judged.done)
        status = {
            Status.VALID: fine if self.redundant else m.every(fine, found),
            Status.CONVERGED: m.every(found, m.negation(none)),
            Status.NEAR_SINGULAR: m.any(m.flagged("singular")),
            Status.OUT_OF_RANGE: out,
            Status.NO_SOLUTION: none,
        }
        if self.redundant:
            return status
        return status | {Status.ITERATION_LIMIT: late, Status.SLACK: dropped}

    def _beyond(self, tensions: list[Fixed]) -> list[Fixed]:
        """Flags: a tension is above its bound; with redundant cables also, it is below."""
        m, limits = self.m, self.limits
        flags = []
        for x, low, high in zip(tensions, limits.lowest, limits.highest, strict=True):
            if high is not None:
                flags.append(m.less(m.constant(high, "tension"), x))
            if self.redundant:
                flags.append(m.less(x, m.constant(low, "tension")))
        return flags

    def _unbalanced(self, left: list[Fixed], wrench: list[Fixed]) -> Fixed:
        """Flag: too much stays unbalanced."""
        m = self.m
        if self.redundant:
            allowed = BALANCE * max(self.domain.limits.middle)
            size = 2.0 ** (math.floor(math.log2(allowed)) + 3)
            squares = self._squares(left, size)
            return m.less(m.constant(allowed**2, "wrench"), squares)
        size = next_power(max(x.range.magnitude for x in wrench))
        carried = self._squares(wrench, size) * m.builder.constant(UNBALANCED_LIMIT**2)
        return m.less(carried, self._squares(left, size))

    def _squares(self, values: list[Fixed], size: float) -> Fixed:
        """The sum of the squares of values held within +-size."""
        bits = SQUARED_BITS - 1 - round(math.log2(size))
        short = [x.into(-size, size - 2.0**-x.range.fraction, "saturate") for x in values]
        return self.m.total([y * y for y in (x.narrow(bits) for x in short)])

    def _iteration(self, outputs: dict[str, Fixed], results: dict[str, Fixed]) -> Iteration:
        robot, m = self.robot, self.m
        flags = [name.removeprefix("next_") for name in outputs if name.startswith("next_")]
        formats = {f"next_{name}": self._solution_format for name in self._solution_names}
        return Iteration(
            graph=m.builder.graph("tension", outputs, formats),
            state=tuple(flags),
            inputs=(*pose_formats(robot, self.profile), *motion_names(robot)),
            initial=dict.fromkeys(flags, 0),
            done="done",
            results=tuple(results),
            max_passes=self.limit,
        )


def _format(size: float, bits: int) -> Format:
    """Signed, with room for +-size, a power of two without its upper end."""
    return Format(True, math.ceil(math.log2(size)) + 1, bits)


def _mask(flags: list[Fixed]) -> Fixed:
    """The flags as the bits of one integer, the first the lowest: wires only."""
    word = flags[-1]
    for flag in reversed(flags[:-1]):
        word = word.scaled(1).apply(g.Join, flag, bits=1)
    return word
