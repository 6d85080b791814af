"""Table 1's targets against the definition, node by node."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from wlhn.data import load
from wlhn.data.generated import effective_size, ego_density
from wlhn.graphs import to_networkx


@given(st.integers(1, 25), st.floats(0, 1), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_targets_by_definition(nodes: int, p: float, seed: int) -> None:
    graph = nx.gnp_random_graph(nodes, p, seed=seed)
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=np.int64))
    egos = [nx.ego_graph(graph, v, radius=2) for v in graph]
    np.testing.assert_allclose(ego_density(adjacency), [e.number_of_edges() / len(e) for e in egos])
    sizes = nx.effective_size(graph)  # Burt's, which for simple graphs is deg − 2t/deg; not a number without neighbours
    np.testing.assert_allclose(effective_size(adjacency), [0 if d == 0 else sizes[v] for v, d in graph.degree()])


@pytest.mark.parametrize(("name", "edges"), [("BA-density-5", 9950), ("BA-density-10", 19800)])
def test_barabasi_albert(name: str, edges: int) -> None:
    dataset = load(name)
    assert all(graph.number_of_edges() * 2 == edges for graph in to_networkx(dataset.graphs.select([0, 9])))
    assert np.array_equal(load(name).y, dataset.y)
    assert not np.array_equal(load(name, seed=1).y, dataset.y)


def test_every_graph_is_split_on_its_own() -> None:
    dataset = load("ER-effective-size-0.01")
    assert len(dataset.splits) == 10
    for split in dataset.splits:
        counts = [np.bincount(dataset.graphs.graph_of_node[p]).tolist() for p in (split.train, split.valid, split.test)]
        assert counts == [[600] * 10, [200] * 10, [200] * 10]
