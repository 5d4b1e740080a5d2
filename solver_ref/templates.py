"""Texts that are written for operations of a graph, from one template for each operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from solver_ref import graph as g

Templates = Mapping[type[g.Node], str]
"""Format strings over the fields of their node, such as "{a} >> {bits}"."""


def filled(templates: Templates, node: g.Node, operands: Sequence[str]) -> str:
    """The template of the node, with the texts of the operands in place of their positions.

    TypeError for an operation without a template.
    """
    if type(node) not in templates:
        raise TypeError(f"no rule for {type(node).__name__}")
    texts = dict(zip(node.operand_fields, operands, strict=True))
    return templates[type(node)].format(**vars(node) | texts)
