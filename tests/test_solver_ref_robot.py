"""The value objects, and the built-in robots against the published tables."""

import csv
import math
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from robot_kinds import built_in, of_cables

from solver_ref.parts import Pulley, Stiffness
from solver_ref.robot import CLOSURES, MOTIONS, Robot
from solver_ref.robot_file import builtin_names, load

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no published tables beside the clone")

CASPR = {
    "cogiro": "CoGiRo",
    "ipanema1": "IPAnema_1",
    "acrobot": "ACROBOT",
    "nist-robocrane": "NIST_ROBOCRANE",
    "planar4": "Example_planar_XY",
}
# name: position box, tilt, home
WORKSPACES = {
    "four-cable": ([(-3, 3), (-2.5, 2.5), (0.5, 4)], 0.35, (0, 0, 2, 0, 0, 0)),
    "four-cable-concurrent": ([(-3, 3), (-2.5, 2.5), (0.5, 4)], 0.35, (0, 0, 2, 0, 0, 0)),
    "four-cable-full": ([(-3, 3), (-2.5, 2.5), (0.5, 4)], 0.35, (0, 0, 2, 0, 0, 0)),
    "irma4u": ([(-0.5, 0.5), (-0.5, 0.5), (0.4, 0.8)], 0.3, (0, 0, 0.6, 0, 0, 0)),
    "cogiro": ([(-4.4, 4.4), (-3.3, 3.3), (0.2, 4)], 0.3, (0, 0, 2.1, 0, 0, 0)),
    "ipanema1": ([(-1.2, 1.2), (-0.9, 0.9), (0.4, 1.6)], 0.3, (0, 0, 1, 0, 0, 0)),
    "acrobot": ([(0.2, 0.8), (0.2, 0.8), (0.1, 0.85)], 0.3, (0.5, 0.5, 0.475, 0, 0, 0)),
    "nist-robocrane": ([(-1, 1), (-1, 1), (0.9, 2.1)], 0.2, (0, 0, 1.5, 0, 0, 0)),
    "planar4": ([(0.25, 0.75), (0.25, 0.75)], 0.3, (0.5, 0.5, 0)),
    "hangprinter": ([(-0.6, 0.6), (-0.6, 0.6), (0.05, 1.5)], 0.0, (0, 0, 0.775)),
}


def table(name: str, model: str) -> list[dict[str, str]]:
    """The rows of one model in one of the published tables."""
    with (DATA / "tables" / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["model"] == model]


def test_the_builtins_are_those_of_the_table() -> None:
    assert of_cables() == sorted(WORKSPACES)


@pytest.mark.parametrize("name", sorted(WORKSPACES))
def test_a_builtin_has_its_name_source_and_workspace(name: str) -> None:
    robot = load(name)
    position, tilt, home = WORKSPACES[name]
    assert robot.name == name
    assert robot.kind == "cable"
    assert len(robot.source) > 40
    assert robot.workspace.position == tuple(position)
    assert robot.workspace.tilt == tilt
    assert_allclose(robot.workspace.home, home, rtol=0, atol=1e-15)
    assert robot.workspace.start_error == (0.05, 0.05)
    assert robot.accuracy.residual_limit == 1e-3
    assert robot.accuracy.length == (4e-6 if name.startswith("four-cable") else 10e-6)


@needs_data
@pytest.mark.parametrize("name", sorted(CASPR))
def test_a_published_builtin_has_the_published_numbers(name: str) -> None:
    robot = load(name)
    rows = table("caspr_geometry_flat.csv", CASPR[name])
    assert len(robot.cables) == len(rows)
    for cable, row in zip(robot.cables, rows, strict=True):
        assert cable.anchor == tuple(float(row[f"base_{axis}"]) for axis in "xyz")
        ends = ("platform_x", "platform_y", "platform_z_from_joint_origin")
        assert cable.attachment == tuple(float(row[end]) for end in ends)
        assert cable.tension_min == float(row["force_min_N"])
        assert cable.tension_max == float(row["force_max_N"])
    (facts,) = table("caspr_summary.csv", CASPR[name])
    assert robot.platform.mass == float(facts["mass_kg"])
    assert robot.platform.com == tuple(float(text) for text in facts["com"].split())
    assert robot.platform.inertia is not None
    if robot.motion == "planar-xy":
        assert robot.platform.inertia[2][2] == float(facts["Izz"])
    else:
        names = (("Ixx", "Ixy", "Ixz"), ("Ixy", "Iyy", "Iyz"), ("Ixz", "Iyz", "Izz"))
        want = [[float(facts[entry]) for entry in row] for row in names]
        assert_array_equal(robot.platform.inertia, want)


