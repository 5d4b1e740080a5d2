"""HAL settings of LinuxCNC's hexapods, and what their INI files add."""

import math

import numpy as np
import pytest
from outside_data import outside
from scipy.spatial.transform import Rotation

from solver_ref.errors import InputError
from solver_ref.importing import Imported, read_foreign
from solver_ref.importing.format import Settings
from solver_ref.kinematics import cable_lengths
from solver_ref.robot_file import load

HAL = """
loadrt [KINS]KINEMATICS
loadrt motmod servo_period_nsec=1000000  # genhexkins
setp genhexkins.base.0.x -22.950   # as it is by default
setp genhexkins.base.1.y [HEXAPOD]SIDE
genhexkins.platform.3.y = -6.616
setp genhexkins.limit-iterations 120
# setp genhexkins.base.2.x 9
"""
INI = """
[HAL]
HALFILE = LIB:basic_sim.tcl
HALFILE = hex.hal
[KINS]
KINEMATICS = genhexkins
[HEXAPOD]
SIDE = 13.25 ; of the base
[TRAJ]
HOME = 0 0 20 10 -5 3
LINEAR_UNITS = inch
"""
JOINTS = "".join(f"[JOINT_{i}]\nMIN_LIMIT = 24\nMAX_LIMIT = 36\n" for i in range(6))


def hexapod(folder, *, hal: str = HAL, ini: str | None = INI, **options) -> Imported:
    path = folder / "hex.hal"
    path.write_text(hal, encoding="utf-8")
    if ini is not None:
        (folder / "hex.ini").write_text(ini, encoding="utf-8")
    return read_foreign(path, **options)


def test_a_hexapod_is_the_one_that_is_built_in(tmp_path):
    robot, own = hexapod(tmp_path).robot, load("linuxcnc-hexapod")
    assert robot.kind == "stewart"
    assert np.array_equal(robot.anchors, own.anchors)
    assert np.array_equal(robot.attachments, own.attachments)


def test_the_constants_are_those_of_the_module():
    text = outside("stewart", "linuxcnc_genhexkins_default.yaml").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        word, _, rows = line.partition(":")
        if word in ("base", "platform"):
            numbers = rows.replace("[", " ").replace("]", " ").replace(",", " ").split()
            found[word] = np.array(numbers, float).reshape(6, 3) * 0.0254
    robot = load("linuxcnc-hexapod")
    assert np.abs(robot.anchors - found["base"]).max() <= 1e-15
    assert np.abs(robot.attachments - found["platform"]).max() <= 1e-15


def test_home_turns_as_the_machine_does(tmp_path):
    robot = hexapod(tmp_path).robot
    home = np.array(robot.workspace.home)
    roll, pitch, yaw = np.radians([10, -5, 3])
    turn = Rotation.from_euler("ZYX", [yaw, pitch, roll])
    assert np.allclose(home[3:], turn.as_rotvec(), atol=1e-14)
    struts = [0, 0, 20 * 0.0254] + turn.apply(np.array(robot.attachments)) - robot.anchors
    assert np.allclose(cable_lengths(robot, home), np.linalg.norm(struts, axis=1), atol=1e-14)


def test_strokes_come_from_the_joints_and_the_workspace_keeps_to_them(tmp_path):
    robot = hexapod(tmp_path, ini=INI + JOINTS).robot
    low, high = 24 * 0.0254, 36 * 0.0254
    assert all(np.allclose(joint.limits, (low, high)) for joint in robot.joints)
    corners = np.array(robot.workspace.position).T
    for z in corners[:, 2]:
        lengths = cable_lengths(robot, np.array([0, 0, z, 0, 0, 0]))
        assert low <= lengths.min() and lengths.max() <= high
    assert hexapod(tmp_path, ini=INI + JOINTS.replace("24", "-1000")).robot.joints == ()


def test_the_ini_file_may_be_named_instead(tmp_path):
    by_hal = hexapod(tmp_path).robot
    by_ini = read_foreign(tmp_path / "HEX.INI", name="hex").robot
    assert by_ini == by_hal
    (tmp_path / "hex.hal").unlink()
    with pytest.raises(
        InputError, match="hex.hal: file: is missing; expected a HALFILE of hex.ini"
    ):
        read_foreign(tmp_path / "hex.ini")


def test_units_are_the_ini_files_or_the_users_or_inches(tmp_path):
    metric = hexapod(tmp_path, ini=INI.replace("inch", "mm"))
    assert math.isclose(metric.robot.anchors[0, 0], -0.02295)
    asked = hexapod(tmp_path, settings=Settings(units="cm"))
    assert math.isclose(asked.robot.anchors[0, 0], -0.2295) and "as asked" in asked.text
    (tmp_path / "hex.ini").unlink()
    alone = hexapod(tmp_path, hal=HAL.replace("[HEXAPOD]SIDE", "13.25"), ini=None)
    assert math.isclose(alone.robot.anchors[0, 0], -22.95 * 0.0254)
    assert "in, as usual" in alone.text


def test_offsets_move_both_ends_along_the_spindle(tmp_path):
    moved = hexapod(tmp_path, hal=HAL + "setp genhexkins.spindle-offset 2\n").robot
    plain = hexapod(tmp_path).robot
    for name in ("anchors", "attachments"):
        shift = getattr(moved, name) - getattr(plain, name)
        assert np.allclose(shift, [0, 0, 2 * 0.0254], atol=1e-15)


REFUSED = [
    ("HAL", "setp genhexkins.screw-lead 5\n", "screw-lead: cannot be .* turn on their screws"),
    ("HAL", "setp genhexkins.base.6.x 5\n", r"base.6.x: cannot be .*; expected 0 to 5; got 6"),
    ("HAL", "setp genhexkins.base.5.x wide\n", "base.5.x: is no number; .*; got 'wide'"),
    ("HAL", "setp genhexkins.base.5.x [NO]NE\n", r"base.5.x: is not known; .*; got '\[NO\]NE'"),
    ("INI", "LINEAR_UNITS = rod\n", r"\[TRAJ\]LINEAR_UNITS: is unknown; .*; got 'rod'"),
    ("INI", "HOME = 0 0 20\n", r"\[TRAJ\]HOME: is no pose; expected x y z a b c"),
    ("INI", "HOME = 0 0 20 0 0 up\n", r"\[TRAJ\]HOME: is no number; .*; got 'up'"),
]


@pytest.mark.parametrize(("which", "more", "text"), REFUSED)
def test_what_cannot_be_read_or_represented_is_named(tmp_path, which, more, text):
    with pytest.raises(InputError, match=text):
        hexapod(
            tmp_path,
            hal=HAL + more * (which == "HAL"),
            ini=INI + more * (which == "INI"),
        )
