"""Codes that are checked, and powers of two."""

import math

import numpy as np
import pytest

from solver_ref.fixed import Format, checked_codes, codes_within, next_power

BYTE = Format(True, 6, 2)


def test_codes_of_a_format_come_back_as_int64_columns():
    found = checked_codes("input 'a'", [BYTE.lo, 0, BYTE.hi], BYTE)
    assert found.dtype == np.int64 and found.tolist() == [-128, 0, 127]
    assert checked_codes("input 'a'", 5, BYTE).tolist() == [5]
    assert checked_codes("input 'a'", np.zeros(0, int), BYTE).size == 0


@pytest.mark.parametrize("code", [BYTE.lo - 1, BYTE.hi + 1, 1 << 80])
def test_a_code_outside_its_format_is_refused_by_name(code):
    with pytest.raises(ValueError, match=r"^input 'a' has codes outside SQ\(6, 2\)$"):
        checked_codes("input 'a'", [0, code], BYTE)


def test_numbers_that_are_no_codes_are_refused():
    with pytest.raises(ValueError, match="^field 'b' must be integer codes, not float64$"):
        checked_codes("field 'b'", [0.5], BYTE)


def test_limits_without_a_name_are_told_as_they_are():
    with pytest.raises(ValueError, match=r"^p has codes outside -3\.\.4$"):
        codes_within("p", [5], -3, 4)


def test_the_next_power_of_two_is_the_size_itself_where_it_is_one():
    sizes = [0.25, 0.2500001, 1.0, 3.0, 4.0, math.nextafter(4.0, 5.0), math.inf]
    assert [next_power(size) for size in sizes] == [0.25, 0.5, 1.0, 4.0, 4.0, 8.0, math.inf]
