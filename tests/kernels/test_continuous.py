"""Continuous WL: rows by the published recursion, and transport equal to a linear programme's."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from wlhn import Graphs, TreeWasserstein, as_graphs
from wlhn.errors import InputError
from wlhn.kernels.continuous import smoothed_rows

pytest.importorskip("ot", reason="needs POT")


@pytest.fixture(scope="module")
def graphs() -> Graphs:
    rng = np.random.default_rng(0)
    made = []
    for k in range(8):
        graph = nx.gnp_random_graph(int(rng.integers(1, 7)), 0.4, seed=k)
        nx.set_node_attributes(graph, {v: rng.normal(3, 2, size=2).tolist() for v in graph}, "x")
        made.append(graph)
    return as_graphs(made)


def by_recursion(graph: Graphs, values: np.ndarray, depth: int) -> np.ndarray:
    rows = [values]
    for _ in range(depth):
        old, new = rows[-1], rows[-1].copy()
        for v in range(graph.num_nodes):
            around = graph.neighbours(v)
            if len(around):
                new[v] = 0.5 * (old[v] + old[around].mean(axis=0))
        rows.append(new)
    return np.concatenate(rows, axis=1)


def test_rows_follow_the_recursion(graphs: Graphs) -> None:
    assert graphs.x is not None
    np.testing.assert_allclose(smoothed_rows(graphs, graphs.x, 3), by_recursion(graphs, graphs.x, 3))


def test_distances_are_those_of_a_linear_programme(graphs: Graphs) -> None:
    assert graphs.x is not None
    values = (graphs.x - graphs.x.mean(axis=0)) / graphs.x.std(axis=0)
    parts = np.split(by_recursion(graphs, values, 2), graphs.node_ptr[1:-1])
    matrix = TreeWasserstein(2, continuous=True).fit_transform(graphs)
    np.testing.assert_array_equal(matrix, matrix.T)
    for i, x in enumerate(parts):
        for j, y in enumerate(parts):
            n, m = len(x), len(y)
            sums = np.concatenate([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
            masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
            expected = linprog(cdist(x, y).reshape(-1), A_eq=sums, b_eq=masses).fun
            assert matrix[i, j] == pytest.approx(expected, abs=1e-7)


def test_new_graphs_in_the_units_of_the_fit(graphs: Graphs) -> None:
    distance = TreeWasserstein(2, continuous=True).fit(graphs)
    again = distance.transform(graphs.select([3, 5]))
    np.testing.assert_allclose(again, distance.fitted_matrix()[[3, 5]], atol=1e-9)
    kernel = TreeWasserstein(2, continuous=True, gamma=0.5).fit(graphs)
    np.testing.assert_allclose(kernel.transform(graphs.select([3])), np.exp(-again[:1] / 2))
    first = TreeWasserstein(2, continuous=True, start=0).fit_transform(graphs)
    assert not np.allclose(first, distance.fitted_matrix())


def test_a_missing_number_is_the_mean_and_says_that_it_is_missing(graphs: Graphs) -> None:
    """One gap moves the distances of its own graph a little, and the others hardly."""
    assert graphs.x is not None
    x = graphs.x.copy()
    x[0, 0] = np.nan
    gap = replace(graphs, x=x)
    whole, distance = TreeWasserstein(2, continuous=True).fit_transform(graphs), TreeWasserstein(2, continuous=True)
    matrix = distance.fit_transform(gap)
    np.testing.assert_allclose(matrix[1:, 1:], whole[1:, 1:], rtol=0.1)
    np.testing.assert_allclose(distance.transform(gap.select([0, 3])), matrix[[0, 3]], atol=1e-9)
    x[0, 0] = np.nanmean(x[:, 0])
    filled = distance.transform(replace(graphs, x=x).select([0]))
    assert filled[0, 0] > 0.1  # the mean is not the same as nothing
    later = TreeWasserstein(2, continuous=True).fit(graphs)  # a gap that the fit had not
    x[0, 0] = graphs.x[:, 0].mean()
    np.testing.assert_allclose(
        later.transform(gap.select([0])), later.transform(replace(graphs, x=x).select([0])), atol=1e-9
    )


def test_bad_input(graphs: Graphs) -> None:
    with pytest.raises(InputError, match="takes columns of node features, found 'degree'"):
        TreeWasserstein(continuous=True, start="degree").fit(graphs)
    with pytest.raises(InputError, match="edge_labels=True: continuous transport has no such thing"):
        TreeWasserstein(continuous=True, edge_labels=True).fit(graphs)
    with pytest.raises(InputError, match="no column 1 of node features"):
        TreeWasserstein(continuous=True).fit(graphs).transform([nx.path_graph(2)])
