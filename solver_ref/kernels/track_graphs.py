"""The graphs of `track`: feedback, update, prepare, arm.

`feedback` turns a sample into a pose, x = x_pred + K (L - L_pred), and says what is wrong with the
sample. Behind it `update` filters the rates and predicts the next pose; `prepare` computes at a
pose what depends on it alone (lengths, gain, twist), once to verify the state just found and once
for the prediction; `arm` makes the thresholds of the next sample and judges this one.

The rates are changes per sample. Their filter is that of `solver_ref.tracking`.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

from solver_ref import detection
from solver_ref import graph as g
from solver_ref.cable import cable_at, rotation, spatial
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.gain import attitude_axes, gain, gain_bounds, tracking_quantum, unit_row
from solver_ref.kernels.domain import Domain, coordinate_limits, estimate_limits, tracer
from solver_ref.kernels.kind import length_names
from solver_ref.profile import Significant
from solver_ref.pulley_limits import pulley_limits
from solver_ref.status import Status
from solver_ref.tracking import Filter

SAMPLE_RATE = 10_000.0
"""Samples per second (Hz)."""

POSE_GUARD, RATE_GUARD = 3, 10
"""Fraction bits of the tracked pose beyond the lengths' quantum, and of its rates beyond those."""

RATE_LIMIT = 2.0**-6
"""Largest change of a coordinate from sample to sample (m, rad)."""

INNOVATION_BITS = 18
"""An innovation's word: one operand of the smallest multipliers. While a pose is searched for,
what does not fit is walked in steps."""

GAIN_BITS = 18
ELIMINATION_BITS = 25
FROZEN_QUANTA = 16
"""An encoder that stands still while it should have moved by more quanta is frozen."""
CLOCK = Format(False, 16, 0)
"""The sample number `t`, which wraps."""
FLAG = Format(False, 1, 0)


