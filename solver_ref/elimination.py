"""Gauss-Jordan elimination in the order in which the hardware runs it."""

import numpy as np


def gauss_jordan(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve M x = y for symmetric positive definite M, without pivoting.

    One pivot after the other, from the first: one reciprocal, the pivot's row multiplied by it,
    and the row subtracted from all others. Such M needs no pivoting: every pivot is at least the
    smallest eigenvalue of M and at most its diagonal entry.

    Parameters
    ----------
    matrix : M, shape (..., n, n)
    right : y, shape (..., n)

    Returns
    -------
    x, shape (..., n), and the smallest pivot, shape (...), in the unit of M. Where M is not
    positive definite the pivot says so: it is not above zero, or NaN, and x means nothing (it may
    be infinite or NaN); nothing is raised, so that one bad row does not stop the others.
    """
    work = np.concatenate([matrix, np.asarray(right)[..., None]], axis=-1).astype(float)
    size = work.shape[-2]
    smallest = np.full(work.shape[:-2], np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for p in range(size):
            pivot = work[..., p, p]
            smallest = np.minimum(smallest, pivot)
            row = work[..., p, p + 1 :] * (1.0 / pivot)[..., None]
            # The pivot's own row comes out wrong here, as it is replaced below.
            work[..., :, p + 1 :] -= work[..., :, p, None] * row[..., None, :]
            work[..., p, p + 1 :] = row
    return work[..., size], smallest
