"""Importers: what they share, the workspace that they derive, and configurations of Klipper."""

import tomllib

import numpy as np
import pytest
from caspr_texts import cables, write_model

from solver_ref.domain import sample_poses
from solver_ref.errors import InputError
from solver_ref.importing import Imported, read_foreign
from solver_ref.importing.beside import existing
from solver_ref.importing.draft import robot_name
from solver_ref.importing.format import Settings
from solver_ref.importing.formats import FORMATS
from solver_ref.kinematics import cable_lengths
from solver_ref.levenberg_marquardt import solve_cold
from solver_ref.robot_file import load, loads
from solver_ref.status import Status

WINCHES = """
[printer]
kinematics: winch  # of four cables
max_velocity: 300

[stepper_a]
anchor_x: 0
anchor_y: -1164
anchor_z: -144
[stepper_b]
anchor_x: 999
anchor_y: 585 ; mm
anchor_z: -115
[stepper_c]
anchor_x: -977
anchor_y: 519
anchor_z: -106
[stepper_d]
anchor_x = 0
anchor_y = 0
anchor_z = 2875
"""


def points(*places: str) -> str:
    return "".join(f"<t><points><point><q>{q}</q></point></points></t>" for q in places)


def winches(folder, text: str = WINCHES, **options) -> Imported:
    path = folder / "printer.cfg"
    path.write_text(text, encoding="utf-8")
    return read_foreign(path, **options)


def cold_starts_find(robot, seed: int) -> bool:
    poses = sample_poses(robot, 1000, np.random.default_rng(seed))
    found = solve_cold(robot, cable_lengths(robot, poses))
    return bool((found.status & Status.VALID).all()) and np.abs(found.poses - poses).max() < 1e-4


def test_the_text_is_a_robot_file_with_the_numbers_of_the_source(tmp_path):
    found = winches(tmp_path)
    assert loads(found.text) == found.robot
    assert tomllib.loads(found.text)["cable"][0]["anchor"] == [0.0, -1.164, -0.144]
    assert found.format == "klipper" and "printer.cfg" in found.robot.source


def test_winches_are_the_point_robot_that_is_built_in(tmp_path):
    robot, own = winches(tmp_path).robot, load("hangprinter")
    assert np.array_equal(robot.anchors, own.anchors) and robot.motion == "point"
    pose = np.array([0.1, 0.2, 0.3])
    assert np.array_equal(cable_lengths(robot, pose), cable_lengths(own, pose))
    assert robot.workspace.home == (0.0, 0.0, 0.0)


REFUSED = [
    ("kinematics: winch", "kinematics: delta", "printer.kinematics: cannot be .*; got 'delta'"),
    ("anchor_x: 999", "anchor_x: wide", "stepper_b.anchor_x: is no number; .*; got 'wide'"),
    ("anchor_x: 999", "", "stepper_b.anchor_x: is missing; .*; got nothing"),
    ("[stepper_c]", "[stepper_x]", r"stepper_\*: are too few; .*; got 2"),
    ("[printer]", "printer", "file: is malformed; expected sections of options"),
]


@pytest.mark.parametrize(("old", "new", "text"), REFUSED)
def test_winches_that_are_none_are_refused_by_name(tmp_path, old, new, text):
    with pytest.raises(InputError, match=text):
        winches(tmp_path, WINCHES.replace(old, new))


def test_the_workspace_holds_the_trajectory_points_and_home(tmp_path):
    path = write_model(tmp_path, points=points("0.5 0 1 0 0 0", "-0.2 0.4 1.2 0.1 0.2 -0.1"))
    found = read_foreign(path)
    space = found.robot.workspace
    assert space.position == ((-0.2, 0.5), (0.0, 0.4), (1.0, 1.2))
    assert np.linalg.norm(found.poses[:, 3:], axis=1).max() <= space.tilt <= 0.26
    assert "trajectory points" in found.text


def test_points_beyond_the_ranges_of_the_joints_do_not_widen_the_workspace(tmp_path):
    path = write_model(tmp_path, points=points("0.5 0 1 0 0 0", "0 0 1 0 0 0", "9 0 1 0 0 0"))
    found = read_foreign(path)
    assert len(found.poses) == 3 and found.robot.workspace.position[0] == (0.0, 0.5)


def test_without_trajectories_the_ranges_are_drawn_in_until_cold_starts_find_their_poses(tmp_path):
    found = read_foreign(write_model(tmp_path))
    space = found.robot.workspace
    assert all(low >= -2 and high <= 2 for low, high in space.position)
    assert cold_starts_find(found.robot, 5)
    assert "from the ranges in the source" in found.text


