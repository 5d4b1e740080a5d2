"""The planner: as short as Dijkstra's, never through what is not safe, shortened in sight."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from solver_ref.maps.planner import in_sight, moves, shortened, shortest_way


def length_of(way, spacing):
    return np.linalg.norm(np.diff(np.array(way), axis=0) * spacing, axis=1).sum()


def by_dijkstra(safe, spacing, start, goal):
    """The shortest distance over the same moves, by SciPy."""
    places = np.arange(safe.size).reshape(safe.shape)
    froms, tos, lengths = [], [], []
    for step, (length, allowed) in moves(safe, spacing).items():
        cells = np.argwhere(allowed)
        froms.append(places[tuple(cells.T)])
        tos.append(places[tuple((cells + step).T)])
        lengths.append(np.full(len(cells), length))
    edges = np.concatenate(lengths), (np.concatenate(froms), np.concatenate(tos))
    graph = coo_array(edges, shape=(safe.size, safe.size)).tocsr()
    return dijkstra(graph, indices=places[start])[places[goal]]


@pytest.mark.parametrize("shape", [(30, 40), (9, 10, 11)])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_as_short_as_dijkstra_says(shape, seed):
    rng = np.random.default_rng(seed)
    safe = rng.uniform(size=shape) > 0.3
    start, goal = (0,) * len(shape), tuple(n - 1 for n in shape)
    safe[start] = safe[goal] = True
    spacing = rng.uniform(0.5, 2.0, len(shape))
    way = shortest_way(safe, spacing, start, goal)
    expected = by_dijkstra(safe, spacing, start, goal)
    if np.isinf(expected):
        assert way == []
        return
    assert way[0] == start and way[-1] == goal
    assert all(safe[cell] for cell in way)
    assert length_of(way, spacing) == pytest.approx(expected)


def test_no_way_slips_between_two_bad_cells_that_touch():
    safe = np.array([[True, False], [False, True]])
    assert shortest_way(safe, np.ones(2), (0, 0), (1, 1)) == []
    safe = np.array([[True, True], [False, True]])
    assert shortest_way(safe, np.ones(2), (0, 0), (1, 1)) == [(0, 0), (0, 1), (1, 1)]


def test_a_start_or_goal_that_is_not_safe_has_no_way():
    safe = np.array([[True, False]])
    assert shortest_way(safe, np.ones(2), (0, 0), (0, 1)) == []
    assert shortest_way(safe, np.ones(2), (0, 1), (0, 0)) == []
    assert shortest_way(safe, np.ones(2), (0, 0), (0, 0)) == [(0, 0)]


def test_a_way_is_shortened_where_it_is_in_sight_and_stays_safe():
    safe = np.ones((40, 40), bool)
    safe[10:30, 20] = False
    spacing = np.array([1.0, 0.7])
    way = shortest_way(safe, spacing, (20, 2), (20, 38))
    short = shortened(safe, way)
    assert short[0] == (20, 2) and short[-1] == (20, 38)
    assert len(short) < 6 and length_of(short, spacing) <= length_of(way, spacing)
    assert all(in_sight(safe, a, b) for a, b in zip(short, short[1:], strict=False))
    assert not in_sight(safe, (20, 2), (20, 38))
    assert shortened(np.ones((9, 9), bool), [(0, 0), (1, 1), (2, 2), (2, 3)]) == [(0, 0), (2, 3)]
