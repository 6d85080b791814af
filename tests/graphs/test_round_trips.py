"""Ours ↔ PyG ↔ networkx keeps edges, labels, features and names."""

import networkx as nx
import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from strategies import collections, edge_list
from torch_geometric.data import Batch, Data

from wlhn.graphs import Graphs, as_graphs, to_networkx, to_pyg


def same(a: Graphs, b: Graphs, *, columns: tuple[str, ...] = ("x", "node_label")) -> None:
    assert a.node_ptr.tolist() == b.node_ptr.tolist()
    assert edge_list(a) == edge_list(b)
    for name in columns:
        left, right = getattr(a, name), getattr(b, name)
        if left is not None and len(left):
            np.testing.assert_allclose(left, right)
    assert [a.ids(g) for g in range(len(a))] == [b.ids(g) for g in range(len(b))]


@given(collections())
@settings(max_examples=60, deadline=None)
def test_pyg_round_trip(graphs: Graphs) -> None:
    same(graphs, as_graphs(to_pyg(graphs)))


@given(collections(min_nodes=1))
@settings(max_examples=30, deadline=None)
def test_pyg_batch_is_the_same_as_its_list(graphs: Graphs) -> None:
    same(graphs, as_graphs(Batch.from_data_list(to_pyg(graphs))))


@given(collections(symmetric=False, multi=False))
@settings(max_examples=60, deadline=None)
def test_networkx_round_trip_directed(graphs: Graphs) -> None:
    same(graphs, as_graphs(to_networkx(graphs)))


@given(collections(symmetric=True, multi=False))
@settings(max_examples=60, deadline=None)
def test_networkx_round_trip_undirected(graphs: Graphs) -> None:
    others = to_networkx(graphs)
    assert not any(other.is_directed() for other in others)
    same(graphs, as_graphs(others))


@given(collections(decorated=False))
@settings(max_examples=40, deadline=None)
def test_all_the_way_around(graphs: Graphs) -> None:
    """Ours → PyG → ours → networkx → ours."""
    same(graphs, as_graphs(to_networkx(as_graphs(to_pyg(graphs)))))


def test_edges_mean_the_same_in_all_forms() -> None:
    edges = np.array([[0, 0, 2], [1, 2, 1]])
    expected = [(0, 1), (0, 2), (2, 1)]
    matrix = sp.csr_array((np.ones(3), edges), shape=(3, 3))
    forms = [
        edges,
        torch.from_numpy(edges),
        matrix,
        nx.DiGraph(expected),
        Data(edge_index=torch.from_numpy(edges), num_nodes=3),
    ]
    assert all(edge_list(as_graphs(form)) == expected for form in forms)
