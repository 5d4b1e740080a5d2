"""`python -m bench.rnea [ROBOT ...]`: torques of serial arms in hardware and on this processor.

Beside each other: the latency and the rate of the kernel `rnea`, and the time that pinocchio takes
for one call of its recursion on this machine, from Python. Robots are built-in ones or files.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pinocchio

from hdl.design import Design
from hdl.options import Options
from solver_ref.dynamics.links import Arm
from solver_ref.kernels import KERNELS
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.robot_rules import InertiaWarning

USUAL = ("two-link", "puma560")
CALLS, ROUNDS = 20_000, 5
COLUMNS = ("joints", "DSP", "cycles", "latency (us)", "results/s", "pinocchio (us)")


def processor_time(arm: Arm) -> float:
    """Seconds of one call of pinocchio's rnea from Python, in the fastest of a few rounds."""
    model = pinocchio.Model()
    parent = 0
    for place, link in enumerate(arm.links):
        kind = pinocchio.JointModelPrismaticUnaligned
        if link.joint == "revolute":
            kind = pinocchio.JointModelRevoluteUnaligned
        where = pinocchio.SE3(np.array(link.rotation), np.array(link.origin))
        parent = model.addJoint(parent, kind(np.array(link.axis)), where, f"joint{place}")
        body = pinocchio.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
        model.appendBodyToJoint(parent, body, pinocchio.SE3.Identity())
    data, rng = model.createData(), np.random.default_rng(1)
    q, v, a = rng.uniform(-1, 1, (3, len(arm.links)))
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        for _ in range(CALLS):
            pinocchio.rnea(model, data, q, v, a)
        times.append((time.process_time() - begun) / CALLS)
    return min(times)


def figures(robot: Robot) -> Iterator[str]:
    """The columns of one arm."""
    design = Design(robot, Options(kernel="rnea", ii=KERNELS["rnea"].usual_ii))
    clock = design.clock_mhz * 1e6
    yield str(len(robot.arm.links))
    yield str(design.plan.dsp)
    yield str(design.latency)
    yield f"{1e6 * design.latency / clock:.2f}"
    yield f"{clock / design.ii:.3g}"
    yield f"{1e6 * processor_time(robot.arm):.2f}"


def main() -> None:
    print(f"{'':<24}" + "".join(f"{name:>16}" for name in COLUMNS))
    for name in sys.argv[1:] or USUAL:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InertiaWarning)
            robot = load(name)
        print(f"{robot.name:<24}" + "".join(f"{x:>16}" for x in figures(robot)), flush=True)


if __name__ == "__main__":
    main()
