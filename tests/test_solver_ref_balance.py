"""Chains in the order of arrival: equal values, fewer cycles, never more."""

import numpy as np
import pytest
from random_graphs import corner_codes, random_graph

from solver_ref import graph as g
from solver_ref.balance import balance, cycles
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.split import split


def depth(graph: g.Graph) -> int:
    ends: list[int] = []
    for node in graph.nodes:
        ends.append(max((ends[i] for i in node.operands), default=0) + cycles(node))
    return max(ends[output.node] for output in graph.outputs)


def chain(operation: type[g.Binary], count: int, width: int) -> g.Graph:
    nodes: list[g.Node] = [g.Input(f"x{k}", Format(width > 1, width, 0)) for k in range(count)]
    total = 0
    for k in range(1, count):
        nodes.append(operation(total, k))
        total = len(nodes) - 1
    return g.Graph("chain", tuple(nodes), (g.Output("y", total),))


def check_equal(graph: g.Graph, other: g.Graph) -> None:
    codes = corner_codes(graph, 3, 80)
    expected, got = evaluate(graph, codes), evaluate(other, codes)
    for name in expected:
        assert np.all(expected[name] == got[name]), (graph.name, name)


@pytest.mark.parametrize("operation", [g.Add, g.Subtract, g.Maximum, g.Minimum, g.And, g.Or])
@pytest.mark.parametrize(("count", "levels"), [(3, 2), (4, 2), (8, 3), (9, 4), (20, 5)])
def test_a_chain_becomes_a_tree(operation, count, levels):
    graph = chain(operation, count, 1 if operation in (g.And, g.Or) else 7)
    tree = balance(graph)
    assert (depth(graph), depth(tree)) == (count - 1, levels)
    check_equal(graph, tree)
    assert tree.output_formats == graph.output_formats


def test_late_terms_join_last():
    """a b + c + d: the sum of c and d does not wait for the product."""
    nodes: list[g.Node] = [g.Input(name, Format(True, 8, 0)) for name in "abcd"]
    nodes += [g.Multiply(0, 1), g.Add(4, 2), g.Negate(3), g.Add(5, 6)]
    graph = g.Graph("late", tuple(nodes), (g.Output("y", 7),))
    tree = balance(graph)
    assert depth(tree) == 4 < depth(graph)
    check_equal(graph, tree)


def test_a_partial_sum_that_is_read_elsewhere_stays():
    graph = chain(g.Add, 6, 7)
    partial = next(i for i, node in enumerate(graph.nodes) if isinstance(node, g.Add))
    graph = g.Graph("read", graph.nodes, (*graph.outputs, g.Output("z", partial)))
    tree = balance(graph)
    check_equal(graph, tree)
    assert sum(isinstance(node, g.Add) for node in tree.nodes) >= 5


def test_a_balanced_graph_stays_as_it_is():
    tree = split(chain(g.Add, 13, 7), (25, 18))
    assert balance(tree) == tree


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_keep_their_values_and_never_get_slower(seed):
    graph = split(random_graph(seed), (25, 18))
    tree = balance(graph)
    check_equal(graph, tree)
    assert depth(tree) <= depth(graph), f"seed {seed}"
