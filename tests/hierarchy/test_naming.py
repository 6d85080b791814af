"""Names of colours: different for different colours, the same whatever the order, and true."""

from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wlhn
from wlhn.data import load
from wlhn.data.display import node_names
from wlhn.errors import InputError
from wlhn.hierarchy import Hierarchy, colour_names


def test_no_two_colours_of_mutag_read_alike() -> None:
    mutag = load("MUTAG")
    hierarchy = wlhn.refine(mutag.graphs, 3, "label")
    for t in range(4):
        names = colour_names(hierarchy, t, node_names(mutag))
        assert len(set(names)) == hierarchy.num_colours[t]
        assert max(map(len, names)) < 90
    assert "C (3× C (2× C))" in colour_names(hierarchy, 2, node_names(mutag))


@pytest.mark.parametrize("edge_labels", [False, True])
def test_no_two_directed_colours_read_alike(edge_labels: bool) -> None:
    graph = nx.gnp_random_graph(40, 0.05, seed=1, directed=True)
    nx.set_edge_attributes(graph, {(u, v): (u + v) % 2 for u, v in graph.edges}, "label")
    hierarchy = wlhn.refine(graph, 3, "uniform", edge_labels, directed=True)
    for t in range(4):
        assert len(set(colour_names(hierarchy, t))) == hierarchy.num_colours[t]
    lengths = {name.count("→") + name.count("←") for name in colour_names(hierarchy, 2)}
    assert max(lengths) > 1


def test_a_name_says_what_stands_around_every_node_that_has_it() -> None:
    mutag = load("MUTAG")
    atoms, hierarchy = node_names(mutag), wlhn.refine(mutag.graphs, 1, "label")
    names = colour_names(hierarchy, 1, atoms)
    for node in range(0, mutag.graphs.num_nodes, 7):
        around = Counter(atoms[mutag.graphs.neighbours(node)].tolist())
        listed = ", ".join(f"{n}× {atom}" if n > 1 else atom for atom, n in sorted(around.items()))
        assert names[hierarchy.colours[1][node]] == f"{atoms[node]} ({listed})"


def test_names_may_be_degrees_and_whole_numbers_are_names() -> None:
    graph = nx.path_graph(4)
    codes = wlhn.refine(graph, 1, initial=[7, 5, 5, 7])  # as a model has them that sees degrees
    degrees = ["degree 1", "degree 2", "degree 2", "degree 1"]
    assert colour_names(codes, 0, degrees) == ["degree 2", "degree 1"]
    assert set(colour_names(codes, 1, degrees)) == {"degree 1 (d2)", "degree 2 (d1, d2)"}
    assert set(colour_names(codes, 1, [6, 0, 0, 6])) == {"6 (0)", "0 (0, 6)"}  # atomic numbers, say
    assert set(colour_names(codes, 1, [""] * 4)) == {"degree 1", "degree 2"}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 14), st.integers(0, 4), st.sampled_from(["uniform", "degree", "label"]))
def test_names_within_a_depth_differ_and_do_not_depend_on_the_order_of_nodes(
    seed: int, n: int, t: int, start: str
) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, 0.3, seed=seed, directed=seed % 3 == 0)
    label, order = rng.integers(0, 3, n), rng.permutation(n)
    edges, place = np.array(graph.edges, int).reshape(-1, 2).T, np.argsort(order)
    if not graph.is_directed():
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    there = wlhn.Graphs.from_edges(edges, n, node_label=label)
    moved = wlhn.Graphs.from_edges(place[edges], n, node_label=label[order])
    names = []
    for graphs in (there, moved):
        hierarchy = wlhn.refine(graphs, t, start)  # type: ignore[arg-type]
        named = colour_names(hierarchy, t)
        assert len(set(named)) == len(named) == hierarchy.num_colours[t]
        names.append(np.array(named)[hierarchy.colours[t]])
    assert (names[0][order] == names[1]).all()


def test_what_words_cannot_tell_apart_has_a_suffix_that_every_hierarchy_gives() -> None:
    x = np.array([[0.5], [1.5], [2.5]])
    path = wlhn.refine(wlhn.Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]], 3, x=x), 1, "features")
    both = colour_names(path, 1, ["C", "N", "C"])
    assert both[1] == "N (2× C)"
    assert [name.split("#")[0] for name in both[::2]] == ["C (N) ", "C (N) "]
    turned = wlhn.refine(wlhn.Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]], 3, x=x[::-1].copy()), 1, "features")
    assert sorted(colour_names(turned, 1, ["C", "N", "C"])) == sorted(both)
    assert len(set(colour_names(path, 0))) == 3


def test_edges_have_their_say() -> None:
    graphs = wlhn.Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]], 3, edge_label=[1, 1, 2, 2])
    hierarchy = wlhn.refine(graphs, 1, ["O", "C", "O"], edge_labels=True)
    assert sorted(colour_names(hierarchy, 1)) == ["C (O by 1, O by 2)", "O (C by 1)", "O (C by 2)"]


def test_hubs_deep_trees_and_single_nodes_have_names_of_a_line() -> None:
    hub = wlhn.refine(nx.star_graph(40), 1, [f"kind {k}" for k in range(41)])
    assert "34 more)" in " ".join(colour_names(hub, 1))
    deep = wlhn.refine(nx.path_graph(400), 150)
    names = colour_names(deep, 150)
    assert len(set(names)) == deep.num_colours[150]
    assert max(map(len, names)) < 100
    alone = wlhn.refine(nx.empty_graph(1), 2, ["C"])
    assert colour_names(alone, 2) == ["C (no neighbours)"]
    assert colour_names(wlhn.refine(nx.empty_graph(1), 1), 1) == ["degree 0"]
    with pytest.raises(InputError, match="depth: expected 0 to 2"):
        colour_names(alone, 3)


def test_a_hierarchy_from_disk_has_the_same_names(tmp_path: Path) -> None:
    hierarchy = wlhn.refine(nx.karate_club_graph(), 2, "degree")
    hierarchy.save(tmp_path / "h.npz")
    assert colour_names(Hierarchy.load(tmp_path / "h.npz"), 2) == colour_names(hierarchy, 2)
    assert colour_names(hierarchy, 2, colours=[3, 1]) == [colour_names(hierarchy, 2)[k] for k in (3, 1)]
