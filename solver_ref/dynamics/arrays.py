"""Between arrays, whose last axis counts coordinates, and the lists of scalars of equations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solver_ref.arithmetic import Scalar


def columns(values: np.ndarray) -> list[np.ndarray]:
    """The last axis as a list."""
    return list(np.moveaxis(np.asarray(values, float), -1, 0))


def stacked(values: Sequence[Scalar], shape: tuple[int, ...]) -> np.ndarray:
    """Scalars, some of them plain numbers, as the last axis behind the rows of a shape."""
    result = np.empty((*shape[:-1], len(values)))
    for i, value in enumerate(values):
        result[..., i] = value
    return result


def stacked_rows(rows: Sequence[Sequence[Scalar]], shape: tuple[int, ...]) -> np.ndarray:
    """A matrix of scalars as the last two axes."""
    return np.stack([stacked(row, shape) for row in rows], axis=-2)
