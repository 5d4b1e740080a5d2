"""The long graph of `track`: what depends on a pose alone, before lengths are known."""

from __future__ import annotations

import math

from solver_ref import graph as g
from solver_ref.cable import Rotation, cable_at, rotation, spatial
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.gain import Gain, gain, gain_bounds, unit_row
from solver_ref.geometry import LEVER_ROOM
from solver_ref.kernels.corrections import (
    WARMING,
    CableConditions,
    condition_inputs,
    is_corrected,
    shown_length,
    warms,
)
from solver_ref.kernels.domain import coordinate_limits, estimate_limits
from solver_ref.kernels.kind import twist_names
from solver_ref.kernels.track_formats import FLAG, RATE_LIMIT, TrackFormats
from solver_ref.kernels.track_hanging import computed_tensions, density_inputs, hanging

QUIET = ("singular", "unused")
"""Flags that do not put a prediction out of range."""


def prepare_graph(t: TrackFormats) -> g.Graph:
    """Pose, rates, lengths, offsets -> predicted lengths, gain, twist, residual, radius."""
    m, robot = t.tracer(), t.robot
    pose = _pose(m, t)
    rates = [m.input(f"rate_{name}", t.rate_format) for name in robot.coordinates]
    full = spatial([m.nearest(x, "pose") for x in pose], robot.free)
    turn = rotation(m, full[3:], length=robot.characteristic_length)
    lengths, rows = _lengths(m, t, full, turn)
    densities = density_inputs(m, t)
    conditions = _conditions(m, t, densities, lengths)
    outputs, residuals = _expected(m, t, lengths, conditions)
    if t.hanging:
        hung = hanging(m, t, pose, full, densities, lengths)
        found, unbalanced = hung.gain, hung.unbalanced
        outputs |= hung.outputs
    else:
        bounds = gain_bounds(robot, loaded=t.domain.loaded)
        found, unbalanced = gain(m, robot, rows, bounds), []
    for name, column in zip(t.measurements, found.columns, strict=True):
        for coordinate, entry in zip(robot.coordinates, column, strict=True):
            outputs[f"K_{coordinate}_{name}"] = entry
    outputs |= _twist(m, t, turn, rates) | _health(m, t, residuals, unbalanced, found)
    formats = {f"pred_{name}": t.length_format for name in t.lengths}
    if t.hanging:
        formats |= dict.fromkeys(t.densities, t.density_format)
        formats |= {f"pred_{name}": form for name, form in t.pose_formats.items()}
    formats |= {f"offset_{name}": t.offset_format for name in t.lengths}
    return m.builder.graph("prepare", outputs, formats)


def _pose(m: TracedArithmetic, t: TrackFormats) -> list[Fixed]:
    """The pose ports, held where estimates may go."""
    pose, robot = [], t.robot
    limits = zip(coordinate_limits(robot), estimate_limits(robot), strict=True)
    for name, (declared, (low, high)) in zip(robot.coordinates, limits, strict=True):
        port = m.input(name, t.pose_formats[name])
        m.flag_outside(port, *declared, "beyond")
        pose.append(port.into(low, high, "saturate"))
    return pose


def _lengths(
    m: TracedArithmetic, t: TrackFormats, full: list[Fixed], turn: Rotation
) -> tuple[list[Fixed], list[list[Fixed]]]:
    """The lengths at a pose and their unit rows in scaled coordinates."""
    lengths, rows = [], []
    ways = zip(t.domain.cables(m), t.domain.wraps, t.domain.reach, strict=True)
    more = LEVER_ROOM if t.domain.loaded else 0.0
    for cable, limits, (low, high) in ways:
        state = cable_at(m, full[:3], turn, cable, limits)
        square = m.clamp(state.square, low**2, high**2, "length")
        root, inverse = m.square_root(square, "unit")
        rows.append(unit_row(m, t.robot, state, turn, m.round(inverse, "jacobian"), more))
        lengths.append(m.nearest(root, "pose"))
    return lengths, rows


