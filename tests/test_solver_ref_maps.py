"""Maps: sections, fields, criteria and the safe region."""

import dataclasses

import numpy as np
import pytest
from robot_kinds import with_poses

from solver_ref.conditioning import conditioning, scaled_jacobian
from solver_ref.kinematics import cable_lengths, scaling
from solver_ref.maps.criteria import CRITERIA, CROSSING, chosen_limits, judge, sign_changes
from solver_ref.maps.fields import FIELDS, QUANTITIES, fields_of, measure
from solver_ref.maps.poses import start_poses
from solver_ref.maps.region import clearance, safe_region
from solver_ref.maps.robot_map import UNKNOWN, judged_map
from solver_ref.maps.section import section_of
from solver_ref.robot import Joint, Platform
from solver_ref.robot_file import load
from solver_ref.tension import tensions

CRANE_ROBOT = load("four-cable")


def measured(robot, poses, names=None, seed=0):
    return measure(robot, poses, start_poses(robot, poses, seed), names or fields_of(robot))


def test_a_section_varies_its_axes_and_holds_the_rest():
    section = section_of(CRANE_ROBOT, "xz", (3, 2), held={"y": 0.5}, ranges={"z": (1, 3)})
    np.testing.assert_array_equal(
        section.poses()[:, :3],
        [[-3, 0.5, 1], [-3, 0.5, 3], [0, 0.5, 1], [0, 0.5, 3], [3, 0.5, 1], [3, 0.5, 3]],
    )
    assert not section.poses()[:, 3:].any()
    assert section.cell(np.array([2.9, 0, 1.2, 0, 0, 0])) == (2, 0)
    assert section.cell(np.array([4.6, 0, 1.2, 0, 0, 0])) is None


def test_rotations_count_by_the_characteristic_length():
    section = section_of(CRANE_ROBOT, ("x", "rz"), (7, 8))
    length = CRANE_ROBOT.characteristic_length
    np.testing.assert_allclose(section.spacing, [1.0, 0.1 * length])


@pytest.mark.parametrize("name", with_poses())
def test_every_robot_has_the_fields_that_it_can_have(name):
    robot = load(name)
    section = section_of(robot, robot.coordinates[:2], (4, 3))
    values = measured(robot, section.poses())
    assert set(values) <= set(QUANTITIES)
    pulls = robot.kind == "cable" and robot.platform.mass is not None
    assert ("wrench_margin" in values) == pulls
    assert ("log10_determinant" in values) == (len(robot.joint_names) == len(robot.free))
    assert all(column.shape == (12,) for column in values.values())


def test_the_conditioning_is_that_of_check():
    poses = section_of(CRANE_ROBOT, "xy", (5, 5)).poses()
    expected = conditioning(CRANE_ROBOT, poses)
    values = measured(CRANE_ROBOT, poses)
    assert values["condition"].max() == pytest.approx(expected.condition[2])
    assert 10 ** values["log10_singular_value"].min() == pytest.approx(expected.singular_value)


def test_the_determinant_has_its_sign_and_size():
    robot = load("nist-robocrane")
    poses = section_of(robot, "xy", (3, 3)).poses()
    values = measured(robot, poses)
    expected = np.linalg.det(scaled_jacobian(robot, poses))
    found = values["determinant_sign"] * 10 ** values["log10_determinant"]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_feasible_tensions_are_those_of_the_tension_kernel():
    robot = load("ipanema1")
    poses = np.hstack([section_of(robot, "xy", (8, 8)).poses()[:, :3], np.full((64, 3), 0.15)])
    poses[:, 3:] *= np.linspace(0, 1, 64)[:, None]
    values = measured(robot, poses, ("tension",))
    valid = (tensions(robot, poses).status & 1) == 1
    assert 0 < valid.sum() < 64
    np.testing.assert_array_equal(values["wrench_margin"] >= 0, valid)


