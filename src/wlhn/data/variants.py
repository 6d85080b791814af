"""Variants of a node set: without the directions of its edges, or with noise as the paper's appendix has it.

A variant has a name of its own, `Cornell+undirected`, `Cornell+feature-noise-0.1` or
`Cornell+undirected+structure-noise-0.2`, so that whoever loads it by name gets the same one. Noise is drawn once for a
set, whatever the split. On features it is that of training nodes alone ("the training graphs" of the paper): of a share
of all nodes it stays on those that are trained on, about the same share of these. Who loads such a set to predict, with
no nodes to train on, sees clean ones.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.graphs import Graphs

UNDIRECTED = "undirected"
NOISE = re.compile(r"(?P<kind>feature|structure)-noise-(?P<share>0\.\d+)")
MEAN, DEVIATION = 2.0, 0.2


def split_name(name: str) -> tuple[str, list[str]]:
    """(data set, its variants) of a name; of another name, itself and none.

    >>> split_name("Cornell+undirected+feature-noise-0.1"), split_name("C++/graphs")
    (('Cornell', ['undirected', 'feature-noise-0.1']), ('C++/graphs', []))
    """
    variants: list[str] = []
    while "+" in name:
        base, last = name.rsplit("+", 1)
        if last != UNDIRECTED and not NOISE.fullmatch(last):
            break
        name, variants = base, [last, *variants]
    return name, variants


def with_noise(dataset: Dataset, variant: str) -> Dataset:
    """The data set with noise on a share of its nodes' features, or with a share of edges more.

    >>> from wlhn.data import load
    >>> load("karate+structure-noise-0.1").graphs.num_edges, load("karate").graphs.num_edges
    (172, 156)
    """
    found = NOISE.fullmatch(variant)
    assert found is not None
    if len(dataset.graphs) != 1 or dataset.level != "node" or dataset.task != "classification":
        raise InputError(f"{dataset.name}: noise is put on one graph whose nodes have classes")
    share = float(found["share"])
    rng = np.random.default_rng([0, round(1000 * share)])
    named = replace(dataset, name=f"{dataset.name}+{variant}", notes=(*dataset.notes, variant))
    if found["kind"] == "feature":
        return replace(named, training_x=on_features(dataset, share, rng))
    return replace(named, graphs=between_classes(dataset, share, rng))


def on_features(dataset: Dataset, share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Features with Gaussian noise added to every one of a share of the nodes."""
    graphs = dataset.graphs
    if graphs.x is None or graphs.x.dtype.kind != "f":
        raise InputError(f"{dataset.name}: noise is put on nodes with numeric features")
    nodes = rng.choice(graphs.num_nodes, round(share * graphs.num_nodes), replace=False)
    x = np.array(graphs.x)
    x[nodes] += rng.normal(MEAN, DEVIATION, (len(nodes), x.shape[1]))
    return x


def between_classes(dataset: Dataset, share: float, rng: np.random.Generator) -> Graphs:
    """New edges between nodes of different classes, in both directions where all edges have both."""
    graphs, y, n = dataset.graphs, dataset.y, dataset.graphs.num_nodes
    source, target = graphs.edge_index.astype(np.int64)
    known = set((source * n + target).tolist())
    both_ways = all(v * n + u in known for u, v in zip(source.tolist(), target.tolist(), strict=True))
    free = len(known) + round(share * len(known)) <= np.sum(y[:, None] != y[None, :])
    if not free or graphs.edge_label is not None or graphs.edge_attr is not None:
        raise InputError(f"{dataset.name}: edges must be plain, and there must be room for more between classes")
    added: list[tuple[int, int]] = []
    while len(added) < round(share * graphs.num_edges):
        u, v = rng.integers(n, size=2).tolist()
        if y[u] != y[v] and u * n + v not in known:
            new = [(u, v), (v, u)] if both_ways else [(u, v)]
            known |= {a * n + b for a, b in new}
            added += new
    edges = np.concatenate([graphs.edge_index, np.array(added, int).reshape(-1, 2).T], axis=1)
    return Graphs.from_edges(edges, n, x=graphs.x, node_label=graphs.node_label, node_ids=graphs.node_ids)
