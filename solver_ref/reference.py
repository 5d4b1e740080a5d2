"""The kernels in float64: the same inputs, outputs and status bits as the hardware, by name.

What `solve --engine float` answers. Inputs are not rounded to the ports' quanta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.damping import POLICIES
from solver_ref.forward import ITERATION_LIMIT, Policy
from solver_ref.kernels import Domain, coordinate_limits, estimate_limits
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.levenberg_marquardt import Solution, lm_solve, solve_cold
from solver_ref.robot import Robot
from solver_ref.status import FAULTS, Status
from solver_ref.step import UNBOUNDED, evaluate, solve_step

Columns = dict[str, np.ndarray]


def answers(domain: Domain, kernel: str, inputs: Mapping[str, np.ndarray]) -> Columns:
    """Outputs of a kernel by port name, from SI values by port name, each of shape (N,)."""
    kernels = {"lengths": _lengths, "step": _step, "forward": _forward}
    # Rows far outside the domain may overflow: their status says so.
    with np.errstate(all="ignore"):
        return kernels[kernel](domain, inputs)


def _columns(inputs: Mapping[str, np.ndarray], names) -> np.ndarray:
    return np.column_stack([inputs[name] for name in names])


def _lengths(domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
    robot = domain.robot
    poses = _columns(inputs, robot.coordinates)
    result = {f"L{i + 1}": column for i, column in enumerate(cable_lengths(robot, poses).T)}
    rows = jacobian(robot, poses)
    for i in range(len(robot.cables)):
        for j, name in enumerate(robot.coordinates):
            result[f"J{i + 1}_{name}"] = rows[:, i, j]
    return result | {"status": _verdict({Status.OUT_OF_RANGE: _beyond(robot, poses)})}


def _step(domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
    robot, m = domain.robot, FloatArithmetic()
    poses, lengths = _columns(inputs, robot.coordinates), _measured(robot, inputs)
    at = evaluate(m, robot, list(poses.T), list(lengths.T))
    step = solve_step(m, at, inputs["lambda"], UNBOUNDED, 0)
    change = np.column_stack(step.scaled)
    change[:, robot.translations :] /= robot.characteristic_length
    moved = poses - change
    low, high = np.array(estimate_limits(robot)).T
    outside = _beyond(robot, poses) | _out_of_reach(domain, lengths) | (inputs["lambda"] > 1)
    outside |= ~((moved >= low) & (moved <= high)).all(axis=1)
    bits = {
        Status.OUT_OF_RANGE: outside,
        Status.NEAR_SINGULAR: ~(step.pivot >= domain.bounds.pivot),
    }
    return dict(zip(robot.coordinates, moved.T, strict=True)) | {
        "residual": np.abs(np.column_stack(at.residuals)).max(axis=1),
        "pivot": step.pivot,
        "status": _verdict(bits),
    }


def _forward(domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
    robot, count = domain.robot, len(inputs["L1"])
    starts, lengths = (
        _columns(inputs, [f"{n}0" for n in robot.coordinates]),
        _measured(robot, inputs),
    )
    # Rows with one policy, one lambda and one sort of start are solved together.
    ways = _columns(inputs, ("policy", "lambda", "cold"))
    kinds, kind_of = np.unique(ways, axis=0, return_inverse=True)
    poses = np.empty_like(starts)
    found = {name: np.empty(count) for name in ("iterations", "residual", "status")}
    for number, kind in enumerate(kinds):
        rows = kind_of.reshape(-1) == number
        solution = _solve(robot, starts[rows], lengths[rows], *kind)
        poses[rows] = solution.poses
        for name, column in found.items():
            column[rows] = getattr(solution, name)
    status = found["status"].astype(np.int64)
    outside = _beyond(robot, starts) | _out_of_reach(domain, lengths)
    status[outside] = status[outside] & ~int(Status.VALID) | int(Status.OUT_OF_RANGE)
    return dict(zip(robot.coordinates, poses.T, strict=True)) | {
        "residual": found["residual"],
        "iterations": found["iterations"].astype(np.int64),
        "status": status,
    }


def _solve(
    robot: Robot,
    starts: np.ndarray,
    lengths: np.ndarray,
    policy: float,
    damping: float,
    cold: float,
) -> Solution:
    name = Policy(int(policy)).name.lower().replace("_", "-")
    rule = replace(POLICIES[name], initial=0.0 if name == "none" else damping)
    if cold:
        return solve_cold(robot, lengths, rule, limit=ITERATION_LIMIT)
    return lm_solve(robot, starts, lengths, rule, limit=ITERATION_LIMIT)


def _measured(robot: Robot, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    return _columns(inputs, [f"L{i + 1}" for i in range(len(robot.cables))])


def _beyond(robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Whether each pose lies outside the grown workspace."""
    low, high = np.array(coordinate_limits(robot)).T
    turn = np.linalg.norm(poses[:, robot.translations :], axis=1)
    return ~((poses >= low) & (poses <= high)).all(axis=1) | (turn > robot.tilt_bound)


def _out_of_reach(domain: Domain, lengths: np.ndarray) -> np.ndarray:
    """Whether a length of each row is one that no pose of the grown workspace has."""
    low, high = np.array(domain.reach).T
    return ~((lengths >= low) & (lengths <= high)).all(axis=1)


def _verdict(bits: Mapping[Status, np.ndarray]) -> np.ndarray:
    """The status word of each row, VALID where no fault is set."""
    word = sum(np.where(where, int(bit), 0) for bit, where in bits.items())
    return np.where(word & int(FAULTS), word, word | int(Status.VALID))
