"""Parameters of graphs: their codes, given or initial, and the words that hardware loads."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from solver_ref import graph as g
from solver_ref.fixed import codes_within

WORD_BITS = 32
CRC_POLYNOMIAL = 0xEDB88320
"""Of the CRC-32 of IEEE 802.3 (`zlib.crc32`), its lowest power in the highest bit."""


def parameter_codes(parameter: g.Parameter, given: Mapping[str, np.ndarray]) -> np.ndarray:
    """The codes that `given` has for a parameter, else its initial one; shape (1,) or (n,).

    ValueError for one that the parameter cannot take.
    """
    codes = given.get(parameter.name, parameter.initial)
    return codes_within(f"parameter {parameter.name!r}", codes, parameter.lo, parameter.hi)


def settled(graph: g.Graph, given: Mapping[str, int] | None = None) -> g.Graph:
    """The graph with each parameter as the constant that it is: the same values and ports."""
    if not graph.parameters:
        return graph
    formats = graph.output_formats
    nodes = tuple(_settled(node, given or {}) for node in graph.nodes)
    outputs = tuple(g.Output(o.name, o.node, formats[o.name]) for o in graph.outputs)
    return g.Graph(graph.name, nodes, outputs)


def _settled(node: g.Node, given: Mapping[str, int]) -> g.Node:
    if not isinstance(node, g.Parameter):
        return node
    (code,) = parameter_codes(node, given).tolist()
    return g.Constant(code, node.format.fraction)


def parameters_of(graphs: Iterable[g.Graph]) -> dict[str, g.Parameter]:
    """Those of several graphs; ValueError for two different ones of one name."""
    found: dict[str, g.Parameter] = {}
    for graph in graphs:
        for name, parameter in graph.parameters.items():
            if found.setdefault(name, parameter) != parameter:
                raise ValueError(f"two parameters {name!r}: {found[name]} and {parameter}")
    return found


def words(
    parameters: Mapping[str, g.Parameter], codes: Mapping[str, int] | None = None
) -> list[int]:
    """What hardware loads: each code, given or initial, in two's complement; then their checksum.

    ValueError for a code that its parameter, and for a parameter that a word cannot take.
    """
    loaded = []
    for parameter in parameters.values():
        if parameter.lo < -(1 << (WORD_BITS - 1)) or parameter.hi >= 1 << (WORD_BITS - 1):
            raise ValueError(f"{parameter} does not fit a word of {WORD_BITS} bits")
        (code,) = parameter_codes(parameter, codes or {}).tolist()
        loaded.append(code & ((1 << WORD_BITS) - 1))
    return [*loaded, checksum(loaded)]


def checksum(codes: Sequence[int]) -> int:
    """The CRC-32 of words in order, each with its lowest byte first."""
    return zlib.crc32(b"".join(word.to_bytes(WORD_BITS // 8, "little") for word in codes))
