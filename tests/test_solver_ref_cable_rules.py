"""The rules of cables: pulleys, stiffness, drums and what must fit the workspace."""

import re

import pytest
from robot_texts import CRANE, PLANAR, POINT, SECOND, edit, line_of

from solver_ref.robot_file import loads

STIFF = "stiffness = { k0 = 2e5, alpha = 2, static_friction = 30, slip = 8e3, k_max = 4e5 }"
PULLEY = "pulley = { radius = 0.05, axis = [0, 0, 1], efficiency = 0.92 }"
DRUM = "drum = { radius = 0.05, build_up = 1e-4, capacity = 20 }"

# What a good key becomes, and the line after the key.
BAD = [
    (PULLEY, "0.05", "-0.05", "pulley.radius", "above 0 m; got -0.05"),
    (PULLEY, "0.05", "0", "pulley.radius", "above 0 m; got 0.0"),
    (PULLEY, "0.92", "0", "pulley.efficiency", "above 0 and at most 1; got 0.0"),
    (PULLEY, "0.92", "1.01", "pulley.efficiency", "above 0 and at most 1; got 1.01"),
    (PULLEY, "0.92", "-0.9", "pulley.efficiency", "above 0 and at most 1; got -0.9"),
    (STIFF, "k0 = 2e5", "k0 = 0", "stiffness.k0", "above 0 N/m; got 0.0"),
    (STIFF, "k0 = 2e5", "k0 = -2e5", "stiffness.k0", "above 0 N/m; got -200000.0"),
    (STIFF, "alpha = 2", "alpha = -2", "stiffness.alpha", "0 /m or more; got -2.0"),
    (
        STIFF,
        "static_friction = 30",
        "static_friction = -1",
        "stiffness.static_friction",
        "0 N or more; got -1.0",
    ),
    (
        STIFF,
        "slip = 8e3",
        "slip = 30",
        "stiffness.slip",
        "more than 30.0 N, the static friction; got 30.0",
    ),
    (
        STIFF,
        ", k_max = 4e5",
        "",
        "stiffness.slip",
        "k_max beside it, which holds above; got 8000.0",
    ),
    (
        STIFF,
        ", slip = 8e3",
        "",
        "stiffness.k_max",
        "slip beside it, above which it holds; got 400000.0",
    ),
    (
        STIFF,
        "k_max = 4e5",
        "k_max = 2.1e5",
        "stiffness.k_max",
        "at least 216000 N/m, the stiffness at slip; got 210000.0",
    ),
    ("thermal = 1e-5", "1e-5", "-1e-5", "thermal", "0 to 0.001 /K; got -1e-05"),
    ("thermal = 1e-5", "1e-5", "12", "thermal", "0 to 0.001 /K; got 12.0"),
    ("linear_density = 1", "= 1", "= -1", "linear_density", "0 kg/m or more; got -1.0"),
    (DRUM, "0.05", "0", "drum.radius", "above 0 m; got 0.0"),
    (DRUM, "1e-4", "-1e-4", "drum.build_up", "0 m^2/m or more; got -0.0001"),
    (DRUM, "20", "-20", "drum.capacity", "above 0 m; got -20.0"),
]


@pytest.mark.parametrize("shared", [False, True], ids=["cable", "defaults"])
@pytest.mark.parametrize(("good", "old", "new", "key", "want"), BAD)
def test_what_is_out_of_range_is_refused_where_it_is_written(
    good: str, old: str, new: str, key: str, want: str, shared: bool
) -> None:
    place = "cable_defaults" if shared else "cable[2]"
    keys = edit(good, old, new)
    for text, error in ((good, None), (keys, f"{place}.{key}: is out of range; expected {want}")):
        if shared:
            crane = edit(CRANE, "[workspace]", f"[cable_defaults]\n{text}\n[workspace]")
        else:
            crane = edit(CRANE, SECOND, f"{SECOND}\n{text}")
        if error is None:
            loads(crane)
        else:
            assert line_of(crane) == f"crane.toml: {error}"


def test_the_stiffness_may_stay_what_it_is_at_slip() -> None:
    keys = edit(STIFF, "k_max = 4e5", "k_max = 216e3")
    assert loads(edit(CRANE, SECOND, f"{SECOND}\n{keys}")).cables[1].stiffness.k_max == 216e3


def test_a_shared_tension_limit_is_refused_where_it_is_written() -> None:
    text = edit(CRANE, "[workspace]", "[cable_defaults]\ntension_min = -1\n[workspace]")
    assert line_of(text) == (
        "crane.toml: cable_defaults.tension_min: is out of range; expected 0 N or more, as cables "
        "only pull; got -1.0"
    )


