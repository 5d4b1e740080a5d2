"""The registry of mechanisms: one module each, and what a robot file of each kind may hold."""

import re
from pathlib import Path

import numpy as np
import pytest
from robot_kinds import built_in

import solver_ref.mechanisms as mechanisms_package
from solver_ref.errors import InputError
from solver_ref.kinematics import cable_lengths
from solver_ref.mechanisms import mechanism_of, mechanisms
from solver_ref.robot_file import builtin_names, load, loads


def test_every_module_of_the_package_is_a_kind() -> None:
    assert "cable" in mechanisms()
    for kind, mechanism in mechanisms().items():
        assert mechanism.kind == kind


def test_no_mechanism_takes_more_than_150_lines_and_none_is_named_elsewhere() -> None:
    folder = Path(mechanisms_package.__file__).parent
    files = sorted(folder.glob("*.py"))
    assert all(len(file.read_text().splitlines()) <= 150 for file in files)
    kinds = set(mechanisms()) - {"cable", "custom"}
    for layer in ("solver_ref", "hdl", "sim"):
        for file in sorted((folder.parents[1] / layer).rglob("*.py")):
            if folder not in file.parents and "importing" not in file.parts:
                words = set(re.findall(r'"([\w-]+)"', file.read_text()))
                assert not words & kinds, file


@pytest.mark.parametrize("name", builtin_names())
def test_every_builtin_robot_is_of_a_known_kind(name: str) -> None:
    robot = built_in(name)
    assert mechanism_of(robot).kind == robot.kind


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="kind: is an unknown word; expected .*cable"):
        loads('name = "a"\nkind = "cabel"\n')


@pytest.mark.parametrize("name", ["four-cable", "planar4", "hangprinter"])
def test_lines_of_straight_cables_are_as_long_as_the_cables(name: str) -> None:
    robot = load(name)
    pose = np.array(robot.workspace.home)
    lines = mechanism_of(robot).lines(robot, pose)
    sizes = [np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines]
    np.testing.assert_allclose(sizes, cable_lengths(robot, pose), rtol=1e-12)


def test_the_line_of_a_cable_over_a_pulley_goes_by_where_it_leaves() -> None:
    robot = load("four-cable-full")
    line = mechanism_of(robot).lines(robot, np.array(robot.workspace.home))[0]
    assert line.shape == (3, 3)
    np.testing.assert_array_equal(line[0], robot.anchors[0])
