"""The keys of a cable beyond its ends: defaults, units, directions, and the lines of bad ones."""

import json
import math
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from robot_kinds import of_cables
from robot_texts import CRANE, PLANAR, SECOND, edit, line_of

from solver_ref.parts import Drum, Pulley, Stiffness
from solver_ref.robot import Robot
from solver_ref.robot_facts import from_facts
from solver_ref.robot_file import load, loads

FULL = """
pulley = { radius = 0.05, axis = [0, 0, 2], axle = [0, -3, 0], efficiency = 0.92 }
stiffness = { k0 = 2e5, alpha = 2.0, static_friction = 30, slip = 8000, k_max = 4e5 }
thermal = 1.2e-5
linear_density = 0.21
offset = -0.1254
drum = { radius = 0.0381, build_up = 1.27e-4, capacity = 25.4 }
"""
PARTS = {
    "pulley": Pulley(radius=0.05, axis=(0, 0, 1), axle=(0, -1, 0), efficiency=0.92),
    "stiffness": Stiffness(k0=2e5, alpha=2.0, static_friction=30, slip=8000, k_max=4e5),
    "thermal": 1.2e-5,
    "linear_density": 0.21,
    "offset": -0.1254,
    "drum": Drum(radius=0.0381, build_up=1.27e-4, capacity=25.4),
}


def with_cable(keys: str) -> str:
    """The crane with more keys at its second cable."""
    return edit(CRANE, SECOND, SECOND + "\n" + keys)


def with_defaults(keys: str) -> str:
    return edit(CRANE, "[workspace]", f"[cable_defaults]\n{keys}\n[workspace]")


def test_every_key_of_a_cable_is_read() -> None:
    robot = loads(with_cable(FULL))
    assert robot.cables[1] == replace(loads(CRANE).cables[1], **PARTS)
    assert robot.cables[0] == loads(CRANE).cables[0]


def test_what_is_left_out_has_its_default() -> None:
    keys = "pulley = { radius = 0.05, axis = [0, 0, 1] }\nstiffness = { k0 = 2e5 }"
    cable = loads(with_cable(keys)).cables[1]
    assert cable.pulley == Pulley(radius=0.05, axis=(0, 0, 1), axle=None, efficiency=1.0)
    assert cable.stiffness == Stiffness(
        k0=2e5, alpha=0.0, static_friction=0.0, slip=None, k_max=None
    )
    plain = loads(CRANE).cables[1]
    assert (plain.pulley, plain.stiffness, plain.drum) == (None, None, None)
    assert (plain.thermal, plain.linear_density, plain.offset) == (0.0, 0.0, 0.0)


def test_defaults_hold_for_every_cable_that_does_not_say_otherwise() -> None:
    own = "thermal = 0\npulley = { radius = 0.1, axis = [0, 0, 1] }"
    text = edit(with_defaults(FULL), SECOND, SECOND + "\n" + own)
    cables = loads(text).cables
    assert cables[0] == replace(loads(CRANE).cables[0], **PARTS)
    # A key of the cable replaces the whole value, its table is not merged.
    other = PARTS | {"thermal": 0.0, "pulley": Pulley(radius=0.1, axis=(0, 0, 1))}
    assert cables[1] == replace(loads(CRANE).cables[1], **other)


def test_the_example_of_the_documentation_is_read() -> None:
    text = (Path(__file__).parents[1] / "docs" / "files.md").read_text(encoding="utf-8")
    example = next(
        block for block in re.findall(r"```toml\n(.*?)```", text, re.S) if "my-real-crane" in block
    )
    robot = loads(example)
    assert robot.sensors == ("tension", "temperature")
    assert [cable.offset for cable in robot.cables] == [0.0132, 0.0, 0.0, 0.0]
    assert robot.cables[1].pulley == Pulley(radius=0.05, axis=(0, 0, 1), axle=(0, -1, 0))
    assert robot.cables[2].pulley == robot.cables[0].pulley != robot.cables[1].pulley
    assert all(cable.drum and cable.stiffness for cable in robot.cables)


def test_defaults_are_the_same_as_writing_them_out() -> None:
    spelled = re.sub(r"(anchor = .*)", lambda m: m[1] + FULL, CRANE)
    assert loads(spelled).digest == loads(with_defaults(FULL)).digest != loads(CRANE).digest


