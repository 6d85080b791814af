"""The same graphs from every form people have them in."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.utils.data import Subset
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import from_networkx

from wlhn import Graphs, InputError, as_graphs, refine
from wlhn.graphs import to_networkx, to_pyg

GRAPHS = [nx.karate_club_graph(), nx.path_graph(4), nx.star_graph(5), nx.empty_graph(2)]


def edges(graphs: Graphs) -> list[list[int]]:
    return sorted(graphs.edge_index.T.tolist())


def test_every_form_gives_the_same_graphs() -> None:
    expected = as_graphs(GRAPHS)
    data = [Data(edge_index=from_networkx(g).edge_index, num_nodes=len(g)) for g in GRAPHS]
    matrices = [nx.to_scipy_sparse_array(g, format="csr", weight=None) for g in GRAPHS]
    for form in (data, Batch.from_data_list(data), matrices, [as_graphs(g) for g in GRAPHS]):
        graphs = as_graphs(form)
        assert graphs.node_ptr.tolist() == expected.node_ptr.tolist()
        assert edges(graphs) == edges(expected)
    one = as_graphs(GRAPHS[0])
    for form in (data[0], matrices[0], sp.csr_matrix(matrices[0]), one.edge_index, torch.tensor(one.edge_index)):
        assert edges(as_graphs(form)) == edges(one)


def test_batches_in_a_loader_or_a_list_are_their_graphs() -> None:
    data = to_pyg(as_graphs(GRAPHS))
    expected = as_graphs(data)
    batches = [Batch.from_data_list(data[:3]), Batch.from_data_list(data[3:])]
    for form in (DataLoader(data, batch_size=3), batches, [batches[0], data[3]], Subset(data, [0, 1, 2, 3])):
        graphs = as_graphs(form)
        assert graphs.node_ptr.tolist() == expected.node_ptr.tolist()
        assert edges(graphs) == edges(expected)


def test_an_array_of_objects_is_a_list_of_graphs() -> None:
    """What is left of a list that numpy has indexed, as for the folds of a cross-validation."""
    array = np.empty(len(GRAPHS), object)
    array[:] = GRAPHS
    assert as_graphs(array[[1, 2]]).node_ptr.tolist() == [0, 4, 10]
    with pytest.raises(InputError, match="edge_index: expected integers, found object"):
        as_graphs(np.array([[0, 1], [1, None]]))


def test_names_of_any_kind_survive() -> None:
    graph = nx.Graph([("b", (1, 2)), ((1, 2), 40), (40, "z")])
    graphs = as_graphs([graph, nx.Graph([(10, 30)])])
    assert graphs.ids(0) == ["b", (1, 2), 40, "z"]
    assert graphs.ids(1) == [10, 30]
    assert refine(graphs, 1).node_ids == ["b", (1, 2), 40, "z", 10, 30]
    back = to_networkx(graphs)[0]
    assert nx.utils.graphs_equal(back, graph)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_round_trip(kind: type[nx.Graph]) -> None:
    graph = kind()
    graph.add_nodes_from(range(4), label=3)
    graph.add_edges_from([(0, 1), (1, 2), (2, 2)], label=7)
    if graph.is_multigraph():
        graph.add_edge(0, 1, label=7)
    back = to_networkx(as_graphs(graph))[0]
    assert type(back) is kind
    assert sorted(back.edges(data="label")) == sorted(graph.edges(data="label"))
    assert dict(back.nodes(data="label")) == dict(graph.nodes(data="label"))


def test_pyg_round_trip() -> None:
    graphs = Graphs.from_edges(
        [[0, 1, 2], [1, 0, 2]], node_ptr=[0, 2, 3], x=[[1.0], [2.0], [3.0]], node_label=[1, 2, 3], edge_label=[4, 5, 6]
    )
    back = as_graphs(to_pyg(graphs))
    for column in ("node_ptr", "row_ptr", "neighbour", "x", "node_label", "edge_label"):
        assert np.array_equal(getattr(back, column), getattr(graphs, column))


def test_matrix_entries_of_zero_are_no_edges() -> None:
    matrix = sp.csr_array((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2))
    assert edges(as_graphs(matrix)) == [[0, 1]]


def test_an_undirected_self_loop_is_one_edge() -> None:
    assert as_graphs(nx.Graph([(0, 0), (0, 1)])).degree.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (3, "expected graphs"),
        (["a"], "expected a graph"),
        (sp.csr_array(np.ones((2, 3))), "square"),
        (Data(x=torch.ones(2, 1)), "without edge_index"),
        ([nx.path_graph(2), 7], "expected a graph .* found int"),
    ],
)
def test_what_is_no_graph_is_named(source: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        as_graphs(source)


def test_columns_are_for_all_or_none() -> None:
    labelled = nx.path_graph(3)
    nx.set_node_attributes(labelled, 1, "label")
    with pytest.raises(InputError, match="graph 1 has no node_label"):
        as_graphs([labelled, nx.path_graph(2)])
    del labelled.nodes[1]["label"]
    with pytest.raises(InputError, match="given for some nodes"):
        as_graphs(labelled)


def test_float_labels_are_refused() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, 0.5, "label")
    with pytest.raises(InputError, match="node_label: expected integers, found float64"):
        as_graphs(graph)
