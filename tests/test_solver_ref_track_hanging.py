"""`track` under the closure `equilibrium`: pose and tensions of a hanging crane, on a slow path."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from solver_ref.equilibrium import equilibrium
from solver_ref.equilibrium_equations import balance
from solver_ref.equilibrium_gain import UNLIMITED, equilibrium_gain
from solver_ref.equilibrium_limits import spread_balance
from solver_ref.equilibrium_poses import sample_equilibria
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import stack
from solver_ref.kernels.track import Track, track_kernel
from solver_ref.kernels.track_values import stream_with
from solver_ref.kinematics import cable_lengths
from solver_ref.logic import LogicArithmetic
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.sequence import Sequence, evaluate_sequence
from solver_ref.status import Status
from solver_ref.trajectory import quasi_static_lengths

FINDING = 60
GOOD = Status.VALID | Status.CONVERGED


@cache
def robot(name: str) -> Robot:
    return dataclasses.replace(load(name), closure="equilibrium")


@cache
def sequence(name: str) -> Sequence:
    return track_kernel(Domain.of(robot(name), "fine")).sequence


@pytest.mark.parametrize("name", ["four-cable", "four-cable-full"])
def test_the_gain_is_the_derivative_of_the_equilibrium(name):
    hung, rng = robot(name), np.random.default_rng(1)
    poses, pulls = sample_equilibria(hung, 20, rng)
    lengths = cable_lengths(hung, poses)
    densities = pulls / lengths / (hung.platform.mass * 9.81)
    m = LogicArithmetic()
    at = balance(m, hung, list(poses.T), list(densities.T), list(lengths.T))
    phi = list(poses[:, 3:].T)
    found = equilibrium_gain(m, hung, phi, spread_balance(at, 20), list(lengths.T), UNLIMITED)
    columns = np.stack([np.stack(np.broadcast_arrays(*c), -1) for c in found.columns], -1)
    assert max(np.abs(x).max() for x in found.shift) <= 1e-9
    for i in range(4):
        further = lengths + 1e-5 * np.eye(4)[i]
        ends = [
            equilibrium(hung, x, poses, elastic=False, tolerance=1e-12).poses
            for x in (lengths, further)
        ]
        slope = (ends[1] - ends[0]) / 1e-5
        # A pulley's bend is left out, and the turn is taken to third order.
        np.testing.assert_allclose(columns[..., i], slope, rtol=0, atol=4e-3)


@pytest.mark.parametrize("name", ["four-cable", "four-cable-full"])
def test_the_pose_and_tensions_stay_those_of_the_float64_equilibrium(name):
    hung, program = robot(name), sequence(name)
    moving = quasi_static_lengths(hung, hung.sample_rate, 0.04, first=12_345)[0]
    lengths = np.vstack([np.repeat(moving[:1], FINDING, axis=0), moving])
    warm = {"dT": np.zeros(len(lengths))}
    values = stream_with(hung, lengths, warm if "dT" in program.fields else {})
    codes = {field: form.encode(values[field]) for field, form in program.fields.items()}
    out = evaluate_sequence(program, codes)
    status = out["status"]
    assert ((status & GOOD) == GOOD)[FINDING:].all() and not status[0] & Status.VALID
    truth = equilibrium(hung, lengths[FINDING::10], tolerance=1e-10)
    decoded = {n: form.decode(out[n])[FINDING::10] for n, form in program.result_formats.items()}
    error = np.abs(stack(decoded, hung.coordinates) - truth.poses)
    assert error[:, :3].max() <= 20e-6 and error[:, 3:].max() <= 30e-6
    tensions = stack(decoded, [f"T{i + 1}" for i in range(4)])
    assert np.abs(tensions - truth.tensions).max() <= 0.05


def test_float_answers_and_vectors_are_equilibria():
    hung, kind = robot("four-cable"), Track()
    inputs = kind.draw(hung, 100, np.random.default_rng(3))
    out = kind.answers(Domain.of(hung, "fine"), inputs)
    assert (out["status"] & GOOD == GOOD).all()
    assert out["residual"].max() <= 1e-6
    assert stack(out, ["T1", "T2", "T3", "T4"]).min() > 100.0
