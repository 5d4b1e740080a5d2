"""`python -m bench.predictor`: steps of float64 solves along the crane's drive, with a predictor.

Every solve starts from the solved poses before it: the last one, or x + v dt + a dt^2 / 2 from the
last three. Prints a Markdown table: mean steps for each damping rule, and by how much the predictor
brings the start nearer to the answer (norms in scaled coordinates, means). Published for a crane of
four cables: 5.2 steps without, 3.7 with a predictor, which cuts the start's error by 62 %.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from solver_ref.conditioning import scaled_jacobian
from solver_ref.kinematics import cable_lengths, scaling
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.prediction import PREDICTORS, predict
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.status import Status
from solver_ref.trajectory import Trajectory, crane_trajectory

RATES = (100, 1_000, 10_000)
POLICIES = ("marquardt", "shrink-on-failure")
# At most so many streams at once: pieces of the drive, each begun with three true poses.
STREAMS = 100
# Sway then comes within 3 mrad of the singularity.
YAW = 1.51


def robots() -> dict[str, Robot]:
    """The robots of the table: two determined ones, one near its singularity, two open ones."""
    known = [load(name) for name in ("cogiro", "nist-robocrane")]
    # Six cables of an inverted Stewart platform are singular where it is turned by a right angle.
    space = known[1].workspace
    space = replace(space, home=(*space.home[:5], YAW), tilt=YAW + space.tilt)
    known.append(replace(known[1], name=f"nist-robocrane turned by {YAW} rad", workspace=space))
    known += [load(name) for name in ("four-cable", "four-cable-concurrent")]
    return {robot.name: robot for robot in known}


@dataclass(frozen=True)
class Figures:
    """Means over the solves: `steps`, the start's `error` (m, scaled), and the share converged."""

    steps: float
    error: float
    converged: float


def stream(robot: Robot, path: Trajectory, predictor: str, policy: str) -> Figures:
    """Solve along the path, the pieces side by side."""
    order = max(PREDICTORS.values())
    pieces = min(STREAMS, len(path.times) // (2 * order))
    poses = path.poses[: len(path.times) // pieces * pieces].reshape(pieces, -1, len(robot.free))
    lengths = cable_lengths(robot, poses)
    past = [poses[:, k] for k in range(order)]
    steps, errors, good = [], [], []
    for k in range(order, poses.shape[1]):
        start = predict(past, predictor)
        found = lm_solve(robot, start, lengths[:, k], policy)
        steps.append(found.iterations)
        errors.append(np.linalg.norm((found.poses - start) * scaling(robot), axis=-1))
        good.append(found.status & int(Status.CONVERGED) != 0)
        past = [*past[1:], found.poses]
    return Figures(float(np.mean(steps)), float(np.mean(errors)), float(np.mean(good)))


def condition(robot: Robot, path: Trajectory) -> str:
    """The median ratio of the singular values along the path."""
    values = np.linalg.svd(scaled_jacobian(robot, path.poses), compute_uv=False)
    with np.errstate(divide="ignore"):
        return f"{np.median(values[:, 0] / values[:, -1]):.3g}"


def row(name: str, robot: Robot, rate: int) -> list[str]:
    path = crane_trajectory(robot, rate)
    cells = [name, condition(robot, path), f"{rate:,}"]
    cut = ""
    for policy in POLICIES:
        without, line, curve = (stream(robot, path, p, policy) for p in PREDICTORS)
        cells.append(f"{without.steps:.2f} -> {line.steps:.2f} -> {curve.steps:.2f}")
        if min(without.converged, line.converged, curve.converged) < 1:
            cells[-1] += f" ({min(without.converged, curve.converged):.1%} converged)"
        if not cut:
            shares = (1 - x.error / without.error for x in (line, curve))
            cut = f"{without.error * 1e6:.4g} um; " + ", ".join(f"{x:.1%}" for x in shares)
    return [*cells, cut]


def main(names: list[str]) -> None:
    kinds = " -> ".join(PREDICTORS)
    header = ["robot", "condition", "rate (Hz)", *(f"steps, `{p}`: {kinds}" for p in POLICIES)]
    header.append("start's error without; cut by velocity, acceleration")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    known = robots()
    for name in names or known:
        for rate in RATES:
            print("| " + " | ".join(row(name, known[name], rate)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
