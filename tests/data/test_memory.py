"""Graphs in memory: networkx attributes, PyG's y and masks, targets with gaps."""

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from wlhn.data import as_dataset, stratified_folds
from wlhn.data.memory import graphs_in_memory
from wlhn.data.splits import random_splits
from wlhn.errors import InputError

EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def people() -> nx.Graph:
    graph = nx.Graph()
    graph.add_node("ann", age=31, job="baker")
    graph.add_node("bob", age=27)
    graph.add_node("eve", job="judge")
    graph.add_edge("ann", "bob", years=3, how="met")
    graph.add_edge("bob", "eve", how="wed", pos=[1, 2])
    return graph


def test_networkx_attributes_are_columns_as_from_graphml() -> None:
    dataset = as_dataset(people())
    roles = {(column.name, column.edge): (column.role, column.kind) for column in dataset.columns}
    assert roles == {
        ("age", False): ("feature", "numeric"),
        ("job", False): ("feature", "categories"),
        ("years", True): ("feature", "numeric"),
        ("how", True): ("feature", "categories"),
        ("pos", True): ("ignored", "text"),
    }
    np.testing.assert_array_equal(dataset.graphs.x, [[31], [27], [np.nan]])  # type: ignore[arg-type]
    assert dataset.graphs.node_label.tolist() == [0, 2, 1]  # type: ignore[union-attr]
    order = {(0, 1): (0, 3), (1, 0): (0, 3), (1, 2): (1, np.nan), (2, 1): (1, np.nan)}
    for k, edge in enumerate(dataset.graphs.edge_index.T.tolist()):
        how, years = order[tuple(edge)]
        assert dataset.graphs.edge_label[k] == how  # type: ignore[index]
        np.testing.assert_array_equal(dataset.graphs.edge_attr[k], [years])  # type: ignore[index]
    assert "column 'pos': lists or records" in dataset.summary


def test_attributes_stand_beside_x_and_label() -> None:
    graph = people()
    nx.set_node_attributes(graph, {"ann": [0.5, 1.0], "bob": [1.5, 1.0], "eve": [2.5, 0.0]}, "x")
    nx.set_node_attributes(graph, 7, "label")
    nx.set_edge_attributes(graph, [0.25], "edge_attr")
    graphs, _ = graphs_in_memory(graph)
    assert graphs.node_label.tolist() == [7, 7, 7]  # type: ignore[union-attr]
    assert graphs.x.shape == (3, 2 + 1 + 3)  # type: ignore[union-attr]  # x, age, one of baker, judge, nothing
    assert graphs.x[:, :2].tolist() == [[0.5, 1.0], [1.5, 1.0], [2.5, 0.0]]  # type: ignore[index]
    assert graphs.edge_attr[:, 0].tolist() == [0.25] * 4  # type: ignore[index]


def test_attributes_are_read_from_arrays_and_generators_too() -> None:
    array = np.empty(2, object)
    array[:] = [people(), people()]
    expected, columns = graphs_in_memory([people(), people()])
    for form in (array, (graph for graph in array)):
        graphs, found = graphs_in_memory(form)
        assert found == columns
        np.testing.assert_array_equal(graphs.x, expected.x)


def test_new_graphs_have_the_columns_of_the_old() -> None:
    _, columns = graphs_in_memory([people()])
    new = nx.Graph([("a", "b", {"how": "sued"})])
    nx.set_node_attributes(new, {"a": "judge", "b": "thief"}, "job")
    nx.set_node_attributes(new, 3, "height")
    graphs, again = graphs_in_memory([new], columns)
    assert graphs.node_label.tolist() == [1, -1]  # type: ignore[union-attr]
    assert np.isnan(graphs.x).tolist() == [[True], [True]]  # type: ignore[arg-type]
    assert next(c.role for c in again if c.name == "height") == "ignored"
    assert graphs.edge_label.tolist() == [-1, -1]  # type: ignore[union-attr]


def test_attributes_are_told_apart_by_their_names_not_their_order() -> None:
    old, new = nx.path_graph(2), nx.path_graph(2)
    for graph, order in ((old, ("mass", "charge")), (new, ("charge", "mass"))):
        for name in order:
            nx.set_node_attributes(graph, {0: 1.0, 1: 2.0} if name == "mass" else {0: -1.0, 1: -2.0}, name)
            nx.set_edge_attributes(graph, 1.0 if name == "mass" else -1.0, name)
    graphs, columns = graphs_in_memory([old])
    again, _ = graphs_in_memory([new], columns)
    np.testing.assert_array_equal(again.x, graphs.x)
    np.testing.assert_array_equal(again.edge_attr, graphs.edge_attr)


