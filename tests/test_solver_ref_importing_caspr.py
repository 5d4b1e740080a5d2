"""CASPR models: small ones of every sort, and the published ones beside their published lengths."""

import csv
from functools import cache

import numpy as np
import pytest
from caspr_texts import ANCHORS, ATTACHMENTS, BODIES, cables, write_model
from outside_data import outside
from scipy.spatial.transform import Rotation

from solver_ref.analysis import analyse
from solver_ref.conditioning import scaled_jacobian
from solver_ref.errors import InputError
from solver_ref.importing import Imported, read_foreign
from solver_ref.importing.caspr_joints import from_euler, from_quaternion
from solver_ref.importing.format import Settings
from solver_ref.kinematics import cable_lengths
from solver_ref.robot_file import load
from solver_ref.statics import carried_wrenches
from solver_ref.status import Status
from solver_ref.tension import tensions

MODELS = (
    "4_4_CDPR_planar ACROBOT CUCableRobot_planar CoGiRo Example_planar_XY Example_point_XZ "
    "Example_spatial FAST IPAnema_1 NIST_ROBOCRANE test_SCDM"
).split()
BUILT_IN = {"CoGiRo": "cogiro", "ACROBOT": "acrobot", "IPAnema_1": "ipanema1"} | {
    "NIST_ROBOCRANE": "nist-robocrane",
    "Example_planar_XY": "planar4",
}


@cache
def published(model: str, **settings: str) -> Imported:
    folder = outside("caspr", model)
    (bodies,) = folder.glob("*_bodies.xml")
    return read_foreign(bodies, settings=Settings(**settings))


def rows_of(table: str, model: str) -> list[list[str]]:
    with outside("tables", table).open(newline="") as file:
        return [row for row in csv.reader(file) if row[0] == model]


def edited(folder, *changes: tuple[str, str]):
    text = BODIES
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return write_model(folder, bodies=text)