class TrackGraphs:
    """Builds the four graphs of a domain; formats flow from `prepare` to the others."""

    def __init__(self, domain: Domain) -> None:
        self.robot = domain.robot
        finest = tracking_quantum(self.robot)
        self.domain = domain = Domain.of(self.robot, domain.profile.name, finest=finest)
        words = dict.fromkeys(("gram", "factor", "solution"), Significant(ELIMINATION_BITS))
        self.profile = dataclasses.replace(domain.profile, **words, step=Significant(GAIN_BITS))
        self.quantum = domain.profile.pose.bits
        self.pose_bits = self.quantum + POSE_GUARD
        self.rate_bits = self.pose_bits + RATE_GUARD
        self.lengths = length_names(self.robot)
        self.axes = tuple(self.robot.coordinates[i] for i in attitude_axes(self.robot))
        self.measurements = (*self.lengths, *(f"m{axis}" for axis in self.axes))
        self.length_format = domain.length_format()
        self.filter = Filter()

    def tracer(self) -> TracedArithmetic:
        return tracer(self.robot, self.profile)

    @cached_property
    def pose_formats(self) -> dict[str, Format]:
        """Of the tracked pose: room for a step beyond where estimates may go."""
        return {
            name: Format(True, math.floor(math.log2(max(map(abs, limits)))) + 3, self.pose_bits)
            for name, limits in zip(
                self.robot.coordinates, estimate_limits(self.robot), strict=True
            )
        }

    @cached_property
    def attitude_format(self) -> Format:
        top = self.robot.tilt_bound + self.robot.workspace.start_error[1]
        return Format(True, math.floor(math.log2(top)) + 2, self.quantum)

    @cached_property
    def offset_format(self) -> Format:
        """Of what homing adds to the lengths: as far as they reach, both ways."""
        return Format(True, self.length_format.width - self.quantum + 1, self.quantum)

    @property
    def rate_format(self) -> Format:
        return Format(True, 1 - round(-math.log2(RATE_LIMIT)), self.rate_bits)

    @property
    def sum_format(self) -> Format:
        """Of the movement that was predicted of a length since its code changed last."""
        return Format(True, INNOVATION_BITS - self.quantum, self.quantum)

    # -- prepare ---------------------------------------------------------------------------------

    @cached_property
    def prepare(self) -> g.Graph:
        """Pose, rates, lengths, offsets -> predicted lengths, gain, twist, residual, radius."""
        m, robot = self.tracer(), self.robot
        pose = self._pose(m)
        rates = [m.input(f"rate_{name}", self.rate_format) for name in robot.coordinates]
        measured = [m.input(name, self.length_format) for name in self.lengths]
        offsets = [m.input(f"offset_{name}", self.offset_format) for name in self.lengths]
        homing = m.input("homing", FLAG)
        full = spatial([m.nearest(x, "pose") for x in pose], robot.free)
        turn = rotation(m, full[3:], length=robot.characteristic_length)
        outputs: dict[str, Fixed] = {}
        residuals, rows = [], []
        for i, cable in enumerate(robot.cables):
            state = cable_at(m, full[:3], turn, cable, pulley_limits(robot)[i])
            low, high = self.domain.reach[i]
            square = m.clamp(state.square, low**2, high**2, "length")
            root, inverse = m.square_root(square, "unit")
            rows.append(unit_row(m, robot, state, turn, m.round(inverse, "jacobian")))
            length = m.nearest(root, "pose")
            own = length - offsets[i]
            residuals.append(own - measured[i])
            own = m.clamp(own, 0.0, self.length_format.hi * self.length_format.quantum, "offset")
            outputs[f"pred_{self.lengths[i]}"] = m.select(homing, measured[i], own)
            top = -self.offset_format.lo * self.offset_format.quantum
            apart = m.difference(length, measured[i], top)
            outputs[f"offset_{self.lengths[i]}"] = m.select(homing, apart, offsets[i])
        found = gain(m, robot, rows, gain_bounds(robot))
        for name, column in zip(self.measurements, found.columns, strict=True):
            for coordinate, entry in zip(robot.coordinates, column, strict=True):
                outputs[f"K_{coordinate}_{name}"] = entry
        residual = m.maximum([m.absolute(x) for x in residuals])
        outputs |= self._twist(m, turn, rates)
        outputs |= {"residual": residual, "pivot": found.pivot}
        outputs["radius"] = self._radius(m, found.columns, residual)
        limit = robot.accuracy.residual_limit
        outputs["near"] = m.negation(m.less(math.ldexp(round(limit * 2**20), -20), residual))
        unused = ("singular", "unused")
        outputs["singular"] = m.any(m.flags.get("singular", []))
        outputs["beyond"] = m.any(
            [flag for name, flags in m.flags.items() if name not in unused for flag in flags]
        )
        formats = {f"pred_{name}": self.length_format for name in self.lengths}
        formats |= {f"offset_{name}": self.offset_format for name in self.lengths}
        return m.builder.graph("prepare", outputs, formats)

    def _pose(self, m: TracedArithmetic) -> list[Fixed]:
        """The pose ports, held where estimates may go."""
        pose = []
        robot = self.robot
        limits = zip(coordinate_limits(robot), estimate_limits(robot), strict=True)
        for name, (declared, (low, high)) in zip(robot.coordinates, limits, strict=True):
            port = m.input(name, self.pose_formats[name])
            m.flag_outside(port, *declared, "beyond")
            pose.append(port.into(low, high, "saturate"))
        return pose

    def _twist(self, m: TracedArithmetic, turn, rates: list[Fixed]) -> dict[str, Fixed]:
        """(v, omega) per second: omega = J_l phi_dot in the free coordinates."""
        robot, names = self.robot, twist_names(self.robot)
        coarse = [m.round(rate, "unit") for rate in rates]
        full = spatial(coarse, robot.free)
        scale = m.constant(SAMPLE_RATE, "unit")
        spun = m.constant(SAMPLE_RATE * robot.characteristic_length, "unit")
        omega = [m.dot(row, full[3:], "unit") for row in turn.rate]
        spatial_twist = [x * scale if x else 0 for x in full[:3]] + [
            x * spun if x else 0 for x in omega
        ]
        return {
            name: m.round(spatial_twist[index], "unit")
            for name, index in zip(names, robot.free, strict=True)
        }

    def _radius(self, m: TracedArithmetic, columns: list[list[Fixed]], residual: Fixed) -> Fixed:
        """|K| (residual + quantum): the exact position is nearer than that (m).

        |K| is the sum of the magnitudes that lengths move positions by; a residual beyond a rate's
        limit counts as that limit, as no such pose is VALID.
        """
        moved = m.clamp(residual + 2.0**-self.quantum, 0.0, RATE_LIMIT, "unused")
        entries = [
            m.absolute(column[k])
            for column in columns[: len(self.lengths)]
            for k in range(self.robot.translations)
        ]
        return (m.round(m.total(entries), "weight") * moved).narrow(self.pose_bits)

    # -- feedback --------------------------------------------------------------------------------

    @cached_property
    def feedback(self) -> g.Graph:
        """A sample and what was prepared -> pose, faults and status."""
        m, robot = self.tracer(), self.robot
        prepared = self.prepare.output_formats
        measured = [m.input(name, self.length_format) for name in self.lengths]
        turned = [m.input(f"m{axis}", self.attitude_format) for axis in self.axes]
        pred = {n: m.input(f"pred_{n}", self.pose_formats[n]) for n in robot.coordinates}
        size = 2.0 ** (INNOVATION_BITS - 1 - self.quantum)
        innovations, jumps = [], []
        for name, length in zip(self.lengths, measured, strict=True):
            expected = m.input(f"pred_{name}", prepared[f"pred_{name}"])
            innovations.append(m.difference(length, expected, size))
            limit = math.floor(math.ldexp(self.jump_limit, self.quantum))
            jumps.append(innovations[-1].apply(g.Outside, lo=-limit, hi=limit))
        for axis, angle in zip(self.axes, turned, strict=True):
            innovations.append(m.difference(angle, pred[axis].narrow(self.quantum), size))
        outputs: dict[str, Fixed] = {}
        for coordinate in robot.coordinates:
            terms = [pred[coordinate]]
            for name, innovation in zip(self.measurements, innovations, strict=True):
                key = f"K_{coordinate}_{name}"
                terms.append((m.input(key, prepared[key]) * innovation).narrow(self.pose_bits))
            outputs[coordinate] = m.total(terms)
        outputs |= self._faults(m, measured, jumps)
        return m.builder.graph("feedback", outputs)

    @property
    def jump_limit(self) -> float:
        """The largest innovation (m) that physics allows: at the beginning of a movement, when its
        rate is not known yet, with the lag of the rate's filter and the noise of rounding."""
        limits, period = detection.USUAL_LIMITS, 1 / SAMPLE_RATE
        lag = limits.acceleration * period**2 / self.filter.velocity
        noise = detection.NOISE_QUANTA * 2.0**-self.quantum + limits.noise
        return limits.speed * period + lag + noise

    def _faults(
        self, m: TracedArithmetic, measured: list[Fixed], jumps: list[Fixed]
    ) -> dict[str, Fixed]:
        """What this sample says of itself, and the status word."""
        searching, started = m.input("searching", FLAG), m.input("started", FLAG)
        restart, beyond = m.input("restart", FLAG), m.input("beyond", FLAG)
        now, expected = m.input("t", CLOCK), m.input("expected_t", CLOCK)
        outputs, frozen = {}, []
        for name, length in zip(self.lengths, measured, strict=True):
            before = m.input(f"last_{name}", self.length_format)
            change = m.difference(length, before, 2.0 ** (INNOVATION_BITS - 1 - self.quantum))
            changed = change.apply(g.Outside, lo=0, hi=0)
            outputs |= {f"changed_{name}": changed, f"kept_{name}": length}
            frozen.append(none([changed, m.input(f"unarmed_{name}", FLAG)]))
        gap = m.every(started, (now - expected).apply(g.Outside, lo=0, hi=0))
        refusing = [*jumps, *frozen, restart]
        losing = [*refusing, searching]
        refused, jump = some(refusing), some(jumps)
        stale = some([*frozen, gap])
        slack = self._slack(m)
        status = {
            Status.VALID: none([*losing, gap, beyond]),
            Status.CONVERGED: none(losing),
            Status.NEAR_SINGULAR: m.input("singular", FLAG),
            Status.OUT_OF_RANGE: beyond,
            Status.STALE: stale,
            Status.JUMP: jump,
        } | ({Status.SLACK: slack} if slack else {})
        following = (now + 1.0).apply(g.Narrow, fraction=0, lo=0, hi=CLOCK.hi, overflow="wrap")
        return outputs | {
            "refused": refused,
            "hold": some([*losing, beyond]),
            "status": joined(status),
            "next_t": following,
            "began": m.builder.constant(1.0),
        }

    def _slack(self, m: TracedArithmetic) -> Fixed | None:
        """Whether a measured tension lies at or below its cable's bound."""
        if "tension" not in self.robot.sensors:
            return None
        flags = []
        for i, cable in enumerate(self.robot.cables):
            tension = m.input(f"S{i + 1}", TENSION)
            lowest = math.floor(math.ldexp(cable.tension_min or 0.0, TENSION.fraction))
            flags.append(tension.apply(g.Outside, lo=lowest + 1, hi=TENSION.hi))
        return some(flags)

    # -- update ----------------------------------------------------------------------------------

    @cached_property
    def update(self) -> g.Graph:
        """The pose just found -> state, filtered rates, the prediction for the next sample."""
        m, robot, f = self.tracer(), self.robot, self.filter
        refused, searching = m.input("refused", FLAG), m.input("searching", FLAG)
        restart = m.input("restart", FLAG)
        # A refused sample leaves the state to coast; a search has no rates.
        coasting = m.every(refused, m.negation(searching))
        resting = m.any([searching, restart])
        outputs: dict[str, Fixed] = {}
        limits = zip(robot.coordinates, estimate_limits(robot), robot.workspace.home, strict=True)
        for name, (low, high), home in limits:
            pred = m.input(f"pred_{name}", self.pose_formats[name])
            fresh = m.input(f"fresh_{name}", self.feedback.output_formats[name])
            rate = m.input(f"rate_{name}", self.rate_format)
            bend = m.input(f"bend_{name}", self.rate_format)
            fresh = fresh.into(low, high, "saturate")
            state = m.select(coasting, pred.into(low, high, "saturate"), fresh)
            at_home = m.builder.constant(home, self.pose_bits)
            state = m.select(restart, at_home, state)
            step = state - pred
            step = step.into(-RATE_LIMIT, RATE_LIMIT, "saturate").extended(self.rate_bits)
            rate = self._filtered(m, resting, (rate + bend) + shifted(step, f.velocity))
            bend = self._filtered(m, resting, bend + shifted(step, f.acceleration))
            ahead = (rate + shifted(bend, 0.5)).narrow(self.pose_bits)
            outputs[f"at_{name}"] = state
            outputs[f"rate_{name}"], outputs[f"bend_{name}"] = rate, bend
            outputs[f"pred_{name}"] = (state + ahead).into(low, high, "saturate")
        for name in self.lengths:
            offset = m.input(f"offset_{name}", self.offset_format)
            outputs[f"offset_{name}"] = m.select(restart, 0, offset)
        formats = {
            f"{role}_{n}": f for n, f in self.pose_formats.items() for role in ("at", "pred")
        }
        formats |= {
            f"{role}_{n}": self.rate_format for n in robot.coordinates for role in ("rate", "bend")
        }
        formats |= {f"offset_{name}": self.offset_format for name in self.lengths}
        return m.builder.graph("update", outputs, formats)

    def _filtered(self, m: TracedArithmetic, resting: Fixed, value: Fixed) -> Fixed:
        """A rate as it is kept: at its quantum, within its limit, zero while there is none."""
        top = self.rate_format.hi * self.rate_format.quantum
        kept = value.narrow(self.rate_bits).into(-top, top, "saturate")
        return m.select(resting, 0, kept)

    # -- arm -------------------------------------------------------------------------------------

    @cached_property
    def arm(self) -> g.Graph:
        """What was verified and predicted -> thresholds of the next sample, and whether a pose is
        known."""
        m = self.tracer()
        refused, restart = m.input("refused", FLAG), m.input("restart", FLAG)
        searching, near = m.input("searching", FLAG), m.input("near", FLAG)
        missed = m.input("missed", Format(False, 4, 0))
        outputs: dict[str, Fixed] = {}
        top = 2.0 ** (INNOVATION_BITS - 1 - self.quantum)
        limit = FROZEN_QUANTA
        for name in self.lengths:
            pred = m.input(f"pred_{name}", self.length_format)
            seen = m.input(f"seen_{name}", self.length_format)
            total = m.input(
                f"sum_{name}", Format(True, INNOVATION_BITS - self.quantum, self.quantum)
            )
            total = m.select(m.input(f"changed_{name}", FLAG), 0, total - forgotten(total))
            moved = total + m.difference(pred, seen, top)
            outputs[f"sum_{name}"] = m.limit(moved, top, "unused")
            still = m.negation(moved.apply(g.Outside, lo=-limit, hi=limit))
            outputs[f"unarmed_{name}"] = m.any([still, searching])
        counted = m.minimum([missed + 1.0, m.builder.constant(15.0)])
        outputs["missed"] = m.select(refused, counted, 0)
        found = m.every(near, m.negation(refused))
        given_up = m.negation(m.less(missed, float(detection.PATIENCE)))
        outputs["searching"] = m.any(
            [restart, m.every(refused, given_up), m.every(searching, m.negation(found))]
        )
        formats = {f"sum_{name}": self.sum_format for name in self.lengths}
        return m.builder.graph("arm", outputs, formats | {"missed": Format(False, 4, 0)})


