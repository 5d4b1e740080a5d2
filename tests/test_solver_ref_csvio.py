"""CSV in and out: what is read, the exact line that each bad file gets, and whole writes."""

import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from solver_ref.csvio import CsvError, read_columns, write_rows

LENGTHS = ("L1", "L2", "L3")


def written(folder: Path, text: str) -> Path:
    path = folder / "in.csv"
    path.write_bytes(text.encode())
    return path


def read(path: Path) -> dict[str, np.ndarray]:
    return read_columns(
        path, required=LENGTHS, optional=("x0", "lambda"), ignored=("status",), positive=LENGTHS
    )


def test_columns_come_in_the_asked_order_whatever_the_order_in_the_file(tmp_path: Path) -> None:
    text = " L2 ,x0,L1,status,L3\n2,-0.5,1,VALID|CONVERGED,3e0\n+5.,0,4,,.6e1\n"
    columns = read(written(tmp_path, text))
    assert list(columns) == ["L1", "L2", "L3", "x0"]
    assert all(column.dtype == np.float64 for column in columns.values())
    assert_array_equal(np.column_stack(list(columns.values())), [[1, 2, 3, -0.5], [4, 5, 6, 0]])


def test_a_tension_may_be_nothing_but_not_less(tmp_path: Path) -> None:
    path = written(tmp_path, "S1,dT\n0,-3\n12.5,4\n")
    columns = read_columns(path, required=("S1", "dT"), not_negative=("S1",))
    assert_array_equal(columns["S1"], [0, 12.5])
    path = written(tmp_path, "S1,dT\n0,-3\n-1e-3,4\n")
    wrong = "row 2, S1: is negative; expected a number of 0 or above; got '-1e-3'"
    with pytest.raises(CsvError, match=wrong):
        read_columns(path, required=("S1", "dT"), not_negative=("S1",))


def test_spreadsheet_files_are_read(tmp_path: Path) -> None:
    text = '\ufeffL1,L2,"L3"\r\n1,"2", 3 \r\n\r\n'
    assert [column[0] for column in read(written(tmp_path, text)).values()] == [1.0, 2.0, 3.0]


BAD = [
    ("", "file: is empty; expected a header and at least one row; got nothing"),
    ("\n \n", "file: is empty; expected a header and at least one row; got nothing"),
    ("L1,L2,L3\n", "file: is empty; expected a header and at least one row; got a header alone"),
    ("L1,L3\n1,3\n", "L2: is a missing column; expected the columns L1, L2, L3; got L1, L3"),
    (
        "L1,L2,L3,L4\n1,2,3,4\n",
        "L4: is an unknown column; expected only L1, L2, L3, x0, lambda; got 'L4'",
    ),
    (
        "L1,L2,L3,lamda\n1,2,3,4\n",
        "lamda: is an unknown column, did you mean lambda; "
        "expected only L1, L2, L3, x0, lambda; got 'lamda'",
    ),
    (
        "L1,L2,L3,\n1,2,3,4\n",
        "'': is an unknown column; expected only L1, L2, L3, x0, lambda; got ''",
    ),
    (
        "L1,L2,L3,L2\n1,2,3,2\n",
        "L2: is there twice; expected each column once; got columns 2 and 4",
    ),
    (
        "L1,L2,L3\n1,2,3\n1,2\n",
        "row 2: has the wrong number of values; expected 3 values, as in the header; got 2",
    ),
    (
        "L1,L2,L3\n\n1,2,3\n",
        "row 1: has the wrong number of values; expected 3 values, as in the header; got 0",
    ),
    (
        "L1,L2,L3\n1,2,3,4\n",
        "row 1: has the wrong number of values; expected 3 values, as in the header; got 4",
    ),
    (
        "L1,L2,L3\n1,2,3\n1,two,3\n",
        "row 2, L2: is no number; expected a decimal number; got 'two'",
    ),
    ("L1,L2,L3\n1,,3\n", "row 1, L2: is no number; expected a decimal number; got ''"),
    ("L1,L2,L3\n1,1_000,3\n", "row 1, L2: is no number; expected a decimal number; got '1_000'"),
    ("L1,L2,L3\n1,0x10,3\n", "row 1, L2: is no number; expected a decimal number; got '0x10'"),
    ("L1,L2,L3\n1,NaN,3\n", "row 1, L2: is not finite; expected a finite number; got 'NaN'"),
    ("L1,L2,L3\n1,-inf,3\n", "row 1, L2: is not finite; expected a finite number; got '-inf'"),
    ("L1,L2,L3\n1,1e999,3\n", "row 1, L2: is not finite; expected a finite number; got '1e999'"),
    ("L1,L2,L3\n1,2,-3\n", "row 1, L3: is not positive; expected a number above 0; got '-3'"),
    ("L1,L2,L3\n1,2,0\n", "row 1, L3: is not positive; expected a number above 0; got '0'"),
    ("L1,L2,L3,x0\n1,2,3,a\n", "row 1, x0: is no number; expected a decimal number; got 'a'"),
    (
        'L1,L2,L3\n1,"2\n\nx",3\n',
        r"row 1, L2: is no number; expected a decimal number; got '2\n\nx'",
    ),
    ('L1,L2,L3\n1,"2,3\n', "file: is malformed; expected a CSV file; got 'unexpected end of data'"),
]