def _conditions(
    m: TracedArithmetic, t: TrackFormats, densities: list[Fixed], lengths: list[Fixed]
) -> CableConditions | None:
    """Tensions and warming of the sample before: measured, given, or those of the densities."""
    robot = t.robot
    if not (is_corrected(robot) or t.domain.loaded):
        return None
    if not t.hanging or "tension" in robot.sensors:
        return condition_inputs(m, robot)
    warming = m.input("dT", WARMING) if warms(robot) else None
    return CableConditions(tuple(computed_tensions(m, t, densities, lengths)), warming)


def _expected(
    m: TracedArithmetic,
    t: TrackFormats,
    lengths: list[Fixed],
    conditions: CableConditions | None,
) -> tuple[dict[str, Fixed], list[Fixed]]:
    """What the encoders should show, their offsets, and how far they are from what they show.

    While homing they show the lengths of this pose, whatever their zero is.
    """
    homing = m.input("homing", FLAG)
    lowest, highest = (code * t.length_format.quantum for code in _codes(t.length_format))
    reach = -t.offset_format.lo * t.offset_format.quantum
    outputs, residuals = {}, []
    for place, (name, length) in enumerate(zip(t.lengths, lengths, strict=True)):
        if conditions is not None:
            length = shown_length(m, t.robot, place, length, conditions, t.domain.cables(m))
        measured = m.input(name, t.length_format)
        offset = m.input(f"offset_{name}", t.offset_format)
        shown = length - offset
        residuals.append(shown - measured)
        shown = m.clamp(shown, lowest, highest, "offset")
        outputs[f"pred_{name}"] = m.select(homing, measured, shown)
        apart = m.difference(length, measured, reach)
        outputs[f"offset_{name}"] = m.select(homing, apart, offset)
    return outputs, residuals


def _codes(form: Format) -> tuple[int, int]:
    return form.lo, form.hi


def _twist(
    m: TracedArithmetic, t: TrackFormats, turn: Rotation, rates: list[Fixed]
) -> dict[str, Fixed]:
    """(v, omega) per second: omega = J_l phi_dot in the free coordinates."""
    robot = t.robot
    full = spatial([m.round(rate, "unit") for rate in rates], robot.free)
    scale = m.constant(robot.sample_rate, "unit")
    spun = m.constant(robot.sample_rate * robot.characteristic_length, "unit")
    omega = [m.dot(row, full[3:], "unit") for row in turn.rate]
    twist = [x * scale if x else 0 for x in full[:3]] + [x * spun if x else 0 for x in omega]
    return {
        name: m.round(twist[index], "unit")
        for name, index in zip(twist_names(robot), robot.free, strict=True)
    }


def _health(
    m: TracedArithmetic,
    t: TrackFormats,
    residuals: list[Fixed],
    unbalanced: list[Fixed],
    found: Gain,
) -> dict[str, Fixed]:
    """Largest residual, smallest pivot, error radius, and the flags of this pose."""
    residual = m.maximum([m.absolute(x) for x in residuals])
    left = m.maximum([m.absolute(x) for x in (*residuals, *unbalanced)])
    limit = math.ldexp(round(math.ldexp(t.robot.accuracy.residual_limit, 20)), -20)
    each = {f"r{i + 1}": x for i, x in enumerate(residuals)}
    beyond = [flag for name, flags in m.flags.items() if name not in QUIET for flag in flags]
    return each | {
        "residual": residual,
        "pivot": found.pivot,
        "radius": _radius(m, t, residual, found),
        "near": m.negation(m.less(limit, left)),
        "singular": m.any(m.flags.get("singular", [])),
        "beyond": m.any(beyond),
    }


def _radius(m: TracedArithmetic, t: TrackFormats, residual: Fixed, found: Gain) -> Fixed:
    """|K| (residual + quantum): the exact position is nearer than that (m).

    |K| is the sum of the magnitudes that lengths move positions by; a residual beyond a rate's
    limit counts as that limit, as no such pose is VALID.
    """
    moved = m.clamp(residual + 2.0**-t.quantum, 0.0, RATE_LIMIT, "unused")
    entries = [
        m.absolute(column[k])
        for column in found.columns[: len(t.lengths)]
        for k in range(t.robot.translations)
    ]
    return (m.round(m.total(entries), "weight") * moved).narrow(t.pose_bits)
