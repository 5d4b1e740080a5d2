"""What loop equations do over a workspace: poses out of reach, and the kinds of singularities.

- boundary (B singular): a link no longer moves with its joint, as where a chain is straight;
- interior (A singular): the platform moves though all joints are held;
- architectural: the same at every pose, which `solver_ref.findings` tells of any mechanism.

(Gosselin and Angeles, Singularity analysis of closed-loop kinematic chains, IEEE Trans. Robotics
and Automation 6(3), 1990.)
"""

from __future__ import annotations

import numpy as np

from solver_ref.conditioning import rank_tolerance, scaled_jacobian
from solver_ref.finding import Finding
from solver_ref.loop_limits import near_boundary, within_reach
from solver_ref.loops import Loops
from solver_ref.robot import Robot


def reachable(loops: Loops | None, robot: Robot, poses: np.ndarray) -> np.ndarray:
    """Those of the poses (N, coordinates) that are within reach; home where none is."""
    if loops is None:
        return poses
    found = poses[within_reach(robot, poses)]
    return found if len(found) else np.array([robot.workspace.home])


def loop_findings(robot: Robot, poses: np.ndarray) -> list[Finding]:
    """Findings over poses (N, coordinates) of the workspace, those out of reach among them."""
    inside = within_reach(robot, poses)
    return [
        *_reach(robot, poses, inside),
        *_boundary(robot, poses[inside]),
        *_interior(robot, poses[inside]),
    ]


def _reach(robot: Robot, poses: np.ndarray, inside: np.ndarray) -> list[Finding]:
    if inside.all():
        return []
    text = (
        f"at {1 - inside.mean():.2%} of {len(poses)} poses of the workspace a chain does not reach "
        f"the platform within the limits of its joint, first at {_pose(robot, poses[~inside][0])}"
    )
    return [Finding(severity="warning", name="out-of-reach", text=text)]


def _boundary(robot: Robot, poses: np.ndarray) -> list[Finding]:
    near = near_boundary(robot, poses)
    if not near.any():
        return []
    joints = ", ".join(
        name for name, column in zip(robot.joint_names, near.T, strict=True) if column.any()
    )
    where = near.any(axis=-1)
    text = (
        f"at {where.mean():.2%} of the poses within reach the chain of {joints} is nearly straight "
        f"or folded, first at {_pose(robot, poses[where][0])}: there the platform is at the "
        "boundary of its reach, and a joint may turn without moving it"
    )
    return [Finding(severity="warning", name="boundary-singularity", text=text)]


def _interior(robot: Robot, poses: np.ndarray) -> list[Finding]:
    """Poses at which the joints do not hold the platform, or those beyond them, where the
    determinant of A has the other sign."""
    rows = scaled_jacobian(robot, poses)
    there = np.linalg.svd(rows, compute_uv=False)[..., -1] <= rank_tolerance(robot)
    if there.all():
        return []  # what is so at every pose is architectural
    if rows.shape[-1] == rows.shape[-2]:
        sides = np.linalg.det(rows) > 0
        there |= sides if sides.mean() < 0.5 else ~sides
    if not there.any():
        return []
    text = (
        f"at {there.mean():.2%} of the poses within reach, first at "
        f"{_pose(robot, poses[there][0])}, or on the way to them, the platform moves though all "
        "joints are held"
    )
    return [Finding(severity="warning", name="interior-singularity", text=text)]


def _pose(robot: Robot, pose: np.ndarray) -> str:
    named = zip(robot.coordinates, pose, strict=True)
    return f"({', '.join(f'{name} = {value:.4g}' for name, value in named)})"
