"""A million samples through `track`, bit-true in compiled C: no drift, no false alarm."""

import dataclasses

import numpy as np
import pytest

from sim.twin import compile_twin
from solver_ref.kernels.domain import Domain
from solver_ref.kernels.kind import stack
from solver_ref.kernels.track import track_kernel
from solver_ref.kernels.track_values import stream_of
from solver_ref.robot_file import load
from solver_ref.sequence import evaluate_sequence
from solver_ref.status import Status
from solver_ref.trajectory import endless_trajectory

FINDING = 200
GOOD = Status.VALID | Status.CONVERGED


def errors(name: str, samples: int, tmp_path) -> tuple[np.ndarray, np.ndarray]:
    """Status words and pose errors (m, rad) along an endless path, after the pose was found."""
    robot = load(name)
    if not robot.determined:
        robot = dataclasses.replace(robot, closure="attitude")
    program = track_kernel(Domain.of(robot, "fine")).sequence
    moving = endless_trajectory(robot, robot.sample_rate, samples / robot.sample_rate).poses
    poses = np.vstack([np.repeat(moving[:1], FINDING, axis=0), moving])
    values = stream_of(robot, poses)
    codes = {field: form.encode(values[field]) for field, form in program.fields.items()}
    out = compile_twin(program, tmp_path).evaluate(codes)
    few = evaluate_sequence(program, {field: column[:300] for field, column in codes.items()})
    for field, column in few.items():
        assert np.array_equal(column, out[field][:300])
    decoded = {n: program.result_formats[n].decode(out[n]) for n in robot.coordinates}
    return out["status"][FINDING:], (stack(decoded, robot.coordinates) - poses)[FINDING:]


def judged(status: np.ndarray, error: np.ndarray) -> None:
    assert ((status & GOOD) == GOOD).all()
    assert np.abs(error).max() <= 10e-6
    tenth = len(error) // 10
    first, last = error[:tenth].mean(axis=0), error[-tenth:].mean(axis=0)
    assert np.abs(last - first).max() <= 1e-6, "the error drifts"


@pytest.mark.parametrize("name", ["nist-robocrane", "four-cable"])
def test_twenty_thousand_samples_show_no_drift(name, tmp_path):
    judged(*errors(name, 20_000, tmp_path))


@pytest.mark.soak
@pytest.mark.parametrize("name", ["nist-robocrane", "cogiro", "four-cable"])
def test_a_million_samples_show_no_drift(name, tmp_path):
    judged(*errors(name, 1_000_000, tmp_path))
