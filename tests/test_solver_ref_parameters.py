"""Parameters: numbers of a graph that may be given other codes than they were made with."""

import dataclasses
import zlib

import numpy as np
import pytest
from random_graphs import corner_codes, loaded_codes, random_graph

from solver_ref import graph as g
from solver_ref.fixed import Format, Range
from solver_ref.interpreter import evaluate, evaluate_all
from solver_ref.parameters import settled, words
from solver_ref.scalar import compiled
from solver_ref.split import split

P = g.Parameter("p", Format(True, 6, 2), -90, 101, 77)
A = np.arange(-8, 8)
GRAPH = g.Graph(
    "small", (g.Input("a", Format(True, 4, 0)), P, g.Multiply(0, 1)), (g.Output("y", 2),)
)


def test_it_is_what_it_was_made_with_unless_another_code_is_given():
    assert GRAPH.ranges[1] == Range(-90, 101, 2)
    assert evaluate(GRAPH, {"a": A})["y"].tolist() == (77 * A).tolist()
    assert evaluate(GRAPH, {"a": A, "p": 5})["y"].tolist() == (5 * A).tolist()
    assert evaluate(GRAPH, {"a": A, "p": A - 3})["y"].tolist() == ((A - 3) * A).tolist()
    assert compiled(GRAPH)({"a": 3}) == {"y": 231}
    assert compiled(GRAPH)({"a": 3, "p": -90}) == {"y": -270}


@pytest.mark.parametrize("seed", range(20))
def test_given_codes_mean_the_same_in_every_form_of_a_graph(seed):
    graph = random_graph(seed)
    inputs, given = corner_codes(graph, seed, 20), loaded_codes(graph, seed)
    expected = evaluate(graph, inputs | given)
    cut = split(graph, (25, 18))
    assert set(cut.parameters.items()) <= set(graph.parameters.items())
    run = compiled(graph)
    rows = [run({n: int(c[i]) for n, c in inputs.items()} | given) for i in range(20)]
    for name, codes in expected.items():
        for other in (evaluate(cut, inputs | given), evaluate(settled(graph, given), inputs)):
            assert (other[name] == codes).all(), f"seed {seed}, output {name}"
        assert [row[name] for row in rows] == codes.tolist(), f"seed {seed}, output {name}"
    for values, span in zip(evaluate_all(graph, inputs | given), graph.ranges, strict=True):
        assert span.lo <= min(values) and max(values) <= span.hi, f"seed {seed}"


def test_settling_keeps_the_ports():
    fixed = settled(GRAPH, {"p": 1})
    assert fixed.output_formats == GRAPH.output_formats and not fixed.parameters
    plain = g.Graph("plain", (g.Input("a", Format(True, 4, 0)),), (g.Output("y", 0),))
    assert settled(plain) is plain


def test_every_field_comes_back_and_counts_in_the_digest():
    assert g.Graph.from_json(GRAPH.to_json()) == GRAPH
    changes = {"name": "q", "format": Format(True, 7, 2), "lo": -91, "hi": 100, "initial": 76}
    digests = {GRAPH.digest}
    for field, other in changes.items():
        nodes = (GRAPH.nodes[0], dataclasses.replace(P, **{field: other}), GRAPH.nodes[2])
        digests.add(dataclasses.replace(GRAPH, nodes=nodes).digest)
    assert len(digests) == 6


@pytest.mark.parametrize("code", [-91, 102])
def test_a_code_that_it_cannot_take_is_refused(code):
    with pytest.raises(ValueError, match=r"^parameter 'p' has codes outside -90\.\.101$"):
        evaluate(GRAPH, {"a": A, "p": code})
    with pytest.raises(ValueError, match=r"^parameter 'p' must be integer codes, not float64$"):
        evaluate(GRAPH, {"a": A, "p": float(code)})


@pytest.mark.parametrize("fields", [(5, 5, 5), (-200, 3, 0), (0, 200, 4), (3, 9, 2), (9, 3, 5)])
def test_one_that_cannot_be_is_refused(fields):
    with pytest.raises(ValueError, match="needs lo < hi in its format, initial between"):
        g.Parameter("p", Format(True, 8, 0), *fields)


def test_first_and_last_codes_of_a_word_fit_it():
    top = (1 << 31) - 1
    low = g.Parameter("low", Format(True, 40, 0), -top - 1, -top, -top)
    high = g.Parameter("high", Format(True, 40, 0), top - 1, top, top)
    assert words({"low": low, "high": high})[:2] == [0x80000001, 0x7FFFFFFF]
    for wrong in ({"lo": -top - 2}, {"hi": top + 1}):
        with pytest.raises(ValueError, match="does not fit a word of 32 bits"):
            words({"w": dataclasses.replace(low, **{"hi": 0, "initial": 0, **wrong})})


def test_words_are_codes_in_order_and_their_checksum():
    other = g.Parameter("q", Format(False, 9, 0), 0, 500, 400)
    loaded = words({"p": P, "q": other}, {"p": -2})
    assert loaded[:2] == [0xFFFFFFFE, 400]
    assert loaded[2] == zlib.crc32(bytes([0xFE, 0xFF, 0xFF, 0xFF, 0x90, 0x01, 0, 0]))
