"""`solve`: the CSV contract, the engines against one another, and rows that may not be used."""

import csv
import io
import json

import numpy as np
import pytest

from kinegate import load, solve
from kinegate.designs import make_design
from kinegate.solving import Solved
from sim import batch
from sim.tools import available
from sim.vectors import expected
from solver_ref.csvio import write_rows
from solver_ref.damping import POLICIES
from solver_ref.domain import perturb, sample_poses
from solver_ref.kernels.forward_pass import Policy
from solver_ref.kinematics import cable_lengths, jacobian
from solver_ref.status import Status

ROBOTS = ("four-cable", "cogiro", "planar4", "hangprinter")


def poses_and_starts(name, count=200, distance=0.05, angle=0.05):
    robot, rng = load(name), np.random.default_rng(7)
    poses = sample_poses(robot, count, rng)
    return robot, poses, perturb(robot, poses, distance, angle, rng)


def columns(names, array):
    return dict(zip(names, np.asarray(array).T, strict=True))


def length_names(robot):
    return [f"L{i + 1}" for i in range(len(robot.cables))]


def start_names(robot):
    return [f"{name}0" for name in robot.coordinates]


def stack(solved, names):
    return np.column_stack([solved.columns[name] for name in names])


def write(path, values):
    write_rows(path, list(values), zip(*(v.tolist() for v in values.values()), strict=True))


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


@pytest.mark.parametrize("engine", ["float", "fixed"])
@pytest.mark.parametrize("name", ROBOTS)
def test_written_poses_have_the_lengths_that_were_asked_for(run, tmp_path, name, engine):
    robot, poses, starts = poses_and_starts(name)
    lengths = cable_lengths(robot, poses)
    write(
        tmp_path / "in.csv",
        columns(length_names(robot), lengths) | columns(start_names(robot), starts),
    )
    result = run("solve", name, "in.csv", "-o", "out.csv", "--engine", engine)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    rows = read(tmp_path / "out.csv")
    health = [f"r{i + 1}" for i in range(len(robot.cables))] + ["radius"]
    names = [*robot.coordinates, *health, "status", "iterations", "residual", "pivot"]
    assert list(rows[0]) == names
    assert {row["status"] for row in rows} == {"VALID|CONVERGED"}
    written = np.array([[float(row[c]) for c in robot.coordinates] for row in rows])
    error = np.abs(cable_lengths(robot, written) - lengths).max()
    assert error <= robot.accuracy.length


@pytest.mark.parametrize("name", ROBOTS)
def test_lengths_and_jacobian_are_within_the_accuracy_of_float64(name):
    robot, poses, _ = poses_and_starts(name)
    given = columns(robot.coordinates, poses)
    fixed, exact = (solve(name, given, kernel="lengths", engine=e) for e in ("fixed", "float"))
    names = length_names(robot)
    rows = [f"J{i + 1}_{c}" for i in range(len(names)) for c in robot.coordinates]
    assert list(fixed.columns) == [*names, *rows, "status"] == list(exact.columns)
    assert np.array_equal(stack(exact, names), cable_lengths(robot, poses))
    assert np.array_equal(stack(exact, rows), jacobian(robot, poses).reshape(len(poses), -1))
    assert np.abs(stack(fixed, names) - stack(exact, names)).max() <= robot.accuracy.length
    assert np.abs(stack(fixed, rows) - stack(exact, rows)).max() < 1e-4
    assert fixed.valid.all() and exact.valid.all()


@pytest.mark.parametrize("name", ROBOTS)
def test_a_step_is_near_the_step_in_float64(name):
    robot, poses, starts = poses_and_starts(name, 200, 1e-3, 1e-3)
    given = columns(length_names(robot), cable_lengths(robot, poses))
    given |= columns(start_names(robot), starts)
    fixed, exact = (solve(name, given, kernel="step", engine=e) for e in ("fixed", "float"))
    names = [*robot.coordinates, "status", "residual", "pivot"]
    assert list(fixed.columns) == names == list(exact.columns)
    assert np.array_equal(fixed.columns["status"], exact.columns["status"])
    for column in (*robot.coordinates, "residual"):
        assert np.abs(fixed.columns[column] - exact.columns[column]).max() < 1e-4, column
    assert np.allclose(fixed.columns["pivot"], exact.columns["pivot"], rtol=0.05, atol=0.05)


def test_without_a_start_a_solve_starts_cold_from_home():
    robot, poses, _ = poses_and_starts("four-cable")
    given = columns(length_names(robot), cable_lengths(robot, poses))
    cold = solve("four-cable", given)
    home = np.tile(robot.workspace.home, (len(poses), 1))
    warm = solve("four-cable", given | columns(start_names(robot), home))
    assert cold.valid.all()
    # A cold start holds the attitude first, which a start at the same pose does not.
    assert not np.array_equal(stack(cold, robot.coordinates), stack(warm, robot.coordinates))


