"""Lagrange's equations of one and two links: their structure, and the recursions' torques."""

import dataclasses
import math

import numpy as np
import published_arms as published
import pytest
import sympy as sp
from numpy.testing import assert_allclose

from solver_ref.dynamics.lagrange import Equations, equations
from solver_ref.dynamics.links import Arm, Link
from solver_ref.dynamics.newton_euler import inverse_dynamics, joint_motion
from solver_ref.dynamics.segments import chain_of
from solver_ref.dynamics.serial import mass_matrix, torques
from solver_ref.symbolic import SymbolicArithmetic


def pendulum() -> Arm:
    """A rod of symbols, about y under gravity along -z."""
    mass, centre, inertia, gravity = sp.symbols("m c I g", positive=True)
    link = Link(
        name="rod",
        axis=(0, 1, 0),
        mass=mass,
        com=(0, 0, -centre),
        inertia=sp.diag(inertia, inertia, 0).tolist(),
        limits=published.ANY,
    )
    return Arm(links=(link,), gravity=(0, 0, -gravity))


def test_a_pendulum_has_the_equation_of_the_books() -> None:
    found = equations(pendulum())
    mass, centre, inertia, gravity = sp.symbols("m c I g", positive=True)
    (angle,) = found.angles
    assert sp.simplify(found.mass[0] - (inertia + mass * centre**2)) == 0
    assert found.coriolis == sp.zeros(1, 1)
    assert sp.simplify(found.weight[0] - mass * gravity * centre * sp.sin(angle)) == 0


@pytest.fixture(scope="module")
def two_link() -> Equations:
    return equations(published.spong())


def test_m_dot_minus_2c_is_skew(two_link: Equations) -> None:
    rate = sum(
        (two_link.mass.diff(q) * v for q, v in zip(two_link.angles, two_link.rates, strict=True)),
        sp.zeros(2, 2),
    )
    assert not two_link.coriolis.is_zero_matrix
    skew = rate - 2 * two_link.coriolis
    assert sp.simplify(skew + skew.T) == sp.zeros(2, 2)


def test_the_two_link_arm_has_spongs_equations(two_link: Equations) -> None:
    """M and the velocity terms of the book, with h = m l1 c2 sin q2."""
    _, q2 = two_link.angles
    v1, v2 = two_link.rates
    half, quarter = sp.Rational(1, 2), sp.Rational(1, 4)
    off = quarter + half * sp.cos(q2)
    mass = sp.Matrix([[sp.Rational(3, 2) + sp.cos(q2), off], [off, quarter]])
    assert sp.simplify(two_link.mass - mass) == sp.zeros(2, 2)
    h = half * sp.sin(q2)
    terms = sp.Matrix([-h * (2 * v1 * v2 + v2**2), h * v1**2])
    assert sp.simplify(two_link.coriolis * sp.Matrix([v1, v2]) - terms) == sp.zeros(2, 1)


def test_the_recursion_in_symbols_is_lagranges(two_link: Equations) -> None:
    m, chain = SymbolicArithmetic(), chain_of(published.spong())
    accelerations = sp.symbols("a1:3")
    states = zip(two_link.angles, two_link.rates, accelerations, strict=True)
    motions = [joint_motion(m, s, *x) for s, x in zip(chain.segments, states, strict=True)]
    found = sp.Matrix(inverse_dynamics(m, chain, motions))
    due = two_link.mass * sp.Matrix(accelerations) + two_link.weight
    due += two_link.coriolis * sp.Matrix(two_link.rates)
    assert sp.simplify(found - due) == sp.zeros(2, 1)


@pytest.mark.parametrize("sliding", [False, True])
def test_two_links_with_any_axes_have_the_recursions_torques(sliding: bool) -> None:
    """Also where the second joint slides."""
    arm = published.puma560()
    second = dataclasses.replace(arm.links[1], joint="prismatic" if sliding else "revolute")
    arm = dataclasses.replace(arm, links=(arm.links[0], second), gravity=(1.0, -2.0, -9.0))
    found = equations(arm)
    position, speed, acceleration = np.random.default_rng(5).normal(size=(3, 2))
    values = dict(zip((*found.angles, *found.rates), (*position, *speed), strict=True))
    mass, coriolis, weight = (
        np.array(x.subs(values), float) for x in (found.mass, found.coriolis, found.weight)
    )
    due = mass @ acceleration + coriolis @ speed + weight[:, 0]
    exact = torques(arm, position, speed, acceleration, losses=False)
    assert_allclose(exact, due, rtol=0, atol=1e-12 * math.hypot(*due))
    assert_allclose(mass_matrix(arm, position), mass, rtol=1e-12, atol=1e-12)
