"""The table `[dynamics]` of a planar 3-RRR's robot file, its rules, and the mechanism it is."""

from __future__ import annotations

from dataclasses import asdict

from solver_ref.dynamics.planar_links import ArmBody, LegDynamics
from solver_ref.dynamics.three_rrr import Pair, Rod, ThreeRRR
from solver_ref.errors import shown
from solver_ref.fields import Table
from solver_ref.robot import Robot

TABLE = "dynamics"
LONGEST_STEP = 1e-3
"""Beyond such a step (s) nothing is simulated in real time any more."""


def read_dynamics(top: Table) -> LegDynamics | None:
    """What the table says, in SI units; None where there is none. RobotError for a wrong key."""
    if TABLE not in top.values:
        return None
    table = Table(top.values[TABLE], file=top.file, path=TABLE, units=top.units)
    table.allow(("step", "speed", "torque", "accuracy", "active", "passive"))
    table.raw("step", "the integrator's step (s)")
    table.raw("torque", "the largest torque of a motor (N m)")
    return LegDynamics(
        active=_arm(table, "active"),
        passive=_arm(table, "passive"),
        step=table.number("step"),
        speed=table.vector("speed", 2, scale=(top.units.length, top.units.angle)),
        torque=table.number("torque"),
        accuracy=table.number("accuracy", default=LegDynamics.accuracy),
    )


def _arm(parent: Table, name: str) -> ArmBody:
    values = parent.raw(name, "a table with mass, centre and inertia")
    table = Table(values, file=parent.file, path=parent.key(name), units=parent.units)
    table.allow(("mass", "centre", "inertia"))
    for key, what in (("mass", "kg"), ("centre", "m"), ("inertia", "kg m^2")):
        table.raw(key, f"a number ({what})")
    length = table.units.length
    return ArmBody(
        mass=table.number("mass"),
        centre=table.number("centre", scale=length),
        inertia=table.number("inertia", scale=length * length),
    )


def check_dynamics(robot: Robot, top: Table) -> None:
    """Raise RobotError for the first rule that the masses of a robot, read from `top`, break."""
    dynamics = robot.dynamics
    if not 0 < dynamics.step <= LONGEST_STEP:
        raise _wrong(top, "step", f"above 0 and at most {LONGEST_STEP:g} s", dynamics.step)
    for place, speed in enumerate(dynamics.speed, 1):
        _positive(top, f"speed[{place}]", speed, "m/s" if place == 1 else "rad/s")
    _positive(top, "torque", dynamics.torque, "N m")
    _positive(top, "accuracy", dynamics.accuracy, "m/s^2 and rad/s^2")
    for name in ("active", "passive"):
        arm = getattr(dynamics, name)
        _positive(top, f"{name}.mass", arm.mass, "kg")
        _positive(top, f"{name}.inertia", arm.inertia, "kg m^2")
    _check_platform(robot, top)
    _check_legs(robot, top)


def _check_platform(robot: Robot, top: Table) -> None:
    platform = robot.platform
    for key in ("mass", "inertia"):
        if getattr(platform, key) is None:
            expected = f"the platform's {key}, as there is a table [{TABLE}]"
            raise top.error(f"platform.{key}", wrong="is missing", expected=expected, got="nothing")
    if platform.inertia[2][2] <= 0:
        expected = "a moment above 0 kg m^2 about the plane's normal"
        raise _refused(top, "platform.inertia", expected, platform.inertia[2][2])
    if any(platform.com):
        expected = f"0, 0, 0: with [{TABLE}] the platform's frame is at its centre of mass"
        raise _refused(top, "platform.com", expected, platform.com)


def _check_legs(robot: Robot, top: Table) -> None:
    first, *others = (dict(chain) for chain in robot.chains)
    for number, chain in enumerate(others, 2):
        for name in ("proximal", "distal"):
            if chain[name] != first[name]:
                expected = f"{first[name]:g} m as in chain[1]: with [{TABLE}] all legs are alike"
                raise _refused(top, f"chain[{number}].{name}", expected, chain[name])


def three_rrr_of(robot: Robot) -> ThreeRRR:
    """The mechanism with its masses. ValueError where its file has none."""
    dynamics = robot.dynamics
    if dynamics is None:
        raise ValueError(f"{robot.name} has no table [{TABLE}], which names the masses")
    chains = [dict(chain) for chain in robot.chains]
    first, second, third = (_planar(chain["anchor"]) for chain in chains)
    ends = tuple(_planar(chain["attachment"]) for chain in chains)
    return ThreeRRR(
        bases=(first, second, third),
        attachments=ends,
        active=_rod(dynamics.active, chains[0]["proximal"]),
        passive=_rod(dynamics.passive, chains[0]["distal"]),
        mass=robot.platform.mass,
        inertia=robot.platform.inertia[2][2],
        gravity=_planar(robot.gravity),
        # An elbow left of the way to the platform turns the passive arm on clockwise.
        elbows=tuple(-int(chain["mode"]) for chain in chains),
    )


def _rod(arm: ArmBody, length: float) -> Rod:
    return Rod(length=length, **asdict(arm))


def _planar(vector: tuple[float, ...]) -> Pair:
    return vector[0], vector[1]


def _positive(top: Table, key: str, value: float, unit: str) -> None:
    if value <= 0:
        raise _wrong(top, key, f"above 0 {unit}", value)


def _wrong(top: Table, key: str, expected: str, got: float) -> Exception:
    return _refused(top, f"{TABLE}.{key}", expected, got)


def _refused(top: Table, key: str, expected: str, got: object) -> Exception:
    return top.error(key, wrong="is out of range", expected=expected, got=shown(got))
