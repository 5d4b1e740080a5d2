"""How far the fixed-point answers are from float64, on the codes as the ports carried them."""

from __future__ import annotations

import numpy as np

from hdl.design import Design
from sim.vectors import Codes, Vectors
from solver_ref.arithmetic import FloatArithmetic
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.robot import Robot
from solver_ref.status import Status
from solver_ref.step import UNBOUNDED, evaluate, solve_step


def largest_errors(design: Design, vectors: Vectors) -> dict[str, float]:
    """Largest |fixed - float64| over the nominal rows whose status is VALID, by unit.

    `m` and `rad`; the `lengths` kernel adds `jacobian` (its rows' own units). For `forward` of a
    robot with no more cables than unknowns, `m` is the largest length residual; with more cables,
    both are the distance to the float64 least-squares pose.
    """
    rows = vectors.nominal & ((vectors.outputs["status"] & Status.VALID) != 0)
    inputs = _decoded(design.inputs, vectors.inputs, rows)
    outputs = _decoded(design.outputs, vectors.outputs, rows)
    if not rows.any():
        return {}
    measure = {"lengths": _lengths, "step": _step, "forward": _forward}[design.options.kernel]
    return measure(design.robot, inputs, outputs)


def _decoded(formats, codes: Codes, rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: fmt.decode(codes[name][rows]) for name, fmt in formats.items()}


def _columns(values: dict[str, np.ndarray], names) -> np.ndarray:
    return np.column_stack([values[name] for name in names])


def _length_names(robot: Robot) -> list[str]:
    return [f"L{i + 1}" for i in range(len(robot.cables))]


def _lengths(robot: Robot, inputs, outputs) -> dict[str, float]:
    poses = _columns(inputs, robot.coordinates)
    lengths = _columns(outputs, _length_names(robot))
    rows = [
        _columns(outputs, [f"J{i + 1}_{name}" for name in robot.coordinates])
        for i in range(len(robot.cables))
    ]
    reference = jacobian(robot, poses)
    return {
        "m": float(np.max(np.abs(lengths - cable_lengths(robot, poses)))),
        "jacobian": float(np.max(np.abs(np.stack(rows, axis=1) - reference))),
    }


def _step(robot: Robot, inputs, outputs) -> dict[str, float]:
    poses, lengths = _columns(inputs, robot.coordinates), _columns(inputs, _length_names(robot))
    moved = poses - float_step(robot, poses, lengths, inputs["lambda"])
    return _by_unit(robot, _columns(outputs, robot.coordinates) - moved)


def float_step(
    robot: Robot, poses: np.ndarray, lengths: np.ndarray, damping: np.ndarray | float
) -> np.ndarray:
    """The step to subtract (m, rad), shape (N, coordinates), by the equations in float64."""
    m = FloatArithmetic()
    at = evaluate(m, robot, list(poses.T), list(lengths.T))
    step = np.column_stack(solve_step(m, at, damping, UNBOUNDED, 0).scaled)
    step[:, robot.translations :] /= robot.characteristic_length
    return step


def _forward(robot: Robot, inputs, outputs) -> dict[str, float]:
    poses, lengths = _columns(outputs, robot.coordinates), _columns(inputs, _length_names(robot))
    if len(robot.cables) <= len(robot.free):
        return {"m": float(np.max(np.abs(cable_lengths(robot, poses) - lengths)))}
    best = poses
    for _ in range(5):
        best = best - float_step(robot, best, lengths, 0.0)
    return _by_unit(robot, poses - best)


def _by_unit(robot: Robot, errors: np.ndarray) -> dict[str, float]:
    largest = {"m": float(np.max(np.abs(errors[:, : robot.translations])))}
    if robot.rotations:
        largest["rad"] = float(np.max(np.abs(errors[:, robot.translations :])))
    return largest
