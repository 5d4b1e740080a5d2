"""Texts of operations from templates."""

import pytest

from solver_ref import graph as g
from solver_ref.templates import filled

TEMPLATES = {g.Join: "({high} << {bits}) + {low}", g.Constant: "{code}"}


def test_operands_stand_for_their_positions_and_other_fields_as_they_are():
    assert filled(TEMPLATES, g.Join(7, 3, 4), ["x", "y"]) == "(x << 4) + y"
    assert filled(TEMPLATES, g.Constant(-5, 2), []) == "-5"


def test_an_operation_without_a_template_is_named():
    with pytest.raises(TypeError, match="^no rule for Negate$"):
        filled(TEMPLATES, g.Negate(0), ["x"])


def test_another_number_of_operands_is_refused():
    with pytest.raises(ValueError):
        filled(TEMPLATES, g.Join(7, 3, 4), ["x"])
