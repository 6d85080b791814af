"""Colours against colours: what matching finds is what assignment finds node by node; a pruned tree still knows."""

import numpy as np
import pytest

from wlhn import Graphs, assign, refine
from wlhn.data import load
from wlhn.hierarchy.hierarchy import tree_from_arrays
from wlhn.kernels import ColourCounts, compare_graphs
from wlhn.kernels.matching import cut, match


def halves() -> tuple[Graphs, Graphs]:
    graphs = load("MUTAG").graphs
    return graphs.select(range(len(graphs) // 2)), graphs.select(range(len(graphs) // 2, len(graphs)))


@pytest.mark.parametrize("edges", [False, True])
def test_colours_match_as_nodes_are_assigned(edges: bool) -> None:
    one, other = halves()
    fitted, own = refine(one, 3, "label", edges), refine(other, 3, "label", edges)
    for colour, number, nodes in zip(own.colours, match(fitted, own), assign(fitted, other).colours, strict=True):
        np.testing.assert_array_equal(number[colour], nodes)
    assert any((number < 0).any() for number in match(fitted, own))


@pytest.mark.parametrize("edges", [False, True])
def test_a_tree_of_some_graphs_knows_all_that_they_have(edges: bool) -> None:
    one, other = halves()
    fitted, own = refine(one, 3, "label", edges), refine(other, 3, "label", edges)
    few = ColourCounts.of(fitted).select([1, 4, 5])
    tree, pruned = few.pruned(fitted)
    assert sum(tree.num_colours) == len(np.unique(few.matrix.indices))
    tree = tree_from_arrays(tree.tree_arrays(), tree.depth)
    whole = compare_graphs("oa", ColourCounts.of_new(fitted, own), few)
    np.testing.assert_array_equal(compare_graphs("oa", ColourCounts.of_new(tree, own), pruned), whole)


def test_the_first_depths_are_those_of_a_shorter_refinement() -> None:
    graphs, _ = halves()
    short, long = refine(graphs, 1, "label"), cut(refine(graphs, 3, "label"), 1)
    for a, b in zip((*short.colours, *short.signature(1)), (*long.colours, *long.signature(1)), strict=True):
        np.testing.assert_array_equal(a, b)
