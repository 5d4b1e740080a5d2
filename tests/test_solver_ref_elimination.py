"""Gauss-Jordan against LAPACK, and its pivots against Cholesky's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from solver_ref.elimination import gauss_jordan


def systems(size: int, count: int, condition: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric positive definite M with eigenvalues from 1 to 1 / condition, and y."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((count, size, size)))[0]
    values = condition ** -rng.uniform(size=(count, 1, size))
    return (turn * values) @ np.swapaxes(turn, 1, 2), rng.standard_normal((count, size))


@pytest.mark.parametrize("size", range(1, 11))
def test_it_solves_what_lapack_solves(size: int) -> None:
    matrix, right = systems(size, 200, 1e4, seed=size)
    x, _ = gauss_jordan(matrix, right)
    expected = np.linalg.solve(matrix, right[..., None])[..., 0]
    # A condition of 1e4 leaves 1e-12 of double precision; the solutions reach 1e4.
    error = np.linalg.norm(x - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert error.max() < 2e-11, f"seed {size}"


@pytest.mark.parametrize("size", [1, 3, 4, 6])
def test_the_pivots_are_the_squares_of_choleskys_diagonal(size: int) -> None:
    matrix, right = systems(size, 200, 1e6, seed=20 + size)
    _, pivot = gauss_jordan(matrix, right)
    diagonal = np.diagonal(np.linalg.cholesky(matrix), axis1=1, axis2=2)
    assert_allclose(pivot, (diagonal**2).min(axis=1), rtol=1e-8)
    assert (pivot >= np.linalg.eigvalsh(matrix)[:, 0] * (1 - 1e-8)).all()
    assert (pivot <= np.diagonal(matrix, axis1=1, axis2=2).max(axis=1)).all()


def test_damping_bounds_every_pivot_from_below() -> None:
    """lambda <= pivot, even of a singular matrix: what the hardware's formats rely on."""
    rng = np.random.default_rng(30)
    rows = rng.standard_normal((500, 4, 2))
    matrix = rows @ np.swapaxes(rows, 1, 2) + 1e-3 * np.eye(4)
    assert gauss_jordan(matrix, np.ones((500, 4)))[1].min() >= 1e-3 * (1 - 1e-9)


def test_a_matrix_that_is_not_positive_definite_shows_in_its_pivot_alone() -> None:
    matrix = np.array([np.eye(2), [[1, 2], [2, 1]], [[0, 0], [0, 1]], [[1, 1], [1, 1]]], float)
    x, pivot = gauss_jordan(matrix, np.ones((4, 2)))
    assert_array_equal(x[0], [1, 1])
    assert_array_equal(pivot > 0, [True, False, False, False])


def test_leading_axes_are_independent_systems_and_inputs_stay_as_they_are() -> None:
    matrix, right = systems(4, 6, 1e3, seed=31)
    copies = matrix.copy(), right.copy()
    x, pivot = gauss_jordan(matrix.reshape(2, 3, 4, 4), right.reshape(2, 3, 4))
    one, its_pivot = gauss_jordan(matrix[5], right[5])
    assert_array_equal(x[1, 2], one)
    assert pivot[1, 2] == its_pivot
    assert_array_equal(matrix, copies[0])
    assert_array_equal(right, copies[1])
