"""Variants of a data set: node sets without the directions of their edges, or with noise as the paper's appendix has
it; graph sets with a virtual node in each graph.

A variant has a name of its own, `Cornell+undirected`, `Cornell+feature-noise-0.1`,
`Cornell+undirected+structure-noise-0.2` or `MUTAG+virtual-node`, so that whoever loads it by name gets the same one.
Noise is drawn once for a set, whatever the split. On features it is that of training nodes alone ("the training graphs"
of the paper): of a share of all nodes it stays on those that are trained on, about the same share of these. Who loads
such a set to predict, with no nodes to train on, sees clean ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.graphs import Graphs

UNDIRECTED, VIRTUAL_NODE = "undirected", "virtual-node"
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
        if last not in (UNDIRECTED, VIRTUAL_NODE) and not NOISE.fullmatch(last):
            break
        name, variants = base, [last, *variants]
    return name, variants


def with_virtual_node(dataset: Dataset) -> Dataset:
    """The data set with one node more in each graph, joined to all others, so that two steps lead from any node to any
    other (Gilmer et al. 2017).

    It has a label or category of its own, and so have its edges; its numbers are missing. It stands last.

    >>> from wlhn.data import load
    >>> load("MUTAG+virtual-node").graphs, load("MUTAG").graphs
    (Graphs(188 graphs, 3,559 nodes, 14,184 directed edges), Graphs(188 graphs, 3,371 nodes, 7,442 directed edges))
    """
    if dataset.level != "graph":
        raise InputError(
            f"{dataset.name}: a virtual node is put into graphs that have a target, not nodes that have one"
        )
    graphs, graph = dataset.graphs, dataset.graphs.graph_of_node
    ends = graphs.node_ptr[1:]  # each virtual node stands behind the nodes of its graph
    node, hub = np.arange(graphs.num_nodes) + graph, (ends + np.arange(len(graphs)))[graph]
    edges = np.concatenate([node[graphs.edge_index], [node, hub], [hub, node]], axis=1)
    order = np.insert(np.arange(graphs.num_nodes), ends, -1)  # what stands where; -1: a virtual node
    edge_order = np.concatenate([np.arange(graphs.num_edges), np.full(2 * len(node), -1)])
    ids = graphs.node_ids
    return replace(
        dataset,
        name=f"{dataset.name}+{VIRTUAL_NODE}",
        categories=tuple(count + 1 for count in dataset.categories),
        graphs=Graphs.from_edges(
            edges,
            node_ptr=graphs.node_ptr + np.arange(len(graphs) + 1),
            x=_with_new_value(graphs.x, order, dataset.categories),
            node_label=_with_new_value(graphs.node_label, order),
            edge_label=_with_new_value(graphs.edge_label, edge_order),
            edge_attr=_with_new_value(graphs.edge_attr, edge_order),
            node_ids=None if ids is None else [VIRTUAL_NODE if k < 0 else ids[k] for k in order.tolist()],
        ),
    )


def _with_new_value(values: NDArray[Any] | None, order: NDArray[Any], new: Sequence[int] = ()) -> NDArray[Any] | None:
    """Values in this order; where it says -1, a category of their own (`new`, or the next one), or a missing number."""
    if values is None:
        return None
    taken = values[order]
    if np.issubdtype(values.dtype, np.floating):
        taken[order < 0] = np.nan
    else:
        taken[order < 0] = new or values.max(axis=0, initial=-1) + 1
    return taken


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