@needs_data
@pytest.mark.parametrize("name", sorted(CASPR))
def test_a_published_builtin_has_the_published_lengths_at_its_initial_pose(name: str) -> None:
    robot = load(name)
    (facts,) = table("caspr_summary.csv", CASPR[name])
    pose = [float(text) for text in facts["q_initial"].split()]
    t = np.zeros(3)
    t[list(robot.free[: robot.translations])] = pose[: robot.translations]
    lengths = np.linalg.norm(t + robot.attachments - robot.anchors, axis=1)
    rows = table("caspr_geometry_flat.csv", CASPR[name])
    want = [float(row["length_at_q_initial_m"]) for row in rows]
    assert_allclose(lengths, want, rtol=0, atol=1e-9)


@needs_data
def test_the_hangprinter_has_the_solved_anchors() -> None:
    text = (DATA / "cdpr_real" / "hangprinter_anchors.yaml").read_text(encoding="utf-8")
    line = re.search(r"anchors_solved: (.*)", text)
    assert line is not None
    millimetres = re.findall(r"\[(-?\d+),(-?\d+),(-?\d+)\]", line[1])
    want = [[int(number) / 1000 for number in row] for row in millimetres]
    robot = load("hangprinter")
    assert_array_equal(robot.anchors, want)
    assert not robot.attachments.any()


def test_the_reference_crane_is_as_defined() -> None:
    robot = load("four-cable")
    anchors = [[-5, -4, 6], [5, -4, 6], [5, 4, 6], [-5, 4, 6]]
    attachments = [[-0.6, -0.2, 0.2], [0.6, -0.2, 0.2], [0.6, 0.2, 0.2], [-0.6, 0.2, 0.2]]
    assert_array_equal(robot.anchors, anchors)
    assert_array_equal(robot.attachments, attachments)
    assert robot.platform.mass == 85.0
    assert robot.platform.com == (0.0, 0.0, 0.1)
    assert_array_equal(robot.platform.inertia, np.diag([4.0, 11.0, 14.0]))
    assert {(c.tension_min, c.tension_max) for c in robot.cables} == {(20.0, 12000.0)}
    assert robot.closure == "minimum-norm"
    assert not robot.determined
    assert robot.gravity == (0.0, 0.0, -9.81)


def test_the_concurrent_crane_differs_only_in_name_and_attachments() -> None:
    crane, other = load("four-cable"), load("four-cable-concurrent")
    assert_allclose(other.attachments[:, :2], 0.1 * other.anchors[:, :2], rtol=0, atol=1e-15)
    assert_array_equal(other.attachments[:, 2], 0.2)
    cables = tuple(
        replace(mine, attachment=theirs.attachment)
        for mine, theirs in zip(crane.cables, other.cables, strict=True)
    )
    assert replace(crane, name=other.name, cables=cables) == other


def test_the_full_crane_is_the_reference_crane_with_real_cables() -> None:
    """The numbers of its definition; it differs in cables, closure and name alone."""
    crane, full = load("four-cable"), load("four-cable-full")
    plain = tuple(replace(cable, pulley=None, stiffness=None, thermal=0.0) for cable in full.cables)
    assert replace(full, name=crane.name, closure=crane.closure, cables=plain) == crane
    assert full.closure == "equilibrium"
    assert full.sensors == ()
    assert {cable.pulley for cable in full.cables} == {
        Pulley(radius=0.05, axis=(0.0, 0.0, 1.0), efficiency=0.92)
    }
    assert {cable.stiffness for cable in full.cables} == {
        Stiffness(k0=2e5, alpha=2.0, static_friction=30.0, slip=8e3, k_max=4e5)
    }
    assert {cable.thermal for cable in full.cables} == {1.2e-5}


def test_irma4u_is_as_published() -> None:
    robot = load("irma4u")
    anchors = [[1.065, -1.155], [1.066, 1.155], [-1.066, 1.155], [-1.065, -1.155]]
    attachments = [[0.075, -0.075], [0.075, 0.075], [-0.075, 0.075], [-0.075, -0.075]]
    assert_array_equal(robot.anchors, [[*place, 1.839] for place in anchors])
    assert_array_equal(robot.attachments, [[*place, 0.266] for place in attachments])
    assert [cable.pulley for cable in robot.cables] == [
        Pulley(radius=0.03, axis=(sign, 0.0, 0.0)) for sign in (1.0, 1.0, -1.0, -1.0)
    ]
    assert robot.platform.mass == 12.992
    assert robot.platform.com == (0.0, 0.0, 0.173)
    assert_array_equal(robot.platform.inertia, np.diag([0.183961, 0.115448, 0.186434]))
    assert {(c.tension_min, c.tension_max) for c in robot.cables} == {(5.0, 400.0)}
    assert robot.closure == "equilibrium"


