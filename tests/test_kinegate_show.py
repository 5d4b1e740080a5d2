"""The command `show`: its files, its figures, and one line for what cannot be drawn."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import kinegate
from hdl.toolrun import ToolMissing
from kinegate.cli import main
from kinegate.pictures import files
from solver_ref.kinematics import cable_lengths
from solver_ref.robot_file import load


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "way.csv").write_text(
        "t,x,y,z,status\n0,0,0,0.3,VALID\n1,0.1,0,0.4,VALID\n2,0.2,0,0.5,VALID\n3,0.3,0,0.5,VALID\n"
    )
    return lambda *words: CliRunner().invoke(main, words, prog_name="kinegate")


def test_a_picture_at_home_comes_with_its_figures(run):
    result = run("show", "planar4", "-o", "a.png", "--json")
    assert result.exit_code == 0, result.stderr
    made, robot = json.loads(result.stdout), load("planar4")
    assert made["poses"] == [{"x": 0.5, "y": 0.5, "theta": 0.0}]
    wanted = cable_lengths(robot, np.array(robot.workspace.home))
    assert made["lengths"] == [wanted.tolist()] and made["notes"] == [""]
    with Image.open("a.png") as picture:
        assert picture.size == (1440, 840)
        assert len(picture.convert("RGB").getcolors(10**6)) > 50


def test_a_position_alone_is_level_and_a_pose_may_be_said_whole(run):
    short = json.loads(run("show", "planar4", "-o", "a.svg", "--pose", "0.4,0.6", "--json").stdout)
    long = json.loads(run("show", "planar4", "-o", "b.svg", "--pose", "0.4,0.6,0", "--json").stdout)
    assert short["lengths"] == long["lengths"] and short["poses"] == long["poses"]


def test_the_same_robot_gives_the_same_svg(run, tmp_path):
    for name in ("a.svg", "b.svg"):
        assert run("show", "hangprinter", "-o", name, "--view", "30,40").exit_code == 0
    assert (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text()


def test_a_trajectory_is_a_picture_of_curves_or_a_film(run):
    assert run("show", "hangprinter", "-o", "way.png", "--trajectory", "way.csv").exit_code == 0
    words = ("show", "hangprinter", "-o", "way.gif", "--trajectory", "way.csv", "--frames", "3")
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    assert [pose["x"] for pose in json.loads(result.stdout)["poses"]] == [0.0, 0.2, 0.3]
    with Image.open("way.gif") as film:
        assert film.n_frames == 3
        film.seek(0)
        first = np.asarray(film.convert("RGB"), int)
        film.seek(2)
        assert np.abs(np.asarray(film.convert("RGB"), int) - first).max() > 50


REFUSED = [
    ("-o a.jpg", "hangprinter: --output: is of no kind; expected a name that ends in .png"),
    ("-o a.gif", "hangprinter: --output: would be a film of one pose; expected .png or .svg"),
    ("-o a.png --pose 1", "hangprinter: --pose: is no pose; expected finite numbers x,y,z"),
    ("-o a.png --pose 1,nan,1", "hangprinter: --pose: is no pose"),
    ("-o a.png --pose 0,0,1 --trajectory way.csv", "--pose: is one too many"),
    ("-o a.gif --trajectory way.csv --frames 1", "--frames: is out of range; expected 2 to 10000"),
    ("-o a.png --view 1,2,3", "--view: is no point of view; expected elevation and azimuth"),
    ("-o a.png --trajectory none.csv", "none.csv: file: cannot be read; expected a CSV file"),
    ("-o none/a.png", "none/a.png: file: cannot be written; expected a writable path"),
]


@pytest.mark.parametrize(("words", "text"), REFUSED)
def test_what_cannot_be_drawn_is_one_line_and_leaves_no_file(run, tmp_path, words, text):
    before = sorted(tmp_path.iterdir())
    result = run("show", "hangprinter", *words.split())
    assert result.exit_code == 2 and result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("show: [")]
    assert len(lines) == 1 and text in lines[0]
    assert sorted(tmp_path.iterdir()) == before


def test_a_film_that_needs_ffmpeg_says_so_before_the_work(run, monkeypatch, tmp_path):
    monkeypatch.setattr(files.FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    result = run("show", "hangprinter", "-o", "way.mp4", "--trajectory", "way.csv")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: way.mp4: an MP4 film needs ffmpeg, which is not")
    with pytest.raises(ToolMissing):
        kinegate.show("hangprinter", "way.mp4", trajectory="way.csv")
    assert not (tmp_path / "way.mp4").exists()
