"""A user's own mechanism: the Delta robot of the documentation, and files that cannot be used."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import fsolve

from kinegate import api
from kinegate.cli import main
from sim.package import read_package
from sim.tools import available
from solver_ref.domain import corner_poses, sample_poses
from solver_ref.errors import InputError
from solver_ref.kinematics import jacobian, joint_errors, joint_values
from solver_ref.levenberg_marquardt import lm_solve
from solver_ref.mechanisms import mechanism_of
from solver_ref.robot_file import load

ROOT = Path(__file__).parents[1]
DELTA = ROOT / "examples" / "delta"
FILE = DELTA / "delta.toml"


def workspace_poses(count: int = 200) -> np.ndarray:
    robot = load(FILE)
    return np.vstack([corner_poses(robot), sample_poses(robot, count, np.random.default_rng(1))])


def spheres(joints: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The platform as the point that three spheres of the forearms share, found by SciPy."""
    base, platform, arm, forearm = 0.2, 0.05, 0.2, 0.5
    turns = np.array([0.0, 120.0, 240.0]) * np.pi / 180
    out = base - platform + arm * np.cos(joints)
    centres = np.column_stack([out * np.cos(turns), out * np.sin(turns), -arm * np.sin(joints)])
    return fsolve(lambda p: ((p - centres) ** 2).sum(axis=1) - forearm**2, start, xtol=1e-12)


def test_the_joints_are_those_of_three_spheres() -> None:
    robot, poses = load(FILE), workspace_poses(30)
    joints = joint_values(robot, poses)
    found = [spheres(q, pose + [0.01, 0.01, -0.02]) for q, pose in zip(joints, poses, strict=True)]
    np.testing.assert_allclose(found, poses, atol=1e-9)


def test_a_solve_leads_back_to_every_pose_of_the_workspace() -> None:
    robot, poses = load(FILE), workspace_poses()
    found = lm_solve(robot, robot.workspace.home, joint_values(robot, poses), tolerance=1e-10)
    np.testing.assert_allclose(found.poses, poses, atol=1e-8)


def test_joint_rates_are_central_differences() -> None:
    robot, poses, h = load(FILE), workspace_poses(50), 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        rates = (joint_values(robot, poses + step) - joint_values(robot, poses - step)) / (2 * h)
        np.testing.assert_allclose(jacobian(robot, poses)[..., k], rates, atol=1e-6)


def test_links_are_as_long_as_the_robot_file_says() -> None:
    robot = load(FILE)
    for line in mechanism_of(robot).lines(robot, workspace_poses(1)[-1]):
        sizes = np.linalg.norm(np.diff(line, axis=0), axis=1)
        np.testing.assert_allclose(sizes, [0.2, 0.5], rtol=1e-12)


def test_the_same_robot_in_millimetres_and_degrees_is_the_same(tmp_path) -> None:
    text = FILE.read_text().replace("[geometry]", '[units]\nlength = "mm"\n\n[geometry]', 1)

    def milli(found: re.Match) -> str:
        return repr(round(float(found[0]) * 1000, 6))

    head, rest = text.split("[geometry]")
    numbers, rest = rest.split("[joints]")
    joints, rest = rest.split("[workspace]")
    space, accuracy = rest.split("start_error = [0.02, 0.02]")
    rest = "[joints]" + joints + "[workspace]" + re.sub(r"-?\d+\.\d+", milli, space)
    rest += "start_error = [20, 0.02]" + accuracy.replace("10e-6", "10e-3")
    (tmp_path / "delta.py").write_text((DELTA / "delta.py").read_text())
    other = tmp_path / "delta.toml"
    other.write_text(head + "[geometry]" + re.sub(r"-?\d+\.\d+", milli, numbers) + rest)
    assert load(other).digest == load(FILE).digest


@pytest.mark.parametrize("kernel", ["lengths", "forward"])
def test_the_hardware_is_bit_exact(kernel: str) -> None:
    if reason := available("icarus"):
        pytest.skip(reason)
    seen = api.simulate(FILE, kernel=kernel, ii=8, simulator="icarus", vectors=12, seed=5)
    assert seen["passed"] and seen["mismatches"] == 0
    assert seen["max_error"]["m"] <= 10e-6


