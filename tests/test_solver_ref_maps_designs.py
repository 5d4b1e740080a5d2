"""A sweep of designs: its figures against those of a robot, and designs that are none."""

import numpy as np
import pytest

from solver_ref.conditioning import conditioning
from solver_ref.domain import sample_poses
from solver_ref.fields import RobotError
from solver_ref.maps.criteria import chosen_limits
from solver_ref.maps.designs import COLUMNS, Designs, summary
from solver_ref.robot_file import load, read_values


def sweep(keys, values, name="four-cable", **limits):
    return Designs(
        file=name,
        source=read_values(name),
        keys=keys,
        values=values,
        samples=64,
        seed=3,
        limits=chosen_limits(limits),
    )


def named(row):
    return dict(zip(COLUMNS, row, strict=True))


def test_the_figures_are_those_of_the_robot():
    robot = load("nist-robocrane")
    expected = conditioning(robot, sample_poses(robot, 64, np.random.default_rng(3)))
    row = named(summary(robot, 64, 3))
    assert 10 ** row["worst_log10_singular_value"] == pytest.approx(expected.singular_value)
    assert row["reach"] == 1 and row["singular"] == 0 and row["beyond"] == 0
    assert 0 < row["feasible"] <= 1


def test_a_robot_whose_platform_is_a_scaled_base_is_singular_everywhere():
    # Level, all cables meet in one point; here even tilted nearly so.
    row = named(summary(load("four-cable-concurrent"), 64, 0, chosen_limits({"condition": 10})))
    other = named(summary(load("four-cable"), 64, 0))
    assert row["worst_log10_singular_value"] < other["worst_log10_singular_value"] - 1


def test_designs_go_through_all_values_the_last_key_fastest():
    designs = sweep(("platform.mass", "Rm"), ((50.0, 80.0), (0.5, 0.6, 0.7)))
    assert designs.all()[:4] == [(50.0, 0.5), (50.0, 0.6), (50.0, 0.7), (80.0, 0.5)]


def test_each_design_is_a_robot_of_its_own():
    designs = sweep(("cable.*.tension_max",), ((50.0, 5000.0),), wrench_margin=0.0)
    weak, strong = (named(designs.row(design)[0]) for design in designs.all())
    assert weak["feasible"] < strong["feasible"]


def test_numbers_that_describe_no_robot_are_noted():
    row, note = sweep(("platform.mass",), ((-1.0, 80.0),)).row((-1.0,))
    assert np.isnan(row).all() and note.startswith("platform.mass: ")


def test_a_key_that_is_none_is_refused():
    designs = sweep(("platform.size",), ((1.0, 2.0),))
    with pytest.raises(RobotError, match="'platform.size': cannot be varied"):
        designs.varied((1.0,))


def test_a_robot_without_mass_has_no_feasible_share():
    assert np.isnan(named(summary(load("hangprinter"), 16, 0))["feasible"])
