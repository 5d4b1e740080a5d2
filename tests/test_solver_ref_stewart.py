"""Stewart platforms: their files, strokes and architecture, and published poses."""

import dataclasses

import numpy as np
import pytest
from published_robots import DATA, needs_data, rows
from robot_kinds import of_legs

from solver_ref.analysis import analyse
from solver_ref.architecture import cause, repair
from solver_ref.conditioning import conditioning, scaled_jacobian
from solver_ref.damping import POLICIES
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.errors import InputError
from solver_ref.fields import RobotError
from solver_ref.kernels import KERNELS
from solver_ref.kinematics import cable_lengths, jacobian_phi, rotation_log
from solver_ref.levenberg_marquardt import lm_solve, solve_cold
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot_file import load, loads
from solver_ref.status import Status

SEED = 12
LENGTHS = [1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
FILE = """
name = "six"
kind = "stewart"
motion = "spatial"

[workspace]
position = [[-0.1, 0.1], [-0.1, 0.1], [0.4, 0.6]]
tilt = 0.2
"""


def file_of(stroke: str = "", legs: int = 6) -> str:
    angles = np.radians([[352, 8, 112, 128, 232, 248], [312, 48, 72, 168, 192, 288]])
    base, platform = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    text = FILE
    for a, b in zip(base[:legs], platform[:legs], strict=True):
        text += f"\n[[leg]]\nanchor = {a.tolist()}\nattachment = {(b / 2).tolist()}\n{stroke}"
    return text


def dietmaier_poses() -> np.ndarray:
    """The 40 published poses, (40, 6)."""
    names = ("n1", "n2", "n3", "a11", "a12", "a13", "a21", "a22", "a23")
    table = rows("stewart/dietmaier_40_solutions.csv")
    values = np.array([[float(row[name]) for name in names] for row in table])
    first, second = values[:, 3:6], values[:, 6:9]
    turns = np.stack([first, second, np.cross(first, second)], axis=-1)
    return np.hstack([values[:, :3], rotation_log(turns)])


def test_the_builtins_are_the_four_platforms() -> None:
    names = ["dietmaier", "linuxcnc-hexapod", "stewart-hexagons", "stewart-paired"]
    assert [name for name in of_legs() if name in names] == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FILE, "leg: is missing; expected 6 [[leg]] tables; got nothing"),
        (file_of(legs=5), "leg: holds too few legs; expected 6 [[leg]] tables; got 5"),
        (file_of("stroke = [0.9, 0.5]\n"), "leg[1].stroke: is out of range; expected the shortest"),
        (file_of("pulley = 1\n"), "leg[1].pulley: is an unknown key; expected only anchor"),
        (file_of() + "stroke = [0.1, 1]\n", "leg[1].stroke: is missing; expected 2 numbers"),
        (file_of().replace("spatial", "point"), "motion: is an unknown word; expected spatial"),
        (file_of() + "\n[[cable]]\n", "cable: is an unknown key; expected only name"),
    ],
)
def test_a_bad_platform_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(RobotError) as error:
        loads(text, file="six.toml")
    assert said in str(error.value)


def test_a_leg_that_is_there_twice_is_refused() -> None:
    text = file_of(legs=5)
    twice = text[text.index("[[leg]]") :]
    with pytest.raises(RobotError, match=r"leg\[6\]: is leg\[1\] once more"):
        loads(text + "\n" + twice[: twice.index("[[leg]]", 3)])


def test_strokes_are_the_limits_of_the_joints_and_part_of_the_digest() -> None:
    robot = loads(file_of("stroke = [0.4, 0.9]\n"))
    assert [joint.name for joint in robot.joints] == [f"L{i}" for i in range(1, 7)]
    assert {joint.limits for joint in robot.joints} == {(0.4, 0.9)}
    assert robot.digest != loads(file_of()).digest


def test_check_says_which_legs_are_too_short() -> None:
    robot = loads(file_of("stroke = [0.4, 0.75]\n"))
    found = analyse(robot)
    said = next(finding for finding in found.findings if finding.name == "stroke")
    assert said.severity == "warning" and found.ok
    assert "of the 4217 poses are beyond the strokes: leg 1 needs " in said.text
    assert not [f for f in analyse(load("stewart-paired")).findings if f.name == "stroke"]


