"""The moving platform as loop equations see it: its points, with their slopes by the twist."""

from __future__ import annotations

from collections.abc import Sequence

from solver_ref.arithmetic import Scalar, is_zero
from solver_ref.cable import Rotation
from solver_ref.dual import Dual, DualArithmetic, Slopes

Vector = Sequence[Scalar]


class MovingPlatform:
    """A pose over an arithmetic of duals. Slopes have as variables the components of the twist
    (0 to 5: velocity, then angular velocity in the base frame) that the motion leaves free.

    *Members*: `position`, that of the platform origin (m, base frame); `point(b)`, where the point
    b of the platform frame is (m, base frame); `matrix`, the rotation as rows of duals. What the
    motion holds is the plain number 0.
    """

    def __init__(
        self, m: DualArithmetic, position: Vector, turn: Rotation, free: Sequence[int]
    ) -> None:
        self.m, self.turn, self.free = m, turn, tuple(free)
        self.position = [
            0 if is_zero(x) else Dual(m, x, {axis: 1.0} if axis in self.free else {})
            for axis, x in enumerate(position)
        ]

    def point(self, b: Sequence[float]) -> list[Dual | float]:
        """t + R b (m)."""
        base = self.m.base
        place = [base.constant(x, "geometry") for x in b]
        lever = [base.dot(row, place, "lever") for row in self.turn.matrix]
        turned = [
            0 if is_zero(x) else Dual(self.m, x, slopes)
            for x, slopes in zip(lever, self._turning(lever), strict=True)
        ]
        return [self.m.nearest(t + r) for t, r in zip(self.position, turned, strict=True)]

    @property
    def matrix(self) -> list[list[Dual | float]]:
        """R, its columns turning with the platform."""
        columns = [[row[j] for row in self.turn.matrix] for j in range(3)]
        slopes = [self._turning(column) for column in columns]
        return [
            [
                columns[j][i]
                if isinstance(columns[j][i], int | float)
                else Dual(self.m, columns[j][i], slopes[j][i])
                for j in range(3)
            ]
            for i in range(3)
        ]

    def _turning(self, vector: Vector) -> list[Slopes]:
        """The slopes of a vector that turns with the platform: omega x vector."""
        base = self.m.base
        short = [x if isinstance(x, int | float) else base.nearest(x, "moment") for x in vector]
        slopes: list[dict[int, Scalar]] = [{}, {}, {}]
        for k in range(3):
            if 3 + k in self.free:
                i, j = (k + 1) % 3, (k + 2) % 3
                slopes[i][3 + k], slopes[j][3 + k] = -short[j], short[i]
        return [{key: x for key, x in entry.items() if not is_zero(x)} for entry in slopes]
