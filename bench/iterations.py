"""`python -m bench.iterations`: steps that `forward` takes on the reference crane, by damping rule.

Bit-true, 10,000 poses over the whole workspace, seed 0. Prints the README's table: mean steps,
the share that converged, and the largest length residual recomputed in float64.
"""

from __future__ import annotations

import numpy as np

from kinegate.api import load, solve
from solver_ref.damping import POLICIES
from solver_ref.domain import perturb, sample_poses
from solver_ref.kinematics import cable_lengths
from solver_ref.status import Status

POSES = 10_000
STARTS = ((1e-3, 1e-3), (0.05, 0.05))


def columns(lengths: np.ndarray) -> dict[str, np.ndarray]:
    return {f"L{i + 1}": column for i, column in enumerate(lengths.T)}


def figures(start: tuple[float, float] | None, policy: str) -> str:
    """One cell: mean steps, share converged, largest residual of those."""
    robot = load("four-cable")
    rng = np.random.default_rng(0)
    truth = sample_poses(robot, POSES, rng)
    lengths = cable_lengths(robot, truth)
    rows = columns(lengths)
    if start:
        moved = perturb(robot, truth, *start, rng)
        rows |= {f"{name}0": x for name, x in zip(robot.coordinates, moved.T, strict=True)}
    out = solve("four-cable", rows, damping=policy).columns
    good = (out["status"] & int(Status.CONVERGED)) != 0
    poses = np.column_stack([out[name] for name in robot.coordinates])
    residual = np.abs(cable_lengths(robot, poses) - lengths).max(axis=1)[good].max()
    steps = out["iterations"].mean()
    return f"{steps:.2f} ({good.mean():.2%}, {residual * 1e6:.1f} um)"


def main() -> None:
    print("| damping | 1 mm, 1 mrad off | 5 cm, 50 mrad off | cold, from home |")
    print("|---|---|---|---|")
    for policy in POLICIES:
        cells = [figures(start, policy) for start in (*STARTS, None)]
        print(f"| `{policy}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
