"""Variants of node sets: noise where it says and as strong as it says, and the same set wherever it is loaded."""

from dataclasses import replace

import numpy as np
import pytest

from wlhn.data import Dataset, load
from wlhn.data.splits import Split
from wlhn.data.variants import with_noise
from wlhn.errors import InputError
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
