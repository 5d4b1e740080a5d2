"""Calibration: what noise allows is recovered, what data leave open is named."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from published_robots import needs_data, robot_of, rows

from solver_ref.calibration import Calibration, calibrate, read_samples
from solver_ref.calibration_parameters import chosen, moved
from solver_ref.csvio import CsvError, write_rows
from solver_ref.domain import level_poses, sample_poses
from solver_ref.kinematics import cable_lengths
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.robot import Robot
from solver_ref.robot_file import load

ALL = ("anchor", "attachment", "offset")
SIGNS = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def disturbed(robot: Robot, words: tuple[str, ...] | None, size: float, seed: int) -> Robot:
    """The robot with every parameter off by about `size` (m)."""
    parameters = chosen(robot, words)
    rng = np.random.default_rng(seed)
    return moved(robot, parameters, size * rng.standard_normal(len(parameters)))


def samples(
    robot: Robot, count: int, sigma: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measured lengths with noise, and the poses; then the offsets of the cables' encoders."""
    rng = np.random.default_rng(seed)
    poses = sample_poses(robot, count, rng)
    offsets = np.array([cable.offset for cable in robot.cables])
    noise = sigma * rng.standard_normal((count, len(robot.cables)))
    return cable_lengths(robot, poses) - offsets + noise, poses, offsets


def true_values(robot: Robot, found: Calibration) -> np.ndarray:
    return np.array([parameter.value(robot) for parameter in found.parameters])


@pytest.mark.parametrize(
    ("name", "words", "count"),
    [
        ("cogiro", ALL, 56),
        ("nist-robocrane", None, 36),
        ("planar4", None, 16),
        ("hangprinter", ("anchor", "offset"), 16),
        ("four-cable", ALL, 28),
        ("irma4u", ALL, 28),
    ],
)
def test_pairs_of_lengths_and_poses_give_the_numbers_within_three_deviations(
    name: str, words: tuple[str, ...] | None, count: int
) -> None:
    robot = load(name)
    if words:
        robot = moved(robot, chosen(robot, ("offset",)), np.linspace(-2, 2, len(robot.cables)))
    lengths, poses, _ = samples(robot, 60, 1e-4)
    found = calibrate(disturbed(robot, words, 0.01, 1), lengths, poses, parameters=words)
    errors = found.values - true_values(robot, found)
    assert len(found.names) == count
    assert np.abs(errors / found.deviations).max() <= 3.3
    assert np.sqrt(np.mean((errors / found.deviations) ** 2)) == pytest.approx(1, abs=0.5)
    assert found.sigma == pytest.approx(1e-4, rel=0.15)
    assert found.warnings == () and found.undetermined == ()
    # The robot has them, and nothing else of it has changed.
    assert_allclose(true_values(found.robot, found), found.values)
    assert replace(found.robot, cables=robot.cables) == robot
    assert_allclose(found.robot.anchors, robot.anchors, atol=10 * found.deviations.max())


@pytest.mark.parametrize("name", ["cogiro", "planar4", "hangprinter", "irma4u"])
def test_without_noise_they_are_exact(name: str) -> None:
    robot = load(name)
    lengths, poses, _ = samples(robot, 20, 0.0)
    found = calibrate(disturbed(robot, None, 0.02, 1), lengths, poses)
    assert_allclose(found.values, true_values(robot, found), rtol=0, atol=1e-9)
    assert np.abs(found.residuals).max() <= 1e-12


@pytest.mark.parametrize(("name", "frame"), [("cogiro", 12), ("planar4", 6), ("hangprinter", 6)])
def test_lengths_alone_give_the_shape_of_a_redundant_robot(name: str, frame: int) -> None:
    robot = load(name)
    lengths, poses, _ = samples(robot, 60, 1e-5)
    start = disturbed(robot, None, 0.02, 1)
    found = calibrate(start, lengths)
    assert found.sigma == pytest.approx(1e-5, rel=0.2)
    (warning,) = found.warnings
    assert f"({frame} directions)" in warning and "frames" in warning
    assert found.undetermined == ()
    seen = len(found.names) - frame
    assert np.linalg.matrix_rank(found.covariance, rtol=1e-10, hermitian=True) == seen
    # The frame is open, the shape is not: every distance is right within three deviations.
    steps = 1e-6 * np.eye(len(found.names))
    slopes = [shape(moved(found.robot, found.parameters, step)) for step in steps]
    slopes = (np.array(slopes) - shape(found.robot)).T / 1e-6
    deviations = np.sqrt(np.diag(slopes @ found.covariance @ slopes.T))
    errors = shape(found.robot) - shape(robot)
    assert np.abs(errors / deviations).max() <= 3.3
    assert np.abs(errors).max() < np.abs(shape(start) - shape(robot)).max() / 2
    # The poses come with it: lengths that were not used are met by them.
    assert_allclose(cable_lengths(found.robot, found.poses) - lengths, found.residuals, atol=1e-12)


