"""The formats of loop equations: as fine as the asked accuracy needs, found by measuring.

Equations that a user writes amplify rounding as they like, so the bit-true model is compared with
float64 over the workspace, and values get more bits until both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from solver_ref.cable import rotation, spatial
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.graph import Graph
from solver_ref.interpreter import evaluate
from solver_ref.kernels.corrections import encoder_format
from solver_ref.loop_limits import joint_levers, reachable_poses
from solver_ref.mechanisms import loops_of
from solver_ref.profile import Fraction, Profile
from solver_ref.robot import Robot

SAMPLES = 400
MOST = 8
"""So many bits more than usual are tried."""
OPENING_SHARE = 1.0
"""The largest error of an opening, in quanta of poses."""
JOINT_SHARE = 0.25
"""The largest error of a joint (m, where its link ends), as a share of the asked accuracy."""

Opened = Callable[[Profile], tuple[TracedArithmetic, list[Fixed]]]
"""Begins a trace: its arithmetic and the ports of a pose."""


def precise(
    robot: Robot, profile: Profile, spans: Sequence[tuple[float, float]], opened: Opened
) -> Profile:
    """The profile with the fewest bits for loops and their inverse that are enough over the grown
    workspace.

    ValueError where `MOST` bits more than usual are not.
    """
    largest = {
        "loop": OPENING_SHARE * 2.0**-profile.pose.bits,
        "inverse": JOINT_SHARE * robot.accuracy.length,
    }
    for _ in range(MOST + 1):
        errors = _errors(robot, profile, spans, opened)
        rough = [role for role, error in errors.items() if not error <= largest[role]]
        if not rough:
            return profile
        finer = {role: Fraction(getattr(profile, role).bits + 1) for role in rough}
        profile = replace(profile, **finer)
    rest = ", ".join(
        f"{role} {error:.3g} m with {getattr(profile, role).bits} fraction bits"
        for role, error in errors.items()
    )
    raise ValueError(f"the equations of {robot.name} amplify rounding: {rest}")


def _errors(
    robot: Robot, profile: Profile, spans: Sequence[tuple[float, float]], opened: Opened
) -> dict[str, float]:
    """The largest error (m) by role: of openings, from starts as far off as declared, and of
    joints, where there is an inverse."""
    loops, graph = loops_of(robot), _traced(robot, profile, spans, opened)
    codes = _sampled(robot, spans, graph)
    exact = {name: graph.inputs[name].decode(code) for name, code in codes.items()}
    poses = np.column_stack([exact[name] for name in robot.coordinates])
    joints = np.column_stack([exact[name] for name in robot.joint_names])
    truth = {"loop": loops.system(poses, joints)[0]}
    if loops.inverted:
        truth["inverse"] = loops.joint_values(poses) * joint_levers(robot)
    formats, seen = graph.output_formats, evaluate(graph, codes)
    found = {name: formats[name].decode(code) for name, code in seen.items()}
    errors = {}
    for role, values in truth.items():
        columns = np.column_stack([found[f"{role}{i}"] for i in range(values.shape[-1])])
        unit = joint_levers(robot) if role == "inverse" else 1.0
        errors[role] = float(np.nanmax(np.abs(columns * unit - values)))
    return errors


def _traced(
    robot: Robot, profile: Profile, spans: Sequence[tuple[float, float]], opened: Opened
) -> Graph:
    """A pose and joints to openings `loop0` ... and, where there is one, the `inverse0` ..."""
    loops, (m, pose) = loops_of(robot), opened(profile)
    fmt = encoder_format(tuple(spans), profile.pose.bits)
    ports = [
        m.clamp(m.input(joint.name, fmt), low, high)
        for joint, (low, high) in zip(robot.joints, spans, strict=True)
    ]
    full = spatial(pose, robot.free)
    turn = rotation(m, full[3:])
    found = {"loop": loops.at(m, full, turn, ports).opening}
    if loops.inverted:
        found["inverse"] = loops.joints(m, full, turn)
    outputs = {f"{role}{i}": x for role, values in found.items() for i, x in enumerate(values)}
    return m.builder.graph("loops", outputs)


def _sampled(
    robot: Robot, spans: Sequence[tuple[float, float]], graph: Graph
) -> dict[str, np.ndarray]:
    """Codes of poses within reach, and of joints that a start error may have put off."""
    rng = np.random.default_rng(27)
    poses = reachable_poses(robot, SAMPLES, rng)
    joints = loops_of(robot).joint_values(poses)
    off = robot.workspace.start_error[0] / joint_levers(robot)
    low, high = np.array(spans).T
    joints = np.clip(joints + off * rng.uniform(-1, 1, joints.shape), low, high)
    names = (*robot.coordinates, *robot.joint_names)
    columns = zip(names, np.hstack([poses, joints]).T, strict=True)
    return {name: graph.inputs[name].encode(column) for name, column in columns}
