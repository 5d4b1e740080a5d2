"""A directory gets all its files together, or none."""

import pytest

from solver_ref.files import filled


def test_files_and_folders_move_in_at_the_end(tmp_path):
    place = tmp_path / "new" / "out"
    with filled(place) as aside:
        (aside / "a").write_text("1")
        (aside / "deep").mkdir()
        (aside / "deep" / "b").write_text("2")
        assert not place.exists()
    assert (place / "a").read_text() + (place / "deep" / "b").read_text() == "12"
    assert [path.name for path in place.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interruption_leaves_what_was_there(tmp_path, error):
    place = tmp_path / "out"
    place.mkdir()
    (place / "a").write_text("old")
    with pytest.raises(error), filled(place) as aside:
        (aside / "a").write_text("half")
        raise error
    assert (place / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_other_files_stay(tmp_path):
    (tmp_path / "other").write_text("mine")
    with filled(tmp_path) as aside:
        (aside / "a").write_text("1")
    assert {path.name for path in tmp_path.iterdir()} == {"other", "a"}
