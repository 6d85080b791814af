"""Rooted trees: their metric, and what is none."""

import networkx as nx
import numpy as np
import pytest
from strategies import random_tree

from wlhn import InputError, Tree


def as_networkx(tree: Tree) -> nx.Graph:
    graph = nx.empty_graph(len(tree))
    graph.add_edges_from(enumerate(tree.parent[1:].tolist(), start=1))
    return graph


@pytest.mark.parametrize("bushy", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n", [1, 2, 60])
def test_metric_is_that_of_paths(n: int, bushy: float) -> None:
    tree = random_tree(n, np.random.default_rng(n), bushy)
    truth = dict(nx.all_pairs_shortest_path_length(as_networkx(tree)))
    every = np.arange(n)
    expected = [[truth[a][b] for b in range(n)] for a in range(n)]
    assert tree.distance(every[:, None], every).tolist() == expected
    assert tree.all_distances().tolist() == expected
    assert tree.depth.tolist() == expected[0]


def test_lowest_common_ancestor_is_that_of_networkx() -> None:
    tree = random_tree(40, np.random.default_rng(3), 0.5)
    directed = nx.DiGraph([(int(tree.parent[v]), v) for v in range(1, 40)])
    for (a, b), lca in nx.tree_all_pairs_lowest_common_ancestor(directed, root=0):
        assert tree.lca(a, b) == lca


def test_ancestors_end_at_the_root() -> None:
    path = Tree(np.arange(-1, 9))
    assert path.ancestor(9, np.arange(12)).tolist() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
    assert Tree(np.array([-1, 0, 0])).ancestor([1, 2], 2).tolist() == [0, 0]


def test_levels_and_children() -> None:
    tree = Tree.from_networkx(nx.balanced_tree(3, 2))
    assert tree.levels == [slice(0, 1), slice(1, 4), slice(4, 13)]
    assert tree.num_children.tolist() == [3, 3, 3, 3, *[0] * 9]


def test_names_of_a_networkx_tree_are_kept() -> None:
    tree = Tree.from_networkx(nx.DiGraph([("b", "c"), ("a", "b"), ("a", "d")]))
    assert tree.names == ("a", "b", "d", "c")
    assert tree.parent.tolist() == [-1, 0, 0, 1]
    assert Tree.from_networkx(nx.path_graph(3), root=1).parent.tolist() == [-1, 0, 0]


@pytest.mark.parametrize(
    ("parent", "sentence"),
    [
        ([], "node 0 must be the root"),
        ([0, 0], "node 0 must be the root"),
        ([-1, 0, -1], "node 2 is a second root"),
        ([-1, 2, 1], "level by level"),  # a cycle
        ([-1, 1], "level by level"),
        ([-1, 0, 1, 0], "level by level"),
        ([-1, 7], "level by level"),
    ],
)
def test_parents_that_make_no_tree(parent: list[int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Tree(np.array(parent))


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (nx.cycle_graph(4), "has a cycle"),
        (nx.DiGraph([(0, 1), (1, 0)]), r"expected one root, found 0 \(a cycle\)"),
        (nx.DiGraph([(0, 2), (1, 2)]), "expected one root, found 2"),
        (nx.DiGraph([(0, 1), (2, 3), (3, 2)]), "has a cycle|cannot be reached"),
        (nx.Graph([(0, 1), (2, 3)]), "2 nodes cannot be reached from the root 0"),
        (nx.Graph([(0, 1), (1, 1)]), "has a cycle"),
        (nx.Graph(), "it has no nodes"),
    ],
)
def test_graphs_that_are_no_trees(graph: nx.Graph, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Tree.from_networkx(graph)


def test_a_root_must_be_there() -> None:
    with pytest.raises(InputError, match="root 'x' is not one of its nodes"):
        Tree.from_networkx(nx.path_graph(2), root="x")


def test_nodes_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="tree: expected nodes 0 to 1"):
        Tree(np.array([-1, 0])).distance(0, [1, 2])
