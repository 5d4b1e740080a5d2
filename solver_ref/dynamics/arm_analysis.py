"""What can be said of a serial arm before any hardware is made: what `check` prints."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from solver_ref.dynamics.arm_limits import arm_limits
from solver_ref.dynamics.links import Arm
from solver_ref.dynamics.serial import mass_matrix, torques
from solver_ref.finding import Finding
from solver_ref.robot import Robot

SAMPLES = 4096


@dataclass(frozen=True, kw_only=True)
class ArmAnalysis:
    """The facts of an arm: `mass` (kg) that moves, `reach` (m) of its tip at most; over
    random states within its limits the largest torque (N m, N) of each joint that holds it
    (`holding`) and that moves it (`moving`), and the largest condition number of its mass matrix.
    """

    robot: str
    digest: str
    kind: str
    joints: int
    names: tuple[str, ...]
    units: tuple[str, ...]
    mass: float
    reach: float
    holding: tuple[float, ...]
    moving: tuple[float, ...]
    effort: tuple[float | None, ...]
    condition: float | None
    samples: int
    seed: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found that keeps the arm from holding itself."""
        return not any(finding.severity == "error" for finding in self.findings)

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"ok": self.ok} | asdict(self)


def analyse_arm(robot: Robot, *, samples: int = SAMPLES, seed: int = 0) -> ArmAnalysis:
    """Analyse an arm on `samples` random states within the limits of its joints."""
    arm, rng = robot.arm, np.random.default_rng(seed)
    low, high = np.array([link.limits.position for link in arm.links]).T
    fastest = np.array([[link.limits.speed, link.limits.acceleration] for link in arm.links]).T
    shape = (samples, len(arm.links))
    position = rng.uniform(low, high, shape)
    speed, acceleration = (most * rng.uniform(-1, 1, shape) for most in fastest)
    holding = np.abs(torques(arm, position)).max(axis=0)
    moving = np.abs(torques(arm, position, speed, acceleration)).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = float(np.linalg.cond(mass_matrix(arm, position)).max())
    sound = math.isfinite(condition) and condition < 1 / np.finfo(float).eps
    return ArmAnalysis(
        robot=robot.name,
        digest=robot.digest,
        kind=robot.kind,
        joints=len(arm.links),
        names=tuple(link.name for link in arm.links),
        units=tuple("N" if link.joint == "prismatic" else "N m" for link in arm.links),
        mass=sum(link.mass for link in arm.links),
        reach=arm_limits(arm).reach,
        holding=tuple(holding.tolist()),
        moving=tuple(moving.tolist()),
        effort=tuple(link.limits.effort for link in arm.links),
        condition=condition if sound else None,
        samples=samples,
        seed=seed,
        findings=tuple(_findings(arm, holding, moving, sound=sound)),
    )


def _findings(arm: Arm, holding: np.ndarray, moving: np.ndarray, *, sound: bool) -> list[Finding]:
    found = []
    for link, still, most in zip(arm.links, holding.tolist(), moving.tolist(), strict=True):
        effort = link.limits.effort
        unit = "N" if link.joint == "prismatic" else "N m"
        if effort is None or most <= effort:
            continue
        if still > effort:
            text = f"{link.name} takes {still:.3g} {unit} to hold the arm, and has {effort:.3g}."
            found.append(Finding(severity="error", name="too-weak-to-hold", text=text))
        else:
            text = f"{link.name} takes {most:.3g} {unit} at its limits, and has {effort:.3g}."
            found.append(Finding(severity="warning", name="too-weak-at-limits", text=text))
    if not sound:
        text = "The mass matrix is singular: forces do not determine accelerations."
        found.append(Finding(severity="warning", name="massless", text=text))
    return found