def test_lines_are_as_long_as_the_legs() -> None:
    robot = load("stewart-paired")
    pose = sample_poses(robot, 1, np.random.default_rng(SEED))[0]
    lines = mechanism_of(robot).lines(robot, pose)
    sizes = [np.linalg.norm(line[1] - line[0]) for line in lines]
    np.testing.assert_allclose(sizes, cable_lengths(robot, pose), rtol=1e-12)


@pytest.mark.parametrize("name", of_legs())
def test_the_jacobian_is_the_lengths_central_differences(name: str) -> None:
    robot = load(name)
    poses = sample_poses(robot, 50, np.random.default_rng(SEED))
    h = 1e-6
    steps = [
        cable_lengths(robot, poses + h * e) - cable_lengths(robot, poses - h * e) for e in np.eye(6)
    ]
    np.testing.assert_allclose(
        jacobian_phi(robot, poses), np.stack(steps, axis=-1) / (2 * h), atol=1e-7
    )


@pytest.mark.parametrize("name", ["stewart-paired", "linuxcnc-hexapod"])
def test_lengths_come_back_as_the_pose_over_the_workspace(name: str) -> None:
    robot, rng = load(name), np.random.default_rng(SEED)
    poses = np.vstack([corner_poses(robot), sample_poses(robot, 1000, rng)])
    starts = poses + rng.uniform(-1, 1, poses.shape) * robot.workspace.start_error[0] / 4
    found = lm_solve(robot, starts, cable_lengths(robot, poses), POLICIES["marquardt"])
    good = np.linalg.cond(scaled_jacobian(robot, poses)) < 100
    assert good.mean() > 0.98
    assert np.all(found.status[good] & Status.VALID)
    assert found.residual[good].max() <= robot.accuracy.length


def test_legs_have_no_tensions_to_keep_positive() -> None:
    with pytest.raises(InputError, match="stewart-paired: kind: has links that push"):
        KERNELS["tension"].columns(load("stewart-paired"))


# -- published platforms -----------------------------------------------------------------------


@needs_data
def test_dietmaiers_forty_poses_have_his_lengths() -> None:
    poses = dietmaier_poses()
    assert len(poses) == 40
    robot = load("dietmaier")
    assert np.abs(cable_lengths(robot, poses) - LENGTHS).max() <= 1e-9
    # They are all different, and all inside of what is declared.
    apart = np.linalg.norm(poses[:, None] - poses, axis=-1) + np.eye(40)
    assert apart.min() > 1e-2
    low, high = np.array(robot.workspace.position).T
    assert np.all((poses[:, :3] >= low) & (poses[:, :3] <= high))
    assert np.linalg.norm(poses[:, 3:], axis=1).max() <= robot.workspace.tilt


@needs_data
def test_the_builtin_hexapod_has_linuxcncs_numbers() -> None:
    text = (DATA / "stewart" / "linuxcnc_genhexkins_default.yaml").read_text(encoding="utf-8")
    lines = dict(
        line.split(": ", 1) for line in text.splitlines() if line.startswith(("base", "pl"))
    )
    robot = load("linuxcnc-hexapod")
    for word, points in (("base", robot.anchors), ("platform", robot.attachments)):
        numbers = np.array(lines[word].translate(str.maketrans("[],", "   ")).split(), float)
        np.testing.assert_allclose(points.ravel() / 0.0254, numbers, atol=1e-12)


def yawed(robot, degrees: list[int]) -> np.ndarray:
    poses = np.tile(robot.workspace.home, (len(degrees), 1))
    poses[:, 5] = np.radians(degrees)
    return poses


@pytest.mark.parametrize("unit", ["mm", "m", "in"])
def test_linuxcncs_hexapod_takes_seven_steps_at_most_in_every_unit(unit: str) -> None:
    """Its numbers in three units: machines of 27 mm, 27 m and 0.7 m."""
    robot = loads(in_unit(unit))
    scale = {"mm": 1e-3, "m": 1.0, "in": 0.0254}[unit]
    degrees = [*range(-60, 0, 10), *range(10, 61, 10)]
    poses = yawed(robot, degrees)
    lengths = cable_lengths(robot, poses)
    starts = np.tile(robot.workspace.home, (len(poses), 1))
    warm = lm_solve(robot, starts, lengths, POLICIES["marquardt"])
    cold = solve_cold(robot, lengths, POLICIES["marquardt"])
    for found, most in ((warm, 5), (cold, 7)):
        assert found.iterations.max() <= most
        assert np.linalg.norm((found.poses - poses)[:, :3], axis=1).max() <= 1e-6
    assert scale * 20 == pytest.approx(robot.workspace.home[2])


