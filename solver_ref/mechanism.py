"""What a kind of mechanism provides: its tables of a robot file, its rules, and how it is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from solver_ref.fields import Table
from solver_ref.loops import Loops
from solver_ref.robot import MOTIONS, Motion, Robot, Vector


class Mechanism(ABC):
    """One kind of mechanism; `solver_ref.mechanisms` finds them all.

    `kind`: its word in robot files; `motions`: those that it can have; `poses`: whether its files
    declare a platform, its workspace and closure (else `read` gives the workspace); `keys`: what
    its robot files hold beside the keys that all have. `pulls`: whether its links only pull, as
    cables do; `levels`: whether a cold solve holds the attitude at first; `singular_share`: where
    more poses of a workspace are near singular, normal equations are no way to a step.
    """

    kind: ClassVar[str]
    motions: ClassVar[tuple[str, ...]] = tuple(MOTIONS)
    poses: ClassVar[bool] = True
    keys: ClassVar[tuple[str, ...]]
    pulls: ClassVar[bool] = False
    levels: ClassVar[bool] = True
    singular_share: ClassVar[float] = 0.1

    @abstractmethod
    def read(self, top: Table, motion: Motion) -> dict[str, Any]:
        """Fields of `Robot` from the mechanism's own keys, in SI units.

        Raises RobotError for a key or type that is wrong.
        """

    @abstractmethod
    def check(self, robot: Robot, top: Table) -> None:
        """Raise RobotError for the first rule that `robot`, read from `top`, breaks."""

    def vectors(self, robot: Robot) -> Mapping[str, Vector]:
        """Vectors that stay in the plane of a planar robot, by the key that the file has.

        Those of the platform frame have a key that ends in `attachment`, and are 0 for a point.
        """
        return {}

    def loops(self, robot: Robot) -> Loops | None:
        """The loop equations of a robot; None where its joints are the lengths of its `cables`."""
        return None

    @abstractmethod
    def lines(self, robot: Robot, pose: np.ndarray) -> list[np.ndarray]:
        """The links at a pose (coordinates,), each a polyline of shape (points, 3), m, base frame.

        From the base to the platform; NaN where the pose is out of reach.
        """
