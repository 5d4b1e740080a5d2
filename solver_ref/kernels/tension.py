"""`tension`: pose, motion and load -> cable tensions that are never negative."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.elongation import elongation
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.kernels.kind import (
    Choices,
    ColumnNames,
    Columns,
    KernelKind,
    beyond,
    out_of_range,
    pull_names,
    stack,
    unstack,
    written_names,
)
from solver_ref.kernels.tension_domain import TensionDomain
from solver_ref.kernels.tension_graph import TensionGraph
from solver_ref.kernels.tension_ports import (
    ACCELERATION,
    LOAD,
    SPEED,
    check,
    earth_weight,
    elongation_names,
    motion_names,
    motion_of,
    unbalanced_names,
    working_robot,
)
from solver_ref.kernels.tension_samples import drawn, robot_passes
from solver_ref.kinematics import scaling
from solver_ref.robot import CLOSURES, Robot
from solver_ref.status import Status
from solver_ref.tension import tensions


def tension_kernel(domain: Domain) -> Kernel:
    """The iteration and the graph of its pass."""
    own = TensionDomain.of(domain)
    iteration = TensionGraph(own).build()
    return Kernel("tension", domain.robot, own.profile, iteration.graph, iteration)


class Tension(KernelKind):
    name = "tension"
    what = "pose, twist, acceleration, applied wrench -> tensions, active set, unbalanced wrench"
    closures = loadable = CLOSURES
    usual_ii = 8

    def trace(self, domain: Domain) -> Kernel:
        return tension_kernel(domain)

    def columns(self, robot: Robot) -> ColumnNames:
        check(robot)
        answers = (*pull_names(robot), *unbalanced_names(robot), *elongation_names(robot))
        return ColumnNames(
            required=robot.coordinates,
            optional=motion_names(robot),
            ignored=(*written_names(robot), "t", "active", *answers),
        )

    def port_values(self, robot: Robot, columns: Mapping[str, np.ndarray], how: Choices) -> Columns:
        """What is left out is at rest, or nothing applied."""
        nothing = np.zeros(len(columns[robot.coordinates[0]]))
        return dict.fromkeys(motion_names(robot), nothing) | dict(columns)

    def answers(self, domain: Domain, inputs: Mapping[str, np.ndarray]) -> Columns:
        robot = domain.robot
        check(robot)
        motion = motion_of(robot, inputs)
        found = tensions(robot, *motion, method="bounded-step")
        out = beyond(working_robot(robot), motion[0]) | _too_much(robot, motion)
        status = out_of_range(found.status.astype(np.int64), out)
        result = unstack(found.tensions, pull_names(robot))
        result["active"] = _masks(found.active)
        result |= unstack(found.unbalanced, unbalanced_names(robot))
        result |= _elongations(robot, found.tensions)
        iterations = sum(one.live for one in robot_passes(robot, motion))
        return result | {"iterations": iterations.astype(np.int64), "status": status}

    def draw(self, robot: Robot, count: int, rng: np.random.Generator) -> Columns:
        check(robot)
        return drawn(robot, count, rng)

    def errors(
        self, robot: Robot, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]
    ) -> dict[str, float]:
        """`N` of the tensions on rows that are not near singular and have the same active set;
        `sets` is the share of these rows that have another one, as a cable is so near to its bound
        that rounding decides. `m` of the elongations from those of the tensions as they came out,
        as the printed law jumps."""
        found = tensions(robot, *motion_of(robot, inputs), method="bounded-step")
        regular = (outputs["status"].astype(np.int64) & int(Status.NEAR_SINGULAR)) == 0
        same = regular & (_masks(found.active) == outputs["active"])
        if not same.any():
            return {"sets": 1.0}
        own = stack(outputs, pull_names(robot))
        errors = {"N": float(np.abs(own - found.tensions)[same].max())}
        off = [np.abs(outputs[name] - x).max() for name, x in _elongations(robot, own).items()]
        if off:
            errors["m"] = float(max(off))
        return errors | {"sets": float(1 - same.sum() / regular.sum())}


def _masks(active: np.ndarray) -> np.ndarray:
    """The active cables of each row as the bits of an integer, the first cable the lowest."""
    return active @ (1 << np.arange(active.shape[1]))


def _elongations(robot: Robot, found: np.ndarray) -> Columns:
    m = FloatArithmetic()
    return {
        name: elongation(m, robot.cables[number].stiffness, found[:, number], robot.elongation)
        for name in elongation_names(robot)
        for number in [int(name[1:]) - 1]
    }


def _too_much(robot: Robot, motion: tuple[np.ndarray, ...]) -> np.ndarray:
    """Whether a row's motion or load is beyond what is declared."""
    _, twists, accelerations, wrenches = motion
    loads = LOAD * earth_weight(robot) * scaling(robot)
    parts = ((twists, SPEED), (accelerations, ACCELERATION), (wrenches, loads))
    return np.any([(np.abs(x) > most).any(axis=1) for x, most in parts], axis=0)
