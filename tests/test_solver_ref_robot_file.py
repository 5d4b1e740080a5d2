"""Robot files: units, defaults, and the exact line that each malformed file gets."""

import math
import re
from pathlib import Path

import pytest
from robot_texts import CRANE, INERTIA, PLANAR, POINT, SECOND, edit, line_of

from solver_ref.robot_file import RobotError, builtin_names, load, loads
from solver_ref.robot_rules import InertiaWarning


def in_unit(factor: float, unit: str) -> str:
    """The crane with each length written in `unit`, of which one metre holds `factor`."""

    def scaled(power: int, numbers: str) -> str:
        return re.sub(r"-?\d[\d.e-]*", lambda m: f"{float(m[0]) * factor**power:.10g}", numbers)

    powers = {"anchor": 1, "attachment": 1, "com": 1, "position": 1, "home": 1, "length": 1}
    lines = []
    for line in CRANE.splitlines():
        key, equals, value = line.partition(" = ")
        if key == "inertia":
            value = scaled(2, value)
        elif key == "start_error":
            value = f"[{0.05 * factor:.10g}, 0.05]"
        elif key in powers:
            value = scaled(powers[key], value)
        lines.append(key + equals + value)
    gravity = f"gravity = [0, 0, {-9.81 * factor:.10g}]"
    lines.insert(1, f'units = {{ length = "{unit}" }}\n{gravity}')
    return "\n".join(lines)


@pytest.mark.parametrize(("factor", "unit"), [(1, "m"), (100, "cm"), (1000, "mm")])
def test_a_robot_is_the_same_in_every_unit_of_length(factor: float, unit: str) -> None:
    robot, other = loads(CRANE), loads(in_unit(factor, unit))
    assert other == robot
    assert other.digest == robot.digest


def test_inches_and_degrees_are_exact() -> None:
    text = edit(CRANE, "[platform]", '[units]\nlength = "in"\nangle = "deg"\n[platform]')
    text = edit(text, "tilt = 0.35", "tilt = 20")
    text = edit(text, "home = [0.0, 0.0, 2.0]", "home = [0, 0, 2, 0, 0, 10]")
    robot = loads(edit(text, "start_error = [0.05, 0.05]", "start_error = [1, 3]"))
    assert robot.cables[0].anchor == (-0.127, -0.1016, 0.1524)
    assert robot.workspace.tilt == math.radians(20)
    assert robot.workspace.home == (0.0, 0.0, 0.0508, 0.0, 0.0, math.radians(10))
    assert robot.workspace.start_error == (0.0254, math.radians(3))
    assert robot.cables[0].tension_max == 12000.0


def test_minus_zero_is_zero() -> None:
    text = edit(CRANE, "com = [0.0, 0.0, 0.1]", "com = [-0.0, 0.0, 0.1]")
    assert loads(text).digest == loads(CRANE).digest


def test_defaults_are_those_of_the_design() -> None:
    crane, frame, printer = loads(CRANE), loads(PLANAR), loads(POINT)
    assert crane.closure == "minimum-norm"
    assert frame.closure == printer.closure == "lengths"
    assert crane.gravity == printer.gravity == (0.0, 0.0, -9.81)
    assert frame.gravity == (0.0, 0.0, 0.0)
    assert frame.workspace.home == (5.0, 3.0, 0.0)
    assert printer.workspace.home == (0.0, 0.0, 0.55)
    assert frame.workspace.start_error == (0.05, 0.05)
    assert (frame.accuracy.length, frame.accuracy.residual_limit) == (1e-5, 1e-3)
    assert frame.platform.inertia == ((0.0,) * 3, (0.0,) * 3, (0.0, 0.0, 0.1))
    assert printer.platform.mass is None
    assert printer.cables[0].attachment == (0.0, 0.0, 0.0)


def test_the_order_of_the_sensors_changes_nothing() -> None:
    one, other = (
        loads(edit(CRANE, "[platform]", f"sensors = {words}\n[platform]"))
        for words in (
            '["temperature", "attitude", "tension"]',
            '["attitude", "tension", "temperature"]',
        )
    )
    assert one.sensors == ("attitude", "tension", "temperature")
    assert one.digest == other.digest != loads(CRANE).digest