def in_unit(unit: str) -> str:
    """The built-in hexapod's file with its numbers taken in another unit; accuracy 1 um."""
    robot = load("linuxcnc-hexapod")
    legs = "".join(
        f"[[leg]]\nanchor = {_listed(a)}\nattachment = {_listed(b)}\n"
        for a, b in zip(robot.anchors, robot.attachments, strict=True)
    )
    size = {"mm": "1e-3", "m": "1e-6", "in": "3.9e-5"}[unit]
    return f"""
name = "hexapod"
kind = "stewart"
motion = "spatial"
units = {{ length = "{unit}" }}
{legs}
[workspace]
position = [[-2.0, 2.0], [-2.0, 2.0], [18.0, 22.0]]
tilt = 1.05
home = [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]
start_error = [0.4, 0.02]
[accuracy]
length = {size}
residual_limit = 1
"""


def _listed(point: np.ndarray) -> list[float]:
    return [round(x, 3) + 0.0 for x in (point / 0.0254).tolist()]


# -- architecture ------------------------------------------------------------------------------


def test_similar_hexagons_are_singular_at_every_pose_and_check_says_why() -> None:
    robot = load("stewart-hexagons")
    found = analyse(robot)
    assert not found.ok
    assert found.home.rank == (3, 3) and found.workspace.rank == (3, 5)
    np.testing.assert_allclose(
        cable_lengths(robot, np.array(robot.workspace.home)), 0.3906, atol=1e-4
    )
    said = next(f.text for f in found.findings if f.name == "architectural-singularity")
    assert said.startswith("the rank is at most 5 of 6 at every pose (3 at home): ")
    assert "similar hexagons with their joints on a circle (factor 0.85)" in said
    assert "a repair: turn the " in said and "which gives rank 6 " in said


def test_the_proposed_repair_is_regular_at_other_poses_too() -> None:
    robot = load("stewart-hexagons")
    poses = sample_poses(robot, 500, np.random.default_rng(SEED))
    found = repair(robot, poses)
    others = sample_poses(robot, 2000, np.random.default_rng(SEED + 1))
    at = conditioning(found.robot, others)
    assert at.rank == (6, 6) and at.condition[2] < 15
    assert analyse(found.robot).ok


def sheared(points: np.ndarray, image: np.ndarray) -> np.ndarray:
    flat = points.copy()
    flat[:, :2] = points[:, :2] @ image
    return flat


def with_legs(anchors: np.ndarray, attachments: np.ndarray):
    robot = load("stewart-hexagons")
    cables = tuple(
        dataclasses.replace(cable, anchor=tuple(a), attachment=tuple(b))
        for cable, a, b in zip(robot.cables, anchors.tolist(), attachments.tolist(), strict=True)
    )
    return dataclasses.replace(robot, cables=cables)


def test_an_affine_image_of_points_on_an_ellipse_is_named() -> None:
    angles = np.radians([0, 50, 110, 190, 260, 300])
    anchors = np.stack([0.5 * np.cos(angles), 0.3 * np.sin(angles), np.zeros(6)], axis=1)
    robot = with_legs(anchors, sheared(anchors, np.array([[0.4, 0.5], [-0.3, 0.7]])))
    assert "affine images of each other, their joints on a conic" in cause(robot)
    assert analyse(robot).workspace.rank[1] < 6


def test_an_affine_image_of_points_on_no_conic_is_no_cause() -> None:
    rng = np.random.default_rng(SEED)
    anchors = np.hstack([rng.uniform(-0.5, 0.5, (6, 2)), np.zeros((6, 1))])
    robot = with_legs(anchors, sheared(anchors, np.array([[0.4, 0.5], [-0.3, 0.7]])))
    assert cause(robot) is None
    assert analyse(robot).workspace.rank[1] == 6
