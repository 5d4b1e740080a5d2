"""A user's own mechanism: loop equations in a Python file beside the robot file.

Robots hold the text of the file, so that their digest and what is generated are of the equations as
they were.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver_ref.equations import Equations, EquationsError, equations_of
from solver_ref.errors import shown
from solver_ref.fields import RobotError, Table
from solver_ref.loop_fields import UNITS, read_loops
from solver_ref.loop_mechanism import LoopMechanism
from solver_ref.loop_rules import check_loops
from solver_ref.loops import Loops
from solver_ref.robot import MOTIONS, Motion, Robot

KEY = "mechanism"


class CustomMechanism(LoopMechanism):
    """Whatever a file of loop equations says; the key `mechanism` names it."""

    kind = "custom"
    motions = tuple(MOTIONS)
    keys = (KEY, "geometry", "chain", "joints")

    def __init__(self) -> None:
        """There are no equations before a file is read."""

    def read(self, top: Table, motion: Motion) -> dict[str, Any]:
        text = _text(top)
        try:
            equations = equations_of(text)
            _check_names(top, equations, motion)
            return read_loops(top, equations) | {"equations": text}
        except EquationsError as error:
            raise _broken(top, error) from None

    def check(self, robot: Robot, top: Table) -> None:
        try:
            check_loops(self.loops(robot), top)
        except EquationsError as error:
            raise _broken(top, error) from None

    def loops(self, robot: Robot) -> Loops:
        return Loops(robot, equations_of(robot.equations))


def _text(top: Table) -> str:
    name = top.text(KEY)
    try:
        return (Path(top.file).parent / name).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        expected = "a Python file of loop equations, beside the robot file"
        got = f"{shown(name)}: {reason}"
        raise top.error(KEY, wrong="cannot be read", expected=expected, got=got) from None


def _check_names(top: Table, equations: Equations, motion: Motion) -> None:
    """The constants are of the right kind, and the names of joints are those of no other port."""
    motions = getattr(equations, "MOTIONS", tuple(MOTIONS))
    named = top.values["motion"]
    if named not in motions:
        expected = f"one of the equations' MOTIONS, {', '.join(motions)}"
        raise top.error("motion", wrong="does not fit", expected=expected, got=shown(named))
    joints = equations.JOINTS
    if not isinstance(joints, dict) or not set(joints.values()) <= {"m", "rad"} or not joints:
        raise EquationsError("JOINTS has to name the unit, m or rad, of each joint")
    starts = (f"{name}0" for name in motion.coordinates)
    taken = {*motion.coordinates, *starts, "lambda", "policy", "cold", "back", "status", "tag"}
    for name in joints:
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            raise EquationsError(f"a joint cannot be called {shown(name)}")
    for table in ("CHAIN", "GEOMETRY"):
        sizes = getattr(equations, table, {}).values()
        units = [size if isinstance(size, str) else size[0] for size in sizes]
        if not set(units) <= set(UNITS):
            raise EquationsError(f"units in {table} have to be of {', '.join(UNITS)}")


def _broken(top: Table, error: EquationsError) -> RobotError:
    expected = "a file as docs/mechanisms.md describes it"
    got = shown(str(error), 160)
    return top.error(KEY, wrong="does not work", expected=expected, got=got)


MECHANISM = CustomMechanism()