def test_solves_are_counted_and_the_same_for_the_same_seed():
    poses = section_of(CRANE_ROBOT, "xy", (5, 5)).poses()
    first, again = (measured(CRANE_ROBOT, poses, seed=7)["iterations"] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert set(first) <= {1.0, 2.0, 3.0, 4.0}


def test_a_solve_that_finds_another_pose_failed():
    robot = load("nist-robocrane")
    home = np.array([robot.workspace.home])
    values = measure(robot, home, home + 0.02, ("iterations",))
    assert values["failed"] == [0] and values["iterations"] > 0
    # Six legs of these lengths can be assembled in other ways, and this start is near one.
    start = np.array([[0.19, -0.2, 2.46, 0.16, -0.8, 0.54]])
    values = measure(robot, home, start, ("iterations",))
    assert values["failed"] == [1] and np.isnan(values["iterations"]).all()


def test_beyond_a_joint_limit_is_out_of_reach_and_nothing_else_is_known():
    poses = section_of(CRANE_ROBOT, "xy", (9, 9)).poses()
    lengths = cable_lengths(CRANE_ROBOT, poses)
    longest = float(np.median(lengths))
    joints = tuple(Joint(name=f"L{i}", unit="m", limits=(0.0, longest)) for i in range(1, 5))
    robot = dataclasses.replace(CRANE_ROBOT, joints=joints)
    values = measured(robot, poses)
    expected = (lengths <= longest).all(axis=1)
    assert 0 < expected.sum() < len(poses)
    np.testing.assert_array_equal(values["reach"] == 1, expected)
    np.testing.assert_array_equal(np.isfinite(values["condition"]), expected)
    bad = judge(values, chosen_limits())
    np.testing.assert_array_equal(bad["reach"], ~expected)
    assert not (bad["singular_value"] & ~expected).any()


def test_a_three_rrr_has_a_boundary_and_a_determinant_that_is_zero_has_no_sign():
    robot = load("rrr-arte")
    section = section_of(robot, "xy", (9, 9), ranges={"x": (-1.2, 1.2), "y": (-1.2, 1.2)})
    reach = measured(robot, section.poses())["reach"]
    # The distal link of the first chain is its platform's origin: no further than both links.
    assert 0 < reach.sum() and not reach[np.hypot(*section.poses()[:, :2].T) > 2].any()
    hexagons = load("stewart-hexagons")  # singular wherever it is, so that signs are rounding
    poses = section_of(hexagons, "xy", (5, 5)).poses()
    assert not measured(hexagons, poses, ("singularity",))["determinant_sign"].any()


def test_a_stewart_platform_crosses_its_singular_surface():
    robot = load("dietmaier")
    section = section_of(robot, "xy", (20, 20))
    values = measured(robot, section.poses(), ("singularity",))
    shaped = {name: column.reshape(20, 20) for name, column in values.items()}
    found = judged_map(section, shaped, chosen_limits(), 0.0)
    assert 0 < found.bad_by[CROSSING].mean() < 0.3


def test_a_robot_without_mass_has_no_tensions_and_says_why():
    robot = dataclasses.replace(CRANE_ROBOT, platform=Platform())
    assert "tension" not in fields_of(robot)
    assert FIELDS["tension"].missing(robot) == "its platform has no mass"


def test_limits_are_judged_on_their_own_side():
    values = {
        "reach": np.array([1.0, 1.0, 0.0]),
        "condition": np.array([10.0, 200.0, np.nan]),
        "log10_singular_value": np.array([-1.0, -4.0, np.nan]),
        "wrench_margin": np.array([-1.0, np.nan, np.nan]),
    }
    found = judge(values, chosen_limits({"condition": 100.0}))
    assert {name: where.tolist() for name, where in found.items()} == {
        "reach": [False, False, True],
        "singular_value": [False, True, False],
        "condition": [False, True, False],
        "wrench_margin": [True, True, False],
    }
    assert "wrench_margin" not in judge(values, chosen_limits({"wrench_margin": None}))


def test_every_criterion_has_a_quantity():
    assert {criterion.quantity for criterion in CRITERIA.values()} <= set(QUANTITIES)


def test_a_change_of_sign_marks_both_sides():
    signs = np.array([[1.0, 1.0, -1.0], [1.0, np.nan, -1.0]])
    np.testing.assert_array_equal(sign_changes(signs), [[False, True, True], [False] * 3])


def test_clearance_is_never_more_than_the_distance_to_what_is_bad():
    section = section_of(CRANE_ROBOT, "xy", (61, 51))
    x, y = section.poses()[:, :2].T.reshape(2, 61, 51)
    distance = np.hypot(x, y) - 1.0
    found = clearance(section, distance < 0)
    assert (found <= np.maximum(distance, 0) + 1e-12).all()
    # A diagonal of doubt, and the bad centre may itself be as far within the disc.
    assert (found >= distance - 2 * np.linalg.norm(section.spacing)).all()
    safe = safe_region(section, distance < 0, 0.5)
    assert (distance[safe] >= 0.5).all() and safe.any()


def test_without_a_margin_all_good_cells_are_safe():
    section = section_of(CRANE_ROBOT, "xy", (6, 40))
    bad = np.zeros((6, 40), bool)
    assert safe_region(section, bad, 1e6).all()
    bad[2, 3] = True
    np.testing.assert_array_equal(safe_region(section, bad, 0.0), ~bad)


def test_cells_that_were_not_computed_are_bad_by_that_name():
    section = section_of(CRANE_ROBOT, "xy", (2, 2))
    values = {"reach": np.array([[1.0, np.nan], [1.0, 1.0]])}
    found = judged_map(section, values, chosen_limits(), 0.0)
    np.testing.assert_array_equal(found.bad_by[UNKNOWN], [[False, True], [False, False]])
    assert not found.bad_by["reach"].any() and found.bad.sum() == 1


def test_the_middle_of_a_volume_is_a_section_of_it():
    section = section_of(CRANE_ROBOT, "xyz", (3, 4, 5))
    signs = np.ones(section.shape)
    signs[:, :, 3:] = -1.0
    values = {"reach": np.ones(section.shape), "determinant_sign": signs}
    found = judged_map(section, values, chosen_limits(), 0.0)
    part = found.middle(2)
    assert part.section.axes == ("x", "y") and part.section.shape == (3, 4)
    assert part.section.held[2] == section.values[2][2]
    assert part.bad_by[CROSSING].all()
    np.testing.assert_array_equal(part.section.scales, scaling(CRANE_ROBOT)[:2])
