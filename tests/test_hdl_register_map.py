"""Register maps: what they refuse, and what changes their digest."""

import dataclasses

import pytest

from hdl.register_map import Bits, Block, Register, RegisterMap


def word(name, offset, access="write", reset=0):
    return Register(name, offset, access, "a word", (Bits("value", 0, 32, "all", reset),))


def mapped(*registers, base=0):
    return RegisterMap("m", "a map", (Block("b", base, "a block", registers),))


def test_a_map_knows_its_addresses():
    assert mapped(word("x", 0), word("y", 8), base=0x100).address("b", "y") == 0x108


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"b\.y and b\.x both lie at 0x0"):
        mapped(word("x", 0), word("y", 0))
    with pytest.raises(ValueError, match=r"b\.x lies at 0x1000, beyond 12 bits"):
        mapped(word("x", 0), base=0x1000)
    with pytest.raises(ValueError, match="no word's address"):
        word("x", 2)
    with pytest.raises(ValueError, match="outside a word"):
        Bits("x", 30, 3, "")
    with pytest.raises(ValueError, match="cannot be 4 at first"):
        Bits("x", 0, 2, "", 4)
    with pytest.raises(ValueError, match="shares bits"):
        Register("x", 0, "read", "", (Bits("a", 0, 2, ""), Bits("b", 1, 1, "")))
    with pytest.raises(ValueError, match="plain name"):
        Bits("a b", 0, 1, "")


def test_the_digest_changes_with_places_and_names_but_not_with_resets():
    first = mapped(word("x", 0), word("y", 4))
    assert first.digest == mapped(word("x", 0, reset=5), word("y", 4)).digest
    narrow = Register("y", 4, "write", "", (Bits("value", 0, 31, ""),))
    others = [
        mapped(word("x", 0), word("y", 8)),
        mapped(word("x", 0), word("z", 4)),
        mapped(word("x", 0), word("y", 4, "read")),
        mapped(word("x", 0), narrow),
        dataclasses.replace(first, blocks=(dataclasses.replace(first["b"], name="c"),)),
    ]
    assert len({first.digest, *(other.digest for other in others)}) == len(others) + 1