@pytest.mark.parametrize(
    ("unit", "metres"), [("mm", "0.001"), ("cm", "0.01"), ("in", "0.0254"), ("m", "1")]
)
def test_each_quantity_scales_with_its_own_power_of_the_unit_of_length(
    unit: str, metres: str
) -> None:
    """The numbers of FULL divided by hand; those in inches are exact too."""
    one = {
        "mm": (50, 2e2, 0.002, 4e2, 0.00021, -125.4, 38.1, 0.127, 25400),
        "cm": (5, 2e3, 0.02, 4e3, 0.0021, -12.54, 3.81, 0.0127, 2540),
        "in": (1.5, 5080, 0.0508, 10160, 0.005334, -4.937, 1.5, 0.005, 1000),
        "m": (0.05, 2e5, 2, 4e5, 0.21, -0.1254, 0.0381, 1.27e-4, 25.4),
    }[unit]
    radius, k0, alpha, k_max, density, offset, drum, build_up, capacity = one
    text = f"""
    name = "a"
    kind = "cable"
    motion = "point"
    units = {{ length = "{unit}" }}
    [cable_defaults]
    pulley = {{ radius = {radius}, axis = [0, 0, 1] }}
    stiffness = {{ k0 = {k0}, alpha = {alpha}, static_friction = 30, slip = 8000, k_max = {k_max} }}
    linear_density = {density}
    thermal = 1e-5
    offset = {offset}
    drum = {{ radius = {drum}, build_up = {build_up}, capacity = {capacity} }}
    [[cable]]
    anchor = [0, 0, 100]
    [[cable]]
    anchor = [0, 1, 100]
    [[cable]]
    anchor = [1, 0, 100]
    [workspace]
    position = [[0, 1], [0, 1], [0, 1]]
    start_error = [0, 0]
    """
    factor = float(metres)
    # The workspace is in the same unit, and a drum of 25.4 m has to reach it.
    text = text.replace("100]", f"{10 / factor:.10g}]")
    cable = loads(text).cables[2]
    assert cable.stiffness == PARTS["stiffness"]
    assert cable.linear_density == 0.21
    assert cable.drum == PARTS["drum"]
    assert cable.thermal == 1e-5
    if unit == "in":
        assert (cable.pulley.radius, cable.offset) == (0.0381, -0.1253998)
    else:
        assert (cable.pulley.radius, cable.offset) == (0.05, -0.1254)


def test_directions_become_unit_vectors_whatever_their_size() -> None:
    for size in ("1", "1e-200", "1e200", "5e-324"):
        keys = f"pulley = {{ radius = 0.05, axis = [0, {size}, -{size}], axle = [-{size}, 0, 0] }}"
        pulley = loads(with_cable(keys)).cables[1].pulley
        half = math.sqrt(0.5)
        assert pulley.axis == pytest.approx((0.0, half, -half), rel=1e-15)
        assert pulley.axle == (-1.0, 0.0, 0.0)
        assert math.copysign(1, pulley.axis[0]) == 1


def test_an_axle_that_is_nearly_perpendicular_is_made_so() -> None:
    keys = "pulley = { radius = 0.05, axis = [0.6, 0.8, 0], axle = [8e-10, 6e-10, 1] }"
    pulley = loads(with_cable(keys)).cables[1].pulley
    assert math.hypot(*pulley.axle) == pytest.approx(1.0, abs=1e-15)
    assert abs(math.fsum(a * b for a, b in zip(pulley.axis, pulley.axle, strict=True))) < 1e-16
    assert pulley.axle == pytest.approx((8e-10, 6e-10, 1.0), abs=2e-9)


