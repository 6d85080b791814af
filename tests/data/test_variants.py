"""Variants of data sets: noise where it says and as strong as it says, and the same set wherever it is loaded."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from wlhn.data import Dataset, as_dataset, load
from wlhn.data.splits import Split
from wlhn.data.variants import with_noise, with_virtual_node
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine
from wlhn.training.problem import Problem
from wlhn.training.provenance import data_hash
from wlhn.training.settings import Settings


def featured() -> Dataset:
    """Karate with zeros and ones on its nodes."""
    karate = load("karate")
    x = (np.random.default_rng(0).random((34, 500)) < 0.1).astype(np.float32)
    return replace(karate, graphs=replace(karate.graphs, x=x), inputs=("x",))


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_features(share: float) -> None:
    clean, noisy = featured(), with_noise(featured(), f"feature-noise-{share}")
    assert (np.asarray(noisy.graphs.x) == np.asarray(clean.graphs.x)).all()
    everywhere, half = (noisy.as_trained_on(items).graphs.x for items in (np.arange(34), np.arange(17)))
    added = everywhere - np.asarray(clean.graphs.x)
    touched = (added != 0).any(axis=1)
    assert touched.sum() == round(share * 34)
    assert (half[:17] == everywhere[:17]).all()
    assert (half[17:] == np.asarray(clean.graphs.x)[17:]).all()
    assert added[touched].mean() == pytest.approx(2, abs=0.02)
    assert added[touched].std() == pytest.approx(0.2, abs=0.02)
    assert (noisy.graphs.edge_index == clean.graphs.edge_index).all()
    assert everywhere.dtype == np.asarray(clean.graphs.x).dtype
    assert data_hash(noisy) != data_hash(clean)
    split = Split(np.arange(17), np.arange(17, 25), np.arange(25, 34))
    problem = Problem(noisy, split, Settings.of(num_layers=1, standardise=False))
    assert (problem.encoded.x == half).all()


@pytest.mark.parametrize("share", [0.1, 0.2])
@pytest.mark.parametrize("directed", [False, True])
def test_edges_between_classes(share: float, directed: bool) -> None:
    clean = featured()
    if directed:
        source, target = clean.graphs.edge_index
        edges = clean.graphs.edge_index[:, source < target]
        clean = replace(clean, graphs=type(clean.graphs).from_edges(edges, 34, x=clean.graphs.x))
    noisy = with_noise(clean, f"structure-noise-{share}")
    before, after = (set(map(tuple, d.graphs.edge_index.T.tolist())) for d in (clean, noisy))
    added = after - before
    assert before < after
    assert len(after) == noisy.graphs.num_edges  # none twice
    wanted = round(share * len(before))
    assert wanted <= len(added) <= wanted + (not directed)
    assert all(clean.y[u] != clean.y[v] for u, v in added)
    assert all((v, u) in added for u, v in added) or directed
    assert (np.asarray(noisy.graphs.x) == np.asarray(clean.graphs.x)).all()


def test_a_name_is_one_set() -> None:
    once, twice, more = (load(f"karate+structure-noise-{share}") for share in ("0.1", "0.1", "0.2"))
    assert once.name == "karate+structure-noise-0.1"
    assert data_hash(once) == data_hash(twice) != data_hash(more)
    assert data_hash(once) == data_hash(load("karate+structure-noise-0.1", seed=1))


def test_sets_that_cannot_have_noise() -> None:
    with pytest.raises(InputError, match="noise is put on nodes with numeric features"):
        load("karate+feature-noise-0.1")
    with pytest.raises(InputError, match="noise is put on one graph whose nodes have classes"):
        load("MUTAG+structure-noise-0.1")
    with pytest.raises(InputError, match="neither a known data set nor a path"):
        load("nothing+feature-noise-0.1")


@pytest.mark.dataset("Cornell")
def test_the_papers_set() -> None:
    clean, noisy = load("Cornell"), load("cornell+feature-noise-0.2")
    assert (noisy.training_x != np.asarray(clean.graphs.x)).any(axis=1).sum() == 37
    assert noisy.splits == clean.splits
    assert load("Cornell+structure-noise-0.1").graphs.num_edges == 295 + 30


@pytest.mark.dataset("Cornell")
def test_without_directions() -> None:
    directed, undirected, noisy = (load(f"Cornell{v}") for v in ("", "+undirected", "+undirected+structure-noise-0.1"))
    before, after, more = (set(map(tuple, d.graphs.edge_index.T.tolist())) for d in (directed, undirected, noisy))
    assert after == before | {(v, u) for u, v in before}
    assert after < more == {(v, u) for u, v in more}
    assert undirected.name == "Cornell+undirected"
    assert undirected.splits == directed.splits


def hub_and_rest(dataset: Dataset, graph: int) -> tuple[int, Graphs, Graphs]:
    """The virtual node of a graph, that graph as the variant has it, and as it was."""
    new = with_virtual_node(dataset).graphs.select([graph])
    return new.num_nodes - 1, new, dataset.graphs.select([graph])


@pytest.mark.parametrize("graph", [0, 7, 187])
def test_virtual_node_is_joined_to_all_others_and_nothing_else_changes(graph: int) -> None:
    hub, new, old = hub_and_rest(load("MUTAG"), graph)
    joined = nx.DiGraph(list(zip(*old.edge_index.tolist(), strict=True)))
    joined.add_edges_from([ends for node in list(joined) for ends in ((hub, node), (node, hub))])
    found = nx.DiGraph(list(zip(*new.edge_index.tolist(), strict=True)))
    assert nx.utils.graphs_equal(found, joined)
    assert new.num_edges == joined.number_of_edges()
    assert new.node_label[:hub].tolist() == old.node_label.tolist()
    assert new.node_label[hub] == load("MUTAG").graphs.node_label.max() + 1


def test_edges_of_a_virtual_node_have_a_label_of_their_own() -> None:
    mutag = load("MUTAG")
    hub, new, old = hub_and_rest(mutag, 3)
    of_hub = (new.edge_index == hub).any(axis=0)
    assert set(new.edge_label[of_hub]) == {mutag.graphs.edge_label.max() + 1}
    assert new.edge_label[~of_hub].tolist() == old.edge_label.tolist()


def test_features_of_a_virtual_node_are_a_new_category_or_missing() -> None:
    pair = Graphs.from_edges([[0, 1], [1, 0]], node_ptr=[0, 2, 3], x=[[0, 1], [2, 0], [1, 1]], node_ids=["a", "b", "c"])
    dataset = Dataset(
        "pair", pair, np.array([0, 1]), "graph", "classification", (0, 1), inputs=("x",), categories=(4, 2)
    )
    new = with_virtual_node(dataset)
    assert new.categories == (5, 3)
    assert new.graphs.x.tolist() == [[0, 1], [2, 0], [4, 2], [1, 1], [4, 2]]
    assert new.graphs.node_ids == ["a", "b", "virtual-node", "c", "virtual-node"]
    numbers = replace(dataset, graphs=replace(pair, x=pair.x.astype(np.float32)), categories=())
    x = with_virtual_node(numbers).graphs.x
    assert np.isnan(x).all(axis=1).tolist() == [False, False, True, False, True]
    assert (pair.x == [[0, 1], [2, 0], [1, 1]]).all()  # what was given is left as it was


def test_a_virtual_node_tells_two_triangles_from_a_hexagon_no_better_than_refinement_does() -> None:
    """Two steps lead everywhere, but one-dimensional refinement stays what it is."""
    triangles, hexagon = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.cycle_graph(6)
    dataset = with_virtual_node(as_dataset([triangles, hexagon], [0, 1]))
    hierarchy = refine(dataset.graphs, rounds=4)
    assert sorted(hierarchy.colours[4][:7]) == sorted(hierarchy.colours[4][7:])


def test_virtual_node_needs_graphs_with_targets() -> None:
    with pytest.raises(InputError, match="karate: a virtual node"):
        load("karate+virtual-node")


def test_a_model_learns_from_the_variant_by_its_name() -> None:
    mutag = load("MUTAG+virtual-node")
    assert mutag.name == "MUTAG+virtual-node"
    split = Split(np.arange(100), np.arange(100, 144), np.arange(144, 188))
    problem = Problem(mutag, split, Settings.of(num_layers=2))
    assert problem.encoded.x.shape[1] == 8  # seven labels, and the virtual node's
