"""Rank, conditioning and findings of the built-in and of published robots."""

import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from published_robots import caspr, needs_data, robot_of
from robot_kinds import of_cables

from solver_ref.analysis import Analysis, analyse, segment_distance
from solver_ref.conditioning import null_space, scaled_jacobian
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.errors import InputError
from solver_ref.kinematics import cable_lengths
from solver_ref.parts import Pulley
from solver_ref.robot import Platform, Robot
from solver_ref.robot_file import load

# borglab/GTDynamics, cable robot tests (BSD-2-Clause): planar XZ.
GTDYNAMICS = robot_of(
    "gtdynamics_planar4",
    [[3, 0, 0], [3, 0, 3], [0, 0, 3], [0, 0, 0]],
    [[0.15, 0, -0.15], [0.15, 0, 0.15], [-0.15, 0, 0.15], [-0.15, 0, -0.15]],
    motion="planar-xz",
    position=[(0.5, 2.5), (0.5, 2.5)],
)
CORNERS = [[-5, -4, 6], [5, -4, 6], [5, 4, 6], [-5, 4, 6]]


def names(analysis: Analysis, severity: str) -> list[str]:
    return [finding.name for finding in analysis.findings if finding.severity == severity]


def text(analysis: Analysis, name: str) -> str:
    return next(finding.text for finding in analysis.findings if finding.name == name)


@pytest.mark.parametrize("name", sorted(set(of_cables()) - {"four-cable-concurrent"}))
def test_the_other_builtins_are_solvable_in_all_of_their_workspace(name: str) -> None:
    started = time.perf_counter()
    analysis = analyse(load(name))
    assert time.perf_counter() - started < 2
    assert analysis.ok
    assert not names(analysis, "error") + names(analysis, "warning")
    full = min(analysis.joints, analysis.unknowns)
    assert analysis.workspace.rank == analysis.level.rank == analysis.home.rank == (full, full)
    assert analysis.determined == (analysis.closure == "lengths")
    assert analysis.workspace.deficient == 0
    smallest, mean, largest = analysis.workspace.condition
    # The attachments of irma4u are almost a scaled copy of its anchors: yaw is held weakly.
    assert 1 <= smallest < mean < largest < (250 if name == "irma4u" else 25)


def test_four_lengths_leave_two_directions_of_the_reference_crane_free() -> None:
    analysis = analyse(load("four-cable"))
    assert analysis.ok
    assert (analysis.cables, analysis.unknowns, analysis.mobility) == (4, 6, 2)
    assert analysis.free_directions == (
        "turning about x",
        "turning about y (x moves +0.318 m/rad)",
    )
    said = text(analysis, "undetermined")
    assert said.startswith("four lengths leave 2 directions free at home: turning about x; ")
    assert "minimum-norm" in said
    assert "drifts" in said


@pytest.mark.parametrize("name", ["four-cable", "four-cable-concurrent"])
def test_free_directions_change_no_length(name: str) -> None:
    robot = load(name)
    for pose in sample_poses(robot, 50, np.random.default_rng(1)):
        free = null_space(robot, pose)
        assert len(free) == 2
        assert_allclose(scaled_jacobian(robot, pose) @ free.T, 0, atol=1e-4)
    home = np.array(robot.workspace.home)
    move = np.array([1, 1, 1, *[1 / robot.characteristic_length] * 3]) * null_space(robot, home)
    change = cable_lengths(robot, home + 1e-4 * move) - cable_lengths(robot, home)
    assert np.abs(change).max() < 1e-7


def test_the_concurrent_crane_is_found_and_explained() -> None:
    analysis = analyse(load("four-cable-concurrent"))
    assert not analysis.ok
    assert names(analysis, "error") == ["architectural-singularity"]
    assert analysis.level.rank == (3, 3)
    assert analysis.workspace.rank[1] == 4
    assert text(analysis, "architectural-singularity") == (
        "the rank is 3 of 4 at every level pose: the attachments are a scaled copy of the anchors "
        "(factor 0.1): at every level pose all cables meet in one point"
    )


def test_the_gtdynamics_planar_robot_is_found() -> None:
    analysis = analyse(GTDYNAMICS)
    assert not analysis.ok
    assert analysis.level.rank == (2, 2)
    assert "scaled copy of the anchors (factor 0.1)" in text(analysis, "architectural-singularity")


@needs_data
def test_the_scdm_test_model_of_caspr_has_rank_three() -> None:
    robot, _ = caspr("test_SCDM", position=[(-0.5, 0.5), (-0.5, 0.5), (0.5, 1.5)])
    analysis = analyse(robot)
    assert not analysis.ok
    assert analysis.level.rank == (3, 3)
    assert analysis.home.rank == (3, 3)
    assert "scaled copy of the anchors (factor 0.1)" in text(analysis, "architectural-singularity")


