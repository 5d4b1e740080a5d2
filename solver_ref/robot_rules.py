"""What a robot has to satisfy: signs, order, physics, and vectors that stay within its motion.

Each rule raises the error of the first thing it finds wrong, through the table that was read.
"""

import math
import re
import warnings

import numpy as np

from solver_ref.errors import shown
from solver_ref.fields import RobotError, Table
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import MOTIONS, Matrix, Robot, Vector, closure_problem

# Rounding allowance of the inertia's rules, relative to its trace.
INERTIA_SLACK = 1e-9


class InertiaWarning(UserWarning):
    """A non-physical inertia was accepted, because the robot file gives a reason for it."""


def check_rules(robot: Robot, top: Table) -> None:
    """Raise RobotError for the first rule that `robot`, read from `top`, breaks."""
    _check_name(robot, top)
    _check_workspace(robot, top)
    _check_accuracy(robot, top)
    _check_directions(robot, top)
    mechanism_of(robot).check(robot, top)
    _check_platform(robot, top)
    _check_sensors(robot, top)
    problem = closure_problem(robot)
    if problem:
        wrong = "does not fit the robot"
        raise top.error("closure", wrong=wrong, expected=problem, got=robot.closure)


def _check_name(robot: Robot, top: Table) -> None:
    # The name becomes the name of files and of a Verilog module.
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", robot.name):
        expected = "a letter, then letters, digits, - and _ (64 characters at most)"
        raise top.error("name", wrong="is no name", expected=expected, got=shown(robot.name))


def _check_workspace(robot: Robot, top: Table) -> None:
    space = robot.workspace
    for i, (low, high) in enumerate(space.position, 1):
        if low >= high:
            raise top.error(
                f"workspace.position[{i}]",
                wrong="is an empty interval",
                expected="the lowest value before the highest (m)",
                got=f"{low} and {high}",
            )
    if not robot.rotations and space.tilt:
        raise _wrong(top, "workspace.tilt", "no tilt, as a point does not turn", space.tilt)
    if min(space.start_error) < 0:
        raise _wrong(top, "workspace.start_error", "two numbers from 0 up", space.start_error)
    if space.tilt < 0 or robot.tilt_bound >= math.pi:
        expected = "from 0 to below pi rad, start_error included"
        raise _wrong(top, "workspace.tilt", expected, space.tilt)
    count = robot.translations
    inside = all(
        low <= value <= high
        for value, (low, high) in zip(space.home[:count], space.position, strict=True)
    )
    if not inside or math.hypot(*space.home[count:]) > space.tilt:
        raise top.error(
            "workspace.home",
            wrong="is outside the workspace",
            expected="a pose within position and tilt (m, rad)",
            got=shown(space.home),
        )


def _check_accuracy(robot: Robot, top: Table) -> None:
    accuracy = robot.accuracy
    if accuracy.length <= 0:
        raise _wrong(top, "accuracy.length", "above 0 m", accuracy.length)
    if accuracy.residual_limit < accuracy.length:
        expected = f"at least the accuracy, {accuracy.length} m"
        raise _wrong(top, "accuracy.residual_limit", expected, accuracy.residual_limit)


def _check_directions(robot: Robot, top: Table) -> None:
    """Vectors stay in the plane of a planar robot and at the origin of a point."""
    normal = MOTIONS[robot.motion].normal
    named: dict[str, Vector] = {"gravity": robot.gravity, "platform.com": robot.platform.com}
    named |= mechanism_of(robot).vectors(robot)
    for key, vector in named.items():
        if normal is not None and vector[normal] != 0:
            expected = f"0 along {'xyz'[normal]}"
            raise top.error(key, wrong="leaves the plane", expected=expected, got=shown(vector))
        on_platform = key == "platform.com" or key.endswith("attachment")
        if not robot.rotations and on_platform and any(vector):
            wrong = "is off the point that moves"
            raise top.error(key, wrong=wrong, expected="zeros or no such key", got=shown(vector))


def _check_sensors(robot: Robot, top: Table) -> None:
    both = {"attitude", "inclinometer"} & set(robot.sensors)
    if not both:
        return
    got = " and ".join(word for word in robot.sensors if word in both)
    if len(both) > 1:
        expected = "one of them, as attitude holds what an inclinometer measures"
    elif not robot.rotations:
        expected = "neither attitude nor inclinometer, as a point does not turn"
    elif "inclinometer" in both and robot.rotations < 3:
        expected = "attitude, as a planar platform has one rotation"
    else:
        return
    raise top.error("sensors", wrong="do not fit the robot", expected=expected, got=got)


def _check_platform(robot: Robot, top: Table) -> None:
    platform = robot.platform
    if platform.mass is not None and platform.mass <= 0:
        raise _wrong(top, "platform.mass", "above 0 kg", platform.mass)
    if platform.inertia is None:
        return
    if not robot.rotations:
        raise _wrong(top, "platform.inertia", "no inertia, as a point does not turn", "a matrix")
    table = Table(top.values["platform"], file=top.file, path="platform")
    check_inertia(table, platform.inertia, MOTIONS[robot.motion].normal)


def check_inertia(table: Table, inertia: Matrix, normal: int | None = None) -> None:
    """Raise RobotError where the inertia (kg m^2) in a body's table is that of no body.

    `normal` as in `Motion`. Warns with InertiaWarning where the table accepts it for a reason.
    """
    tensor = np.array(inertia)
    if not np.array_equal(tensor, tensor.T):
        raise _wrong(table, "inertia", "a symmetric matrix", inertia)
    moments = _moments(tensor, normal)
    if moments.min() < -_slack(tensor):
        expected = "moments of 0 kg m^2 or more"
        raise _wrong(table, "inertia", expected, f"a moment of {moments.min():.6g}")
    fault = inertia_fault(tensor, normal)
    if fault:
        _waive_inertia(table, fault, [float(f"{moment:.6g}") for moment in moments])


def inertia_fault(tensor: np.ndarray, normal: int | None) -> str | None:
    """What makes an inertia (3, 3), kg m^2, that of no body; `normal` as in `Motion`."""
    moments, slack = _moments(tensor, normal), _slack(tensor)
    if moments.min() <= slack:
        return "has a moment of zero"
    if normal is None and moments[2] > moments[0] + moments[1] + slack:
        return "breaks the triangle inequality"
    return None


def _moments(tensor: np.ndarray, normal: int | None) -> np.ndarray:
    """The moments that count, in rising order."""
    # Of a planar platform one moment counts, and published files often leave the others zero.
    return np.linalg.eigvalsh(tensor) if normal is None else tensor[normal, normal].reshape(1)


def _slack(tensor: np.ndarray) -> float:
    return INERTIA_SLACK * float(np.trace(np.abs(tensor)))


def _waive_inertia(table: Table, fault: str, moments: list[float]) -> None:
    reason = "allow_nonphysical_inertia"
    if reason not in table.values:
        raise table.error(
            "inertia",
            wrong=fault,
            expected=f'that of a body, or {reason} = "reason"',
            got=f"moments {moments}",
        )
    text = f"{table.file}: {table.key('inertia')}: {fault}; accepted because: {table.text(reason)}"
    warnings.warn(text, InertiaWarning, stacklevel=2)


def _wrong(top: Table, key: str, expected: str, got: object) -> RobotError:
    got = got if isinstance(got, str) else shown(got)
    return top.error(key, wrong="is out of range", expected=expected, got=got)