def spans(points: np.ndarray) -> np.ndarray:
    """The distances between points, each pair once."""
    first, second = np.triu_indices(len(points), 1)
    return np.linalg.norm(points[first] - points[second], axis=-1)


def shape(robot: Robot) -> np.ndarray:
    """The distances between anchors and, where a platform turns, between attachments: whatever the
    frames are."""
    parts = (robot.anchors, robot.attachments) if robot.rotations else (robot.anchors,)
    return np.concatenate([spans(points) for points in parts])


def test_a_guess_of_the_poses_serves_as_well_as_a_search() -> None:
    # On arms of 85 mm, attachments that are 10 mm wrong turn the searched poses by up to 1 rad.
    robot = load("ipanema1")
    lengths, poses, _ = samples(robot, 60, 1e-5)
    start = disturbed(robot, None, 0.01, 3)
    found = calibrate(start, lengths, guess=np.round(poses, 2))
    assert found.sigma == pytest.approx(1e-5, rel=0.2) and len(found.warnings) == 1


def test_a_sample_that_contradicts_the_others_is_said() -> None:
    robot = load("nist-robocrane")
    lengths, poses, _ = samples(robot, 20, 1e-5)
    lengths[3, 2] += 0.02
    (warning,) = calibrate(robot, lengths, poses).warnings
    assert "mm off, more than the robot's limit of 1 mm" in warning


def test_what_level_poses_leave_open_is_named() -> None:
    # Without rotation an anchor and its attachment move together and no length tells.
    robot, rng = load("cogiro"), np.random.default_rng(0)
    poses = level_poses(robot, 30, rng)
    lengths = cable_lengths(robot, poses) + 1e-5 * rng.standard_normal((30, 8))
    start = disturbed(robot, None, 0.01, 1)
    found = calibrate(start, lengths, poses)
    assert set(found.undetermined) == set(found.names)
    assert np.isinf(found.deviations).all()
    (warning,) = found.warnings
    assert warning.startswith("the data do not determine anchor 1 x, anchor 1 y")
    assert "(24 directions)" in warning
    # Kept nearest to the given values: each of the two takes half of what was wrong.
    change = found.values - true_values(start, found)
    anchors, attachments = change.reshape(8, 2, 3).swapaxes(0, 1)
    assert_allclose(anchors, -attachments, atol=1e-6)


def test_one_cable_that_no_sample_moves_is_named_alone() -> None:
    robot, rng = load("hangprinter"), np.random.default_rng(0)
    # Along a line through the anchor of D, its length says nothing of the other two directions.
    poses = np.zeros((30, 3))
    poses[:, 2] = rng.uniform(0.1, 1.4, 30)
    poses = np.vstack([poses, poses + [0, 0, 0.05]])
    found = calibrate(robot, cable_lengths(robot, poses), poses, sigma=1e-5)
    assert {"anchor 4 x", "anchor 4 y"} <= set(found.undetermined)
    assert "anchor 4 z" not in found.undetermined
    assert np.isinf(found.deviations[9:11]).all() and found.deviations[11] < 1e-4


def test_as_many_unknowns_as_lengths_need_a_deviation() -> None:
    robot = load("hangprinter")
    lengths, poses, _ = samples(robot, 3, 0.0)
    found = calibrate(robot, lengths, poses)
    assert np.isnan(found.sigma) and np.isnan(found.deviations).all()
    assert "sigma" in found.warnings[0]
    found = calibrate(robot, lengths, poses, sigma=1e-3)
    assert np.isfinite(found.deviations).all() and (found.deviations > 1e-3).any()
    assert "nothing checks" in found.warnings[0]
    twice = calibrate(robot, lengths, poses, sigma=2e-3)
    assert_allclose(twice.covariance, 4 * found.covariance)


@needs_data
def test_the_hangprinter_is_calibrated_from_its_tape_measured_anchors() -> None:
    """tobbelobb/auto-calibration-simulation-for-hangprinter (MIT): 11 samples, total cost 0.254898
    mm^2 with its solved anchors."""
    table = rows("cdpr_real/hangprinter_samples.csv")
    changes = np.array([[float(row[f"d{i}_mm"]) for i in "ABCD"] for row in table]) / 1000
    published = np.array([[float(row[f"ref_{i}_mm"]) for i in "xyz"] for row in table]) / 1000
    solved, origin = load("hangprinter"), np.zeros(3)
    known = calibrate(solved, changes, parameters=(), reference=origin)
    assert np.abs(known.poses - published).max() <= 0.32e-3
    assert np.abs(known.residuals).max() <= 0.371e-3
    tape = [(0, -1.112, -0.115), (0.97, 0.55, -0.115), (-0.97, 0.55, -0.115), (0, 0, 2.865)]
    pairs = zip(solved.cables, tape, strict=True)
    taped = replace(solved, cables=tuple(replace(c, anchor=a) for c, a in pairs))
    found = calibrate(taped, changes, reference=origin)
    # The same cost, and the same shape to 0.5 mm where the tape was 90 mm wrong.
    assert (found.residuals**2).sum() * 1e6 == pytest.approx(0.254898, abs=1e-5)
    assert np.abs(spans(taped.anchors) - spans(solved.anchors)).max() > 0.08
    assert np.abs(spans(found.robot.anchors) - spans(solved.anchors)).max() <= 0.5e-3
    # The zero of the encoders fixes the origin; the rotation of the frame stays open.
    assert "(3 directions)" in found.warnings[0]
    with_poses = calibrate(taped, changes, published, reference=origin)
    assert np.abs(with_poses.robot.anchors - solved.anchors).max() <= 0.5e-3


