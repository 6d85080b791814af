"""Late rounds give what full rounds give, number for number."""

import networkx as nx
import numpy as np
import pytest

from wlhn import Graphs, refine
from wlhn.graphs import as_graphs
from wlhn.hierarchy import refinement
from wlhn.hierarchy.hierarchy import Hierarchy

GRAPHS = {
    "path": nx.path_graph(90),
    "cycle with a tail": nx.lollipop_graph(3, 60),
    "tree": nx.balanced_tree(2, 6),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(7, 11)),
    "random": nx.gnm_random_graph(80, 100, seed=1),
    "one way": nx.gn_graph(70, seed=2),
    "empty": nx.empty_graph(5),
}


def same(a: Hierarchy, b: Hierarchy) -> bool:
    pairs = zip((*a.colours, *a.parents, *a.representatives), (*b.colours, *b.parents, *b.representatives), strict=True)
    return all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in pairs)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_late_rounds_are_full_rounds(name: str, directed: bool, edges: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = as_graphs(GRAPHS[name])
    labels = np.arange(graphs.num_edges) % 3 if edges else False
    monkeypatch.setattr(refinement, "LATE", 10**6)
    full = refine(graphs, edge_labels=labels, directed=directed)
    monkeypatch.setattr(refinement, "LATE", 1)
    assert same(refine(graphs, edge_labels=labels, directed=directed), full)


def test_a_collision_is_left_to_a_full_round() -> None:
    """Without a hash all runs of one colour collide."""
    graphs: Graphs = as_graphs(nx.path_graph(9))
    fitted = refine(graphs, 2)
    none = np.empty(0, np.int32)
    assert refinement.refine_late(graphs, none, fitted.colours[2], fitted.parents[2], hash_mask=0) is None
    late = refinement.refine_late(graphs, none, fitted.colours[2], fitted.parents[2])
    assert late is not None
    for a, b in zip(late, refinement.refine_once(graphs, none, fitted.colours[2], 3), strict=True):
        assert np.array_equal(a, b)


def test_a_long_path_ends_in_pairs() -> None:
    colours = refine(nx.path_graph(400)).colours[-1]
    assert np.array_equal(colours, colours[::-1])
    assert (np.bincount(colours) == 2).all()
