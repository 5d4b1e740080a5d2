"""The planar 3-RRR's equations: proven by SymPy, and the same motion from Newton's laws."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from planar_mutants import WithoutTranslation
from robot_kinds import built_in

from solver_ref.dynamics import three_rrr, three_rrr_bodies
from solver_ref.dynamics.closed_loop import Baumgarte, forward_dynamics
from solver_ref.dynamics.kj9 import KJ9, PUBLISHED_START
from solver_ref.dynamics.planar_system import OutOfReach, PlanarSystem
from solver_ref.dynamics.three_rrr import Rod, ThreeRRR
from solver_ref.symbolic import SymbolicArithmetic

M = SymbolicArithmetic()
TIME = sp.Symbol("t")
NAMES = three_rrr.COORDINATES
MOVING = [sp.Function(name)(TIME) for name in NAMES]


def symbolic() -> ThreeRRR:
    """A mechanism whose every number is a symbol."""

    def rod(name: str) -> Rod:
        length, centre, mass, inertia = sp.symbols(
            f"L{name} c{name} m{name} I{name}", positive=True
        )
        return Rod(length=length, centre=centre, mass=mass, inertia=inertia)

    bases = [sp.symbols(f"B{leg}x B{leg}y") for leg in range(3)]
    attachments = [sp.symbols(f"P{leg}x P{leg}y") for leg in range(3)]
    mass, inertia = sp.symbols("mp Ip", positive=True)
    return ThreeRRR(
        bases=tuple(bases),
        attachments=tuple(attachments),
        active=rod("a"),
        passive=rod("b"),
        mass=mass,
        inertia=inertia,
        gravity=sp.symbols("gx gy"),
    )


def lagrangian(mechanism: ThreeRRR) -> sp.Expr:
    """Kinetic less potential energy, from where the bodies are."""
    gravity = sp.Matrix(mechanism.gravity)

    def body(mass: sp.Expr, inertia: sp.Expr, place: sp.Matrix, angle: sp.Expr) -> sp.Expr:
        speed = place.diff(TIME)
        kinetic = mass * speed.dot(speed) / 2 + inertia * angle.diff(TIME) ** 2 / 2
        return kinetic + mass * gravity.dot(place)

    def along(angle: sp.Expr, length: sp.Expr) -> sp.Matrix:
        return length * sp.Matrix([sp.cos(angle), sp.sin(angle)])

    active, passive = mechanism.active, mechanism.passive
    total = body(mechanism.mass, mechanism.inertia, sp.Matrix(MOVING[:2]), MOVING[2])
    for leg in range(3):
        a, b, base = MOVING[3 + leg], MOVING[6 + leg], sp.Matrix(mechanism.bases[leg])
        total += body(active.mass, active.inertia, base + along(a, active.centre), a)
        outer = base + along(a, active.length) + along(b, passive.centre)
        total += body(passive.mass, passive.inertia, outer, b)
    return total


def test_the_equations_are_lagranges_for_every_mechanism() -> None:
    """A proof, number by number of a mechanism made of symbols."""
    mechanism = symbolic()
    energy = lagrangian(mechanism)
    at = three_rrr.directions(M, MOVING)
    rates = [x.diff(TIME) for x in MOVING]
    mass = sp.Matrix(three_rrr.mass_matrix(M, mechanism, at))
    terms = sp.Matrix(three_rrr.velocity_terms(M, mechanism, at, rates))
    due = mass * sp.Matrix([v.diff(TIME) for v in rates]) + terms
    due -= sp.Matrix(three_rrr.weight(M, mechanism, at))
    for i, (x, v) in enumerate(zip(MOVING, rates, strict=True)):
        lagrange = energy.diff(v).diff(TIME) - energy.diff(x)
        assert sp.trigsimp(sp.expand(lagrange - due[i])) == 0, NAMES[i]


def test_jacobian_and_curvature_are_the_derivatives_of_the_gaps() -> None:
    mechanism = symbolic()
    at = three_rrr.directions(M, MOVING)
    rates = [x.diff(TIME) for x in MOVING]
    gaps = sp.Matrix(three_rrr.constraint(M, mechanism, at, MOVING[:2]))
    rows = sp.Matrix(three_rrr.jacobian(M, mechanism, at))
    assert sp.simplify(gaps.jacobian(MOVING) - rows) == sp.zeros(6, 9)
    curvature = sp.Matrix(three_rrr.curvature(M, mechanism, at, rates))
    assert sp.expand(rows.diff(TIME) * sp.Matrix(rates) - curvature) == sp.zeros(6, 1)


def states(count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Coordinates (gaps open), rates and torques."""
    rng = np.random.default_rng(3)
    return [(rng.uniform(-3, 3, 9), rng.normal(size=9), rng.normal(size=3)) for _ in range(count)]


@pytest.mark.parametrize("omega", [0.0, 20.0])
def test_two_derivations_agree(omega: float) -> None:
    how = Baumgarte(zeta=0.7, omega=omega)
    for q, v, torque in states(20):
        found, multipliers = forward_dynamics(PlanarSystem(KJ9), q, v, torque, stabilise=how)
        other, pins = three_rrr_bodies.accelerations(KJ9, q, v, torque, stabilise=how)
        assert_allclose(found, other, rtol=0, atol=1e-9 * np.abs(other).max())
        assert_allclose(multipliers.reshape(3, 2), pins, rtol=0, atol=1e-9 * np.abs(pins).max())


def test_passive_arms_that_are_not_carried_along_are_found_by_the_second_derivation() -> None:
    how = Baumgarte()
    for q, v, torque in states(5):
        found, _ = forward_dynamics(WithoutTranslation(KJ9), q, v, torque, stabilise=how)
        other, _ = three_rrr_bodies.accelerations(KJ9, q, v, torque, stabilise=how)
        assert np.abs(found - other).max() > 1e-2 * np.abs(other).max()


def test_the_published_start_is_out_of_reach() -> None:
    with pytest.raises(OutOfReach, match=r"leg 3 must span 0\.587 m, not 0\.000 to 0\.500 m"):
        PlanarSystem(KJ9).coordinates(np.array(PUBLISHED_START))


def test_its_legs_are_those_of_the_builtin_robot() -> None:
    robot = built_in("rrr-kj9")
    chains = [dict(chain) for chain in robot.chains]
    anchors = [chain["anchor"][:2] for chain in chains]
    assert_allclose(KJ9.bases, anchors, atol=1e-14)
    assert_allclose(KJ9.attachments, np.array(robot.ends)[:, :2], atol=1e-14)
    assert {chain["proximal"] for chain in chains} == {KJ9.active.length}
    assert {chain["distal"] for chain in chains} == {KJ9.passive.length}


def test_the_coordinates_of_a_pose_close_every_gap_with_both_elbows() -> None:
    poses = np.random.default_rng(1).uniform(-0.05, 0.05, (50, 3))
    for elbows in ((1, 1, 1), (-1, 1, -1)):
        system = PlanarSystem(dataclasses.replace(KJ9, elbows=elbows))
        q = system.coordinates(poses)
        assert_allclose(system.gaps(q), 0, atol=1e-15)
        assert (np.sign(np.sin(q[:, 6:] - q[:, 3:6])) == elbows).all()