def rma3(width: float) -> Robot:
    """laboratoriorma3/CDPR_4cables_kinematics_library (MIT), without rotation; width in m."""
    base = np.hstack([SIGNS * [0.445, width / 2], np.full((4, 1), 1.45)])
    platform = np.hstack([SIGNS * [0.029, 0.0515], np.zeros((4, 1))])
    box = [(-0.4, 0.4), (-0.6, 0.6), (0.1, 1.2)]
    return robot_of("rma3", base.tolist(), platform.tolist(), motion="point", position=box)


def test_the_rma3_crane_is_as_wide_as_its_lengths_say() -> None:
    lengths = np.array([[1.36206030, 1.42183276, 1.22378845, 1.15380164]])
    pose = np.array([[-0.1, 0.175, 0.5]])
    # As published, 1.52 m wide, the lengths belong to another pose.
    solved = lm_solve(rma3(1.52), np.array([-0.1, 0.175, 0.5]), lengths, tolerance=1e-8)
    assert_allclose(solved.poses, [[-0.100000016, 0.184880073, 0.471621562]], atol=1e-7)
    assert solved.residual.max() <= 1e-7
    # One sample gives one number of each cable: the width is 1.6 m for all four.
    found = calibrate(rma3(1.52), lengths, pose, parameters=("anchor.y",))
    assert found.names == tuple(f"anchor {i} y" for i in (1, 2, 3, 4))
    assert_allclose(found.values, [-0.8, -0.8, 0.8, 0.8], atol=2e-7)
    # With the 1.6 m the published lengths are those of the published pose.
    exact = calibrate(rma3(1.6), lengths, parameters=())
    assert_allclose(exact.poses, pose, atol=1e-7)
    # One sample does not give a whole anchor, nor the width where the pose is unknown too.
    assert len(calibrate(rma3(1.52), lengths, pose).undetermined) == 12
    assert calibrate(rma3(1.52), lengths, parameters=("anchor.y",)).undetermined


def test_samples_are_read_from_a_table(tmp_path: Path) -> None:
    robot = load("hangprinter")
    lengths, poses, _ = samples(robot, 5, 0.0)
    names = ["L1", "L2", "L3", "L4"]
    write_rows(tmp_path / "a.csv", [*names, "x", "y", "z"], np.hstack([lengths, poses]).tolist())
    read = read_samples(tmp_path / "a.csv", robot)
    assert_allclose(read[0], lengths, rtol=0)
    assert_allclose(read[1], poses, rtol=0)
    write_rows(tmp_path / "b.csv", names, (lengths - 2.0).tolist())
    assert read_samples(tmp_path / "b.csv", robot, relative=True)[1] is None
    with pytest.raises(CsvError, match="L[1-4]: is not positive"):
        read_samples(tmp_path / "b.csv", robot)
    write_rows(tmp_path / "c.csv", [*names, "x"], np.hstack([lengths, poses[:, :1]]).tolist())
    with pytest.raises(CsvError, match=r"c.csv: y: is a missing column; expected .* or none"):
        read_samples(tmp_path / "c.csv", robot)


def test_what_cannot_be_calibrated_is_refused() -> None:
    robot = load("hangprinter")
    lengths, poses, _ = samples(robot, 5, 0.0)
    with pytest.raises(ValueError, match=r"lengths must have the shape \(samples, 4\)"):
        calibrate(robot, lengths[:, :3], poses)
    with pytest.raises(ValueError, match="5 lengths need as many poses, not 4"):
        calibrate(robot, lengths, poses[:4])
    with pytest.raises(ValueError, match="poses must be finite"):
        calibrate(robot, lengths, poses * np.nan)
    with pytest.raises(ValueError, match="must be one of anchor, .* not pulley"):
        calibrate(robot, lengths, poses, parameters=("pulley",))
    with pytest.raises(ValueError, match="named once"):
        calibrate(robot, lengths, poses, parameters=("anchor", "anchor.x"))
    with pytest.raises(ValueError, match="offset cannot be calibrated from changes"):
        calibrate(robot, lengths, poses, parameters=("offset",), reference=np.zeros(3))
    with pytest.raises(ValueError, match="more cables than the 6 coordinates of a pose, not 4"):
        calibrate(load("four-cable"), np.full((3, 4), 7.0))
