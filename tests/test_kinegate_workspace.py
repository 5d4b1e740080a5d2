"""The command `workspace` and its Python function: what they find, write, and refuse."""

import csv
import doctest
import importlib
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from published_robots import DATA, needs_data, rows
from robot_texts import CRANE, edit

import kinegate
from kinegate import map_work
from kinegate.cli import main
from solver_ref.csvio import read_columns
from solver_ref.kinematics import rotation_log

QUICK = ("--grid", "12", "--jobs", "1")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, ("workspace", *words), prog_name="kinegate")


def figures(result, status=0):
    """The one JSON object on stdout."""
    assert result.exit_code == status, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    """FAST: six cables 300 m long, which have to pull with 120 kN or more."""
    if not DATA.is_dir():
        pytest.skip("no published tables beside the clone")
    file = tmp_path_factory.mktemp("fast") / "fast.toml"
    box = [(-150.0, 150.0), (-150.0, 150.0), (50.0, 220.0)]
    bodies = DATA / "caspr" / "FAST" / "FAST_bodies.xml"
    kinegate.import_robot(bodies, file, position=box, tilt=0.2, home=[0, 0, 100])
    return str(file)


def test_the_example_of_the_function_is_true():
    # The function of this name hides the module from attribute access.
    assert doctest.testmod(importlib.import_module("kinegate.mapping")).failed == 0