def test_targets_in_memory_may_be_unknown() -> None:
    graphs = [nx.path_graph(n) for n in range(2, 6)]
    for y in (["a", None, "b", "a"], ["a", float("nan"), "b", "a"], np.array(["a", None, "b", "a"], object)):
        dataset = as_dataset(graphs, y)
        assert (dataset.classes, dataset.y.tolist()) == (("a", "b"), [0, -1, 1, 0])
    numbers = as_dataset(graphs, [0.5, None, 1.5, 2.5])
    assert (numbers.task, numbers.labelled.tolist()) == ("regression", [True, False, True, True])
    with pytest.raises(InputError, match="does -1 among the classes -1, 0 and 1 mean unknown"):
        as_dataset(graphs, [0, -1, 1, 0])
    assert as_dataset(graphs, [0, -1, 1, 0], missing="-1").y.tolist() == [0, -1, 1, 0]
    assert as_dataset(graphs, [0, -1, 1, 0], missing="").y.tolist() == [1, 0, 2, 1]


def test_pyg_lists_bring_their_targets() -> None:
    graphs = [Data(edge_index=EDGES, num_nodes=3, y=torch.tensor([k % 2])) for k in range(4)]
    assert as_dataset(graphs).y.tolist() == [0, 1, 0, 1]
    loaded = as_dataset(DataLoader(graphs, batch_size=3))
    assert (len(loaded.graphs), loaded.y.tolist()) == (4, [0, 1, 0, 1])
    rows = [Data(edge_index=EDGES, num_nodes=3, y=torch.tensor([[1.0, torch.nan]])) for _ in range(2)]
    assert (as_dataset(rows).task, as_dataset(rows).y.shape) == ("binary", (2, 2))
    del graphs[1].y
    with pytest.raises(InputError, match="3 of 4 PyG graphs have a y"):
        as_dataset(graphs)


def test_pyg_masks_are_the_splits() -> None:
    """One column or several, with or without a validation mask; nodes without a target are left out."""
    y = torch.tensor([0, 1, -1])
    one = Data(edge_index=EDGES, num_nodes=3, y=y, train_mask=torch.tensor([True, False, True]))
    one.test_mask = torch.tensor([False, True, False])
    (split,) = as_dataset(one, level="node", missing="-1").splits
    assert (split.train.tolist(), split.valid.tolist(), split.test.tolist()) == ([0], [], [1])
    several = Data(edge_index=EDGES, num_nodes=3, y=torch.tensor([0, 1, 0]))
    several.train_mask = torch.tensor([[True, False], [False, True], [False, False]])
    several.val_mask = torch.tensor([[False, True], [True, False], [False, False]])
    several.test_mask = torch.tensor([False, False, True])
    splits = as_dataset(several, level="node").splits
    assert [(s.train.tolist(), s.valid.tolist(), s.test.tolist()) for s in splits] == [([0], [1], [2]), ([1], [0], [2])]
    for pair in ([several, several], [Batch.from_data_list([several, several])]):
        both = as_dataset(pair, level="node").splits
        assert both[0].train.tolist() == [0, 3]


def test_drawn_splits_hold_labelled_items_only() -> None:
    known = np.arange(40) % 3 > 0
    y = np.where(known, np.arange(40) % 2, -1)
    for split in stratified_folds(y, folds=4, among=known) + random_splits(40, repeats=3, among=known):
        items = np.concatenate([split.train, split.valid, split.test])
        assert sorted(items.tolist()) == np.flatnonzero(known).tolist()
    everything = np.ones(40, bool)
    assert stratified_folds(y, among=everything) == stratified_folds(y)
    assert random_splits(40, among=everything) == random_splits(40)


def test_slices_and_positions_of_a_data_set_are_data_sets() -> None:
    paths = as_dataset([nx.path_graph(n) for n in range(2, 8)], [0, 1] * 3)
    for part, expected in ((slice(1, 4), [1, 2, 3]), ([0, -1], [0, 5]), (paths.y == 1, [1, 3, 5]), (slice(0, 0), [])):
        assert paths[part].y.tolist() == paths.y[expected].tolist()
        assert np.diff(paths[part].graphs.node_ptr).tolist() == [k + 2 for k in expected]
