"""The row-by-row model against the interpreter, on random graphs of every operation."""

import numpy as np
import pytest
from random_graphs import corner_codes, random_graph

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import ContractViolation, evaluate
from solver_ref.scalar import compiled


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_interpreter_row_by_row(seed):
    graph = random_graph(seed)
    inputs = corner_codes(graph, seed, 30)
    many, run = evaluate(graph, inputs), compiled(graph)
    count = len(next(iter(inputs.values())))
    for row in range(count):
        one = run({name: int(codes[row]) for name, codes in inputs.items()})
        assert one == {name: int(codes[row]) for name, codes in many.items()}


def test_a_broken_promise_is_an_error():
    nodes = (g.Input("a", Format(True, 8, 0)), g.Narrow(0, 0, -5, 5))
    run = compiled(g.Graph("small", nodes, (g.Output("y", 1),)))
    assert run({"a": 5}) == {"y": 5}
    with pytest.raises(ContractViolation, match="node 1 of small"):
        run({"a": 6})


def test_a_missing_input_is_named():
    run = compiled(g.Graph("one", (g.Input("a", Format(True, 8, 0)),), (g.Output("y", 0),)))
    with pytest.raises(KeyError, match="a"):
        run({"b": np.int64(1)})
