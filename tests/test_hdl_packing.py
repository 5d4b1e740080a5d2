"""Fields in words: where each lies, round trips, and what is refused."""

import numpy as np
import pytest

from hdl.packing import Packing
from solver_ref.fixed import Format

FIELDS = {
    "small": Format(True, 3, 2),
    "wide": Format(True, 30, 20),
    "full": Format(False, 32, 0),
    "most": Format(False, 60, 3),
}


def corners(count=50):
    random = np.random.default_rng(1)
    return {
        name: np.append([form.lo, form.hi, 0], random.integers(form.lo, form.hi, count))
        for name, form in FIELDS.items()
    }


def test_a_field_takes_one_word_or_two_and_is_extended_by_its_sign():
    packed = Packing(FIELDS).pack({"small": [-1], "wide": [-2], "full": [1 << 31], "most": [5]})
    assert packed.tolist() == [[0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, 1 << 31, 5, 0]]
    names = [word.name for word in Packing(FIELDS).words]
    assert names == ["small", "wide_low", "wide_high", "full", "most_low", "most_high"]


def test_an_array_in_memory_is_the_same_for_beats_of_64_bits_but_for_padding():
    fields = {name: FIELDS[name] for name in ("small", "wide")}
    codes = {name: column for name, column in corners().items() if name in fields}
    narrow, broad = Packing(fields).pack(codes), Packing(fields, 64).pack(codes)
    assert (Packing(fields).beats, Packing(fields, 64).beats) == (3, 2)
    assert np.array_equal(broad[:, :3], narrow)
    assert not broad[:, 3].any()


@pytest.mark.parametrize("beat_bits", [32, 64])
def test_codes_survive_the_way_there_and_back(beat_bits):
    packing = Packing(FIELDS, beat_bits)
    found = packing.unpack(packing.pack(corners()))
    for name, codes in corners().items():
        assert found[name].tolist() == codes.tolist(), name


def test_what_cannot_be_packed_is_refused():
    with pytest.raises(ValueError, match="small has codes outside SQ"):
        Packing(FIELDS).pack(corners() | {"small": np.array([16])})
    with pytest.raises(ValueError, match="do not fit 64 bits"):
        Packing({"x": Format(False, 64, 0)})
    with pytest.raises(ValueError, match="32 or 64 bits, not 16"):
        Packing(FIELDS, 16)
