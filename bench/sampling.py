"""`python -m bench.sampling`: what `track` makes of the same movement at other sample rates.

Bit-true, up to 1,500 samples in full movement behind the search for the pose. Prints the table of
docs/files.md: the largest error of the position and its twist over the second half.
"""

from __future__ import annotations

import numpy as np

from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import stack, twist_names
from solver_ref.kernels.track import FINDING, track_kernel
from solver_ref.kernels.track_graphs import TrackGraphs
from solver_ref.kernels.track_values import stream_of
from solver_ref.robot_file import load
from solver_ref.sequence import evaluate_sequence
from solver_ref.status import Status
from solver_ref.trajectory import crane_trajectory

ROBOT, CLOSURE = "four-cable", "attitude"
RATES = (200, 1000, 5000, 10_000, 20_000, 100_000)
SAMPLES = 1500


def row(rate: float) -> str:
    robot = load(ROBOT).with_options(closure=CLOSURE, sample_rate=rate)
    domain, motion = Domain.of(robot, "fine"), crane_trajectory(robot, rate)
    first = len(motion.poses) // 2
    moving = slice(first, first + SAMPLES)
    poses = np.vstack(
        [np.repeat(motion.poses[first : first + 1], FINDING, 0), motion.poses[moving]]
    )
    program, values = track_kernel(domain).sequence, stream_of(robot, poses)
    codes = {key: form.encode(values[key]) for key, form in program.fields.items()}
    out = evaluate_sequence(program, codes)
    result = {key: form.decode(out[key]) for key, form in program.result_formats.items()}
    behind = slice(FINDING + (len(poses) - FINDING) // 2, None)
    wrong = np.abs(stack(result, robot.coordinates) - poses)[behind, : robot.translations].max()
    twist = stack(result, twist_names(robot))[FINDING:] - motion.twists[moving]
    slow = np.abs(twist)[len(twist) // 2 :, : robot.translations].max()
    valid = (out["status"][FINDING:] & int(Status.VALID) != 0).mean()
    limit = TrackGraphs(domain).jump_limit * 1e3
    errors = f"{wrong * 1e6:.2g} um | {slow * 1e3:.2g} mm/s"
    return f"| {rate:,.0f} | {errors} | {limit:.2g} mm | {valid:.0%} |"


def main() -> None:
    print("| rate (Hz) | position | velocity | `JUMP` from | valid |")
    print("|---|---|---|---|---|")
    for rate in RATES:
        print(row(float(rate)), flush=True)


if __name__ == "__main__":
    main()
