"""A sweep of designs: how often and how badly the workspace of each is singular."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from solver_ref.domain import sample_poses
from solver_ref.maps.criteria import chosen_limits, judge
from solver_ref.maps.fields import FIELDS, measure
from solver_ref.maps.poses import start_poses
from solver_ref.robot import Robot
from solver_ref.robot_file import RobotError, from_values
from solver_ref.variation import varied

FIELDS_SWEPT = ("reach", "condition", "singularity", "tension")

COLUMNS = (
    "reach",
    "singular",
    "beyond",
    "worst_log10_singular_value",
    "median_condition",
    "feasible",
)
"""What is said of a design, over the poses of its workspace.

`reach`: the share in reach; of those, `singular`: the share near a singularity; `beyond`: with a
square Jacobian, the share on the rarer side of det J = 0 (above 0, a singular surface cuts the
workspace); `worst_log10_singular_value`; `median_condition`; `feasible`: the share with tensions
within their bounds. NaN is what a robot does not have.
"""


@dataclass(frozen=True, kw_only=True)
class Designs:
    """A sweep: one value for each key makes a design.

    `source`: what the robot file holds; `keys` and their `values`, each rising or falling;
    `samples` poses of every design's workspace, drawn by `seed`; `limits` as `chosen_limits` gives.
    """

    file: str
    source: Mapping[str, Any]
    keys: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    samples: int
    seed: int
    limits: Mapping[str, float]

    def all(self) -> list[tuple[float, ...]]:
        """Every design, the last key fastest."""
        return list(product(*self.values))

    def varied(self, design: Sequence[float]) -> dict[str, Any]:
        """What the robot file of one design holds. RobotError for a key that cannot be varied."""
        return varied(self.source, dict(zip(self.keys, design, strict=True)), file=self.file)

    def row(self, design: Sequence[float]) -> tuple[np.ndarray, str]:
        """The columns of one design, and why there is no such robot ("" where there is)."""
        try:
            with warnings.catch_warnings():
                # What is odd about one design (an inertia) was said of the robot itself.
                warnings.simplefilter("ignore")
                robot = from_values(self.varied(design), file=self.file)
        except RobotError as error:
            return np.full(len(COLUMNS), np.nan), f"{error.key}: {error.wrong}"
        return summary(robot, self.samples, self.seed, self.limits), ""


def summary(
    robot: Robot, samples: int, seed: int, limits: Mapping[str, float] | None = None
) -> np.ndarray:
    """`COLUMNS` of one robot."""
    rng = np.random.default_rng(seed)
    poses = sample_poses(robot, samples, rng)
    names = [name for name in FIELDS_SWEPT if FIELDS[name].missing(robot) is None]
    values = measure(robot, poses, start_poses(robot, poses, seed), names)
    bad = judge(values, chosen_limits() if limits is None else limits)
    reached = values["reach"] == 1
    row = dict.fromkeys(COLUMNS, np.nan) | {"reach": reached.mean()}
    if reached.any():
        row["worst_log10_singular_value"] = np.nanmin(values["log10_singular_value"])
        row["median_condition"] = np.nanmedian(values["condition"])
        if "singular_value" in bad:
            row["singular"] = bad["singular_value"][reached].mean()
        if "determinant_sign" in values:
            positive = (values["determinant_sign"][reached] > 0).mean()
            row["beyond"] = min(positive, 1 - positive)
        tension = [bad[name] for name in ("wrench_margin", "unbalanced") if name in bad]
        if tension:
            row["feasible"] = 1 - np.any(tension, axis=0)[reached].mean()
    return np.array([row[name] for name in COLUMNS])