def test_lengths_and_forward_lead_back_in_fixed_point() -> None:
    robot, poses = load(FILE), workspace_poses()
    columns = dict(zip(robot.coordinates, poses.T, strict=True))
    there = api.solve(FILE, columns, kernel="lengths")
    joints = {name: there.columns[name] for name in robot.joint_names}
    back = api.solve(FILE, joints)
    assert there.valid.all() and back.valid.all()
    found = np.column_stack([back.columns[name] for name in robot.coordinates])
    measured = np.column_stack(list(joints.values()))
    assert np.abs(joint_errors(robot, found, measured)).max() <= robot.accuracy.length


def test_a_generated_directory_holds_the_equations(tmp_path) -> None:
    robot = tmp_path / "delta.toml"
    robot.write_text(FILE.read_text())
    equations = tmp_path / "delta.py"
    equations.write_text((DELTA / "delta.py").read_text())
    made = api.generate(robot, tmp_path / "out", ii=8, vectors=5)
    assert made["digest"] == load(FILE).digest
    equations.unlink()
    design = read_package(tmp_path / "out").design
    assert design.robot == load(FILE)
    assert design.verilog == (tmp_path / "out" / "delta_step.v").read_text()


def test_the_option_stands_before_the_file_that_the_robot_names(tmp_path) -> None:
    robot = tmp_path / "delta.toml"
    robot.write_text(FILE.read_text().replace('mechanism = "delta.py"\n', ""))
    found = api.check(robot, mechanism=str(DELTA / "delta.py"))
    assert found["ok"] and found["digest"] == load(FILE).digest
    with pytest.raises(InputError, match="mechanism: has no meaning; expected a robot file"):
        api.check(load(FILE), mechanism="delta.py")
    with pytest.raises(InputError, match="kind: has its own equations; expected custom"):
        api.check("rrr-kj9", mechanism=str(DELTA / "delta.py"))


def test_the_documented_commands_run(tmp_path, monkeypatch) -> None:
    text = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    kinegate (.*examples/delta.*)$", text, re.MULTILINE)
    assert {command.split()[0] for command in commands} >= {"check", "generate", "simulate"}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    runner = CliRunner()
    for command in commands:
        words = command.split("#")[0].split()
        if words[0] == "simulate":  # in Amaranth, which needs no tool, and a few vectors
            words += ["--simulator", "amaranth", "--vectors", "3"]
        result = runner.invoke(main, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [port["field"] for port in manifest["ports"]["in"]][:3] == ["q1", "q2", "q3"]


BAD = {
    "import math": ("import math (", r"mechanism: does not work; .*line 10: SyntaxError"),
    "def constraints": ("def closed", r"mechanism: does not work; .*they define no constraints"),
    "m.sine_cosine(q)": ("m.sine(q)", r"line \d+: AttributeError: .*sine"),
    '"q1": "rad"': ('"x": "rad"', r"a joint cannot be called 'x'"),
    '"q2": "rad"': ('"q2": "deg"', r"JOINTS has to name the unit, m or rad"),
    '"base": "m"': ('"base": "mm"', r"units in GEOMETRY have to be of m, rad, 1"),
    'MOTIONS = ("point",)': ('MOTIONS = ("spatial",)', r"motion: does not fit; .* spatial"),
    "w * k - u * h": ("w * k + u * h", r"kind: has an inverse whose joints do not close"),
    "GEOMETRY = {": ("SIZES = {", r"geometry: is not read; .*the equations have no GEOMETRY"),
    "for direction, q in zip(DIRECTIONS, joints": (
        "for direction, q in zip(DIRECTIONS[:2], joints[:2]",
        r"kind: has the wrong constraints; expected 3 finite ones",
    ),
}


@pytest.mark.parametrize("old", BAD)
def test_equations_that_cannot_be_used_are_refused_in_one_line(old: str, tmp_path) -> None:
    new, want = BAD[old]
    text = (DELTA / "delta.py").read_text()
    assert old in text
    (tmp_path / "delta.py").write_text(text.replace(old, new))
    robot = tmp_path / "delta.toml"
    robot.write_text(FILE.read_text())
    with pytest.raises(InputError) as error:
        load(robot)
    assert re.search(want, str(error.value)), error.value


def test_a_missing_file_is_refused_by_name(tmp_path) -> None:
    robot = tmp_path / "delta.toml"
    robot.write_text(FILE.read_text())
    with pytest.raises(InputError, match=r"mechanism: cannot be read; .*No such file"):
        load(robot)
