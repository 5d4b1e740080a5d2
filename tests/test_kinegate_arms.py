"""The commands on serial arms: checked, solved, and refused where poses are meant."""

import numpy as np
import pytest
from robot_kinds import built_in

import kinegate
from kinegate import tables
from solver_ref.dynamics.serial import torques
from solver_ref.errors import InputError
from solver_ref.robot_file import loads

ARM = """
name = "weak"
kind = "serial"
[[link]]
axis = [0, 1, 0]
mass = 1
com = [1, 0, 0]
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
limits = { position = [-1, 1], speed = 3, acceleration = 20, effort = %s }
"""


def test_check_says_what_an_arm_needs_and_costs(capsys) -> None:
    found = kinegate.check("pendulum")
    assert found["ok"] and found["findings"] == ()
    assert found["holding"][0] == pytest.approx(9.81 / 2, rel=1e-3)
    assert found["reach"] == 1.0
    assert found["cost"]["kernel"] == "rnea"
    assert found["cost"]["accuracy"] == 0.001
    tables.check(found)
    told = capsys.readouterr().out
    assert "quantum of torques" in told and "can be solved" in told


@pytest.mark.parametrize(
    ("effort", "ok", "name"),
    [(100, True, None), (20, True, "too-weak-at-limits"), (5, False, "too-weak-to-hold")],
)
def test_check_compares_torques_with_efforts(effort: float, ok: bool, name: str | None) -> None:
    found = kinegate.check(loads(ARM % effort))
    assert found["ok"] == ok
    assert [finding["name"] for finding in found["findings"]] == ([name] if name else [])


def test_solve_answers_rows_with_torques_of_either_engine() -> None:
    rows = {"q1": [0.5, 1.0, 3.3], "qd1": [1.0, 0.0, 0.0]}
    arm = built_in("pendulum").arm
    due = torques(arm, np.array([[0.5], [1.0]]), np.array([[1.0], [0.0]]))[:, 0]
    for engine, most in (("float", 1e-12), ("fixed", arm.accuracy)):
        found = kinegate.solve("pendulum", rows, engine=engine)
        assert found.valid.tolist() == [True, True, False]
        assert np.abs(found.columns["tau1"][:2] - due).max() <= most


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: kinegate.show("pendulum", "x.png"), "kind: has no poses"),
        (lambda: kinegate.check("pendulum", accuracy=1e-5), "accuracy: has no meaning"),
        (lambda: kinegate.check("pendulum", closure="lengths"), "closure: has no meaning"),
        (
            lambda: kinegate.generate("pendulum", "x", kernel="step"),
            "kernel: is not made for the kind serial yet; expected one of rnea",
        ),
        (
            lambda: kinegate.generate("planar4", "x", kernel="rnea"),
            "kernel: is not made for the kind cable yet; expected one of lengths",
        ),
    ],
)
def test_what_an_arm_has_not_is_refused_by_name(call, line: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert line in str(caught.value)
