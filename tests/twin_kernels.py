"""Kernels of real robots, traced once, with input codes for them."""

from functools import cache

import numpy as np
from robot_kinds import built_in

from sim.twin import FLAGS
from solver_ref.graph import Graph
from solver_ref.kernels import KERNELS

SEED = 23
STRICT = (*FLAGS, "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion")
QUICK = (*STRICT, "-O1")  # as strict, compiled in half the time


@cache
def kernel(robot: str, name: str):
    kind = KERNELS[name]
    return kind.trace(kind.domain(built_in(robot), "fine", loaded=False))


def source(robot: str, name: str):
    made = kernel(robot, name)
    return made.iteration or made.graph


def drawn(robot: str, name: str, count: int, wild: float = 0.05) -> dict[str, np.ndarray]:
    """Input codes: inside the domain, and some that are anything the ports can carry."""
    rng, made = np.random.default_rng(SEED), source(robot, name)
    formats = made.inputs if isinstance(made, Graph) else made.fields
    values = KERNELS[name].draw(kernel(robot, name).robot, count, rng)
    anything = rng.uniform(size=count) < wild
    return {
        port: np.where(
            anything,
            rng.integers(form.lo, form.hi, count, endpoint=True),
            form.encode(values[port]),
        )
        for port, form in formats.items()
    }


def assert_equal(found, expected) -> None:
    assert list(found) == list(expected)
    for name, column in expected.items():
        wrong = np.flatnonzero(found[name] != column)
        assert not wrong.size, f"seed {SEED}, {name}, first in row {wrong[0]} of {wrong.size}"
