"""What a pass of `forward` says of its pose beside the largest residual: how far off it can be."""

from __future__ import annotations

import numpy as np

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.evaluation import Evaluation, evaluate
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.health import HIDDEN, error_radius
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import Columns, residual_names
from solver_ref.kernels.stopping import MISSED, Tolerances
from solver_ref.kinematics import joint_errors
from solver_ref.orthogonal_step import pivot_floor
from solver_ref.step import UNBOUNDED, Step, solve_step


def radius_format(domain: Domain) -> Format:
    """Of an error radius (m). Its largest code says that none is known."""
    return Format(False, 0, domain.profile.pose.bits + 3)


def radius(
    m: TracedArithmetic,
    domain: Domain,
    at: Evaluation,
    step: Step,
    worst: Fixed,
) -> tuple[Fixed, Fixed]:
    """The error radius (m) of a pose that has converged, and whether it is one.

    `worst`: the largest residual (m). None is known where a pivot was held, factors are beyond what
    they are anywhere in the workspace, or damping hides the gain.
    """
    form, tolerances = radius_format(domain), Tolerances.of(domain)
    missed = MISSED * 2.0**-domain.profile.pose.bits
    top = missed + (tolerances.limit if at.least_squares else tolerances.residual)
    error = m.clamp(worst + missed, 0.0, top, "unused")
    found, damped = error_radius(m, at, step, error, domain.bounds, domain.robot.translations)
    found = found.narrow(form.fraction) + form.quantum
    unknown = [*m.flags.get("singular", []), *m.flags.get("unknown", []), m.less(HIDDEN, damped)]
    return found.into(0.0, form.hi * form.quantum, "saturate"), m.negation(m.any(unknown))


def float_health(
    domain: Domain,
    poses: np.ndarray,
    lengths: np.ndarray,
    attitude: np.ndarray | None,
    converged: np.ndarray,
) -> Columns:
    """The columns of a pose's health in float64, undamped, of poses (N, coordinates), joints
    (N, joints) and perhaps angles; no radius is known of rows that have not `converged` (N,)."""
    m, robot, form = FloatArithmetic(), domain.robot, radius_format(domain)
    angles = [] if attitude is None else list(attitude.T)
    residuals = joint_errors(robot, poses, lengths).T
    with np.errstate(all="ignore"):  # a singular pose has no radius
        at = evaluate(m, robot, list(poses.T), list(lengths.T), attitude=angles)
        step = solve_step(m, at, 0.0, UNBOUNDED, 0)
        worst = m.maximum([m.absolute(e) for e in (*residuals, *at.turned)])
        found, _ = error_radius(m, at, step, worst, UNBOUNDED, robot.translations)
        known = converged & (step.pivot >= pivot_floor(m, at, 0.0, domain.bounds))
    top = form.hi * form.quantum
    return dict(zip(residual_names(robot), residuals, strict=True)) | {
        "residual": np.abs(residuals).max(axis=0),
        "pivot": step.pivot,
        "radius": np.where(known, np.minimum(found, top), top),
    }