def test_a_vertical_plane_has_gravity_along_minus_z_and_turns_about_y() -> None:
    text = PLANAR.replace("planar-xy", "planar-xz")
    text = re.sub(r"(anchor|attachment) = \[(.*), (.*), 0\]", r"\1 = [\2, 0, \3]", text)
    robot = loads(text)
    assert robot.gravity == (0.0, 0.0, -9.81)
    assert robot.coordinates == ("x", "z", "theta")
    assert robot.platform.inertia is not None
    assert robot.platform.inertia[1][1] == 0.1


# Each bad crane: what is replaced, by what, and the line after the file's name.
BAD = [
    ('name = "crane"', "nam = 1", "nam: is an unknown key, did you mean name; expected only name,"),
    ('name = "crane"', "", "name: is missing; expected a text; got nothing"),
    ('name = "crane"', "name = 5", "name: is no text; expected a text; got 5"),
    ('"crane"', '" "', "name: is empty; expected a text; got ' '"),
    ('"cable"', '"chain"', "kind: is an unknown word; expected one of cable, "),
    (
        '"spatial"',
        '"planar"',
        "motion: is an unknown word; expected one of spatial, planar-xy, planar-xz, point, "
        "point-xy, point-xz; got 'planar'",
    ),
    (
        "[platform]",
        'closure = "none"\n[platform]',
        "closure: is an unknown word; expected one of lengths, attitude, equilibrium, "
        "minimum-norm; got 'none'",
    ),
    (
        "[platform]",
        'units = { length = "ft" }\n[platform]',
        "units.length: is an unknown word; expected one of m, cm, mm, in; got 'ft'",
    ),
    (
        "[platform]",
        'sensors = "attitude"\n[platform]',
        "sensors: is no list; expected a list of words; got 'attitude'",
    ),
    (
        "[platform]",
        'sensors = ["tension", "gyro"]\n[platform]',
        "sensors[2]: is an unknown word; expected one of attitude, inclinometer, tension, "
        "temperature; got 'gyro'",
    ),
    (
        "[platform]",
        "sensors = [1]\n[platform]",
        "sensors[1]: is an unknown word; expected one of attitude, inclinometer, tension, "
        "temperature; got 1",
    ),
    (
        "[platform]",
        'sensors = ["tension", "tension"]\n[platform]',
        "sensors[2]: is named twice; expected each word once; got 'tension'",
    ),
    ("[platform]", "units = 3\n[platform]", "units: is no table; expected a table; got 3"),
    (
        "[platform]",
        "gravity = [0, 0]\n[platform]",
        "gravity: has the wrong size; expected 3 numbers; got 2",
    ),
    ("[platform]", "[spring]\n[platform]", "spring: is not supported yet; expected only name,"),
    ("[platform]", "[pulley]\n[platform]", "pulley: is an unknown key; expected only name,"),
    (
        SECOND,
        SECOND + "\nspring = 1e6",
        "cable[2].spring: is not supported yet; expected only anchor, attachment, "
        "tension_min, tension_max, pulley, stiffness, thermal, linear_density, offset, drum; "
        "got 1E+6",
    ),
    (
        SECOND,
        SECOND + '\n"a\\nb" = true',
        "cable[2].'a\\nb': is an unknown key; expected only anchor, attachment, ",
    ),
    (
        SECOND,
        'anchor = ["5", 0, 0]',
        "cable[2].anchor[1]: is no number; expected a number; got the text '5'",
    ),
    (
        SECOND,
        "anchor = [true, 0, 0]",
        "cable[2].anchor[1]: is no number; expected a number; got the truth value true",
    ),
    (SECOND, "anchor = 5", "cable[2].anchor: is no list; expected 3 numbers; got 5"),
    (SECOND, "", "cable[2].anchor: is missing; expected 3 numbers; got nothing"),
    (
        SECOND,
        "anchor = [5.0, nan, 6.0]",
        "cable[2].anchor[2]: is not finite; expected a finite number; got NaN",
    ),
    (
        SECOND,
        "anchor = [5.0, -inf, 6.0]",
        "cable[2].anchor[2]: is not finite; expected a finite number; got -Infinity",
    ),
    (
        SECOND,
        "anchor = [5.0, 1e400, 6.0]",
        "cable[2].anchor[2]: is not finite; expected a finite number; got 1E+400",
    ),
    (
        SECOND,
        "anchor = [5.0, 1e9999999999999999999, 6.0]",
        "cable[2].anchor[2]: is not finite; expected a finite number; got Infinity",
    ),
    (
        "attachment = [0.6, -0.2, 0.2]",
        "attachment = [0.6, -0.2]",
        "cable[2].attachment: has the wrong size; expected 3 numbers; got 2",
    ),
    (
        INERTIA,
        "inertia = [[4, 0, 0], [0, 11, 0]]",
        "platform.inertia: has the wrong size; expected 3 lists of 3 numbers; got 2 rows",
    ),
    (INERTIA, "inertia = 4", "platform.inertia: is no list; expected 3 lists of 3 numbers; got 4"),
    (
        "tilt = 0.35",
        "",
        "workspace.tilt: is missing; expected the largest rotation in rad; got nothing",
    ),
    (
        "position = [[-3.0, 3.0], ",
        "position = [",
        "workspace.position: has the wrong size; expected 3 lists of 2 numbers; got 2 rows",
    ),
    (
        "home = [0.0, 0.0, 2.0]",
        "home = [0, 0]",
        "workspace.home: has the wrong size; expected 6 numbers; got 2",
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
            edit(POINT, "[[cable]]\nanchor = [1, 1, 0]\n", ""),
            "cable: holds too few cables; expected 3 to 10 [[cable]] tables; got 2",
        ),
        (
            POINT + "".join(f"[[cable]]\nanchor = [{i}, 9, 9]\n" for i in range(8)),
            "cable: holds too many cables; expected 3 to 10 [[cable]] tables; got 11",
        ),
        (
            'name = "a"\nkind = "cable"\nmotion = "point"\ncable = 3',
            "cable: is no array of tables; expected 3 to 10 [[cable]] tables; got a value",
        ),
        (
            POINT.partition("[workspace]")[0],
            "workspace: is missing; expected a table; got nothing",
        ),
    ],
)
def test_a_bad_plane_or_point_is_refused_by_name(text: str, want: str) -> None:
    assert line_of(text) == f"crane.toml: {want}"


