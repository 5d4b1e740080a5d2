"""The status word: its bits and its names."""

import numpy as np
import pytest

from solver_ref.status import FAULTS, STATUS_BITS, Status, status_words


def test_the_bits_are_those_of_the_design() -> None:
    names = (
        "VALID CONVERGED ITERATION_LIMIT NEAR_SINGULAR OUT_OF_RANGE SLACK NO_SOLUTION STALE JUMP"
    ).split()
    assert [(bit.name, int(bit)) for bit in Status] == [(n, 1 << i) for i, n in enumerate(names)]
    assert STATUS_BITS == 9


def test_every_word_reads_back_from_its_names() -> None:
    for word in range(1 << STATUS_BITS):
        status = Status(word)
        assert Status.parse(status.names()) == status


def test_names_are_joined_lowest_bit_first() -> None:
    assert (Status.CONVERGED | Status.VALID).names() == "VALID|CONVERGED"
    assert Status(0).names() == "NONE"


def test_only_faults_exclude_validity() -> None:
    assert FAULTS == Status(0b1_1101_0100)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a status name must be one of VALID\|.*, not 'GOOD'$"):
        Status.parse("VALID|GOOD")


def test_words_of_rows_have_the_bits_of_each_row() -> None:
    bits = {Status.VALID: np.array([True, False]), Status.SLACK: np.array([True, True])}
    assert status_words(bits).tolist() == [0b10_0001, 0b10_0000]
