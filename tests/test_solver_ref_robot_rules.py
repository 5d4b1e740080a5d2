"""The rules that a robot has to satisfy, each with the exact line that breaking it gets."""

import re

import pytest
from robot_texts import CRANE, INERTIA, PLANAR, POINT, SECOND, edit, line_of

from solver_ref.robot_file import loads
from solver_ref.robot_rules import InertiaWarning

# Each bad crane: what is replaced, by what, and the line after the file's name.
BAD = [
    ('"crane"', '"a b"', "name: is no name; expected a letter, then letters, digits, - and _ "),
    (
        "[platform]",
        'closure = "lengths"\n[platform]',
        "closure: does not fit the robot; expected attitude or equilibrium or minimum-norm "
        "(4 lengths do not determine 6 coordinates); got lengths",
    ),
    (
        SECOND,
        "anchor = [-5.0, -4.0, 6.0]",
        "cable[2].anchor: coincides with cable[1].anchor; expected another place, or "
        'allow_coincident_anchors = "reason"; got (-5.0, -4.0, 6.0)',
    ),
    (
        "tension_min = 20.0",
        "tension_min = -1",
        "cable[1].tension_min: is out of range; expected 0 N or more, as cables only pull; "
        "got -1.0",
    ),
    (
        "tension_max = 12000.0",
        "tension_max = 20.0",
        "cable[1].tension_max: is out of range; expected more than 20.0 N, the least tension; "
        "got 20.0",
    ),
    ("mass = 85.0", "mass = 0", "platform.mass: is out of range; expected above 0 kg; got 0.0"),
    (
        INERTIA,
        "inertia = [[4, 0, 0], [0, 11, 0], [1, 0, 14]]",
        "platform.inertia: is out of range; expected a symmetric matrix; got ((4.0, 0.0, 0.0), "
        "(0.0, 11.0, 0.0), (1.0, 0.0, 14.0))",
    ),
    (
        INERTIA,
        "inertia = [[-4, 0, 0], [0, 11, 0], [0, 0, 14]]",
        "platform.inertia: is out of range; expected moments of 0 kg m^2 or more; "
        "got a moment of -4",
    ),
    (
        INERTIA,
        "inertia = [[4, 0, 0], [0, 11, 0], [0, 0, 16]]",
        "platform.inertia: breaks the triangle inequality; expected that of a body, or "
        'allow_nonphysical_inertia = "reason"; got moments [4.0, 11.0, 16.0]',
    ),
    (
        "tilt = 0.35",
        "tilt = -0.1",
        "workspace.tilt: is out of range; expected from 0 to below pi rad, start_error included; "
        "got -0.1",
    ),
    (
        "tilt = 0.35",
        "tilt = 3.1",
        "workspace.tilt: is out of range; expected from 0 to below pi rad, start_error included; "
        "got 3.1",
    ),
    (
        "[0.5, 4.0]",
        "[4.0, 0.5]",
        "workspace.position[3]: is an empty interval; expected the lowest value before the "
        "highest (m); got 4.0 and 0.5",
    ),
    (
        "home = [0.0, 0.0, 2.0]",
        "home = [0.0, 0.0, 5.0]",
        "workspace.home: is outside the workspace; expected a pose within position and tilt "
        "(m, rad); got (0.0, 0.0, 5.0, 0.0, 0.0, 0.0)",
    ),
    (
        "home = [0.0, 0.0, 2.0]",
        "home = [0, 0, 2, 0.3, 0.3, 0]",
        "workspace.home: is outside the workspace; expected a pose within position and tilt "
        "(m, rad); got (0.0, 0.0, 2.0, 0.3, 0.3, 0.0)",
    ),
    (
        "start_error = [0.05, 0.05]",
        "start_error = [-0.05, 0.05]",
        "workspace.start_error: is out of range; expected two numbers from 0 up; got (-0.05, 0.05)",
    ),
    (
        "length = 4e-6",
        "length = 0",
        "accuracy.length: is out of range; expected above 0 m; got 0.0",
    ),
    (
        "length = 4e-6",
        "length = 4e-6\nresidual_limit = 1e-6",
        "accuracy.residual_limit: is out of range; expected at least the accuracy, 4e-06 m; "
        "got 1e-06",
    ),
]


@pytest.mark.parametrize(("old", "new", "want"), BAD)
def test_a_bad_crane_is_refused_by_name(old: str, new: str, want: str) -> None:
    line = line_of(edit(CRANE, old, new))
    whole = want[-1] not in ", "
    assert re.fullmatch(re.escape(f"crane.toml: {want}") + ("" if whole else ".*"), line)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (
            edit(PLANAR, "anchor = [10, 6, 0]", "anchor = [10, 6, 1]"),
            "cable[3].anchor: leaves the plane; expected 0 along z; got (10.0, 6.0, 1.0)",
        ),
        (
            edit(PLANAR, "mass = 5.0", "com = [0, 0, 0.1]"),
            "platform.com: leaves the plane; expected 0 along z; got (0.0, 0.0, 0.1)",
        ),
        (
            edit(PLANAR, "inertia = 0.1", "inertia = 0"),
            "platform.inertia: has a moment of zero; expected that of a body, or "
            'allow_nonphysical_inertia = "reason"; got moments [0.0]',
        ),
        (
            edit(POINT, "anchor = [1, 1, 0]", "anchor = [1, 1, 0]\nattachment = [0, 0, 0.1]"),
            "cable[2].attachment: is off the point that moves; expected zeros or no such key; "
            "got (0.0, 0.0, 0.1)",
        ),
        (
            edit(POINT, "[workspace]", "[workspace]\ntilt = 0.1"),
            "workspace.tilt: is out of range; expected no tilt, as a point does not turn; got 0.1",
        ),
        (
            POINT + "[platform]\ninertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
            "platform.inertia: is out of range; expected no inertia, as a point does not turn; "
            "got a matrix",
        ),
    ],
)
def test_a_bad_plane_or_point_is_refused_by_name(text: str, want: str) -> None:
    assert line_of(text) == f"crane.toml: {want}"


def test_one_anchor_may_carry_two_cables_where_the_file_says_why() -> None:
    text = edit(CRANE, SECOND, "anchor = [-5.0, -4.0, 6.0]")
    allowed = 'allow_coincident_anchors = "each corner carries two cables"\n' + text
    assert loads(allowed).cables[0].anchor == loads(allowed).cables[1].anchor
    twice = edit(allowed, "attachment = [0.6, -0.2, 0.2]", "attachment = [-0.6, -0.2, 0.2]")
    assert line_of(twice) == (
        "crane.toml: cable[2].anchor: coincides with cable[1].anchor, attachments too; "
        "expected another place; got (-5.0, -4.0, 6.0)"
    )


@pytest.mark.parametrize("moments", [(4, 11, 16), (0, 0, 0), (1, 1, 0)])
def test_a_nonphysical_inertia_warns_where_the_file_says_why(moments: tuple[int, ...]) -> None:
    a, b, c = moments
    inertia = f"inertia = [[{a}, 0, 0], [0, {b}, 0], [0, 0, {c}]]"
    text = edit(CRANE, INERTIA, inertia)
    assert "platform.inertia: " in line_of(text)
    text = edit(text, inertia, inertia + '\nallow_nonphysical_inertia = "as published"')
    want = r"^crane\.toml: platform\.inertia: .*; accepted because: as published$"
    with pytest.warns(InertiaWarning, match=want):
        assert loads(text, file="crane.toml").platform.inertia is not None
