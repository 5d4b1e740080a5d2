"""The graphs of `track`: feedback, update, arm, and `prepare` of `track_prepare`.

`feedback` turns a sample into a pose, x = x_pred + K (L - L_pred), and says what is wrong with the
sample. Behind it `update` filters the rates and predicts the next pose; `prepare` computes at a
pose what depends on it alone (lengths, gain, twist), once to verify the state just found and once
for the prediction; `arm` makes the thresholds of the next sample and judges this one.

The rates are changes per sample. Their filter is that of `solver_ref.tracking`.
"""

from __future__ import annotations

import math
from functools import cached_property

from solver_ref import detection
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.corrections import TENSION
from solver_ref.kernels.domain import estimate_limits
from solver_ref.kernels.track_formats import (
    CLOCK,
    FLAG,
    FROZEN,
    INNOVATION_BITS,
    RATE_LIMIT,
    TrackFormats,
)
from solver_ref.kernels.track_prepare import prepare_graph
from solver_ref.status import Status


class TrackGraphs(TrackFormats):
    """The four graphs of a domain; formats flow from `prepare` to the others."""

    @cached_property
    def prepare(self) -> g.Graph:
        return prepare_graph(self)

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
        slack = m.input("slack", FLAG) if self.hanging else self._slack(m)
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
        for i, cable in enumerate(self.domain.cables(m)):
            tension = m.input(f"S{i + 1}", TENSION)
            if isinstance(cable.tension_min, Fixed):
                flags.append(m.negation(m.less(cable.tension_min, tension)))
                continue
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
        home, densities = self.home
        limits = zip(robot.coordinates, estimate_limits(robot), home, strict=True)
        for name, (low, high), home in limits:
            pred = m.input(f"pred_{name}", self.pose_formats[name])
            fresh = m.input(f"fresh_{name}", self.feedback.output_formats[name])
            rate = m.input(f"rate_{name}", self.rate_format)
            bend = m.input(f"bend_{name}", self.rate_format)
            fresh = fresh.into(low, high, "saturate")
            state = m.select(coasting, pred.into(low, high, "saturate"), fresh)
            at_home = m.builder.constant(float(home), self.pose_bits)
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
        for name, share in zip(self.densities, densities, strict=True):
            at_home = m.builder.constant(float(share), self.density_format.fraction)
            outputs[name] = m.select(restart, at_home, m.input(name, self.density_format))
        formats = dict.fromkeys(self.densities, self.density_format) | {
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
        limit = round(math.ldexp(FROZEN, self.quantum))
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