# Keys of the second cable, and the line after the file's name.
BAD = [
    ("pulley = 0.05", "pulley: is no table; expected a table; got 0.05"),
    (
        "pulley = { radius = 0.05 }",
        "pulley.axis: is missing; expected 3 numbers; got nothing",
    ),
    (
        "pulley = { axis = [0, 0, 1] }",
        "pulley.radius: is missing; expected a number; got nothing",
    ),
    (
        "pulley = { radius = 0.05, axis = [0, 0, 0] }",
        "pulley.axis: is zero; expected a direction; got (0.0, 0.0, 0.0)",
    ),
    (
        "pulley = { radius = 0.05, axis = [0, 0, inf] }",
        "pulley.axis[3]: is not finite; expected a finite number; got Infinity",
    ),
    (
        "pulley = { radius = nan, axis = [0, 0, 1] }",
        "pulley.radius: is not finite; expected a finite number; got NaN",
    ),
    (
        "pulley = { radius = 0.05, axis = [0, 0, 1], axle = [0, 0, 0] }",
        "pulley.axle: is zero; expected a direction; got (0.0, 0.0, 0.0)",
    ),
    (
        "pulley = { radius = 0.05, axis = [0, 0, 1], axle = [0, 1, 1e-8] }",
        "pulley.axle: is not perpendicular to the axis; expected a cosine within 1e-09; got 1e-08",
    ),
    (
        "pulley = { radius = 0.05, axis = [0, 0, 1], swivel = true }",
        "pulley.swivel: is an unknown key; expected only radius, axis, axle, efficiency; "
        "got the truth value true",
    ),
    (
        "pulley = { radius = 0.05, axis = [0, 0, 1], efficiency = nan }",
        "pulley.efficiency: is not finite; expected a finite number; got NaN",
    ),
    ("stiffness = 1e6", "stiffness: is no table; expected a table; got 1E+6"),
    ("stiffness = { alpha = 2 }", "stiffness.k0: is missing; expected a number; got nothing"),
    (
        "stiffness = { k0 = 2e5, kmax = 4e5 }",
        "stiffness.kmax: is an unknown key, did you mean k_max; expected only k0, alpha, "
        "static_friction, slip, k_max; got 4E+5",
    ),
    *(
        (
            f"stiffness = {{ k0 = 2e5, {key} = nan }}",
            f"stiffness.{key}: is not finite; expected a finite number; got NaN",
        )
        for key in ("alpha", "static_friction", "slip", "k_max")
    ),
    ("drum = []", "drum: is no table; expected a table; got a list"),
    (
        "drum = { radius = 0.05, capacity = 20 }",
        "drum.build_up: is missing; expected a number; got nothing",
    ),
    *(
        (f"{key} = inf", f"{key}: is not finite; expected a finite number; got Infinity")
        for key in ("thermal", "linear_density", "offset")
    ),
]


@pytest.mark.parametrize(("keys", "want"), BAD)
def test_a_bad_cable_is_refused_by_name(keys: str, want: str) -> None:
    assert line_of(with_cable(keys)) == f"crane.toml: cable[2].{want}"


@pytest.mark.parametrize(("keys", "want"), BAD)
def test_a_bad_default_is_refused_where_it_is_written(keys: str, want: str) -> None:
    assert line_of(with_defaults(keys)) == f"crane.toml: cable_defaults.{want}"


def test_defaults_hold_no_ends_and_are_a_table() -> None:
    line = line_of(with_defaults("anchor = [0, 0, 1]"))
    assert line.startswith("crane.toml: cable_defaults.anchor: is an unknown key; expected only ")
    line = line_of(edit(CRANE, "[platform]", "cable_defaults = 3\n[platform]"))
    assert line == "crane.toml: cable_defaults: is no table; expected a table; got 3"


@pytest.mark.parametrize(
    "robot",
    [
        *map(load, of_cables()),
        loads(with_cable(FULL)),
        loads(edit(CRANE, "[platform]", 'sensors = ["tension", "inclinometer"]\n[platform]')),
        loads(PLANAR),
    ],
    ids=lambda robot: robot.name,
)
def test_a_robot_survives_json(robot: Robot) -> None:
    again = from_facts(json.loads(json.dumps(asdict(robot))))
    assert again == robot
    assert again.digest == robot.digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("radius = 0.05", "radius = 0.06"),
        ("[0, 0, 2]", "[1, 0, 2]"),
        ("axle = [0, -3, 0], ", ""),
        ("efficiency = 0.92", "efficiency = 0.93"),
        ("k0 = 2e5", "k0 = 2.1e5"),
        ("alpha = 2.0", "alpha = 2.5"),
        ("static_friction = 30", "static_friction = 31"),
        ("slip = 8000", "slip = 8001"),
        ("k_max = 4e5", "k_max = 5e5"),
        ("thermal = 1.2e-5", "thermal = 1.3e-5"),
        ("linear_density = 0.21", "linear_density = 0.22"),
        ("offset = -0.1254", "offset = 0.1254"),
        ("radius = 0.0381", "radius = 0.0382"),
        ("build_up = 1.27e-4", "build_up = 1.28e-4"),
        ("capacity = 25.4", "capacity = 25.5"),
    ],
)
def test_the_digest_changes_with_every_key(old: str, new: str) -> None:
    assert loads(with_cable(edit(FULL, old, new))).digest != loads(with_cable(FULL)).digest