TENSION = Format(False, 16, 2)
"""A measured tension (N)."""


def twist_names(robot) -> tuple[str, ...]:
    """The free components of the twist, in the order of the coordinates."""
    return tuple(("vx", "vy", "vz", "wx", "wy", "wz")[index] for index in robot.free)


def forgotten(value: Fixed) -> Fixed:
    """What a sum of predicted movements loses with each sample."""
    return shifted(value, detection.FORGOTTEN).narrow(value.range.fraction)


def shifted(value: Fixed, factor: float) -> Fixed:
    """The value times a power of two."""
    return value.scaled(round(math.log2(factor)))


def some(flags: list[Fixed]) -> Fixed:
    """Whether any flag is 1: one comparison of all of them side by side."""
    return _row(flags).apply(g.Outside, lo=0, hi=0)


def none(flags: list[Fixed]) -> Fixed:
    """Whether no flag is 1."""
    row = _row(flags)
    return row.apply(g.Less, row.builder.constant(1.0))


def _row(flags: list[Fixed]) -> Fixed:
    """The flags as the bits of one integer, by wires."""
    word, *rest = flags
    for flag in rest:
        word = word.scaled(1).apply(g.Join, flag, bits=1)
    return word


def joined(bits: dict[Status, Fixed]) -> Fixed:
    """The status word by wires alone: each flag at the place of its bit."""
    (place, word), *rest = sorted(
        ((int(bit).bit_length() - 1, flag) for bit, flag in bits.items()), reverse=True
    )
    for lower, flag in rest:
        word = word.scaled(place - lower).apply(g.Join, flag, bits=place - lower)
        place = lower
    return word