def test_every_motion_names_as_many_coordinates_as_it_leaves_free() -> None:
    spatial = MOTIONS["spatial"].coordinates
    for motion in MOTIONS.values():
        assert len(motion.coordinates) == len(motion.free)
        assert motion.translations + motion.rotations == len(motion.free)
        places = motion.free[: motion.translations]
        assert motion.coordinates[: motion.translations] == tuple(spatial[i] for i in places)
    assert MOTIONS["planar-xy"].free == (0, 1, 5)
    assert MOTIONS["planar-xz"].free == (0, 2, 4)
    assert MOTIONS["point"].free == (0, 1, 2)


def test_arrays_cannot_be_written_and_values_cannot_be_set() -> None:
    robot = load("cogiro")
    assert robot.anchors.dtype == np.float64
    assert robot.anchors.shape == robot.attachments.shape == (8, 3)
    with pytest.raises(ValueError, match="read-only"):
        robot.anchors[0, 0] = 1.0
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"


def test_the_characteristic_length_is_the_rms_radius_and_1_for_a_point() -> None:
    assert load("four-cable").characteristic_length == pytest.approx(math.sqrt(0.44), rel=1e-15)
    assert load("planar4").characteristic_length == 0.125
    assert load("hangprinter").characteristic_length == 1.0


def test_the_grown_workspace_adds_the_start_error() -> None:
    crane, printer = load("four-cable"), load("hangprinter")
    assert crane.position_bounds == ((-3.05, 3.05), (-2.55, 2.55), (0.45, 4.05))
    assert crane.tilt_bound == pytest.approx(0.4, abs=1e-15)
    assert printer.tilt_bound == 0.0


CHANGES = (
    "name closure gravity anchor tension mass tilt home start_error accuracy residual_limit sensors"
).split()


def change(robot: Robot, what: str) -> Robot:
    """`robot` with one fact changed."""
    first, *others = robot.cables
    space, accuracy = robot.workspace, robot.accuracy
    changes = {
        "name": {"name": "other"},
        "closure": {"closure": "attitude"},
        "gravity": {"gravity": (0.0, 0.0, -9.8)},
        "anchor": {"cables": (replace(first, anchor=(-5.0, -4.0, 6.0000001)), *others)},
        "tension": {"cables": (replace(first, tension_min=21.0), *others)},
        "mass": {"platform": replace(robot.platform, mass=86.0)},
        "tilt": {"workspace": replace(space, tilt=0.36)},
        "home": {"workspace": replace(space, home=(0.0, 0.0, 2.5, 0.0, 0.0, 0.0))},
        "start_error": {"workspace": replace(space, start_error=(0.04, 0.05))},
        "accuracy": {"accuracy": replace(accuracy, length=5e-6)},
        "sensors": {"sensors": ("tension",)},
        "residual_limit": {"accuracy": replace(accuracy, residual_limit=2e-3)},
    }
    return replace(robot, **changes[what])


@pytest.mark.parametrize("what", CHANGES)
def test_the_digest_changes_with(what: str) -> None:
    robot = load("four-cable")
    assert re.fullmatch("[0-9a-f]{64}", robot.digest)
    assert change(robot, what).digest != robot.digest


def test_the_digest_does_not_change_with_the_source() -> None:
    robot = load("four-cable")
    assert replace(robot, source="elsewhere").digest == robot.digest
    assert replace(robot, source="elsewhere") == robot


def test_the_builtins_have_digests_of_their_own() -> None:
    assert len({built_in(name).digest for name in builtin_names()}) == len(builtin_names())


def test_options_replace_closure_and_accuracy() -> None:
    robot = load("four-cable").with_options(closure="attitude", accuracy=1e-5)
    assert (robot.closure, robot.accuracy.length) == ("attitude", 1e-5)
    assert load("four-cable").with_options() == load("four-cable")


@pytest.mark.parametrize("closure", CLOSURES[1:])
def test_a_determined_robot_takes_no_other_closure(closure: str) -> None:
    want = f"the closure must be lengths (8 lengths determine 6 coordinates), not {closure}"
    with pytest.raises(ValueError, match=f"^{re.escape(want)}$"):
        load("cogiro").with_options(closure=closure)


def test_lengths_alone_close_no_underdetermined_robot() -> None:
    robot = load("four-cable")
    want = (
        "the closure must be attitude or equilibrium or minimum-norm "
        "(4 lengths do not determine 6 coordinates), not lengths"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(want)}$"):
        robot.with_options(closure="lengths")
    light = replace(robot, platform=replace(robot.platform, mass=None))
    with pytest.raises(ValueError, match="and equilibrium needs the mass"):
        light.with_options(closure="equilibrium")


@pytest.mark.parametrize("accuracy", [0.0, -1e-6, 2e-3, math.nan])
def test_an_accuracy_is_positive_and_within_the_residual_limit(accuracy: float) -> None:
    want = f"the accuracy must be above 0 and at most 0.001 m: {accuracy}"
    with pytest.raises(ValueError, match=f"^{re.escape(want)}$"):
        load("four-cable").with_options(accuracy=accuracy)