def test_the_status_of_lengths_that_no_pose_has(run, tmp_path):
    robot, poses, starts = poses_and_starts("four-cable", 3)
    lengths = cable_lengths(robot, poses)
    lengths[1] = [3.0, 9.0, 3.0, 9.0]
    given = columns(length_names(robot), lengths) | columns(start_names(robot), starts)
    write(tmp_path / "in.csv", given)
    for engine in ("float", "fixed"):
        result = run("solve", "four-cable", "in.csv", "-o", "out.csv", "--engine", engine)
        assert result.exit_code == 1
        status = [Status.parse(row["status"]) for row in read(tmp_path / "out.csv")]
        assert Status.VALID not in status[1] and status[1] & (
            Status.NO_SOLUTION | Status.ITERATION_LIMIT | Status.OUT_OF_RANGE
        )
        assert Status.VALID in status[0] and Status.VALID in status[2]
        assert "2 of 3 rows may be used" in result.stderr


@pytest.mark.parametrize("kernel", ["lengths", "step", "forward"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_value_far_outside_never_gives_a_valid_row(name, kernel):
    robot, poses, _ = poses_and_starts(name, 1)
    design = make_design(name, robot, {"kernel": kernel})
    good = columns(robot.coordinates, poses) | columns(start_names(robot), poses)
    good |= columns(length_names(robot), cable_lengths(robot, poses))
    good |= {key: np.array([value]) for key, value in (("lambda", 1e-4), ("cold", 0.0))}
    good |= {"policy": np.array([float(Policy.MARQUARDT)])}
    names = [name for name in design.inputs if name not in ("lambda", "cold", "policy")]
    wild = [(n, v) for n in names for v in wild_values(design.inputs[n])]
    values = {n: np.repeat(good[n], len(wild)) for n in design.inputs}
    for row, (port, value) in enumerate(wild):
        values[port][row] = value
    codes, limited = batch.encode(design, values)
    assert limited.sum() == 3 * len(names)
    # The hardware says so by itself: the limited code is still outside the domain.
    status = expected(design, codes)[0]["status"]
    for word in (
        status,
        *(batch.run_batch(design, values, e)["status"] for e in ("float", "fixed")),
    ):
        assert ((word & int(Status.OUT_OF_RANGE)) != 0).all()
        assert ((word & int(Status.VALID)) == 0).all()


def wild_values(form):
    """The port's own ends, which lie outside the declared domain, and values beyond them."""
    low, high = form.lo * form.quantum, form.hi * form.quantum
    return low, high, 1.5 * high, -1e9, 1e300


def test_a_limited_value_is_no_valid_row_even_if_the_graph_said_so(monkeypatch):
    robot, poses, _ = poses_and_starts("hangprinter", 2)
    design = make_design("hangprinter", robot, {"kernel": "lengths"})
    values = columns(robot.coordinates, poses)
    values["x"][1] = 1e3

    def credulous(design, codes):
        zeros = {name: np.zeros(2, np.int64) for name in design.outputs}
        return zeros | {"status": np.full(2, int(Status.VALID))}, None

    monkeypatch.setattr(batch, "expected", credulous)
    status = batch.run_batch(design, values, "fixed")["status"]
    assert status.tolist() == [int(Status.VALID), int(Status.OUT_OF_RANGE)]


@pytest.mark.parametrize("kernel", ["forward", "step"])
def test_damping_has_its_defaults_in_one_place(kernel):
    robot, poses, starts = poses_and_starts("planar4", 50)
    given = columns(length_names(robot), cable_lengths(robot, poses))
    given |= columns(start_names(robot), starts)
    for policy, rule in POLICIES.items():
        plain = solve("planar4", given, kernel=kernel, damping=policy)
        option = solve("planar4", given, kernel=kernel, damping=policy, damping_lambda=rule.initial)
        column = given | {"lambda": np.full(50, rule.initial)}
        table = solve("planar4", column, kernel=kernel, damping=policy)
        assert list(plain.rows()) == list(option.rows()) == list(table.rows())
    default, marquardt, damped = (
        list(solve("planar4", given, kernel=kernel, **options).rows())
        for options in ({}, {"damping": "marquardt"}, {"damping_lambda": 0.3})
    )
    assert default == marquardt != damped


def test_every_policy_of_the_reference_is_one_of_the_hardware():
    assert [policy.name.lower().replace("_", "-") for policy in Policy] == list(POLICIES)


def test_an_earlier_answer_can_be_the_input_of_another_kernel(run, tmp_path):
    robot, poses, _ = poses_and_starts("hangprinter", 20)
    write(tmp_path / "poses.csv", columns(robot.coordinates, poses))
    assert (
        run("solve", "hangprinter", "poses.csv", "-o", "l.csv", "--kernel", "lengths").exit_code
        == 0
    )
    assert run("solve", "hangprinter", "l.csv", "-o", "p.csv").exit_code == 0
    assert run("solve", "hangprinter", "p.csv", "-o", "m.csv", "--kernel", "lengths").exit_code == 0
    found = np.array([[float(r[c]) for c in robot.coordinates] for r in read(tmp_path / "p.csv")])
    assert np.abs(found - poses).max() < 5 * robot.accuracy.length


def test_stdout_is_the_file_and_json_one_object(run, tmp_path):
    robot, poses, _ = poses_and_starts("hangprinter", 4)
    write(tmp_path / "in.csv", columns(robot.coordinates, poses))
    words = ("solve", "hangprinter", "in.csv", "--kernel", "lengths")
    run(*words, "-o", "out.csv")
    assert run(*words).stdout == (tmp_path / "out.csv").read_text()
    summary = json.loads(run(*words, "--json").stdout)
    assert (summary["rows"], summary["valid"], summary["engine"]) == (4, 4, "fixed")
    assert summary["columns"]["status"] == ["VALID"] * 4
    assert "columns" not in json.loads(run(*words, "--json", "-o", "out.csv").stdout)


def test_numbers_are_written_so_that_they_read_back_the_same(tmp_path):
    value = np.array([0.1 + 0.2, 1 / 3, -1e-17])
    Solved({"x": value, "status": np.array([1, 3, 0])}).write(tmp_path / "out.csv")
    rows = read(tmp_path / "out.csv")
    assert [float(row["x"]) for row in rows] == value.tolist()
    assert [row["status"] for row in rows] == ["VALID", "VALID|CONVERGED", "NONE"]


def test_the_generated_hardware_writes_the_bytes_of_the_model(run, tmp_path):
    if reason := available("verilator"):
        pytest.skip(reason)
    robot, poses, starts = poses_and_starts("hangprinter", 40)
    lengths = cable_lengths(robot, poses)
    lengths[5], starts[6] = 0.2, 9.0
    given = columns(length_names(robot), lengths) | columns(start_names(robot), starts)
    write(tmp_path / "in.csv", given)
    for engine in ("fixed", "rtl"):
        words = ("in.csv", "-o", f"{engine}.csv", "--engine", engine)
        assert run("solve", "hangprinter", *words).exit_code == 1
    assert (tmp_path / "fixed.csv").read_bytes() == (tmp_path / "rtl.csv").read_bytes()


@pytest.mark.parametrize(
    "rows, pattern",
    [
        ({"x": [0.1], "y": [0.1]}, r"rows: z: is a missing column; expected .*; got x, y"),
        ({"x": [0.1], "y": [0.1], "z": [np.nan]}, r"rows: z: cannot be used; expected 1 finite .*"),
        ({"x": [0.1], "y": [1, 2], "z": [1]}, r"rows: y: cannot be used; .*; got shape \(2,\)"),
        ({"x": [0], "y": [0], "z": [1], "w": [1]}, r"rows: w: is an unknown column; expected .*"),
    ],
)
def test_bad_columns_in_memory_are_named(rows, pattern):
    with pytest.raises(ValueError, match=pattern):
        solve("hangprinter", rows, kernel="lengths")


POINT = {"x": [0.1], "y": [0.2], "z": [0.3]}
TWIST = {"vx": [0.1], "vy": [0.2], "vz": [-0.1]}
RATES = {"dL1": [0.1], "dL2": [0.0], "dL3": [0.0], "dL4": [0.0]}


def test_rates_of_a_twist_have_that_twist():
    there = solve("hangprinter", POINT | TWIST, kernel="rate")
    rates = {name: there.columns[name] for name in RATES}
    back = solve("hangprinter", POINT | rates, kernel="rate")
    assert there.valid.all() and back.valid.all()
    for name, value in TWIST.items():
        assert abs(back.columns[name][0] - value[0]) < 5e-6


@pytest.mark.parametrize(
    "rows, pattern",
    [
        (POINT, r"rows: vx: is a missing column; expected vx, vy, vz or dL1, .*; got neither"),
        (POINT | TWIST | RATES, r"rows: vx: is given twice; expected vx, .* or dL1, .*; got both"),
        (POINT | {"dL2": [0]}, r"rows: dL1: is a missing column; expected all of dL1, .*; got dL2"),
    ],
)
def test_rates_need_exactly_one_way(rows, pattern):
    with pytest.raises(ValueError, match=pattern):
        solve("hangprinter", rows, kernel="rate")
