"""`python -m bench.tracking`: what decides the accuracy of a tracked pose, in float64.

The crane's drive with lengths and attitude quantised to 2^-20 m and rad, in pieces of 100 samples
side by side; each row of a table changes one thing. Errors are the largest from the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from solver_ref.detection import Limits
from solver_ref.kinematics import cable_lengths
from solver_ref.measurement import QUANTUM, Model, attitude_model, length_model
from solver_ref.robot import Robot
from solver_ref.robot_file import load
from solver_ref.tracking import Filter, Precision, Tracker
from solver_ref.trajectory import crane_trajectory

ROBOTS = ("nist-robocrane", "cogiro", "four-cable")
# Samples in which a filter begun without an acceleration forgets it.
TRANSIENT = 40
USUAL_FILTER = Filter()
WORDS = Precision(pose=2.0**-23, rate=2.0**-30, gain_bits=18)
# Nothing is refused, so that bad settings show in the errors.
LENIENT = Limits(noise=1.0)


def model_of(robot: Robot, **options: float) -> Model:
    return length_model(robot) if robot.determined else attitude_model(robot, **options)


def largest(vectors: np.ndarray, robot: Robot) -> tuple[float, float]:
    """The largest norms of the translational and of the angular parts, times a million."""
    parts = np.split(vectors, [robot.translations], axis=-1)
    return tuple(1e6 * float(np.linalg.norm(part, axis=-1).max()) for part in parts)


def measure(
    robot: Robot,
    model: Model,
    *,
    rate: float = 10_000,
    filter: Filter = USUAL_FILTER,
    precision: Precision = WORDS,
    noise: float = 0.0,
) -> list[str]:
    """Pose (um, urad), twist (mm/s, mrad/s), innovation and residual (um), largest K of lengths."""
    path = crane_trajectory(robot, rate)
    angles = path.poses[:, robot.translations :]
    angles = angles + noise * np.random.default_rng(0).standard_normal(angles.shape)
    samples = np.hstack([cable_lengths(robot, path.poses), angles])[:, : len(model.weights)]
    samples = np.rint(samples / QUANTUM) * QUANTUM
    poses, rates, twists, samples = (
        values.reshape(-1, 100, values.shape[-1])
        for values in (path.poses, path.rates, path.twists, samples)
    )
    tracker = Tracker(robot, rate, model=model, filter=filter, precision=precision, limits=LENIENT)
    tracker.start(poses[:, 0], rates[:, 0])
    wrong, slow, seen, left, top = [], [], 0.0, 0.0, 0.0
    for k in range(1, poses.shape[1]):
        ready = tracker.prepare()
        update = tracker.correct(samples[:, k])
        wrong.append(update.poses - poses[:, k])
        slow.append(update.twists - twists[:, k])
        lengths = slice(model.lengths)
        seen = max(seen, float(np.abs(update.innovation[:, lengths]).max()))
        left = max(left, float(np.abs(tracker.verify().residual[:, lengths]).max()))
        top = max(top, float(np.abs(ready.gain[..., lengths]).max()))
    pose = largest(np.array(wrong), robot)
    twist = largest(np.array(slow)[TRANSIENT:], robot)
    return [
        "{:.2f} um, {:.2f} urad".format(*pose),
        "{:.2f} mm/s, {:.2f} mrad/s".format(*(x / 1000 for x in twist)),
        f"{seen * 1e6:.2f}",
        f"{left * 1e6:.2f}",
        f"{top:.2f}",
    ]


def rows(robot: Robot) -> Iterator[tuple[str, list[str]]]:
    """Each setting and its figures."""
    model = model_of(robot)
    for gains in ((1.0, 0.0), (1 / 4, 0.0), (1 / 16, 0.0), (1 / 4, 1 / 32), (1 / 16, 1 / 512)):
        filter = Filter(velocity=gains[0], acceleration=gains[1])
        yield f"rates' gains {gains[0]:g}, {gains[1]:g}", measure(robot, model, filter=filter)
    yield "**rates' gains 0.125, 0.0078125**", measure(robot, model)
    for bits in (12, 8, 4):
        words = replace(WORDS, gain_bits=bits)
        yield f"K of {bits} bits", measure(robot, model, precision=words)
    for bits in (20, 21, 22, 26):
        words = replace(WORDS, pose=2.0**-bits)
        yield f"pose in 2^-{bits}", measure(robot, model, precision=words)
    for bits in (23, 26, 28):
        words = replace(WORDS, rate=2.0**-bits)
        yield f"rates in 2^-{bits} a sample", measure(robot, model, precision=words)
    yield "exact words", measure(robot, model, precision=Precision())
    for gains in ((1.0, 0.0), (1 / 2, 1 / 8), (1 / 8, 1 / 128)):
        filter = Filter(velocity=gains[0], acceleration=gains[1])
        label = f"1 kHz, rates' gains {gains[0]:g}, {gains[1]:g}"
        yield label, measure(robot, model, rate=1000, filter=filter)
    if not robot.determined:
        for weight in (1.0, 1 / 4, 1 / 16, 1 / 64):
            weighted = model_of(robot, weight=weight)
            yield f"attitude's weight {weight:g}", measure(robot, weighted)
            label = f"attitude's weight {weight:g}, 1 mrad of noise (rms)"
            yield label, measure(robot, weighted, noise=1e-3)


def main() -> None:
    header = "| {} | pose | twist | innovation (um) | residual (um) | largest K |"
    for name in ROBOTS:
        print(header.format(name) + "\n|---|---|---|---|---|---|")
        for label, cells in rows(load(name)):
            print(f"| {label} | " + " | ".join(cells) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
