"""Two trees in one: what is made of colours alone is what refinement makes of graphs and their copies."""

from dataclasses import replace

import numpy as np
import pytest

from wlhn import Graphs, refine
from wlhn.batching.as_hierarchy import hierarchy_of
from wlhn.batching.refined import make_quotient
from wlhn.data import load
from wlhn.hierarchy import Hierarchy
from wlhn.kernels.coarser import with_coarser
from wlhn.kernels.matching import cut, match

LABELLED = load("MUTAG").graphs
X = np.stack([LABELLED.node_label, np.random.default_rng(0).integers(0, 3, LABELLED.num_nodes)], axis=1)
MUTAG = replace(LABELLED, x=X, edge_label=None, edge_attr=3 - LABELLED.edge_label[:, None])  # rare ones first


def first_alone(x: np.ndarray) -> np.ndarray:
    return np.where([True, False], x, -2)


def expected(graphs: Graphs, edges: bool) -> tuple[Hierarchy, np.ndarray]:
    """(graphs with all their nodes twice, three rounds deep; the positions (nodes, 2) of a node and of its copy)."""
    ptr, graph = graphs.node_ptr, graphs.graph_of_node
    place = np.arange(graphs.num_nodes)[:, None] + np.stack([ptr[graph], ptr[graph + 1]], axis=1)
    twice = replace(graphs.select(np.repeat(np.arange(len(graphs)), 2)), node_ptr=2 * ptr)
    x = twice.x.copy()
    x[place[:, 1]] = first_alone(graphs.x)
    return refine(twice, 3, x, edges), place


@pytest.mark.parametrize("edges", [False, True])
def test_colours_are_those_of_graphs_with_copies(edges: bool) -> None:
    fine, (copied, place) = refine(MUTAG, 3, X, edges), expected(MUTAG, edges)
    both = with_coarser(fine, first_alone(fine.initial_values))
    for t, number in enumerate(match(copied, both)):
        np.testing.assert_array_equal(number[both.colours[t]].reshape(-1, 2), copied.colours[t][place])
    assert copied.num_colours[3] < 2 * fine.num_colours[3]  # copies have fewer


@pytest.mark.parametrize("edges", [False, True])
def test_a_batch_of_colours_is_enough(edges: bool) -> None:
    """It knows no nodes, is deeper than asked for, and has fewer kinds of edges than its hierarchy."""
    some = [3, 100, 17]
    batch = make_quotient(MUTAG, X, 4, edges).batch(some)
    fine, (copied, place) = cut(hierarchy_of(batch), 3), expected(MUTAG.select(some), edges)
    assert not edges or len(copied.edge_values) < len(batch.edge_x)
    both = with_coarser(fine, first_alone(fine.initial_values))
    for t, number in enumerate(match(copied, both)):
        found, wanted = number[both.colours[t]].reshape(-1, 2), copied.colours[t][place]
        for a, b in zip(fine.node_ptr[:-1], fine.node_ptr[1:], strict=True):
            np.testing.assert_array_equal(*(np.sort(pairs[a:b] @ [10**6, 1]) for pairs in (found, wanted)))