def test_what_is_not_sound_is_not_taken(tmp_path):
    text = cables().replace("3 3", "1.5 1.5").replace("3 -3", "1.5 -1.5")
    found = read_foreign(write_model(tmp_path, cable_text=text))
    assert found.robot.workspace.position[0][1] < 2 and "% of their positions" in found.reason
    assert cold_starts_find(found.robot, 6)


def test_what_is_asked_is_taken(tmp_path):
    path = write_model(tmp_path)
    box = ((-0.5, 0.5), (-0.5, 0.5), (0.5, 1.5))
    found = read_foreign(path, name="mine", position=box, tilt=0.05, home=(0.1, 0.0, 1.0))
    space = found.robot.workspace
    assert (space.position, space.tilt) == (box, 0.05)
    assert space.home == (0.1, 0.0, 1.0, 0.0, 0.0, 0.0) and found.robot.name == "mine"
    assert read_foreign(path, tilt=0.05).robot.workspace.tilt == 0.05


ASKED = [
    ({"position": ((0, 1),)}, "position: is no box; expected the lowest and highest of x, y, z"),
    ({"home": (1, 2)}, "home: is no pose; expected x, y, z, rx, ry, rz or the position alone"),
    ({"position": ((0, 1), (0, np.inf), (0, 1))}, "position: is not finite"),
    ({"tilt": np.nan}, "tilt: is not finite; expected finite numbers; got nan"),
    ({"home": (0, 0, np.nan)}, "home: is not finite"),
    ({"tilt": 4.0}, "workspace.tilt: is out of range"),
    ({"name": "4x"}, "name: is no name"),
]


@pytest.mark.parametrize(("options", "text"), ASKED)
def test_what_is_asked_has_to_fit(tmp_path, options, text):
    with pytest.raises(InputError, match=text):
        read_foreign(write_model(tmp_path), **options)


def test_an_option_without_meaning_is_refused(tmp_path):
    with pytest.raises(InputError, match="cable_set: has no meaning"):
        winches(tmp_path, settings=Settings(cable_set="a"))
    with pytest.raises(InputError, match="tilt: has no meaning; expected no tilt, as a point"):
        winches(tmp_path, tilt=0.1)


def test_other_files_are_refused_naming_the_formats(tmp_path):
    path = tmp_path / "robot.txt"
    with pytest.raises(InputError, match="file: is missing"):
        read_foreign(path)
    path.write_text("nothing")
    with pytest.raises(
        InputError, match="is of no format that can be imported; .*; got .*txt"
    ) as e:
        read_foreign(path)
    assert all(entry.what in str(e.value) for entry in FORMATS)


def test_a_name_fits_one_file_but_for_case(tmp_path):
    (tmp_path / "Folder").mkdir()
    (tmp_path / "Folder" / "File.xml").write_text("")
    assert existing(tmp_path / "folder" / "FILE.XML") == tmp_path / "Folder" / "File.xml"
    assert existing(tmp_path / "folder" / "none.xml") is None
    (tmp_path / "Folder" / "file.XML").write_text("")
    with pytest.raises(InputError, match="file: cannot be read; expected a path; got File name"):
        existing(tmp_path / ("long" * 500))
    with pytest.raises(InputError, match="fits several files"):
        existing(tmp_path / "folder" / "FILE.XML")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CoGiRo", "CoGiRo"),
        ("4_4 planar", "robot-4_4-planar"),
        ("ä", "robot"),
        ("a" * 70, "a" * 64),
    ],
)
def test_any_text_becomes_a_name(text, name):
    assert robot_name(text) == name


def test_a_nonphysical_inertia_is_kept_with_its_reason(tmp_path):
    path = write_model(tmp_path)
    path.write_text(path.read_text().replace("<Izz>2<", "<Izz>9<"))
    with pytest.warns(UserWarning, match="breaks the triangle inequality"):
        found = read_foreign(path)
    assert "allow_nonphysical_inertia" in found.text
    assert found.robot.platform.inertia[2][2] == 9.0


def test_a_small_robot_has_a_small_start_error(tmp_path):
    assert winches(tmp_path).robot.workspace.start_error == (0.05, 0.05)
    text = WINCHES
    for number in ("1164", "144", "999", "585", "115", "977", "519", "106", "2875"):
        text = text.replace(number, f"{int(number) / 100}")
    assert winches(tmp_path, text).robot.workspace.start_error == (0.0015, 0.05)
