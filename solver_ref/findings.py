"""What a robot's analysis found, in plain words."""

from collections.abc import Iterable

import numpy as np

from solver_ref.architecture import cause, repair
from solver_ref.conditioning import (
    Conditioning,
    conditioning,
    null_space,
    rank_tolerance,
    scaled_jacobian,
)
from solver_ref.finding import Finding
from solver_ref.kinematics import attachment_points, scaling
from solver_ref.pulley_limits import pulley_limits
from solver_ref.robot import Robot
from solver_ref.sag import sag_findings

CLOSURES = {
    "attitude": "a measured rotation joins them and the pose is determined",
    "equilibrium": "the balance of forces joins them and gives the pose and the tensions",
    "minimum-norm": (
        "nothing joins them: a solve takes the pose nearest to its start, so that tracking "
        "depends on the path and drifts"
    ),
}
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


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
    poses: np.ndarray,
    lengths: np.ndarray,
    others: Iterable[Finding] = (),
) -> tuple[Finding, ...]:
    """All findings, errors first, with the `others`. `poses`: over the workspace,
    (N, coordinates), m and rad; `lengths`: what the joints measure there, (N, joints)."""
    found = [*_singularities(robot, level, workspace, poses), *others]
    found += _undetermined(robot, workspace, free)
    if robot.cables:
        found += [
            *_strokes(robot, lengths),
            *_short_cables(robot, lengths),
            *_swivels(robot, poses),
            *_pulleys(robot),
            *sag_findings(robot, poses),
            *_stretching(robot),
            *_warming(robot, lengths),
        ]
    order = ("error", "warning", "note")
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def _singularities(
    robot: Robot, level: Conditioning, workspace: Conditioning, poses: np.ndarray
) -> list[Finding]:
    home = conditioning(robot, np.array([robot.workspace.home])).rank[0]
    full = min(len(robot.joint_names), len(robot.free))
    for where, found in (("pose", workspace), ("level pose", level)):
        highest = found.rank[1]
        if highest < full:
            bound = "" if found.rank[0] == highest else "at most "
            there = "" if home == highest else f" ({home} at home)"
            text = f"the rank is {bound}{highest} of {full} at every {where}{there}: "
            text += _reason(robot) + _proposal(robot, poses)
            return [Finding(severity="error", name="architectural-singularity", text=text)]
    if robot.cables and (workspace.deficient or level.deficient):
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


def _reason(robot: Robot) -> str:
    free = describe_directions(robot, np.array(robot.workspace.home))
    none = f"no simple cause in the geometry; free at home: {'; '.join(free) or 'nothing'}"
    return cause(robot) or none


def _proposal(robot: Robot, poses: np.ndarray) -> str:
    found = repair(robot, poses)
    if found is None:
        return ""
    at = found.conditioning
    return (
        f"; a repair: {found.text}, which gives rank {at.rank[0]} and a condition number of at "
        f"most {at.condition[2]:.3g} at the same {at.poses} poses"
    )


def _strokes(robot: Robot, lengths: np.ndarray) -> list[Finding]:
    """Legs that their stroke does not let reach every pose."""
    if not robot.joints:
        return []
    limits = np.array([joint.limits for joint in robot.joints])
    outside = (lengths < limits[:, 0]) | (lengths > limits[:, 1])
    legs = "; ".join(
        f"leg {i + 1} needs {lengths[:, i].min():.4g} to {lengths[:, i].max():.4g} m and has "
        f"{low:.4g} to {high:.4g} m"
        for i, (low, high) in enumerate(limits)
        if outside[:, i].any()
    )
    if not legs:
        return []
    share = outside.any(axis=1).mean()
    text = f"{share:.2%} of the {len(lengths)} poses are beyond the strokes: {legs}"
    return [Finding(severity="warning", name="stroke", text=text)]


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


def _swivels(robot: Robot, poses: np.ndarray) -> list[Finding]:
    """Attachments that come near the line about which their pulley swivels."""
    pulleys = [(i, cable.pulley) for i, cable in enumerate(robot.cables) if cable.pulley]
    swivels = [(i, pulley) for i, pulley in pulleys if pulley.axle is None]
    ways, reach = attachment_points(robot, poses) - robot.anchors, robot.workspace.start_error[0]
    near = []
    for i, pulley in swivels:
        distance = np.linalg.norm(np.cross(ways[:, i], pulley.axis), axis=-1).min()
        if distance <= reach:
            near.append(f"{i + 1} ({distance:.3g} m)")
    if not near:
        return []
    text = (
        f"the attachment of cable {', '.join(near)} comes as near to the line about which its "
        f"pulley swivels as a start may be off ({reach:g} m), so that the pulley's direction is "
        "open"
    )
    return [Finding(severity="warning", name="swivel-axis", text=text)]


def _pulleys(robot: Robot) -> list[Finding]:
    """A cable whose way over its pulley does not exist somewhere."""
    try:
        pulley_limits(robot)
    except ValueError as error:
        return [Finding(severity="error", name="pulley", text=str(error))]
    return []


def _stretching(robot: Robot) -> list[Finding]:
    if "tension" in robot.sensors or not any(cable.stiffness for cable in robot.cables):
        return []
    text = "the cables stretch and no sensor measures their tensions: "
    if robot.platform.mass is None:
        text += "without the platform's mass they cannot be computed, nor the elongation"
        return [Finding(severity="warning", name="unknown-tensions", text=text)]
    tensions = f"T1 to T{len(robot.cables)}"
    computed = "(optional columns, computed where they are left out)"
    if robot.closure == "equilibrium":
        text += f"`lengths` and `step` take {tensions} {computed}, `forward` and `track` find them"
    else:
        text += (
            f"`lengths`, `step` and `forward` take {tensions} {computed}, `track` needs those of "
        )
        text += "the sample before"
    return [Finding(severity="note", name="computed-tensions", text=text)]


def _warming(robot: Robot, lengths: np.ndarray) -> list[Finding]:
    if "temperature" in robot.sensors or not any(cable.thermal for cable in robot.cables):
        return []
    growth = max(
        cable.thermal * size for cable, size in zip(robot.cables, lengths.max(0), strict=True)
    )
    text = (
        "no sensor measures the temperature of the cables: each kelvin makes one up to "
        f"{growth:.3g} m longer"
    )
    return [Finding(severity="note", name="unmeasured-temperature", text=text)]


def _undetermined(robot: Robot, workspace: Conditioning, free: tuple[str, ...]) -> list[Finding]:
    unknowns, joints = len(robot.free), len(robot.joint_names)
    if workspace.rank[1] == unknowns:
        return []
    number = COUNTS[joints] if joints < len(COUNTS) else str(joints)
    plural = "direction" if len(free) == 1 else "directions"
    found = []
    measured = "lengths" if robot.cables else "joints"
    text = f"{number} {measured} leave {len(free)} {plural} free at home: {'; '.join(free)}"
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
