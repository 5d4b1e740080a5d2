"""What stands in pictures: readings, colours, and that everything drawn lies where it belongs."""

import dataclasses

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from kinegate.pictures.compose import draw_pose, draw_trajectory
from kinegate.pictures.readings import Readings, read
from kinegate.pictures.scene import Scene
from kinegate.pictures.style import BAD, LINK, SIZE, SLACK, bounds, significant
from solver_ref.domain import sample_poses
from solver_ref.kinematics import cable_lengths, pose_matrix
from solver_ref.robot_file import load
from solver_ref.tension import tensions

ROBOTS = ("four-cable", "cogiro", "irma4u", "nist-robocrane", "planar4", "hangprinter")


def home(name: str) -> tuple:
    robot = load(name)
    return robot, read(robot, np.array([robot.workspace.home]))


def drawn(robot, readings: Readings, row: int = 0) -> tuple[Figure, Scene]:
    figure, scene = Figure(figsize=SIZE), Scene(robot, readings)
    draw_pose(figure, robot, scene, row, title=robot.name)
    return figure, scene


def ways(axes) -> list[np.ndarray]:
    """The points of all lines, (points, axes), with their colours."""
    found = []
    for line in axes.lines:
        data = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
        found.append((np.stack([np.asarray(part, float) for part in data], axis=1), line))
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_the_readings_are_those_of_the_solvers(name):
    robot = load(name)
    poses = sample_poses(robot, 5, np.random.default_rng(3))
    figures = read(robot, poses)
    assert np.array_equal(figures.lengths, cable_lengths(robot, poses))
    if robot.platform.mass is None:
        assert figures.tensions is None and "no mass" in figures.unknown
    else:
        assert np.array_equal(figures.tensions, tensions(robot, poses).tensions)
    assert figures.inside.all() and (figures.condition >= 1).all()


def test_the_condition_number_is_infinite_where_the_robot_is_singular():
    robot, figures = home("four-cable-concurrent")
    assert figures.condition[0] == np.inf and "singular" in figures.note(0)


def test_what_is_wrong_with_a_pose_is_said():
    robot, _ = home("cogiro")
    low = np.array(robot.workspace.home)
    far, tilted = low.copy(), low.copy()
    far[0], tilted[3:] = 100.0, 3.0
    figures = read(robot, np.array([low, far, tilted]))
    assert figures.note(0) == ""
    assert "beyond the workspace" in figures.note(1) and "no tensions hold it" in figures.note(1)
    assert "beyond the workspace" in figures.faults(2)


def test_a_slack_cable_is_named():
    robot, figures = home("four-cable")
    slack = np.array([[False, True, False, True]])
    assert dataclasses.replace(figures, slack=slack).note(0) == "slack: 2, 4"


@pytest.mark.parametrize("name", ROBOTS)
def test_links_lead_from_anchors_to_attachments_and_all_fits_in(name):
    robot, figures = home(name)
    figure, scene = drawn(robot, figures)
    axes = figure.axes[0]
    shown = list(scene.shown)
    ends = (robot.attachments @ pose_matrix(robot, figures.poses[0])[:3, :3].T) + pose_matrix(
        robot, figures.poses[0]
    )[:3, 3]
    lines = [points for points, _ in ways(axes)]
    for anchor, end in zip(robot.anchors[:, shown], ends[:, shown], strict=True):
        assert any(
            np.allclose(points[0], anchor) and np.allclose(points[-1], end) for points in lines
        )
    every = np.vstack([points for points in lines if len(points) > 1])
    limits = scene.limits[shown]
    assert (every >= limits[:, 0] - 0.2 * scene.size).all()
    assert (every <= limits[:, 1] + 0.2 * scene.size).all()


def colours(figure: Figure) -> set[str]:
    return {to_hex(line.get_color()) for points, line in ways(figure.axes[0]) if len(points) == 2}


def test_slack_cables_and_ones_that_do_not_hold_have_colours_of_their_own():
    robot, figures = home("four-cable")
    assert LINK in colours(drawn(robot, figures)[0])
    loose = dataclasses.replace(figures, slack=np.array([[True, False, False, False]]))
    assert {LINK, SLACK} <= colours(drawn(robot, loose)[0])
    fallen = dataclasses.replace(figures, held=np.array([False]))
    assert BAD in colours(drawn(robot, fallen)[0])


def texts(figure: Figure) -> str:
    found = [text.get_text() for text in figure.texts]
    for axes in figure.axes:
        found += [text.get_text() for text in axes.texts] + [axes.get_title(loc="left")]
        found += [axes.get_xlabel(), axes.get_ylabel()]
    return "\n".join(found)


def test_every_figure_has_its_unit():
    robot, figures = home("four-cable")
    seen = texts(drawn(robot, figures)[0])
    for words in ("lengths (m)", "tensions (N)", "condition number", "x (m)", " rad", "z = "):
        assert words in seen
    assert significant(figures.lengths[0, 0]) in seen
    assert significant(figures.tensions[0, 0]) in seen


def test_texts_do_not_overlap_outside_the_scene():
    for name in ROBOTS:
        figure, _ = drawn(*home(name))
        canvas = figure.canvas.get_renderer() if hasattr(figure.canvas, "get_renderer") else None
        boxes = [text.get_window_extent(canvas) for text in figure.texts if text.get_text()]
        boxes += [axes.get_tightbbox(canvas) for axes in figure.axes[1:]]
        for i, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[i + 1 :]), name
            assert box.x1 <= figure.bbox.x1 and box.x0 >= 0 and box.y0 >= 0, name


def test_a_trajectory_has_curves_over_its_times():
    robot = load("four-cable")
    poses = np.array(robot.workspace.home) + np.linspace(0, 1, 7)[:, None] * [0.5, 0, 0, 0, 0, 0]
    figure, times = Figure(figsize=SIZE), np.linspace(0, 3, 7)
    scene = Scene(robot, read(robot, poses))
    draw_trajectory(figure, robot, scene, times, title="way", time_name="t (s)")
    upper, middle, lower = figure.axes[1:]
    assert len(upper.lines) == len(lower.lines) == 4 and len(middle.lines) == 1
    assert np.array_equal(upper.lines[0].get_xdata(), times)
    assert np.array_equal(upper.lines[2].get_ydata(), scene.readings.lengths[:, 2])
    assert lower.get_xlabel() == "t (s)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.23456, "1.235"), (-0.0721, "-0.07210"), (148912.3, "148,900")]
    + [(9.9996, "10.000"), (np.nan, "-"), (3e8, "3.000e+08")],
)
def test_numbers_have_four_digits(value, text):
    assert significant(value) == text


def test_bounds_hold_all_points_that_there_are():
    box = bounds([np.array([[0.0, np.nan], [2.0, 1.0]]), np.array([[1.0, 5.0]])], share=0.1)
    assert np.allclose(box, [[-0.4, 2.4], [0.6, 5.4]])
