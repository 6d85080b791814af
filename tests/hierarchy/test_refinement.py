"""Colour refinement: the right partitions, under names that depend on nothing but what the colours stand for."""

from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import collections, within_graphs

from wlhn import Graphs, Hierarchy, InputError, as_graphs, refine
from wlhn.data import load
from wlhn.hierarchy.refinement import encode, refine_once

ROUNDS = 4
SEEDS = st.integers(0, 2**32 - 1)


def naive(graphs: Graphs, start: Iterable[Any], labels: Sequence[int], directed: bool = False) -> list[list[Any]]:
    """Colour refinement with a dictionary, as a textbook has it."""
    colours: list[list[Any]] = [list(start)]
    edges = list(zip(*graphs.edge_index.tolist(), labels, strict=True))
    for _ in range(ROUNDS):
        names: dict[Any, int] = {}
        last, new = colours[-1], []
        for v in range(graphs.num_nodes):
            entering = sorted((last[a], label) for a, b, label in edges if b == v)
            leaving = sorted((last[b], label) for a, b, label in edges if a == v and directed)
            new.append(names.setdefault((last[v], tuple(entering), tuple(leaving)), len(names)))
        colours.append(new)
    return colours


def same_partition(a: Iterable[Any], b: Iterable[Any]) -> bool:
    pairs = set(zip(a, b, strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


@given(collections(), st.sampled_from(["uniform", "degree", "label"]), st.booleans(), st.booleans())
def test_partitions_are_those_of_a_dictionary(graphs: Graphs, initial: Any, edge_labels: bool, directed: bool) -> None:
    start = {"uniform": [0] * graphs.num_nodes, "degree": graphs.degree.tolist(), "label": graphs.node_label}[initial]
    labels = graphs.edge_label.tolist() if edge_labels else [0] * graphs.num_edges
    hierarchy = refine(graphs, ROUNDS, initial, edge_labels, directed)
    for ours, theirs in zip(hierarchy.colours, naive(graphs, start, labels, directed), strict=True):
        assert same_partition(ours.tolist(), theirs)


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_partitions_are_those_of_networkx(seed: int, edge_labels: bool) -> None:
    rng = np.random.default_rng(seed)
    graphs = [nx.gnp_random_graph(int(rng.integers(2, 30)), 0.15, seed=seed * 10 + k) for k in range(5)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: int(rng.integers(3)) for v in graph}, "label")
        nx.set_edge_attributes(graph, {edge: int(rng.integers(2)) for edge in graph.edges}, "label")
    theirs = [
        nx.weisfeiler_lehman_subgraph_hashes(
            graph, node_attr="label", edge_attr="label" if edge_labels else None, iterations=3, digest_size=16
        )
        for graph in graphs
    ]
    hierarchy = refine(graphs, 3, "label", edge_labels)
    for t in range(1, 4):
        hashes = [hashed[v][t - 1] for graph, hashed in zip(graphs, theirs, strict=True) for v in graph]
        assert same_partition(hierarchy.colours[t].tolist(), hashes)


def assert_same_names(a: Hierarchy, b: Hierarchy, order: Any) -> None:
    """b is a with its nodes in another order."""
    assert a.num_colours == b.num_colours
    assert np.array_equal(a.initial_values, b.initial_values)
    for t in range(a.depth + 1):
        assert np.array_equal(a.colours[t][order], b.colours[t])
        assert np.array_equal(a.parents[t], b.parents[t])
        if t:
            for x, y in zip(a.signature(t), b.signature(t), strict=True):
                assert np.array_equal(x, y)


@given(collections(), SEEDS, st.booleans(), st.booleans())
def test_names_do_not_depend_on_the_order_of_nodes_graphs_or_edges(
    g: Graphs, seed: int, labelled: bool, directed: bool
) -> None:
    rng = np.random.default_rng(seed)
    options = ROUNDS, "label", labelled, directed
    fitted = refine(g, *options)
    nodes = within_graphs(g, rng)
    assert_same_names(fitted, refine(g.permute(nodes), *options), nodes)
    graphs = rng.permutation(len(g))
    moved = np.concatenate([np.arange(g.node_ptr[k], g.node_ptr[k + 1]) for k in graphs])
    assert_same_names(fitted, refine(g.select(graphs), *options), moved)
    edges = rng.permutation(g.num_edges)
    shuffled = Graphs.from_edges(
        g.edge_index[:, edges],
        node_ptr=g.node_ptr,
        node_label=g.node_label,
        edge_label=g.edge_label[edges],
    )
    assert_same_names(fitted, refine(shuffled, *options), np.arange(g.num_nodes))


def is_finer(a: Hierarchy, b: Hierarchy) -> bool:
    """Whether nodes that a gives one colour have one in b, at every depth."""
    pairs = [set(zip(x.tolist(), y.tolist(), strict=True)) for x, y in zip(a.colours, b.colours, strict=True)]
    return all(len(pair) == len({x for x, _ in pair}) for pair in pairs)


def turned(graphs: Graphs, edges: Any) -> Graphs:
    return Graphs.from_edges(edges, node_ptr=graphs.node_ptr, node_label=graphs.node_label)


@given(collections())
def test_directions_tell_more_apart_than_either_way_and_than_none(graphs: Graphs) -> None:
    forward = graphs.edge_index
    directed = refine(graphs, ROUNDS, "label", directed=True)
    for edges in (forward, forward[::-1], np.concatenate([forward, forward[::-1]], axis=1)):
        assert is_finer(directed, refine(turned(graphs, edges), ROUNDS, "label"))
    backward = refine(turned(graphs, forward[::-1]), ROUNDS, "label", directed=True)
    assert is_finer(directed, backward)
    assert is_finer(backward, directed)


@given(collections(symmetric=True), st.booleans())
def test_edges_in_both_directions_have_none(graphs: Graphs, labelled: bool) -> None:
    directed = refine(graphs, ROUNDS, "label", labelled, directed=True)
    plain = refine(graphs, ROUNDS, "label", labelled)
    assert is_finer(directed, plain)
    assert is_finer(plain, directed)


def test_where_an_edge_leads_is_seen_by_directed_colours_alone() -> None:
    out_tree = nx.DiGraph([(0, 1), (0, 2), (1, 3)])  # every node but the first is entered by one edge
    assert refine(out_tree, 1).num_colours == [1, 2]
    hierarchy = refine(out_tree, 1, directed=True)
    assert hierarchy.num_colours == [1, 3]
    assert hierarchy.colours[1][2] == hierarchy.colours[1][3]


@given(collections(), st.booleans())
def test_a_directed_signature_is_two(graphs: Graphs, labelled: bool) -> None:
    hierarchy = refine(graphs, 2, "label", labelled, directed=True)
    labels = graphs.edge_label if labelled else np.zeros(graphs.num_edges, int)
    edges = list(zip(*graphs.edge_index.tolist(), labels.tolist(), strict=True))
    for t in (1, 2):
        ptr, colour, edge, times = hierarchy.signature(t)
        for outward in (False, True):
            values = [0] if hierarchy.edge_values is None else hierarchy.edge_values.tolist()
            for v in range(graphs.num_nodes):
                row = slice(*ptr[hierarchy.colours[t][v] : hierarchy.colours[t][v] + 2])
                entries = zip(colour[row].tolist(), edge[row].tolist(), times[row].tolist(), strict=True)
                ours = sorted((c, values[e // 2]) for c, e, n in entries if e % 2 == outward for _ in range(n))
                ends = [(b, label) if outward else (a, label) for a, b, label in edges if (a if outward else b) == v]
                assert ours == sorted((int(hierarchy.colours[t - 1][u]), label) for u, label in ends)


@given(collections())
def test_colours_are_ordered_by_parent_and_none_is_empty(graphs: Graphs) -> None:
    hierarchy = refine(graphs, ROUNDS, "label")
    for t in range(hierarchy.depth + 1):
        assert (np.diff(hierarchy.parents[t]) >= 0).all()
        assert (hierarchy.count(t) > 0).all()
        if t:
            assert np.array_equal(hierarchy.parents[t][hierarchy.colours[t]], hierarchy.colours[t - 1])


@pytest.mark.parametrize("mask", [0, 1])
@given(graphs=collections(), seed=SEEDS)
def test_colliding_hashes_change_nothing(mask: int, graphs: Graphs, seed: int) -> None:
    code = np.unique(graphs.edge_label, return_inverse=True)[1].astype(np.int32)
    start = np.unique(graphs.node_label, return_inverse=True)[1].astype(np.int32)
    known = int(start.max(initial=-1)) + 1
    honest, _, _ = refine_once(graphs, code, start, known)
    colour, parent, representative = refine_once(graphs, code, start, known, hash_mask=mask)
    assert same_partition(honest.tolist(), colour.tolist())
    assert (np.diff(parent) >= 0).all()
    assert np.array_equal(parent[colour], start)
    assert np.array_equal(colour[representative], np.arange(len(parent)))
    order = within_graphs(graphs, np.random.default_rng(seed))
    permuted = graphs.permute(order)
    code = np.unique(permuted.edge_label, return_inverse=True)[1].astype(np.int32)
    again, again_parent, _ = refine_once(permuted, code, start[order], known, hash_mask=mask)
    assert np.array_equal(again, colour[order])
    assert np.array_equal(again_parent, parent)


def test_large_graphs_are_refined_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = as_graphs([nx.barabasi_albert_graph(300, 2, seed=2), nx.star_graph(300)])
    small = [refine(graph, 3, initial) for initial in ("uniform", "degree")]
    monkeypatch.setattr("wlhn.loops.sorting.RANGE", 2)  # many ranges, as if there were millions of nodes
    for hierarchy, initial in zip(small, ("uniform", "degree"), strict=True):
        assert_same_names(hierarchy, refine(graph, 3, initial), np.arange(graph.num_nodes))


def test_refinement_stops_when_stable_and_stays_so() -> None:
    stable = refine(nx.path_graph(9))
    assert stable.num_colours == [1, 2, 3, 4, 5, 5]
    longer = refine(nx.path_graph(9), 8)
    assert longer.num_colours == [1, 2, 3, 4, 5, 5, 5, 5, 5]
    assert all(np.array_equal(colour, longer.colours[4]) for colour in longer.colours[5:])
    assert refine(nx.cycle_graph(5)).num_colours == [1, 1]


def test_directed_edges_are_read_at_their_target() -> None:
    away = refine(nx.DiGraph([(0, 1), (0, 2)]), 1).colours[1]
    assert away[1] == away[2] != away[0]
    one_way = nx.DiGraph([(0, 1), (0, 2), (1, 2)])  # who points where does not matter, only who is pointed at by whom
    assert refine(one_way, 1).num_colours == [1, 3]
    forward = refine(nx.path_graph(4, create_using=nx.DiGraph))
    assert forward.num_colours == [1, 2, 3, 4, 4]


def test_loops_copies_and_isolated_nodes_are_told_apart() -> None:
    nothing, loop, twice = nx.MultiGraph(), nx.MultiGraph([(0, 0)]), nx.MultiGraph([(0, 0), (0, 0)])
    nothing.add_node(0)
    pair, double = nx.MultiGraph([(0, 1)]), nx.MultiGraph([(0, 1), (0, 1)])
    hierarchy = refine([nothing, loop, twice, pair, double], 1)
    # A loop is a neighbour like any other: to one round of WL, a node beside itself is a node beside another.
    colour = hierarchy.colours[1].tolist()
    assert colour[1] == colour[3] == colour[4]
    assert colour[2] == colour[5] == colour[6]
    assert len(set(colour)) == 3


def test_graphs_without_nodes_have_no_colours() -> None:
    empty = refine(np.empty((2, 0), int), 2)
    assert empty.num_colours == [0, 0, 0]
    assert len(empty.tree) == 1
    among = refine([nx.empty_graph(0), nx.path_graph(2), nx.empty_graph(0)], 1)
    assert among.count_per_graph(1)[0].tolist() == [0, 0, 1, 1]


@given(st.integers(0, 30), st.integers(1, 4), SEEDS)
def test_rows_of_integers_are_numbered_in_their_order(n: int, columns: int, seed: int) -> None:
    rows = np.random.default_rng(seed).choice([-(2**40), -1, 0, 3, 2**62], (n, columns))
    values, code = np.unique(rows, axis=0, return_inverse=True)
    ours, found = encode("initial", rows, n)
    assert np.array_equal(ours, code.reshape(-1))
    assert np.array_equal(found, values)


def test_starts() -> None:
    path = nx.path_graph(3)
    rows = np.array([[0.5, 0.0], [0.5, -0.0], [0.1, 7.0]])
    assert refine(path, 0, rows).colours[0].tolist() == [1, 1, 0]
    assert refine(path, 0, np.array(["b", "a", "b"])).colours[0].tolist() == [1, 0, 1]
    assert refine(path, 0, np.array([-100, 100, 100], np.int8)).colours[0].tolist() == [0, 1, 1]
    assert refine(path, 0, np.array([2**63 - 1, -(2**63), 0])).colours[0].tolist() == [2, 0, 1]
    assert refine(path, 0, "degree").initial_values.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rounds": -1}, "rounds: must be 0 or more, found -1"),
        ({"rounds": 1.5}, "rounds: must be a whole number, found 1.5"),
        ({"initial": "labels"}, "initial: must be uniform, degree"),
        ({"initial": "label"}, "the graphs have no node labels"),
        ({"initial": "features"}, "the graphs have no node features"),
        ({"initial": [0.5, 1.0, 2.0]}, "initial: expected integer or text labels"),
        ({"initial": [[0.0], [np.nan], [1.0]]}, "initial, row 1, column 0: expected a number, found nan"),
        ({"initial": [1, 2]}, "initial: expected 3 labels"),
        ({"edge_labels": True}, "edge_labels: the graphs have neither"),
        ({"edge_labels": [1]}, "edge_labels: expected 4 labels"),
    ],
)
def test_bad_starts_are_named(arguments: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        refine(nx.path_graph(3), **arguments)


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = as_graphs(nx.barabasi_albert_graph(500, 3, seed=1))
    alone = refine(graph, 3)
    monkeypatch.setattr("wlhn.loops.parallel.SMALL", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert_same_names(alone, refine(graph, 3), np.arange(graph.num_nodes))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("name", "initial", "colours"),
    [
        pytest.param("MUTAG", "label", [7, 33, 174, 572]),
        pytest.param("PROTEINS", "label", [3, 297, 20_962, 35_676], marks=pytest.mark.dataset("PROTEINS")),
        pytest.param("NCI1", "label", [37, 292, 4_058, 22_948], marks=pytest.mark.dataset("NCI1")),
        pytest.param("IMDB-BINARY", "degree", [65, 2_931, 3_595, 3_595], marks=pytest.mark.dataset("IMDB-BINARY")),
        pytest.param("IMDB-BINARY", "uniform", [1, 65, 2_931, 3_595], marks=pytest.mark.dataset("IMDB-BINARY")),
    ],
)
def test_known_colour_counts(name: str, initial: Any, colours: list[int]) -> None:
    assert refine(load(name).graphs, 3, initial).num_colours == colours


@pytest.mark.dataset("IMDB-BINARY")
def test_the_paper_counts_2997_tree_nodes() -> None:
    assert len(refine(load("IMDB-BINARY").graphs, 2, "uniform").tree) == 2_997


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_rows_of_numbers_are_numbered_in_their_order_whatever_their_hash(dtype: Any) -> None:
    rows = np.random.default_rng(0).integers(-1, 2, (200, 3)).astype(dtype)
    rows[:20, 1] += np.finfo(dtype).eps  # numbers that float64 may not tell apart
    code, values = encode("x", rows, len(rows))
    wanted, number = np.unique(rows, axis=0, return_inverse=True)
    assert np.array_equal(values, wanted)
    assert np.array_equal(code, number.reshape(-1))
