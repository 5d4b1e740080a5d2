"""Feasible tensions: whether the cables can hold the resting platform within their bounds."""

from solver_ref.maps.field import Field, Quantity, Values
from solver_ref.maps.poses import Poses
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot import Robot
from solver_ref.wrench_region import tension_bounds, unbalanced_share, wrench_margin


def _values(at: Poses) -> Values:
    low, high = tension_bounds(at.robot)
    found = {"wrench_margin": wrench_margin(at.factors, at.wrench, low, high)}
    if len(low) < len(at.robot.free):
        found["unbalanced"] = unbalanced_share(at.factors, at.wrench)
    return found


def _missing(robot: Robot) -> str | None:
    if not mechanism_of(robot).pulls:
        return "its joints push as well as pull"
    if robot.platform.mass is None:
        return "its platform has no mass"
    return None


TENSION = Field(
    name="tension",
    quantities=(
        Quantity(name="wrench_margin", title="wrench margin", unit="N"),
        Quantity(name="unbalanced", title="share of the weight that cables cannot carry"),
    ),
    values=_values,
    missing=_missing,
)
