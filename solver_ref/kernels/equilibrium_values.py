"""Batches of `forward` with the closure `equilibrium` in float64: answers, what sensors show."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from solver_ref.correction import true_lengths
from solver_ref.domain import inside
from solver_ref.equilibrium import Equilibrium, cold_starts, equilibrium
from solver_ref.equilibrium_equations import balance
from solver_ref.equilibrium_poses import equilibrium_poses, hanging_robot, sample_equilibria
from solver_ref.equilibrium_step import EquilibriumBounds, equilibrium_step
from solver_ref.health import equilibrium_radius
from solver_ref.kernels.corrections import (
    USUAL_WARMING,
    lengths_behind,
    lengths_shown,
    stretches,
    warming_names,
    warms,
)
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.forward_health import radius_format
from solver_ref.kernels.kind import (
    Columns,
    length_names,
    measured,
    pull_names,
    residual_names,
    unstack,
)
from solver_ref.kinematics import cable_lengths
from solver_ref.logic import LogicArithmetic
from solver_ref.robot import Robot
from solver_ref.statics import weight_of
from solver_ref.status import Status

CORNER_DRAWS = 4
"""Poses drawn at each corner of the position box; those count in which the platform hangs."""


def sensor_names(robot: Robot) -> tuple[str, ...]:
    """The tensions that come in: those of sensors, where cables stretch under them."""
    if "tension" not in robot.sensors or not stretches(robot):
        return ()
    return tuple(f"S{i + 1}" for i in range(len(robot.cables)))


def solved(robot: Robot, inputs: Mapping[str, np.ndarray], starts: np.ndarray) -> Equilibrium:
    """The equilibrium of each row from its start (N, coordinates).

    Cables stretch under the tension that sensors show, else under that of the equilibrium. From
    home, which may be far, the float64 search first moves to where the lengths fit best.
    """
    sensed = bool(sensor_names(robot))
    lengths = stretched(robot, inputs, None)
    cold = (starts == np.array(robot.workspace.home)).all(axis=1)
    starts = np.where(cold[:, None], cold_starts(robot, lengths), starts)
    return equilibrium(robot, lengths, starts, elastic=not sensed)


def stretched(
    robot: Robot, inputs: Mapping[str, np.ndarray], tensions: np.ndarray | None
) -> np.ndarray:
    """The lengths (N, cables), m, of the cables whose encoders show the measured ones: as they
    stretch under what sensors show, else under these tensions (None: not at all)."""
    if sensor_names(robot):
        return lengths_behind(robot, measured(robot, inputs), inputs)
    warming = inputs["dT"] if warms(robot) else None
    return true_lengths(robot, measured(robot, inputs), tensions=tensions, warming=warming)


def health(domain: Domain, found: Equilibrium, lengths: np.ndarray) -> Columns:
    """The columns that say what a pose is worth, as hardware measures them: `unbalanced` is the
    largest component of F/P and N/(P l) (m), `pivot` the smallest of the densities (m^2)."""
    m, robot, pose, form = (
        LogicArithmetic(),
        domain.robot,
        list(found.poses.T),
        radius_format(domain),
    )
    densities = list((np.maximum(found.tensions, 0.0) / lengths / weight_of(robot)).T)
    with np.errstate(all="ignore"):  # where no pivot is above zero no radius is known
        at = balance(m, robot, pose, densities, list(lengths.T))
        step = equilibrium_step(m, robot, pose, densities, at)
        radius, _ = equilibrium_radius(
            m, at, step, list(lengths.T), found.residual, EquilibriumBounds()
        )
    left = np.broadcast_arrays(*at.force, *at.moment, found.residual)[:-1]
    unbalanced, pivot = np.abs(left).max(axis=0), np.broadcast_to(step.length.pivot, len(lengths))
    top = form.hi * form.quantum
    known = (found.status & int(Status.CONVERGED) != 0) & (pivot > 0)
    residuals = (cable_lengths(robot, found.poses) - lengths).T
    return {
        "residual": found.residual,
        "unbalanced": unbalanced,
        **dict(zip(residual_names(robot), residuals, strict=True)),
        "pivot": pivot,
        "radius": np.where(known, np.fmin(radius, top), top),
    }


def drawn_equilibria(
    robot: Robot, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (count, coordinates) in which the platform hangs, some at the corners of the position
    box first, and their tensions (N)."""
    corners = np.array(list(product(*robot.workspace.position)))
    drawn = equilibrium_poses(robot, np.repeat(corners, CORNER_DRAWS, axis=0), rng)
    good = drawn.good & inside(hanging_robot(robot), drawn.poses)
    poses, pulls = sample_equilibria(robot, count, rng)
    poses, pulls = np.vstack([drawn.poses[good], poses]), np.vstack([drawn.tensions[good], pulls])
    return poses[:count], pulls[:count]


def shown_there(
    robot: Robot, lengths: np.ndarray, pulls: np.ndarray, rng: np.random.Generator
) -> Columns:
    """What encoders and sensors show of cables of these lengths (N, cables), m, that pull with
    `pulls` (N), at some temperature."""
    count = len(lengths)
    values: Columns = unstack(pulls, pull_names(robot))
    for name, cable, pull in zip(sensor_names(robot), robot.cables, pulls.T, strict=False):
        values[name] = pull / (cable.pulley.efficiency if cable.pulley else 1.0)
    values |= {name: USUAL_WARMING * rng.uniform(-1, 1, count) for name in warming_names(robot)}
    shown = lengths_shown(robot, lengths, values)
    kept = (*sensor_names(robot), *warming_names(robot))
    own = {name: values[name] for name in kept}
    return own | unstack(shown, length_names(robot))