def test_the_builtins_load_without_a_warning_but_for_published_points_of_mass() -> None:
    for name in builtin_names():
        if name in ("puma560", "two-link"):
            with pytest.warns(InertiaWarning, match="published so"):
                load(name)
        else:
            load(name)


def test_malformed_text_is_refused_with_its_place() -> None:
    assert re.fullmatch(
        r"crane\.toml: TOML: is malformed; expected a TOML document; got .*line 2.*",
        line_of("name = 1\nname\n"),
    )
    assert "is malformed" in line_of("a = " + "[" * 100_000)
    assert "is malformed" in line_of("a = " + "9" * 10_000)


def test_a_name_that_is_nothing_gets_the_names_that_are() -> None:
    want = (
        "cogirow: ROBOT: is neither a file nor a built-in robot, did you mean cogiro; "
        f"expected a path or one of {', '.join(builtin_names())}; got 'cogirow'"
    )
    with pytest.raises(RobotError, match=f"^{re.escape(want)}$"):
        load("cogirow")


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "crane.toml"
    path.write_text(CRANE, encoding="utf-8")
    assert load(path) == load(str(path)) == loads(CRANE)


def test_what_is_no_text_file_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "crane.toml"
    path.write_bytes(b"name = \xff")
    for place, reason in ((path, "not UTF-8 text"), (tmp_path, "Is a directory")):
        want = f"{place}: ROBOT: cannot be read; expected a TOML file; got {reason}"
        with pytest.raises(RobotError, match=f"^{re.escape(want)}$"):
            load(place)