@pytest.mark.parametrize(("text", "want"), BAD)
def test_a_bad_file_is_refused_by_row_and_column(tmp_path: Path, text: str, want: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(CsvError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {want}"


def test_what_is_no_text_file_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    for place, want in (
        (path, "cannot be read; expected a CSV file; got No such file or directory"),
        (tmp_path, "cannot be read; expected a CSV file; got Is a directory"),
    ):
        with pytest.raises(CsvError, match=f"^{re.escape(f'{place}: file: {want}')}$"):
            read(place)
    path.write_bytes(b"L1\xff\n1\n")
    with pytest.raises(CsvError, match=r": file: is not UTF-8; expected a CSV file; got other byt"):
        read(path)


def test_written_numbers_read_back_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(20)
    bits = rng.integers(0, 2**64, size=(500, 2), dtype=np.uint64)
    values = bits.view(np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    path = tmp_path / "out.csv"
    write_rows(path, ("x", "y"), values)
    columns = read_columns(path, required=("x", "y"))
    assert len(values) > 400
    assert_array_equal(np.column_stack([columns["x"], columns["y"]]), values)


def test_each_sort_of_value_has_one_text() -> None:
    stream = io.StringIO()
    row = (0.1, np.float64(1e-20), 3, np.int64(-4), "VALID|CONVERGED", "a,b")
    write_rows(stream, "abcdef", [row])
    assert stream.getvalue() == 'a,b,c,d,e,f\n0.1,1e-20,3,-4,VALID|CONVERGED,"a,b"\n'


@pytest.mark.parametrize("bad", [(1,), (1, 2, 3), (1, None), (True, 1), (np.bool_(True), 1)])
def test_a_bad_row_leaves_the_old_file_and_nothing_else(tmp_path: Path, bad: tuple) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^(row 2|a CSV value) must "):
        write_rows(path, ("x", "y"), [(1, 2), bad])
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_replacement_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old", encoding="utf-8")

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    want = f"{path}: file: cannot be written; expected a writable path; got No space left on device"
    with pytest.raises(CsvError, match=f"^{re.escape(want)}$"):
        write_rows(path, ("x",), [(1,)])
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "out.csv"
    want = (
        f"{path}: file: cannot be written; expected a writable path; got No such file or directory"
    )
    with pytest.raises(CsvError, match=f"^{re.escape(want)}$"):
        write_rows(path, ("x",), [(1,)])


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real.csv", tmp_path / "link.csv", tmp_path / "pipe"
    link.symlink_to(real)
    write_rows(link, ("x",), [(1,)])
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "x\n1\n"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_rows(pipe, ("x",), [(1,)])
        assert os.read(reader, 100) == b"x\n1\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
