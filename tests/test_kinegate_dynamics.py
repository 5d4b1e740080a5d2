"""The commands on a mechanism with masses: checked, solved, and refused by name."""

import numpy as np
import pytest

import kinegate
from kinegate import tables
from solver_ref.errors import InputError


def test_check_says_what_a_step_costs(capsys) -> None:
    found = kinegate.check("kj9", kernel="dynamics")
    assert found["ok"] and found["cost"]["judged"] == ("accelerations", "rad/s^2")
    assert found["cost"]["accuracy"] == 4e-3 > found["cost"]["quantum"]
    tables.check(found)
    assert "quantum of accelerations" in capsys.readouterr().out


def test_solve_answers_a_pose_with_the_state_one_step_later() -> None:
    rows = {"x0": [0.05, 0.35], "y0": [-0.25, 0.1], "theta0": [0.0, 0.3], "wz0": [1.0, 0.0]}
    fixed, exact = (
        kinegate.solve("kj9", rows, kernel="dynamics", engine=engine)
        for engine in ("fixed", "float")
    )
    for found in (fixed, exact):
        assert found.valid.tolist() == [True, False]  # the second pose is out of reach
        assert found.columns["theta"][0] == pytest.approx(1e-5, abs=1e-8)
    assert np.abs(fixed.columns["da1"] - exact.columns["da1"])[0] <= 4e-3 * 1e-5


@pytest.mark.parametrize(
    ("robot", "options", "line"),
    [
        ("kj9", {"kernel": "dynamics", "accuracy": 1e-6}, "accuracy: has no meaning"),
        ("kj9", {"kernel": "rnea"}, "kernel: is not made for the kind planar-3rrr yet"),
        ("rrr-kj9", {"kernel": "dynamics"}, "kernel: is not made for the kind planar-3rrr yet"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(robot: str, options: dict, line: str) -> None:
    with pytest.raises(InputError) as caught:
        kinegate.check(robot, **options)
    assert line in str(caught.value)