def test_a_map_is_written_as_plots_and_data(run, tmp_path):
    found = figures(run("cogiro", "-o", "out", *QUICK, "--margin", "10cm", "--json"))
    names = "reach condition log10_singular_value wrench_margin iterations safe".split()
    plots = [f"{name}.{kind}" for name in names for kind in ("png", "svg")]
    assert sorted(found["files"]) == sorted([*plots, "map.csv", "map.npz"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(found["files"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    for name in plots:
        start = b"\x89PNG" if name.endswith("png") else b"<?xml"
        assert (tmp_path / "out" / name).read_bytes().startswith(start)
    with np.load(tmp_path / "out" / "map.npz") as arrays:
        assert arrays["condition"].shape == arrays["safe"].shape == (12, 12)
        assert found["quantities"]["condition"]["max"] == arrays["condition"].max()
    with (tmp_path / "out" / "map.csv").open() as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 144 and {cell["bad"] for cell in cells} == {"NONE"}
    assert float(cells[1]["y"]) > float(cells[0]["y"]) and cells[1]["x"] == cells[0]["x"]


def test_the_same_map_is_the_same_files_whoever_computes_it(run, tmp_path):
    run("four-cable", "-o", "one", *QUICK, "--map", "iterations")
    run("four-cable", "-o", "two", "--grid", "12", "--map", "iterations", "--jobs", "2")
    for name in ("map.csv", "iterations.png", "safe.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_chunks_and_threads_change_nothing(monkeypatch):
    whole = kinegate.workspace("ipanema1", grid=[15])
    monkeypatch.setattr(map_work, "CHUNK", 20)
    parts = kinegate.workspace("ipanema1", grid=[15], jobs=3)
    assert parts["quantities"]["iterations"] == whole["quantities"]["iterations"]
    for name, spread in parts["quantities"].items():
        assert spread == pytest.approx(whole["quantities"][name])


def test_a_volume_has_plots_too(run, tmp_path):
    words = ("four-cable", "-o", "out", "--plane", "xyz", "--grid", "6x5x4", "--map", "condition")
    found = figures(run(*words, "--limit", "condition=2.6", "--plan", "0,0,2", "0.1,0,2", "--json"))
    assert "condition.svg" in found["files"] and "safe.png" in found["files"]
    with np.load(tmp_path / "out" / "map.npz") as arrays:
        assert arrays["condition"].shape == (6, 5, 4)
        assert 0 < arrays["bad"].sum() < 120


def test_rotations_can_vary(run):
    found = figures(run("planar4", "--plane", "x,theta", *QUICK, "--range", "theta=-1:1", "--json"))
    assert found["axes"]["theta"] == {"low": -1.0, "high": 1.0, "cells": 12}
    assert found["at"] == {"y": 0.5}


def test_fast_cannot_keep_its_cables_above_120_kn_but_high_in_the_middle(run, fast):
    level = figures(run(fast, "--at", "z=100", *QUICK, "--json"))
    assert level["bad"]["wrench_margin"] == 1.0 and level["safe"] == 0.0
    across = figures(run(fast, "--plane", "xz", "--grid", "41x35", "--margin", "2m", "--json"))
    assert 0.8 < across["bad"]["wrench_margin"] < 0.99
    assert 0 < across["safe"] < 1 - across["bad"]["wrench_margin"]
    high = figures(run(fast, "--at", "z=200", "--range", "x=-9:9", *QUICK, "--json"))
    assert high["quantities"]["wrench_margin"]["max"] > 0


def test_a_table_names_what_is_bad(run, fast):
    result = run(fast, "--at", "z=100", *QUICK)
    assert result.exit_code == 0
    assert re.search(r"wrench_margin +100\.00%", result.stdout)


@needs_data
@pytest.mark.parametrize("trajectory", ["traj_1", "traj_z_up"])
def test_the_infeasible_trajectory_poses_of_ipanema_1_are_found(run, tmp_path, trajectory):
    points = [
        row
        for row in rows("tables/caspr_trajectory_points_golden.csv")
        if row["model"] == "IPAnema_1" and row["trajectory"] == trajectory
    ]
    assert {row["tension_feasible_within_limits"] for row in points} == {"0"}
    write_path(tmp_path / "path.csv", [caspr_pose(row) for row in points])
    result = run("ipanema1", *QUICK, "--path", "path.csv", "--margin", "1cm", "--json")
    path = figures(result, status=1)["path"]
    assert path["bad_rows"] == [1, 2] and path["clearance"] == 0
    assert path["crossings"][0]["criterion"] == "wrench_margin"
    assert path["crossings"][0]["first"] == 1.0
    assert "the path is bad from row 1 to " in result.stderr
    assert "wrench_margin -" in result.stderr and "at least 0 N asked" in result.stderr


@needs_data
def test_the_feasible_trajectory_poses_of_cogiro_are_good(tmp_path):
    points = [
        row
        for row in rows("tables/caspr_trajectory_points_golden.csv")
        if row["model"] == "CoGiRo" and row["tension_feasible_within_limits"] == "1"
    ]
    for row in points:
        found = kinegate.workspace("cogiro", grid=[2], path=np.array([caspr_pose(row)]))
        assert found["path"]["ok"], row


def caspr_pose(row):
    """CASPR's R = Rx(alpha) Ry(beta) Rz(gamma) as a rotation vector."""
    turns = []
    for axis, name in enumerate(("alpha", "beta", "gamma")):
        cosine, sine = np.cos(float(row[name])), np.sin(float(row[name]))
        matrix, (i, j) = np.eye(3), ((axis + 1) % 3, (axis + 2) % 3)
        matrix[i, i] = matrix[j, j] = cosine
        matrix[i, j], matrix[j, i] = -sine, sine
        turns.append(matrix)
    phi = rotation_log(turns[0] @ turns[1] @ turns[2])
    return [*(float(row[axis]) for axis in "xyz"), *phi]


def write_path(file, poses, header="x,y,z,rx,ry,rz"):
    lines = [",".join(repr(float(x)) for x in pose) for pose in poses]
    file.write_text("\n".join([header, *lines, ""]))


def test_a_good_path_tells_the_margin_that_is_left(run, tmp_path):
    write_path(tmp_path / "path.csv", [[0, 0, 2, 0, 0, 0], [1, 0, 2, 0, 0, 0]])
    result = run("cogiro", *QUICK, "--path", "path.csv", "--margin", "10cm")
    assert result.exit_code == 0
    assert "the path is good everywhere and keeps at least 0.2 m; 0.1 m asked" in result.stderr


def test_a_path_that_is_good_but_too_near_fails(run, tmp_path):
    file, words = tmp_path / "path.csv", ("planar4", *QUICK, "--limit", "wrench_margin=600")
    write_path(file, [[0.5, 0.5, 0.0], [0.5, 0.55, 0.0]], header="x,y,theta")
    kept = figures(run(*words, "--path", "path.csv", "--margin", "1cm", "--json"))["path"]
    assert kept["ok"] and kept["clearance"] >= 0.01
    asked = f"{kept['clearance'] * 2 + 0.2:.3f}m"
    short = figures(run(*words, "--path", "path.csv", "--margin", asked, "--json"), status=1)
    assert not short["path"]["ok"] and short["path"]["crossings"] == []


def test_what_solve_wrote_can_be_checked(run, tmp_path):
    poses = {"x": [0.0, 0.1], "y": [0.2, 0.2], "z": [0.3, 0.4]}
    lengths = kinegate.solve("hangprinter", poses, kernel="lengths").columns
    solved = kinegate.solve(
        "hangprinter", {name: lengths[name] for name in lengths if name[0] == "L"}, engine="float"
    )
    solved.write(tmp_path / "poses.csv")
    assert run("hangprinter", *QUICK, "--path", "poses.csv").exit_code == 0


def test_a_plan_goes_around_what_is_bad_and_keeps_the_margin(run, tmp_path, fast):
    words = (fast, "--plane", "xz", "--grid", "81x69", "--margin", "1m", "-o", "out", "--json")
    straight = [[-24, 0, 180, 0, 0, 0], [0, 0, 148, 0, 0, 0], [24, 0, 190, 0, 0, 0]]
    found = figures(run(*words, "--plan", "-24,180", "24,190", "--map", "tension"))
    plan = found["plan"]
    assert plan["ok"] and plan["clearance"] >= 1 and "plan.csv" in found["files"]
    columns = read_columns(tmp_path / "out" / "plan.csv", required="x y z rx ry rz".split())
    assert [columns[name][0] for name in "xyz"] == [-24, 0, 180]
    assert [columns[name][-1] for name in "xyz"] == [24, 0, 190]
    checked = kinegate.workspace(fast, grid=[2], path=np.array(straight), margin=1.0)
    assert checked["path"]["length"] > plan["length"]


def test_files_have_the_angles_of_the_robot(run, tmp_path):
    (tmp_path / "crane.toml").write_text(
        edit(CRANE, 'motion = "spatial"', 'motion = "spatial"\neuler = "ZYX"')
    )
    words = ("crane.toml", "--grid", "4", "--map", "condition")
    planned = run(*words, "--at", "rz=0.2", "--plan", "0,0", "1,1", "-o", "out", "--json")
    assert figures(planned)["plan"]["poses"][1] == [1, 1, 2, 0, 0, 0.2]
    assert (tmp_path / "out" / "plan.csv").read_text().splitlines()[0] == "x,y,z,e1,e2,e3"
    again = figures(run(*words, "--path", "out/plan.csv", "--json"))["path"]
    assert again["length"] == pytest.approx(figures(planned)["plan"]["length"])
    assert again["ok"]


def test_a_plan_makes_a_detour(monkeypatch):
    def measure(robot, poses, starts, names):
        wall = (abs(poses[:, 0] - 0.5) < 0.03) & (poses[:, 1] < 0.6)
        return {"reach": 1.0 - wall}

    monkeypatch.setattr(map_work, "measure", measure)
    plan = ((0.3, 0.3), (0.7, 0.3))
    found = kinegate.workspace("planar4", grid=[60], margin=0.02, plan=plan)["plan"]
    assert found["ok"] and found["clearance"] >= 0.02
    poses = np.array(found["poses"])
    assert poses[:, 1].max() > 0.62
    # No shorter than the taut string over the corners of the grown wall, and not much longer.
    taut = 2 * np.hypot(0.2 - 0.05, 0.3) + 0.1
    assert taut * 0.98 < found["length"] < taut * 1.2


def test_without_a_way_the_plan_says_so(run, fast):
    words = (fast, "--plane", "xz", "--grid", "21", "--map", "tension")
    result = run(*words, "--plan", "0,180", "100,60")
    assert result.exit_code == 1
    assert "the plan has no goal: it is bad (wrench_margin)" in result.stderr


def test_a_sweep_is_written_as_plot_and_data(run, tmp_path):
    words = ("four-cable", "--sweep", "Rb=4:9:3", "--sweep", "platform.mass=-20:90:2")
    found = figures(run(*words, "--samples", "32", "--jobs", "1", "-o", "out", "--json"))
    assert found["designs"] == 6 and found["refused"] == 3 and found["lost"] == 0
    assert found["least_singular"]["platform.mass"] == 90.0
    assert sorted(found["files"]) == ["sweep.csv", "sweep.npz", "sweep.png", "sweep.svg"]
    with (tmp_path / "out" / "sweep.csv").open() as file:
        designs = list(csv.DictReader(file))
    assert [design["Rb"] for design in designs[::2]] == ["4.0", "6.5", "9.0"]
    assert designs[0]["note"].startswith("platform.mass") and designs[1]["note"] == "NONE"
    assert "6, 3 are no robot" in run(*words, "--samples", "8", "--jobs", "1").stdout


def test_one_parameter_can_be_swept_alone(run):
    words = ("hangprinter", "--sweep", "cable.1.anchor.y=-3:-1:3", "--samples", "16", "--jobs", "1")
    assert figures(run(*words, "-o", "out", "--json"))["designs"] == 3


BAD = [
    ("--plane xw", r"--plane: cannot be mapped; expected two or three of x, y, theta.*; got xw"),
    ("--plane xx", r"--plane: cannot be mapped"),
    ("--at z=1", r"--at: is unknown.*; expected one of x, y, theta; got 'z'"),
    ("--at x=1", r"--at: varies on this map"),
    ("--at theta", r"--at: cannot be read; expected KEY=NUMBER, such as z=1.2; got 'theta'"),
    ("--at theta=nan", r"--at: is not finite"),
    ("--grid 1", r"--grid: is out of range; expected at least 2 cells"),
    ("--grid 5x5x5", r"--grid: has the wrong size; expected 2 numbers of cells; got 5x5x5"),
    ("--grid 9000x9000", r"--grid: is out of range"),
    ("--range x=1:0", r"--range: is no range; expected LOW:HIGH; got 1:0"),
    ("--range theta=0:1", r"--range: does not vary on this map; expected one of x, y; got theta"),
    ("--map heat", r"--map: is unknown; expected one of reach, condition, .*; got 'heat'"),
    ("--limit reach=1", r"--limit: is unknown; expected one of singular_value, condition, .*"),
    ("--limit singular_value=0", r"--limit: is not positive"),
    ("--margin 5", r"--margin: cannot be read; expected a length with its unit"),
    ("--plan 1 2", r"--plan: is no pose; expected x,y or x,y,theta; got 1"),
    ("--plan 0.5,0.5 9,9", r"--plan: lies off the map; expected a pose of the section; got 9,9"),
    ("--path none.csv", r"none.csv: file: cannot be read"),
    ("--sweep Rb=1:2", r"--sweep: cannot be read; expected KEY=FIRST:LAST:COUNT"),
    ("--sweep Rb=1:2:1", r"--sweep: is no sweep"),
    ("--sweep Rc=1:2:3", r"planar4: 'Rc': cannot be varied"),
    ("--sweep Rb=1:2:3 --plane xy", r"--plane: has no meaning; expected no map beside a sweep"),
    ("--sweep Rb=1:2:3 --samples 0", r"--samples: is out of range"),
    ("--jobs 0", r"--jobs: is out of range"),
    ("--seed -1", r"--seed: is out of range"),
    ("--scheduler nowhere", r"nowhere: --scheduler: cannot be reached"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(
    run, tmp_path, words, message
):
    result = run("planar4", "-o", "out", *words.split())
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("workspace: [")]
    assert len(lines) == 1 and lines[0].startswith("error: ")
    assert re.search(message, lines[0]), lines[0]
    assert list(tmp_path.iterdir()) == []


def test_a_field_that_a_robot_cannot_have_is_refused_with_the_reason(run):
    result = run("hangprinter", "--map", "tension")
    assert result.exit_code == 2
    assert "as its platform has no mass" in result.stderr


def test_an_interrupted_map_leaves_nothing_behind(run, tmp_path, monkeypatch):
    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("kinegate.plots.sections.safe_figure", interrupted)
    result = run("planar4", "-o", "out", *QUICK)
    assert result.exit_code == 130 and "error: interrupted" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_of_a_robot_in_memory_is_refused():
    with pytest.raises(ValueError, match="sweep: needs the keys of a robot file"):
        kinegate.workspace(kinegate.load("planar4"), sweep={"Rb": (1, 2, 3)})


def test_a_path_in_memory_is_checked_for_its_shape():
    with pytest.raises(ValueError, match="path: x,y,theta: is no path"):
        kinegate.workspace("planar4", grid=[2], path=np.zeros((3, 2)))