@pytest.mark.parametrize(
    ("attachments", "ranks", "said"),
    [
        ([[0.1, 0.2, 0.3]] * 4, (3, 3), "all attachments are in one place"),
        ([[a, b, 0] for a, b, _ in CORNERS], (3, 3), "all cables are parallel"),
        ([[0.2 * a, 0.2 * b, 0.7] for a, b, _ in CORNERS], (3, 3), "(factor 0.2)"),
        ([[-0.2 * a, -0.2 * b, 0.7] for a, b, _ in CORNERS], (3, 3), "(factor -0.2)"),
    ],
)
def test_a_simple_cause_is_named(attachments: list, ranks: tuple[int, int], said: str) -> None:
    analysis = analyse(robot_of("crane", CORNERS, attachments))
    assert not analysis.ok
    assert analysis.level.rank == ranks
    assert said in text(analysis, "architectural-singularity")


def line(seed: int) -> list[list[float]]:
    """Seven points of one line, not evenly spaced."""
    at = np.random.default_rng(seed).uniform(-1, 1, (7, 1))
    return (np.array([0.1, 0.2, 0.5]) + at * np.array([0.3, -0.2, 0.6])).tolist()


def cloud(seed: int, size: float) -> list[list[float]]:
    return np.random.default_rng(seed).uniform(-size, size, (7, 3)).tolist()


@pytest.mark.parametrize(
    ("anchors", "attachments", "said"),
    [
        (cloud(2, 5), line(3), "the attachments lie on one line"),
        (line(4), cloud(5, 0.5), "the anchors lie on one line"),
    ],
)
def test_points_on_one_line_leave_a_rotation_at_every_pose(
    anchors: list, attachments: list, said: str
) -> None:
    analysis = analyse(robot_of("seven", anchors, attachments))
    assert not analysis.ok
    assert analysis.workspace.rank == (5, 5)
    assert analysis.mobility == 1
    assert text(analysis, "architectural-singularity").startswith(
        "the rank is 5 of 6 at every pose"
    )
    assert said in text(analysis, "architectural-singularity")
    assert text(analysis, "undetermined").startswith("seven lengths leave 1 direction free at home")


def test_a_singularity_at_some_poses_is_a_warning() -> None:
    """Three cables of a point that reaches the plane of its anchors."""
    flat = robot_of(
        "flat",
        [[-1, -1, 0], [1, -1, 0], [0, 1, 0]],
        [[0, 0, 0]] * 3,
        motion="point",
        position=[(-0.2, 0.2), (-0.2, 0.2), (-1.0, 0.0)],
    )
    analysis = analyse(flat)
    assert analysis.ok
    assert names(analysis, "warning") == ["singular-poses"]
    assert "the rank falls to 2 of 3" in text(analysis, "singular-poses")
    assert analysis.workspace.condition[2] == math.inf
    assert analysis.workspace.worst[2] == 0


def test_a_cable_that_vanishes_is_a_warning_and_no_error() -> None:
    point = load("hangprinter")
    cable = replace(point.cables[0], anchor=(0.6, 0.6, 1.5))
    analysis = analyse(replace(point, cables=(cable, *point.cables[1:])))
    assert analysis.ok
    assert "cable 1 (0 m)" in text(analysis, "short-cable")


def test_the_full_crane_is_told_what_nobody_measures() -> None:
    robot = load("four-cable-full")
    analysis = analyse(robot)
    assert names(analysis, "note") == [
        "undetermined",
        "computed-tensions",
        "unmeasured-temperature",
    ]
    longest = max(high for _, high in analysis.lengths)
    assert f"up to {1.2e-5 * longest:.3g} m longer" in text(analysis, "unmeasured-temperature")
    assert "`step` take T1 to T4 (optional columns" in text(analysis, "computed-tensions")
    followed = text(analyse(replace(robot, closure="attitude")), "computed-tensions")
    assert followed.endswith("`track` needs those of the sample before")
    measured = analyse(replace(robot, sensors=("tension", "temperature")))
    assert names(measured, "note") == ["undetermined"]
    massless = replace(robot, platform=Platform(), closure="attitude")
    assert names(analyse(massless), "warning") == ["unknown-tensions"]


def guided(radius: float) -> Robot:
    """A point robot whose first cable comes over a swivelling pulley."""
    point = load("hangprinter")
    first = replace(point.cables[0], pulley=Pulley(radius=radius, axis=(0.0, 0.0, 1.0)))
    return replace(point, cables=(first, *point.cables[1:]))


@pytest.mark.parametrize("radius", [0.3, 1.0])
def test_an_attachment_that_comes_inside_its_pulley_is_an_error(radius: float) -> None:
    analysis = analyse(guided(radius))
    assert not analysis.ok and names(analysis, "error") == ["pulley"]
    assert "cable 1 of hangprinter has its attachment inside its pulley" in text(analysis, "pulley")