def test_a_pulley_so_large_that_an_attachment_can_lie_inside_is_refused() -> None:
    for radius, good in ((0.5, True), (1.0, True), (1.5, False), (3.0, False)):
        keys = f"{SECOND}\npulley = {{ radius = {radius}, axis = [0, 0, 1] }}"
        text = edit(CRANE, SECOND, keys)
        if good:
            loads(text)
            continue
        line = line_of(text)
        found = re.fullmatch(
            r"crane\.toml: cable\[2\]\.pulley\.radius: is out of range; expected below (.*) m, so "
            r"that no attachment of the grown workspace can lie inside the pulley; got (.*)",
            line,
        )
        assert found and float(found[2]) == radius
        # Level, the nearest attachment is at (3.65, -2.75, 4.25) and 2.51 m away.
        assert 1.1 < float(found[1]) < 2.51 / 2


def test_an_anchor_inside_the_box_leaves_no_room_for_a_pulley() -> None:
    """All corners are far from it, the poses between them are not."""
    keys = "anchor = [0, 0, 0.5]\npulley = { radius = 1e-3, axis = [0, 0, 1] }"
    line = line_of(edit(POINT, "anchor = [1, 1, 0]", keys))
    assert line.startswith("crane.toml: cable[2].pulley.radius: is out of range; expected below 0 ")


def test_a_drum_holds_the_longest_cable() -> None:
    text = edit(CRANE, SECOND, f"{SECOND}\n{edit(DRUM, '20', '11')}")
    line = line_of(text)
    found = re.fullmatch(
        r"crane\.toml: cable\[2\]\.drum\.capacity: is out of range; expected at least (.*) m, the "
        r"longest cable; got 11\.0",
        line,
    )
    # Level, the farthest attachment is at (-2.45, 2.35, 0.65): 11.15 m.
    assert found and 11.15 < float(found[1]) < 11.5
    loads(edit(CRANE, SECOND, f"{SECOND}\noffset = 1\n{edit(DRUM, '20', '11')}"))


@pytest.mark.parametrize(
    ("pulley", "want"),
    [
        ("axis = [0, 1, 0.1]", "pulley.axis: leaves the plane; expected 0 along z; got "),
        (
            "axis = [0, 1, 0], axle = [1, 0, 0]",
            "pulley.axle: leaves the plane; expected an axle along z; got (1.0, 0.0, 0.0)",
        ),
    ],
)
def test_the_pulleys_of_a_planar_robot_lie_in_its_plane(pulley: str, want: str) -> None:
    keys = f"anchor = [10, 6, 0]\npulley = {{ radius = 0.05, {pulley} }}"
    line = line_of(edit(PLANAR, "anchor = [10, 6, 0]", keys))
    assert line.startswith(f"crane.toml: cable[3].{want}")


@pytest.mark.parametrize("axle", ["", ", axle = [0, 0, 5]", ", axle = [0, 0, -5]"])
def test_a_planar_robot_may_have_pulleys(axle: str) -> None:
    keys = f"anchor = [10, 6, 0]\npulley = {{ radius = 0.05, axis = [0, 1, 0]{axle} }}"
    assert loads(edit(PLANAR, "anchor = [10, 6, 0]", keys)).cables[2].pulley.radius == 0.05


SENSORS = [
    (
        CRANE,
        '["attitude", "inclinometer"]',
        "one of them, as attitude holds what an inclinometer measures; got attitude and "
        "inclinometer",
    ),
    (
        POINT,
        '["attitude"]',
        "neither attitude nor inclinometer, as a point does not turn; got attitude",
    ),
    (
        POINT,
        '["tension", "inclinometer"]',
        "neither attitude nor inclinometer, as a point does not turn; got inclinometer",
    ),
    (
        PLANAR,
        '["inclinometer"]',
        "attitude, as a planar platform has one rotation; got inclinometer",
    ),
]


@pytest.mark.parametrize(("text", "sensors", "want"), SENSORS)
def test_sensors_that_do_not_fit_the_robot_are_refused(text: str, sensors: str, want: str) -> None:
    text = edit(text, 'kind = "cable"', f'kind = "cable"\nsensors = {sensors}')
    assert line_of(text) == f"crane.toml: sensors: do not fit the robot; expected {want}"


def test_the_balance_of_forces_needs_the_mass() -> None:
    text = edit(CRANE, 'kind = "cable"', 'kind = "cable"\nclosure = "equilibrium"')
    assert loads(text).closure == "equilibrium"
    line = line_of(edit(text, "mass = 85.0", ""))
    assert line.startswith("crane.toml: closure: does not fit the robot; ")
    assert "equilibrium needs the mass" in line
