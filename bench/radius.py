"""`python -m bench.radius`: the error radius of `forward`, beside how far its poses really are off.

Bit-true, 2,000 test vectors each, seed 0. Prints the table of docs/files.md: medians and largest of
both over the VALID rows whose radius is known, their share, and the largest ratio.
"""

from __future__ import annotations

import numpy as np

from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.equilibrium_domain import working_robot
from solver_ref.kernels.equilibrium_values import solved
from solver_ref.kernels.kind import attitude_of, lengths_of, stack
from solver_ref.kernels.step import float_step
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.status import Status

ROWS = 2000
STEPS = 6
"""Steps of float64 from a pose to the exact one nearby."""
ROBOTS = (
    ("four-cable", "minimum-norm"),
    ("four-cable", "attitude"),
    ("four-cable", "equilibrium"),
    ("irma4u", "equilibrium"),
    ("nist-robocrane", "lengths"),
    ("cogiro", "lengths"),
)


def exact(robot: Robot, given: dict[str, np.ndarray], poses: np.ndarray) -> np.ndarray:
    """The float64 solution near poses (N, coordinates)."""
    if robot.closure == "equilibrium":
        return solved(working_robot(robot), given, poses).poses
    for _ in range(STEPS):
        attitude = attitude_of(robot, given)
        poses = poses - float_step(robot, poses, lengths_of(robot, given), 0.0, attitude)
    return poses


def row(name: str, closure: str) -> str:
    domain, kind = Domain.of(load(name).with_options(closure=closure), "fine"), KERNELS["forward"]
    robot, iteration = domain.robot, kind.trace(domain).iteration
    values = kind.draw(robot, ROWS, np.random.default_rng(0))
    codes = {key: form.encode(values[key]) for key, form in iteration.fields.items()}
    out, _ = evaluate_iteration(iteration, codes)
    valid = out["status"] & int(Status.VALID) != 0
    known = valid & (out["radius"] < iteration.result_formats["radius"].hi)
    given = {key: iteration.fields[key].decode(code[known]) for key, code in codes.items()}
    result = {key: form.decode(out[key][known]) for key, form in iteration.result_formats.items()}
    poses, radius = stack(result, robot.coordinates), result["radius"]
    apart = np.linalg.norm((poses - exact(robot, given, poses))[:, : robot.translations], axis=1)
    cells = [f"{np.median(x) * 1e6:.3g} um, {x.max() * 1e6:.3g} um" for x in (radius, apart)]
    ratio, share = (apart / radius).max(), known.sum() / valid.sum()
    return f"| `{name}`, `{closure}` | {' | '.join(cells)} | {ratio:.2f} | {share:.1%} |"


def main() -> None:
    print("| robot, closure | radius: median, largest | distance | largest ratio | known |")
    print("|---|---|---|---|---|")
    for name, closure in ROBOTS:
        print(row(name, closure), flush=True)


if __name__ == "__main__":
    main()
