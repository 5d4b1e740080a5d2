"""Any rows can be tracked: four lengths and the balance of forces, for pose and tensions."""

import numpy as np
from numpy.testing import assert_array_equal

from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.measurement import QUANTUM, Model, gain
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.statics import carried_wrenches
from solver_ref.status import Status
from solver_ref.tracking import Precision, Tracker
from solver_ref.trajectory import quasi_static_lengths

STREAMS = 20


def balance_model(robot: Robot) -> Model:
    """The state is (pose, tensions in units of the weight); the unbalanced wrench is always 0."""
    cables, free = len(robot.cables), len(robot.free)
    force = -robot.platform.mass * robot.gravity[2]

    def values(states: np.ndarray) -> np.ndarray:
        poses, tensions = states[..., :free], states[..., free:] * force
        pull = (np.swapaxes(jacobian(robot, poses), -1, -2) @ tensions[..., None])[..., 0]
        unbalanced = (pull - carried_wrenches(robot, poses)) / force
        return np.concatenate([cable_lengths(robot, poses), unbalanced], axis=-1)

    def rows(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        steps = 1e-6 * np.eye(free + cables)
        around = values(states[..., None, :] + np.concatenate([steps, -steps]))
        slopes = np.diff(np.split(around, 2, axis=-2)[::-1], axis=0)[0] / 2e-6
        return values(states), np.swapaxes(slopes, -1, -2)

    quanta = np.repeat([QUANTUM, 0.0], [cables, free])
    ones = np.ones(free + cables)
    return Model(rows=rows, weights=ones, quanta=quanta, scale=ones, lengths=cables)


def equilibrium(model: Model, start: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The state at which the rows have these lengths and no unbalanced wrench, by Newton."""
    state = start
    for _ in range(5):
        values, rows = model.rows(state)
        wanted = np.concatenate([lengths, np.zeros_like(values[..., 4:])], axis=-1)
        state = state + (gain(model, rows) @ (wanted - values)[..., None])[..., 0]
    return state


def test_the_equilibrium_is_tracked_within_20_micrometres_and_30_microradians() -> None:
    robot = load("four-cable")
    model = balance_model(robot)
    # Twenty pieces of two seconds of a slow path, each begun in its equilibrium.
    paths = quasi_static_lengths(robot, 10_000, 40.0)[0]
    lengths = paths.reshape(STREAMS, -1, 4)[:, :20]
    start = np.tile([*robot.workspace.home, *[0.4] * 4], (STREAMS, 1))
    start = equilibrium(model, start, lengths[:, 0])
    tracker = Tracker(robot, 10_000, model=model, precision=Precision(pose=2.0**-24))
    tracker.start(start)
    truth = start
    for k in range(1, 20):
        codes = np.rint(lengths[:, k] / QUANTUM) * QUANTUM
        tracker.prepare()
        update = tracker.correct(np.hstack([codes, np.zeros((STREAMS, 6))]))
        truth = equilibrium(model, truth, lengths[:, k])
        errors = update.poses - truth[:, :6]
        assert np.linalg.norm(errors[:, :3], axis=1).max() <= 20e-6
        assert np.linalg.norm(errors[:, 3:], axis=1).max() <= 30e-6
        good = int(Status.VALID | Status.CONVERGED)
        assert_array_equal(tracker.verify().status, good)
        # Tensions come with the pose: to a hundred thousandth of the weight.
        assert np.abs(tracker.state[:, 6:] - truth[:, 6:]).max() <= 1e-5
