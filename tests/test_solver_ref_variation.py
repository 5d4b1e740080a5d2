"""Robots with other numbers: by keys of the file, and by radii."""

import numpy as np
import pytest

from solver_ref.fields import RobotError
from solver_ref.robot_file import from_values, load, read_values
from solver_ref.variation import varied


def robot(**changes):
    source = read_values("four-cable")
    keys = {key.replace("__", "."): value for key, value in changes.items()}
    return from_values(varied(source, keys, file="crane"), file="crane")


def test_without_changes_it_is_the_same_robot():
    assert robot().digest == load("four-cable").digest


def test_a_key_of_the_file_takes_the_number():
    assert robot(platform__mass=20).platform.mass == 20.0


def test_lists_count_from_one_and_vectors_have_axes():
    assert robot(cable__2__anchor__y=-3.5).cables[1].anchor == (5.0, -3.5, 6.0)
    assert robot(cable__2__anchor__2=-3.5) == robot(cable__2__anchor__y=-3.5)


def test_a_star_is_all_of_a_list():
    source = varied(read_values("four-cable"), {"cable.*.tension_max": 500}, file="crane")
    assert {c.tension_max for c in from_values(source, file="crane").cables} == {500.0}


def test_anchors_scale_about_their_middle_and_attachments_about_the_origin():
    wide, large = robot(anchors__scale=2), robot(attachments__scale=2)
    own = load("four-cable")
    np.testing.assert_allclose(wide.anchors, own.anchors * [2, 2, 1])
    np.testing.assert_allclose(large.attachments, 2 * own.attachments)


def test_radii_are_root_mean_squares():
    found = robot(Rb=3.0, Rm=0.25)
    spread = found.anchors - found.anchors.mean(axis=0)
    assert np.sqrt((spread**2).sum(axis=1).mean()) == pytest.approx(3.0)
    assert found.characteristic_length == pytest.approx(0.25)


def test_the_source_stays_as_it_was():
    source = read_values("four-cable")
    varied(source, {"platform.mass": 1, "Rb": 2, "cable.1.anchor.x": 3}, file="crane")
    assert from_values(source, file="crane") == load("four-cable")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("platform.weight", r"crane: 'platform.weight': cannot be varied; .*; got 'weight'"),
        ("name", r"cannot be varied; .*; got name, which is no number"),
        ("cable.0.anchor.x", r"cannot be varied; expected 1 to 4 or \*, .*; got '0'"),
        ("cable.1.anchor.w", r"cannot be varied; expected 1 to 3 or \*, .*; got 'w'"),
        ("cable.1.anchor", r"got anchor, which is no number"),
        ("", r"cannot be varied"),
    ],
)
def test_a_key_that_is_no_number_is_refused_by_name(key, message):
    with pytest.raises(RobotError, match=message):
        varied(read_values("four-cable"), {key: 1.0}, file="crane")


def test_a_radius_of_points_in_one_point_is_refused():
    source = read_values("hangprinter")
    for cable in source["cable"]:
        cable["anchor"] = [1, 1, 1]
    with pytest.raises(RobotError, match="anchors are not in one point"):
        varied(source, {"Rb": 1.0}, file="printer")
    with pytest.raises(RobotError, match="a robot with tables that have an attachment"):
        varied(source, {"Rm": 1.0}, file="printer")
