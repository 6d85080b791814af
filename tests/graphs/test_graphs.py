"""Flat arrays: what goes in comes out, in any order, and what cannot be a graph is refused in one sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import collections, within_graphs

from wlhn import Graphs, InputError

SQUARE = [[0, 1, 2, 3], [1, 2, 3, 0]]


def edges_of(graphs: Graphs) -> list[tuple[int, int, int]]:
    assert graphs.edge_label is not None
    return sorted(zip(*graphs.edge_index.tolist(), graphs.edge_label.tolist(), strict=True))


def test_edges_come_back_with_their_labels() -> None:
    graphs = Graphs.from_edges([[0, 2, 2, 1, 0], [1, 0, 2, 1, 1]], num_nodes=4, edge_label=[5, 6, 7, 8, 9])
    assert edges_of(graphs) == [(0, 1, 5), (0, 1, 9), (1, 1, 8), (2, 0, 6), (2, 2, 7)]
    assert graphs.degree.tolist() == [1, 3, 1, 0]


@given(collections(), st.integers(0, 2**32 - 1))
def test_permute_renames_nodes_and_nothing_else(graphs: Graphs, seed: int) -> None:
    order = within_graphs(graphs, np.random.default_rng(seed))
    permuted = graphs.permute(order)
    assert sorted((order[u], order[v], label) for u, v, label in edges_of(permuted)) == edges_of(graphs)
    assert permuted.node_label is not None
    assert graphs.node_label is not None
    assert np.array_equal(permuted.node_label, graphs.node_label[order])


@given(collections(), st.data())
def test_select_takes_whole_graphs(graphs: Graphs, data: st.DataObject) -> None:
    index = data.draw(st.lists(st.integers(0, len(graphs) - 1), max_size=5))
    selected = graphs.select(np.array(index, dtype=int))
    assert len(selected) == len(index)
    for k, g in enumerate(index):
        one, same = selected.select([k]), graphs.select([g])
        assert edges_of(one) == edges_of(same)
        assert np.array_equal(one.node_label, same.node_label)
        assert one.num_nodes == same.num_nodes


@pytest.mark.parametrize("nodes", [1, 7, 3000])
def test_large_graphs_are_grouped_alike(monkeypatch: pytest.MonkeyPatch, nodes: int) -> None:
    edges = np.random.default_rng(nodes).integers(0, nodes, (2, 5000))
    small = Graphs.from_edges(edges, nodes, edge_label=np.arange(5000))
    monkeypatch.setattr("wlhn.loops.sorting.RANGE", 4)  # many ranges
    large = Graphs.from_edges(edges, nodes, edge_label=np.arange(5000))
    for column in ("row_ptr", "neighbour", "edge_label"):
        assert np.array_equal(getattr(small, column), getattr(large, column))


def test_several_graphs_without_nodes_are_graphs() -> None:
    graphs = Graphs.from_edges(np.empty((2, 0), int), node_ptr=[0, 0, 3, 3])
    assert len(graphs) == 3
    assert graphs.degree.tolist() == [0, 0, 0]
    assert graphs.select([0, 2]).num_nodes == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"edge_index": [[0, 1], [1, 4]], "num_nodes": 4}, r"edge 1 \(1 → 4\): no such node; indices .* 0 to 3"),
        ({"edge_index": [[0, -1], [1, 0]]}, r"edge 1 \(-1 → 0\): no such node"),
        ({"edge_index": [[0, 2], [1, 1]], "node_ptr": [0, 2, 3]}, "edge 2 → 1 joins graph 1 and graph 0"),
        ({"edge_index": [[0.0, 1.0], [1.0, 0.0]]}, "edge_index: expected integers, found float64"),
        ({"edge_index": [[0, 1], [1, 2], [2, 0]]}, r"edge_index: expected shape \(2, m\).* found \(3, 2\)"),
        ({"edge_index": [0, 1]}, r"edge_index: expected shape \(2, m\)"),
        ({"edge_index": SQUARE, "node_ptr": [0, 5, 4]}, "node_ptr: offsets must"),
        ({"edge_index": SQUARE, "node_label": [0.5, 1, 1, 1]}, "node_label: expected integers, found float64"),
        ({"edge_index": SQUARE, "node_label": [1, 1]}, "node_label: expected 4 labels"),
        ({"edge_index": SQUARE, "edge_label": [1.5] * 4}, "edge_label: expected integers"),
        ({"edge_index": SQUARE, "x": [[0.0], [1.0], [np.inf], [0.0]]}, "x, row 2, column 0: .* found inf"),
        ({"edge_index": SQUARE, "x": [[0.0], [np.inf], [1.0], [0.0]]}, "x, row 1, column 0: .* found inf"),
        ({"edge_index": SQUARE, "x": [["a"]] * 4}, "x: expected numbers"),
        ({"edge_index": SQUARE, "x": [[0.0]]}, "x: expected 4 rows"),
        ({"edge_index": SQUARE, "node_ids": ["a", "b"]}, "node_ids: expected 4 names"),
    ],
)
def test_what_is_no_graph_is_named(arguments: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Graphs.from_edges(**arguments)


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [1, 0, 2]])
def test_permute_wants_a_permutation_within_graphs(order: list[int]) -> None:
    graphs = Graphs.from_edges([[0], [0]], node_ptr=[0, 1, 3])
    with pytest.raises(InputError, match="permutation"):
        graphs.permute(order)


def test_select_names_the_graph_that_is_not_there() -> None:
    with pytest.raises(InputError, match="graph -3: no such graph"):
        Graphs.from_edges([[0], [0]], node_ptr=[0, 1, 3]).select([0, -3])
