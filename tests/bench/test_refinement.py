"""The graphs of the race to the stable colouring are what they are called, and both tools agree where they can."""

import networkx as nx
import numpy as np
import pytest

from wlhn import refine
from wlhn.bench.refinement import GRAPHS, equal_branches, random_tree, road_network, stable_races


def test_every_graph_is_raced_to_the_end() -> None:
    races = stable_races(nodes=200, repeats=1)
    assert [race.graph for race in races] == list(GRAPHS)
    for race in races:
        graph = GRAPHS[race.graph](200, 0)
        assert (race.nodes, race.directed_edges) == (len(graph), 2 * graph.number_of_edges())
        assert race.nodes <= 200
        fitted = refine(graph)
        assert (race.rounds, race.colours) == (fitted.depth, fitted.num_colours[-1])
        assert fitted.stable_depth is not None
        ratio = None if race.seconds_bliss is None else pytest.approx(race.seconds_bliss / race.seconds)
        assert race.ratio_to_bliss == ratio


def test_graphs_are_what_they_are_called() -> None:
    assert nx.is_tree(random_tree(100, 1))
    assert nx.is_tree(equal_branches(100, 1))
    assert refine(equal_branches(100, 1)).num_colours[-1] == 6
    roads = road_network(400, 1)
    assert max(degree for _, degree in roads.degree) <= 4
    assert roads.number_of_edges() == pytest.approx(0.7 * 2 * 20 * 19, rel=0.1)


def test_colours_of_a_tree_are_the_orbits_that_bliss_finds() -> None:
    igraph = pytest.importorskip("igraph")
    tree = random_tree(300, 2)
    moves = igraph.Graph(300, list(tree.edges)).automorphism_group()
    orbits = nx.Graph((v, image) for move in moves for v, image in enumerate(move))
    orbits.add_nodes_from(tree)
    colour = refine(tree).colours[-1][np.argsort(list(tree))]
    found = {frozenset(orbit) for orbit in nx.connected_components(orbits)}
    assert found == {frozenset(np.flatnonzero(colour == c).tolist()) for c in range(colour.max() + 1)}
