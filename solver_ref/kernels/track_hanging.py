"""What `track` prepares under the closure `equilibrium`: K, the way to equilibrium, tensions."""

from __future__ import annotations

from dataclasses import dataclass

from solver_ref.equilibrium_equations import balance
from solver_ref.equilibrium_gain import equilibrium_gain
from solver_ref.equilibrium_limits import gain_bounds
from solver_ref.equilibrium_step import LEAST_SHARE
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.gain import Gain
from solver_ref.geometry import LEVER_ROOM
from solver_ref.kernels.corrections import TENSION
from solver_ref.kernels.domain import estimate_limits
from solver_ref.kernels.track_formats import TrackFormats
from solver_ref.statics import weight_of


@dataclass(frozen=True)
class Hanging:
    """The gain, `outputs` by register, and `unbalanced` (m): F/P and N/(P l) at the pose."""

    gain: Gain
    outputs: dict[str, Fixed]
    unbalanced: list[Fixed]


def density_inputs(m: TracedArithmetic, t: TrackFormats) -> list[Fixed]:
    """The force densities (1/m) as they were found last."""
    return [m.input(name, t.density_format) for name in t.densities]


def computed_tensions(
    m: TracedArithmetic, t: TrackFormats, densities: list[Fixed], lengths: list[Fixed]
) -> list[Fixed]:
    """T = p L m |g| (N), held within what a port carries."""
    weight = m.constant(weight_of(t.robot), "unit")
    top = TENSION.hi * TENSION.quantum
    return [
        m.clamp((weight * m.round(p * x, "unit")).narrow(TENSION_BITS), 0.0, top, "tension")
        for p, x in zip(densities, lengths, strict=True)
    ]


TENSION_BITS = 6
"""Fraction bits of a computed tension (N)."""


def hanging(
    m: TracedArithmetic,
    t: TrackFormats,
    pose: list[Fixed],
    full: list[Fixed],
    densities: list[Fixed],
    lengths: list[Fixed],
) -> Hanging:
    """The platform at a pose (as tracked, and as six coordinates at the lengths' quantum)."""
    robot, loaded = t.robot, t.domain.loaded
    bounds, cables = gain_bounds(robot, loaded)[0], t.domain.cables(m)
    coordinates = [full[index] for index in robot.free]
    ways = (bounds.total, t.domain.wraps, cables, LEVER_ROOM if loaded else 0.0)
    at = balance(m, robot, coordinates, densities, lengths, *ways)
    found = equilibrium_gain(m, robot, full[3:], at, lengths, bounds, fraction=t.pose_bits + 2)
    low, high = bounds.total
    outputs: dict[str, Fixed] = {}
    new = []
    for name, density, change in zip(t.densities, densities, found.change, strict=True):
        moved = m.round(density + m.round(at.total * change, "density"), "density")
        new.append(m.clamp(moved, low * LEAST_SHARE, high, "tension"))
        outputs[name] = new[-1]
    limits = estimate_limits(robot)
    for name, x, shift, ends in zip(robot.coordinates, pose, found.shift, limits, strict=True):
        outputs[f"pred_{name}"] = m.clamp(x + shift.narrow(t.pose_bits), *ends, "beyond")
    tensions = computed_tensions(m, t, new, lengths)
    slack = []
    for name, tension, cable in zip(t.tensions, tensions, cables, strict=True):
        outputs[name] = tension
        slack.append(m.negation(m.less(cable.tension_min or 0.0, tension)))
    outputs["slack"] = m.any(slack)
    return Hanging(Gain(found.columns, found.pivot), outputs, [*at.force, *at.moment])
