"""The closure `attitude` and corrected lengths on the command line: columns in, poses out."""

import csv
import io
import re

import numpy as np
import pytest

from kinegate import load, solve
from kinegate.designs import make_design, open_robot
from solver_ref.correction import measured_lengths
from solver_ref.csvio import write_rows
from solver_ref.domain import sample_poses
from solver_ref.kinematics import cable_lengths

CRANE = load("four-cable-full")
POSES = sample_poses(CRANE, 40, np.random.default_rng(2))
PULLS = np.random.default_rng(3).uniform(40.0, 900.0, (40, 4))
WARMING = np.linspace(-15.0, 30.0, 40)


def shown():
    """What the encoders, the tensions and the thermometer of the crane say at its poses."""
    lengths = cable_lengths(CRANE, POSES)
    lengths = measured_lengths(CRANE, lengths, tensions=PULLS, warming=WARMING)
    columns = {f"L{i + 1}": x for i, x in enumerate(lengths.T)}
    return columns | {f"T{i + 1}": x for i, x in enumerate(PULLS.T)} | {"dT": WARMING}


def angles():
    return dict(zip(("mrx", "mry", "mrz"), POSES[:, 3:].T, strict=True))


@pytest.mark.parametrize("engine", ["float", "fixed"])
def test_a_file_of_all_sensors_gives_the_poses_back(run, tmp_path, engine):
    columns = shown() | angles()
    write_rows(tmp_path / "in.csv", list(columns), zip(*columns.values(), strict=True))
    words = ("--closure", "attitude", "--engine", engine, "-o", "out.csv")
    result = run("solve", "four-cable-full", "in.csv", *words)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    found = np.array([[float(row[n]) for n in CRANE.coordinates] for row in rows])
    assert {row["status"] for row in rows} == {"VALID|CONVERGED"}
    # A quarter of a newton in 2e5 N/m is 1.25 um of a cable, and a pose can be 4.6 times as far.
    assert np.abs(found - POSES)[:, :3].max() < (1e-9 if engine == "float" else 8e-6)


def test_the_other_closure_and_kernels_read_the_same_columns():
    found = solve("four-cable-full", shown(), closure="minimum-norm")
    lengths = cable_lengths(CRANE, np.column_stack([found.columns[n] for n in CRANE.coordinates]))
    assert np.abs(lengths - cable_lengths(CRANE, POSES))[found.valid].max() < 8e-6
    poses = dict(zip(CRANE.coordinates, POSES.T, strict=True))
    tensions = {k: v for k, v in shown().items() if k[0] != "L"}
    back = solve("four-cable-full", poses | tensions, kernel="lengths")
    assert np.abs(back.columns["L2"] - shown()["L2"]).max() < 5e-6


@pytest.mark.parametrize(
    "words, columns, wrong",
    [
        (
            "four-cable --closure attitude",
            "L1,L2,L3,L4,mrx,mry",
            "mrz: is a missing column; expected the columns L1, L2, L3, L4, mrx, mry, mrz; got .*",
        ),
        ("four-cable", "L1,L2,L3,L4,mrx", "mrx: is an unknown column.*; expected only .*'mrx'"),
        (
            "four-cable-full --closure minimum-norm",
            "L1,L2,L3,L4,S1,S2,S3,S4",
            "S1: is an unknown column; expected only .*; got 'S1'",
        ),
        (
            "four-cable-full --closure minimum-norm",
            "L1,L2,L3,L4,T1,T3",
            "T2: is a missing column; expected all of T1, T2, T3, T4, or none of them; got T1, T3",
        ),
    ],
)
def test_wrong_columns_are_named(run, tmp_path, words, columns, wrong):
    (tmp_path / "in.csv").write_text(f"{columns}\n{','.join('1' * len(columns.split(',')))}\n")
    robot, *options = words.split()
    result = run("solve", robot, "in.csv", *options)
    assert result.exit_code == 2
    assert re.fullmatch(f"error: in.csv: {wrong}\n", result.stderr)


@pytest.mark.parametrize(
    "column, value, wrong",
    [
        ("T3", "-1", "row 1, T3: is negative; expected a number of 0 or above; got '-1'"),
        ("mry", "nan", "row 1, mry: is not finite; expected a finite number; got 'nan'"),
        ("dT", "warm", "row 1, dT: is no number; expected a decimal number; got 'warm'"),
    ],
)
def test_wrong_values_are_named(run, tmp_path, column, value, wrong):
    row = dict.fromkeys((*shown(), *angles()), "1") | {column: value}
    (tmp_path / "in.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    result = run("solve", "four-cable-full", "in.csv", "--closure", "attitude")
    assert (result.exit_code, result.stderr) == (2, f"error: in.csv: {wrong}\n")


def test_columns_in_memory_are_refused_alike():
    with pytest.raises(ValueError, match="rows: T1: cannot be used; .* tensions not below; got"):
        solve("four-cable-full", shown() | {"T1": -PULLS[:, 0]}, closure="minimum-norm")


def test_what_a_cable_does_not_feel_is_not_read(run, tmp_path):
    (tmp_path / "in.csv").write_text("L1,L2,L3,L4,S1,S2,S3,S4,dT\n6.5,6.5,6.5,6.5,-1,0,0,0,x\n")
    assert run("solve", "four-cable", "in.csv").exit_code == 0


@pytest.mark.parametrize(
    "words, wrong",
    [
        (
            "four-cable-full --elongation print",
            "four-cable-full: --elongation: is unknown.*; expected one of integrated, printed; .*",
        ),
        (
            "four-cable --elongation printed",
            "four-cable: --elongation: has no meaning; expected a robot with the stiffness of a "
            "cable; got 'printed'",
        ),
    ],
)
def test_a_law_that_does_not_fit_is_refused(run, words, wrong):
    robot, *options = words.split()
    result = run("generate", robot, "-o", "out", *options)
    assert result.exit_code == 2
    assert re.fullmatch(f"error: {wrong}\n", result.stderr)


def test_the_law_is_an_option_of_robots_that_stretch():
    options = {"kernel": "lengths", "elongation": "printed"}
    name, robot = open_robot("four-cable-full", options)
    assert make_design(name, robot, options).canonical_options["elongation"] == "printed"
    name, robot = open_robot("four-cable", {})
    assert "elongation" not in make_design(name, robot, {}).canonical_options