def test_a_cable_without_any_length_is_refused_by_its_key() -> None:
    with pytest.raises(
        InputError, match=r"^hangprinter: cable\[1\].pulley: .*; got the radius 3 m"
    ):
        analyse(guided(3.0))


def test_heavy_cables_are_a_warning() -> None:
    robot = load("cogiro")
    cables = tuple(replace(cable, linear_density=0.1) for cable in robot.cables)
    analysis = analyse(replace(robot, cables=cables))
    assert analysis.ok
    assert names(analysis, "warning") == ["cable-sag"]
    assert "by more than the accuracy, 1e-05 m" in text(analysis, "cable-sag")


def test_an_attachment_below_its_swivelling_pulley_is_a_warning() -> None:
    point = load("hangprinter")
    above = replace(point.cables[3], pulley=Pulley(radius=0.05, axis=(0.0, 0.0, 1.0)))
    analysis = analyse(replace(point, cables=(*point.cables[:3], above)))
    assert "swivel-axis" in names(analysis, "warning")
    assert text(analysis, "swivel-axis").startswith("the attachment of cable 4 (")
    beside = replace(above, pulley=Pulley(radius=0.05, axis=(1.0, 0.0, 0.0), axle=(0.0, 1.0, 0.0)))
    analysis = analyse(replace(point, cables=(*point.cables[:3], beside)))
    assert "swivel-axis" not in names(analysis, "warning")


@pytest.mark.parametrize(
    ("closure", "said"),
    [("attitude", "a measured rotation joins them"), ("equilibrium", "the balance of forces")],
)
def test_a_closure_says_what_it_joins(closure: str, said: str) -> None:
    robot = replace(load("four-cable"), closure=closure, platform=Platform(mass=85.0))
    analysis = analyse(robot)
    assert analysis.ok
    assert said in text(analysis, "undetermined")


def test_an_attitude_that_cannot_help_is_an_error() -> None:
    """Parallel cables leave two directions of the position open, whatever the attitude is."""
    parallel = robot_of("parallel", CORNERS, [[a, b, 0] for a, b, _ in CORNERS])
    analysis = analyse(replace(parallel, closure="attitude"))
    assert "attitude-closure" in names(analysis, "error")
    assert "determine 1 of 3 directions" in text(analysis, "attitude-closure")


def test_the_same_seed_gives_the_same_analysis_and_json_has_only_finite_numbers() -> None:
    robot = load("four-cable-concurrent")
    first, second = analyse(robot, samples=500, seed=7), analyse(robot, samples=500, seed=7)
    assert first == second
    assert analyse(robot, samples=500, seed=8) != first
    plain = json.loads(json.dumps(first.as_dict(), allow_nan=False))
    assert plain["ok"] is False
    assert plain["workspace"]["condition"][2] is None
    assert plain["findings"][0]["severity"] == "error"


def test_lengths_reach_from_the_shortest_to_the_longest_of_all_corners() -> None:
    robot = load("cogiro")
    analysis = analyse(robot)
    corners = cable_lengths(robot, corner_poses(robot))
    low, high = np.array(analysis.lengths).T
    assert (low <= corners.min(axis=0)).all()
    assert (high >= corners.max(axis=0)).all()


def test_clearances_are_those_of_a_fine_grid() -> None:
    rng = np.random.default_rng(9)
    p1, p2, q1, q2 = rng.uniform(-1, 1, (4, 60, 3))
    # Parallel ones and ones of length zero are among them.
    q2[:10] = q1[:10] + 2 * (p2[:10] - p1[:10])
    p2[10:20] = p1[10:20]
    at = np.linspace(0, 1, 401)[:, None]
    for i in range(60):
        p, q = p1[i] + at * (p2[i] - p1[i]), q1[i] + at * (q2[i] - q1[i])
        grid = np.linalg.norm(p[:, None] - q[None], axis=-1).min()
        exact = float(segment_distance(p1[i], p2[i], q1[i], q2[i]))
        assert exact - 1e-12 <= grid <= exact + 0.01, f"seed 9, pair {i}"


def test_clearances_leave_out_common_ends_and_planes() -> None:
    assert analyse(load("planar4")).clearances == ()
    pairs = [c.cables for c in analyse(load("nist-robocrane")).clearances]
    robot = load("nist-robocrane")
    for i, j in pairs:
        assert not np.array_equal(robot.anchors[i - 1], robot.anchors[j - 1])
        assert not np.array_equal(robot.attachments[i - 1], robot.attachments[j - 1])
    distances = [c.distance for c in analyse(load("cogiro")).clearances]
    assert distances == sorted(distances)
    assert distances[0] > 0.01
