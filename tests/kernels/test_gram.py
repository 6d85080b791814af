"""Matrices of kernels: GraKeL's, transport's and the definitions' numbers, whatever the order of nodes and graphs."""

import tracemalloc
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from strategies import collections, within_graphs

from wlhn import Graphs, Hierarchy, refine
from wlhn.bench.kernels import grakel_graphs, grakel_matrix
from wlhn.data import load
from wlhn.errors import InputError
from wlhn.kernels import (
    ColourCounts,
    compare_graphs,
    dense,
    depth_by_depth,
    normalise,
    self_similarity,
)
from wlhn.loops.parallel import torch_threads

wl_gram, oa_gram = (partial(compare_graphs, kind, normalised=False) for kind in ("wl", "oa"))
wasserstein = partial(compare_graphs, "wasserstein")
GRAMS = {"wl": wl_gram, "oa": oa_gram}


def random_graphs(seed: int, graphs: int = 25) -> Graphs:
    """Labelled simple graphs, isolated nodes among them."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(graphs):
        graph = nx.gnp_random_graph(int(rng.integers(1, 12)), rng.random() / 2, seed=1000 * seed + k)
        nx.set_node_attributes(graph, {v: int(rng.integers(3)) for v in graph}, "label")
        made.append(graph)
    from wlhn import as_graphs

    return as_graphs(made)


def counts_of(graphs: Graphs, depth: int = 3, start: str = "label") -> ColourCounts:
    return ColourCounts.of(refine(graphs, depth, start))


def by_definition(kind: str, hierarchy: Hierarchy, weights: Any) -> np.ndarray:
    """Dense histograms, depth by depth."""
    n, total = hierarchy.num_graphs, 0.0
    graph = np.repeat(np.arange(n), np.diff(hierarchy.node_ptr))
    for t, colour in enumerate(hierarchy.colours):
        counts = np.zeros((n, hierarchy.num_colours[t]))
        np.add.at(counts, (graph, colour), 1)
        a, b = counts[:, None], counts[None]
        total = total + weights[t] * (a * b if kind == "wl" else np.minimum(a, b)).sum(axis=2)
    return np.asarray(total)


@pytest.mark.parametrize("kind", GRAMS)
@pytest.mark.parametrize("seed", range(4))
def test_random_labelled_graphs_are_as_alike_as_in_grakel(kind: str, seed: int) -> None:
    pytest.importorskip("grakel", reason="needs GraKeL")
    graphs = random_graphs(seed)
    ours = GRAMS[kind](counts_of(graphs), normalised=True)
    np.testing.assert_allclose(ours, grakel_matrix(kind, grakel_graphs(graphs), 3), atol=1e-6)


@pytest.mark.parametrize("kind", GRAMS)
@pytest.mark.parametrize("name", ["MUTAG", pytest.param("ENZYMES", marks=pytest.mark.dataset("ENZYMES"))])
def test_real_graphs_are_as_alike_as_in_grakel(kind: str, name: str) -> None:
    pytest.importorskip("grakel", reason="needs GraKeL")
    graphs = load(name).graphs
    if kind == "oa" and len(graphs) > 200:
        graphs = graphs.select(np.arange(0, len(graphs), 4))  # GraKeL takes a minute for all
    ours = GRAMS[kind](counts_of(graphs, 4), normalised=True)
    np.testing.assert_allclose(ours, grakel_matrix(kind, grakel_graphs(graphs), 4), atol=1e-6)


@pytest.mark.parametrize("kind", GRAMS)
@given(collections(min_nodes=1), st.integers(0, 3), st.integers(0, 2**16))
@settings(max_examples=40)
def test_matrices_follow_the_definitions(kind: str, graphs: Graphs, depth: int, seed: int) -> None:
    hierarchy = refine(graphs, depth, "label")
    counts, weights = ColourCounts.of(hierarchy), np.random.default_rng(seed).random(depth + 1)
    expected = by_definition(kind, hierarchy, weights)
    np.testing.assert_allclose(GRAMS[kind](counts, weights=weights), expected)
    np.testing.assert_allclose(GRAMS[kind](counts, counts, weights=weights), expected)
    np.testing.assert_allclose(self_similarity(kind, counts, weights), expected.diagonal())


@pytest.mark.parametrize("seed", range(3))
def test_assignment_is_the_best_matching_of_nodes(seed: int) -> None:
    graphs = random_graphs(seed, 6)
    hierarchy = refine(graphs, 3, "label")
    colours, ptr = np.stack(hierarchy.colours), graphs.node_ptr
    matrix = oa_gram(ColourCounts.of(hierarchy))
    for i in range(6):
        for j in range(6):
            u, v = colours[:, ptr[i] : ptr[i + 1]], colours[:, ptr[j] : ptr[j + 1]]
            worth = (u[:, :, None] == v[:, None, :]).sum(axis=0)
            assert matrix[i, j] == worth[linear_sum_assignment(worth, maximize=True)].sum()


@pytest.mark.parametrize("seed", range(3))
def test_wasserstein_is_transport_under_the_wl_distance(seed: int) -> None:
    graphs = random_graphs(seed, 6)
    hierarchy, ptr = refine(graphs, 2, "label"), graphs.node_ptr
    matrix = wasserstein(ColourCounts.of(hierarchy))
    for i in range(6):
        for j in range(6):
            u, v = np.arange(ptr[i], ptr[i + 1]), np.arange(ptr[j], ptr[j + 1])
            cost = hierarchy.distance(u[:, None], v[None])
            assert matrix[i, j] == pytest.approx(cheapest_transport(cost), abs=1e-9)


def cheapest_transport(cost: np.ndarray) -> float:
    n, m = cost.shape
    leaves, arrives = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return float(linprog(cost.reshape(-1), A_eq=np.concatenate([leaves, arrives]), b_eq=masses).fun)


def test_wasserstein_of_plain_counts_and_of_longer_edges() -> None:
    counts = counts_of(random_graphs(1))
    dense = counts.matrix.toarray().astype(float)
    plain = np.abs(dense[:, None] - dense[None]).sum(axis=2)
    np.testing.assert_array_equal(wasserstein(counts, normalised=False), plain)
    shares, weights = dense / counts.num_nodes[:, None], [1.0, 0.5, 0.25, 0.0]
    expected = (counts.column_weights(weights) * np.abs(shares[:, None] - shares[None])).sum(axis=2)
    np.testing.assert_allclose(wasserstein(counts, weights=weights), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_kernels_are_positive_semi_definite_and_graphs_equal_themselves(seed: int) -> None:
    graphs = random_graphs(seed, 40)
    counts = counts_of(graphs)
    distance = wasserstein(counts)
    similar = [kernel(counts, normalised=True) for kernel in GRAMS.values()] + [np.exp(-0.7 * distance)]
    for matrix in similar:
        np.testing.assert_array_equal(matrix, matrix.T)
        assert (matrix.diagonal() == 1).all()
        assert np.linalg.eigvalsh(matrix).min() > -1e-9
    assert (distance.diagonal() == 0).all()
    twice = counts_of(graphs.select([0, 1, 0]))
    assert oa_gram(twice, normalised=True)[0, 2] == wl_gram(twice, normalised=True)[0, 2] == 1
    assert wasserstein(twice)[0, 2] == 0


@given(collections(min_nodes=1), st.integers(0, 2**16))
@settings(max_examples=30)
def test_no_order_of_nodes_or_graphs_shows(graphs: Graphs, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(graphs))
    other = graphs.permute(within_graphs(graphs, rng)).select(order)
    for compare in (lambda c: wl_gram(c, normalised=True), lambda c: oa_gram(c, normalised=True), wasserstein):
        before, after = compare(counts_of(graphs)), compare(counts_of(other))
        np.testing.assert_array_equal(after, before[np.ix_(order, order)])


@pytest.mark.parametrize("kind", GRAMS | {"wasserstein": wasserstein})
@pytest.mark.parametrize("normalised", [False, True])
def test_all_depths_for_the_price_of_the_last(kind: str, normalised: bool) -> None:
    graphs, compare = random_graphs(2), (GRAMS | {"wasserstein": wasserstein})[kind]
    counts = counts_of(graphs)
    new, old = counts.select(range(5)), counts.select(range(5, 25))
    square = list(depth_by_depth(kind, counts, normalised=normalised))
    for t, block in enumerate(depth_by_depth(kind, new, old, normalised=normalised)):
        expected = compare(counts_of(graphs, t), normalised=normalised)
        np.testing.assert_array_equal(square[t], expected)
        np.testing.assert_array_equal(block, expected[:5, 5:])
    assert t == 3
    with pytest.raises(InputError, match="must be wl, oa or wasserstein"):
        next(depth_by_depth("rbf", counts))


def test_a_matrix_is_normalised_by_similarities_to_oneself() -> None:
    counts = counts_of(random_graphs(5))
    own = self_similarity("wl", counts)
    np.testing.assert_array_equal(normalise(wl_gram(counts), own, own), wl_gram(counts, normalised=True))


@pytest.mark.parametrize("compare", [*GRAMS.values(), wasserstein])
def test_there_is_one_matrix_in_memory(compare: Any) -> None:
    counts = counts_of(random_graphs(3, 1500), 1)
    compare(counts.select([0, 1]), normalised=True)  # compiles
    tracemalloc.start()
    matrix = compare(counts, normalised=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert matrix.nbytes <= peak < 1.3 * matrix.nbytes


def test_threads_and_blocks_change_nothing() -> None:
    graphs = random_graphs(3, 1500)  # several blocks
    counts, heard = counts_of(graphs), []
    with torch_threads(1):
        alone = oa_gram(counts, report=lambda done, total: heard.append((done, total)))
    with torch_threads(3):
        together = oa_gram(counts)
    np.testing.assert_array_equal(alone, together)
    assert heard == [(1024, 1500), (1500, 1500)]


def test_counts_round_trip_as_plain_arrays() -> None:
    graphs = random_graphs(4)
    fitted = refine(graphs.select(range(10)), 3, "label")
    new = graphs.select(range(10, 25))
    counts = ColourCounts.of_new(fitted, refine(new, 3, "label"))
    arrays = counts.to_arrays()
    assert all(a.dtype.kind == "i" for a in arrays.values())
    again = ColourCounts.from_arrays(arrays)
    assert counts.unseen.sum() > 0
    np.testing.assert_array_equal(again.unseen, counts.unseen)
    np.testing.assert_array_equal(oa_gram(again, ColourCounts.of(fitted)), oa_gram(counts, ColourCounts.of(fitted)))
    np.testing.assert_array_equal(counts.num_nodes, np.diff(new.node_ptr))
    with pytest.raises(InputError, match="the array 'count' is missing"):
        ColourCounts.from_arrays({name: a for name, a in arrays.items() if name != "count"})


def test_what_does_not_fit_is_said_before_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counts_of(random_graphs(0))
    free = type("Memory", (), {"available": 8 * 25 * 25 - 1})
    monkeypatch.setattr(dense.psutil, "virtual_memory", lambda: free)
    for compare in (wl_gram, oa_gram, wasserstein):
        with pytest.raises(InputError, match=r"25 × 25 numbers .* explicit features"):
            compare(counts)
    assert oa_gram(counts.select(range(5)), counts).shape == (5, 25)  # a smaller one does


@pytest.mark.parametrize("weights", [[1, 2], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, np.nan]])
def test_bad_weights(weights: Any) -> None:
    with pytest.raises(InputError, match="weights: expected"):
        oa_gram(counts_of(random_graphs(0, 3)), weights=weights)


def test_counts_of_two_trees_do_not_mix() -> None:
    with pytest.raises(InputError, match="one hierarchy"):
        wl_gram(counts_of(random_graphs(0, 3)), counts_of(random_graphs(1, 9)))
