"""The command `import`: what it prints and writes, and that nothing is written when it refuses."""

import json

import pytest
from caspr_texts import BODIES, write_model

import kinegate
from solver_ref.csvio import read_columns
from solver_ref.robot_file import load

POINTS = (
    "<t><points><point><q>0.2 0 1 0 0 0</q></point><point><q>0 0 1 0 0.1 0</q></point></points></t>"
)


def test_import_writes_a_robot_file_and_the_poses(run, tmp_path):
    write_model(tmp_path, points=POINTS)
    result = run("import", "box_bodies.xml", "-o", "box.toml", "--poses", "box.csv", "--json")
    assert result.exit_code == 0, result.stderr
    made, robot = json.loads(result.stdout), load("box.toml")
    assert (made["robot"], made["cables"], made["digest"]) == ("box", 8, robot.digest)
    assert made["text"] == (tmp_path / "box.toml").read_text()
    columns = read_columns("box.csv", required=robot.coordinates)
    assert columns["x"].tolist() == [0.2, 0.0] and columns["ry"].tolist() == [0.0, 0.1]


def test_import_takes_its_options(run, tmp_path):
    write_model(tmp_path)
    words = "import box_bodies.xml -o box.toml --cable-set six --name six --tilt 0.1"
    result = run(*words.split(), "--position", "-1:1,-1:1,0.5:1.5", "--home", "0,0.1,1")
    assert result.exit_code == 0, result.stderr
    robot = load("box.toml")
    assert (robot.name, len(robot.cables), robot.workspace.tilt) == ("six", 6, 0.1)
    assert robot.workspace.position == ((-1, 1), (-1, 1), (0.5, 1.5))
    assert robot.workspace.home[:3] == (0.0, 0.1, 1.0)
    assert "six in box.toml" in result.stdout and "as asked" in result.stdout


REFUSED = [
    ("", "--cable-set: is unknown; expected one of eight, six; got 'x'", "--cable-set x"),
    ("", "--position: cannot be read; expected low:high of each position", "--position 1:2:3"),
    ("", "--home: is no pose", "--home 1"),
    ("", "--poses: has no meaning; expected a file with trajectories", "--poses a.csv"),
    ("link_rigid", "links: cannot be represented: <link_soft>", ""),
]


@pytest.mark.parametrize(("tag", "text", "words"), REFUSED)
def test_a_refusal_is_one_line_and_writes_nothing(run, tmp_path, tag, text, words):
    bodies = BODIES.replace(tag, "link_soft") if tag else BODIES
    write_model(tmp_path, bodies=bodies)
    before = sorted(tmp_path.iterdir())
    result = run("import", "box_bodies.xml", "-o", "out.toml", *words.split())
    assert result.exit_code == 2 and result.stdout == ""
    assert text in result.stderr and result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_cannot_be_written_is_named(run, tmp_path):
    write_model(tmp_path)
    result = run("import", "box_bodies.xml", "-o", "none/out.toml")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: none/out.toml: file: cannot be written; expected")


def test_the_python_function_returns_the_text_without_writing(tmp_path):
    made = kinegate.import_robot(write_model(tmp_path))
    assert made["output"] is None and made["text"].startswith('name = "box"')
