"""What a robot's analysis found, in plain words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from solver_ref.conditioning import Conditioning, null_space, rank_tolerance, scaled_jacobian
from solver_ref.kinematics import scaling
from solver_ref.robot import Robot

CLOSURES = {
    "attitude": "a measured rotation joins them and the pose is determined",
    "equilibrium": "the balance of forces joins them and gives the pose and the tensions",
    "minimum-norm": (
        "nothing joins them: a solve takes the pose nearest to its start, so that tracking "
        "depends on the path and drifts"
    ),
}
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding: an `error` makes the robot unsolvable, a `warning` a part of its workspace, a
    `note` is worth knowing. `name` is its fixed word, `text` one sentence or two."""

    severity: Literal["error", "warning", "note"]
    name: str
    text: str


def describe_directions(robot: Robot, pose: np.ndarray) -> tuple[str, ...]:
    """What the lengths leave free at a pose, such as "turning about y (x moves +0.318 m/rad)"."""
    scale = scaling(robot)
    texts = []
    for direction in null_space(robot, pose):
        own = int(np.abs(direction).argmax())
        # In the pose's own units, for one unit of this direction's own coordinate.
        others = direction / scale * (scale[own] / direction[own])
        unit = "m" if robot.free[own] < 3 else "rad"
        parts = [
            _along(robot.free[i], others[i], unit)
            for i in range(len(others))
            if i != own and others[i]
        ]
        texts.append(_name(robot.free[own]) + (f" ({', '.join(parts)})" if parts else ""))
    return tuple(texts)


def _name(index: int) -> str:
    return f"moving along {'xyz'[index]}" if index < 3 else f"turning about {'xyz'[index - 3]}"


def _along(index: int, ratio: float, unit: str) -> str:
    if index < 3:
        return f"{'xyz'[index]} moves {ratio:+.3g} m/{unit}"
    return f"turning about {'xyz'[index - 3]} by {ratio:+.3g} rad/{unit}"


def find(
    robot: Robot,
    *,
    level: Conditioning,
    workspace: Conditioning,
    free: tuple[str, ...],
    lengths: np.ndarray,
) -> tuple[Finding, ...]:
    """All findings, errors first. `lengths`: over the workspace, (poses, cables), m."""
    found = [
        *_singularities(robot, level, workspace),
        *_short_cables(robot, lengths),
        *_undetermined(robot, workspace, free),
    ]
    order = ("error", "warning", "note")
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def _singularities(robot: Robot, level: Conditioning, workspace: Conditioning) -> list[Finding]:
    full = min(len(robot.cables), len(robot.free))
    for where, poses in (("pose", workspace), ("level pose", level)):
        highest = poses.rank[1]
        if highest < full:
            bound = "" if poses.rank[0] == highest else "at most "
            text = f"the rank is {bound}{highest} of {full} at every {where}: {cause(robot)}"
            return [Finding(severity="error", name="architectural-singularity", text=text)]
    if workspace.deficient or level.deficient:
        worst = workspace if workspace.deficient else level
        text = (
            f"the rank falls to {worst.rank[0]} of {full} at {worst.deficient:.2%} of the "
            f"{worst.poses} poses, worst at ({_numbers(robot, worst.worst)})"
        )
        return [Finding(severity="warning", name="singular-poses", text=text)]
    return []


def _numbers(robot: Robot, pose: tuple[float, ...]) -> str:
    named = zip(robot.coordinates, pose, strict=True)
    return ", ".join(f"{name} = {value:.4g}" for name, value in named)


def cause(robot: Robot) -> str:
    """Why the rank of a robot is low: the simple property of its geometry, if it has one."""
    anchors = robot.anchors - robot.anchors.mean(axis=0)
    attachments = robot.attachments - robot.attachments.mean(axis=0)
    # Geometry counts as exact where no length within the asked accuracy can tell.
    exact = robot.accuracy.length
    if np.abs(attachments).max() <= exact:
        return "all attachments are in one place, so that no cable can turn the platform"
    factor = float((anchors * attachments).sum() / (anchors**2).sum())
    if np.abs(attachments - factor * anchors).max() <= exact:
        if abs(factor - 1) * np.abs(anchors).max() <= exact:
            return (
                "the attachments lie as the anchors do: at every level pose all cables are parallel"
            )
        return (
            f"the attachments are a scaled copy of the anchors (factor {factor:.4g}): at every "
            "level pose all cables meet in one point"
        )
    # The second singular value of points on a line is 0.
    if np.linalg.svd(attachments, compute_uv=False)[1] <= exact:
        return "the attachments lie on one line, about which no cable can turn the platform"
    if np.linalg.svd(anchors, compute_uv=False)[1] <= exact:
        return "the anchors lie on one line, about which platform and cables can turn together"
    free = describe_directions(robot, np.array(robot.workspace.home))
    return f"no simple cause in the geometry; free at home: {'; '.join(free) or 'nothing'}"


def _short_cables(robot: Robot, lengths: np.ndarray) -> list[Finding]:
    # The direction of a cable that is shorter than a start may be off can be anything.
    reach = robot.workspace.start_error[0]
    shortest = lengths.min(axis=0)
    cables = ", ".join(
        f"{i} ({value:.3g} m)" for i, value in enumerate(shortest, 1) if value <= reach
    )
    if not cables:
        return []
    text = (
        f"the attachment of cable {cables} comes as near to its anchor as a start may be off "
        f"({reach:g} m), so that its direction is open"
    )
    return [Finding(severity="warning", name="short-cable", text=text)]


def _undetermined(robot: Robot, workspace: Conditioning, free: tuple[str, ...]) -> list[Finding]:
    unknowns, cables = len(robot.free), len(robot.cables)
    if workspace.rank[1] == unknowns:
        return []
    number = COUNTS[cables] if cables < len(COUNTS) else str(cables)
    plural = "direction" if len(free) == 1 else "directions"
    found = []
    text = f"{number} lengths leave {len(free)} {plural} free at home: {'; '.join(free)}"
    if robot.closure in CLOSURES:
        text += f"; closure {robot.closure}: {CLOSURES[robot.closure]}"
    found.append(Finding(severity="note", name="undetermined", text=text))
    if robot.closure == "attitude":
        found += _attitude(robot, np.array([robot.workspace.home]))
    return found


def _attitude(robot: Robot, home: np.ndarray) -> list[Finding]:
    """With the attitude measured, the lengths have to determine the position alone."""
    columns = scaled_jacobian(robot, home)[0, :, : robot.translations]
    rank = int((np.linalg.svd(columns, compute_uv=False) > rank_tolerance(robot)).sum())
    if rank == robot.translations:
        return []
    text = (
        f"with the attitude measured, the lengths determine {rank} of {robot.translations} "
        "directions of the position at home"
    )
    return [Finding(severity="error", name="attitude-closure", text=text)]