def refusal(path, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_foreign(path, **options)
    return str(caught.value)


def test_a_model_becomes_the_robot_that_it_describes(tmp_path):
    robot = read_foreign(write_model(tmp_path)).robot
    assert (robot.name, robot.motion, robot.kind) == ("box", "spatial", "cable")
    wanted = np.array([text.split() for text in ANCHORS], float) - [0, 0, 0.5]
    assert np.array_equal(robot.anchors, wanted)
    assert np.array_equal(robot.attachments, np.array([t.split() for t in ATTACHMENTS], float))
    assert robot.platform.mass == 2.0 and robot.platform.com == (0.01, 0.02, 0.03)
    assert robot.platform.inertia == ((1.0, 0.0, 0.1), (0.0, 1.5, 0.0), (0.1, 0.0, 2.0))
    assert (robot.cables[0].tension_min, robot.cables[0].tension_max) == (1.0, 100.0)
    assert robot.workspace.home == (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert "box" in robot.source and "R = Rx(alpha) Ry(beta) Rz(gamma)" in robot.source


def test_attachments_may_count_from_the_centre_of_mass(tmp_path):
    robot = read_foreign(write_model(tmp_path, cable_text=cables(reference="com"))).robot
    wanted = np.array([text.split() for text in ATTACHMENTS], float) + [0.01, 0.02, 0.03]
    assert np.abs(robot.attachments - wanted).max() <= 1e-15


def test_an_inertia_about_the_joint_is_moved_to_the_centre_of_mass(tmp_path):
    robot = read_foreign(edited(tmp_path, ('ref="com"', 'ref="joint"'))).robot
    com = np.array(robot.platform.com)
    about_joint = np.array([[1.0, 0.0, 0.1], [0.0, 1.5, 0.0], [0.1, 0.0, 2.0]])
    steiner = 2.0 * (com @ com * np.eye(3) - np.outer(com, com))
    assert np.abs(np.array(robot.platform.inertia) - (about_joint - steiner)).max() <= 1e-15


def test_the_cable_set_is_the_default_or_the_named_one(tmp_path):
    path = write_model(tmp_path)
    assert len(read_foreign(path).robot.cables) == 8
    assert len(read_foreign(path, settings=Settings(cable_set="six")).robot.cables) == 6
    text = refusal(path, settings=Settings(cable_set="seven"))
    assert text.endswith("cable_set: is unknown; expected one of eight, six; got 'seven'")


def test_names_may_differ_in_case_and_files_may_begin_with_a_mark(tmp_path):
    write_model(tmp_path)
    (tmp_path / "box_bodies.xml").rename(tmp_path / "Box_Bodies.XML")
    (tmp_path / "box_cables.xml").rename(tmp_path / "BOX_cables.xml")
    (tmp_path / "Box_Bodies.XML").write_bytes(b"\xef\xbb\xbf\r\n" + BODIES.encode())
    assert read_foreign(tmp_path / "BOX_bodies.xml").robot.name == "Box"


def test_cables_of_another_name_are_found_where_there_is_one_such_file(tmp_path):
    path = write_model(tmp_path)
    (tmp_path / "box_cables.xml").rename(tmp_path / "other_cables.xml")
    assert len(read_foreign(path).robot.cables) == 8
    (tmp_path / "more_cables.xml").write_text(cables())
    assert "cables: are missing beside it; expected box_cables.xml, or one" in refusal(path)


def test_entities_are_refused(tmp_path):
    evil = BODIES.replace(
        '<!DOCTYPE bodies_system SYSTEM "../../templates/bodies.dtd">',
        '<!DOCTYPE bodies_system [<!ENTITY m "2">]>',
    )
    assert "XML: declares entities" in refusal(write_model(tmp_path, bodies=evil))
    assert "XML: is malformed" in refusal(write_model(tmp_path, bodies=BODIES[:-5]))


LINK = BODIES[BODIES.index("<link_rigid") : BODIES.index("</links>")]
REFUSED_BODIES = [
    (LINK, LINK * 2, "links: cannot be represented: several links; .*; got 2 links"),
    ("SPATIAL_EULER_XYZ", "S_EULER_XYZ", "type: cannot be represented: .*; got 'S_EULER_XYZ'"),
    ('<joint type="', '<joint actuated="true" type="', "a joint with a motor of its own"),
    ("<num>0<", "<num>1<", "num: cannot be represented: a parent that is a link"),
    ('q_initial="0 0 1 0 0 0"', 'q_initial="0 0 1"', "q_initial: cannot be read; expected 6"),
    ("<mass>2<", "<mass>two<", "mass: cannot be read; expected a number; got 'two'"),
    ("<mass>2</mass>", "", "mass: is missing; expected one <mass>; got nothing"),
    ('ref="com"', 'ref="world"', "ref: is unknown; expected com or joint; got 'world'"),
    ('q_max="2 2 2 1 1 1"', 'q_max="2 2 -2 1 1 1"', "q_max: is out of range"),
]


@pytest.mark.parametrize(("old", "new", "text"), REFUSED_BODIES)
def test_bodies_that_cannot_be_represented_are_refused_by_name(tmp_path, old, new, text):
    with pytest.raises(InputError, match=text):
        read_foreign(edited(tmp_path, (old, new)))


REFUSED_CABLES = [
    (
        "cable_ideal",
        "cable_linear_spring",
        "cable_linear_spring.*: cannot be represented: a spring",
    ),
    ("<link>0<", "<link>1<", "link: cannot be represented: a cable that does not lead from"),
    ("<force_max>100<", "<force_max>nan<", "force_max: cannot be read; expected a number"),
    (
        "<attachment><link>0",
        "<attachment><link>1</link><location>0 0 0</location></attachment><attachment><link>0",
        "attachments: cannot be represented: a cable over several points; .*; got 3",
    ),
    ('reference="joint"', 'reference="link"', "attachment_reference: is unknown"),
]


@pytest.mark.parametrize(("old", "new", "text"), REFUSED_CABLES)
def test_cables_that_cannot_be_represented_are_refused_by_name(tmp_path, old, new, text):
    assert old in cables()
    with pytest.raises(InputError, match=text):
        read_foreign(write_model(tmp_path, cable_text=cables().replace(old, new)))


def test_an_infinite_tension_is_no_limit(tmp_path):
    text = cables().replace("<force_max>100<", "<force_max>Inf<")
    assert read_foreign(write_model(tmp_path, cable_text=text)).robot.cables[0].tension_max is None


def planar(folder, joint: str, q: str, *, shift: str = "0 0 0"):
    text = BODIES.replace("SPATIAL_EULER_XYZ", joint).replace("0 0 0.5", shift)
    for name, values in (("initial", q), ("min", "-1 -1 -1"), ("max", "3 3 1")):
        count = len(q.split())
        start = text.index(f'q_{name}="')
        end = text.index('"', start + len(name) + 4)
        text = text[:start] + f'q_{name}="{" ".join(values.split()[:count])}' + text[end:]
    corners = ["0 0.1 0", "2 0.1 0", "2 0.1 2"]
    ends = ["-0.2 0 -0.1", "0.2 0 -0.1", "0 0 0.1"]
    four = cables().partition("</cable_set>")[0]
    body = "".join(
        part.replace(ANCHORS[i], corners[i]).replace(ATTACHMENTS[i], ends[i]) + "</cable_ideal>"
        for i, part in enumerate(four.split("</cable_ideal>")[:3])
    )
    return write_model(folder, bodies=text, cable_text=f"{body}</cable_set></cables>")


def test_a_planar_robot_lies_in_the_plane_of_its_joint(tmp_path):
    robot = read_foreign(planar(tmp_path, "PLANAR_XZ", "1 1 0", shift="0 0.1 0")).robot
    assert robot.motion == "planar-xz" and not robot.anchors[:, 1].any()
    found = cable_lengths(robot, np.array([1.0, 1.0, 0.3]))
    turn = Rotation.from_euler("y", 0.3).as_matrix()
    wanted = np.linalg.norm([1, 0, 1] + robot.attachments @ turn.T - robot.anchors, axis=1)
    assert np.abs(found - wanted).max() <= 1e-15


def test_a_cable_that_leaves_the_plane_is_refused(tmp_path):
    text = refusal(planar(tmp_path, "PLANAR_XZ", "1 1 0"))
    assert "cannot be represented: a cable that leaves the plane of the motion" in text


@pytest.mark.parametrize(("joint", "q", "motion"), [("P_XZ", "1 1", "point-xz")])
def test_a_platform_that_cannot_turn_is_a_point(tmp_path, joint, q, motion):
    robot = read_foreign(planar(tmp_path, joint, q, shift="0 0.1 0")).robot
    assert robot.motion == motion and not robot.attachments.any()
    assert np.allclose(robot.anchors, [[0.2, 0, 0.1], [1.8, 0, 0.1], [2, 0, 1.9]], atol=1e-15)


def test_poses_are_rotations_as_scipy_has_them():
    rng = np.random.default_rng(1)
    q = np.vstack([np.zeros(6), rng.uniform(-1.5, 1.5, (50, 6))])
    wanted = Rotation.from_euler("XYZ", q[:, 3:]).as_rotvec()
    assert np.abs(from_euler(q)[:, 3:] - wanted).max() <= 1e-13
    quaternions = rng.standard_normal((50, 4))
    found = from_quaternion(np.hstack([q[:50, :3], quaternions]))
    wanted = Rotation.from_quat(quaternions, scalar_first=True).as_rotvec()
    assert np.abs(found[:, 3:] - wanted).max() <= 1e-13


@pytest.mark.parametrize("model", MODELS)
def test_a_published_model_has_its_published_lengths(model):
    found = published(model)
    at_home = rows_of("caspr_geometry_flat.csv", model)
    if at_home:
        wanted = [float(row[-1]) for row in at_home]
        home = np.array(found.robot.workspace.home)
        assert np.abs(cable_lengths(found.robot, home) - wanted).max() <= 1e-9
    for row in rows_of("caspr_trajectory_points_golden.csv", model):
        q, wanted = np.array(row[3:9], float), np.array(row[12:], float)
        found_lengths = cable_lengths(found.robot, from_euler(q[None])[0])
        assert np.abs(found_lengths - wanted).max() <= 1e-9


@pytest.mark.parametrize(
    ("model", "feature"), [("CAREX", "several links"), ("Passive_springs_planar", "a spring")]
)
def test_a_published_model_that_is_no_platform_on_cables_is_refused_by_that(model, feature):
    with pytest.raises(InputError, match=f"cannot be represented: {feature}"):
        published(model)


@pytest.mark.parametrize("model", BUILT_IN)
def test_a_builtin_robot_has_the_lengths_of_its_import(model):
    mine, theirs = load(BUILT_IN[model]), published(model).robot
    pose = np.array(mine.workspace.home)
    pose[mine.translations :] = 0.1
    assert np.array_equal(cable_lengths(mine, pose), cable_lengths(theirs, pose))
    assert mine.platform == theirs.platform
    assert [c.tension_max for c in mine.cables] == [c.tension_max for c in theirs.cables]


def test_the_rank_of_test_scdm_is_found():
    found = published("test_SCDM")
    analysis = analyse(found.robot, samples=64)
    assert not analysis.ok and analysis.home.rank == (3, 3)
    assert "singular at home" in found.reason


@pytest.mark.parametrize("model", ["CoGiRo", "Example_spatial", "IPAnema_1"])
def test_poses_without_feasible_tensions_are_the_published_ones(model):
    robot = published(model).robot
    rows = rows_of("caspr_trajectory_points_golden.csv", model)
    poses = from_euler(np.array([row[3:9] for row in rows], float))
    feasible = [row[10] == "1" for row in rows]
    found = tensions(robot, poses).status & int(Status.NO_SOLUTION) == 0
    assert found.tolist() == feasible


def test_the_tension_limits_of_fast_are_found():
    robot = published("FAST").robot  # its cables would have to pull less than they may
    home = np.array([robot.workspace.home])
    assert tensions(robot, home).status[0] & Status.SLACK
    wanted = np.linalg.solve(scaled_jacobian(robot, home)[0].T, carried_wrenches(robot, home)[0])
    assert np.allclose(wanted, 98_385, atol=1) and robot.cables[0].tension_min == 120_000
