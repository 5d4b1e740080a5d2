"""Streams of samples for `track` and their float64 answers: each row solved by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.attitude import attitude_names
from solver_ref.correction import true_lengths
from solver_ref.equilibrium import equilibrium
from solver_ref.kernels import corrections
from solver_ref.kernels.corrections import lengths_behind, lengths_shown, warming_names
from solver_ref.kernels.kind import Columns, length_names, measured
from solver_ref.kernels.track_formats import CLOCK
from solver_ref.kinematics import cable_lengths, rate_matrix
from solver_ref.measurement import Model, attitude_model, gain, length_model
from solver_ref.robot import Robot

LARGEST_STEP = 0.5
"""The longest step of a solve from afar (m, scaled)."""


def tension_names(robot: Robot) -> tuple[str, ...]:
    """Tensions that come with a sample: measured ones, or those that corrections need.

    What hangs in equilibrium computes its own.
    """
    if "tension" in robot.sensors:
        return tuple(f"S{i + 1}" for i in range(len(robot.cables)))
    return () if robot.closure == "equilibrium" else corrections.tension_names(robot)


def stream_of(robot: Robot, poses: np.ndarray) -> Columns:
    """What exact sensors give at the poses of successive samples, (N, coordinates)."""
    count = len(poses)
    values = {}
    for name, cable in zip(tension_names(robot), robot.cables, strict=False):
        values[name] = np.full(count, 2 * (cable.tension_min or 0.0) + 10.0)
    values |= {name: np.full(count, 5.0) for name in warming_names(robot)}
    for name in attitude_names(robot):
        values[name] = poses[:, robot.coordinates.index(name[1:])]
    shown = lengths_shown(robot, cable_lengths(robot, poses), values)
    return stream_with(robot, shown, values)


def stream_with(robot: Robot, lengths: np.ndarray, values: Columns) -> Columns:
    """A stream of lengths (N, cables), m, beside other values; its samples are counted."""
    count = len(lengths)
    clock = np.arange(count) % (CLOCK.hi + 1)
    values = values | dict(zip(length_names(robot), lengths.T, strict=True))
    return values | {"t": clock, "restart": np.zeros(count), "homing": np.zeros(count)}


def solved(
    robot: Robot, starts: np.ndarray, inputs: Mapping[str, np.ndarray], *, steps: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """The pose of each row's measurements, and the tensions where they are part of it.

    From starts (N, coordinates), by at most `steps` steps of limited size.
    """
    if robot.closure == "equilibrium":
        warming = inputs["dT"] if warming_names(robot) else None
        lengths = true_lengths(robot, measured(robot, inputs), warming=warming)
        found = equilibrium(robot, lengths, starts)
        return found.poses, found.tensions
    model, poses = _model(robot), starts.copy()
    lengths = lengths_behind(robot, measured(robot, inputs), inputs)
    given = np.column_stack([lengths, *(inputs[name] for name in attitude_names(robot))])
    for _ in range(steps):
        expected, rows = model.rows(poses)
        step = (gain(model, rows) @ (given - expected)[..., None])[..., 0]
        size = np.linalg.norm(step * model.scale, axis=1, keepdims=True)
        poses += step * np.minimum(1.0, LARGEST_STEP / np.maximum(size, 1e-30))
    return poses, None


def _model(robot: Robot) -> Model:
    """What the robot measures, by its closure."""
    axes = [name[1:] for name in attitude_names(robot)]
    return attitude_model(robot, axes=axes) if axes else length_model(robot)


def twists_of(robot: Robot, poses: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """(v, omega) in the free coordinates from the poses' rates."""
    if robot.rotations < 3:
        return rates
    first = robot.translations
    turned = (rate_matrix(poses[:, first:]) @ rates[:, first:, None])[..., 0]
    return np.hstack([rates[:, :first], turned])
