"""Data that are generated: no network, no data root needed. All take a seed, also where nothing is random.

The synthetic node regression sets are those of the paper's table 1. Density: ten Barabási–Albert graphs; the target of
a node is m/n of its ego network of radius 2 (m edges among the n nodes at distance at most 2, itself included).
Effective size: ten Erdős–Rényi graphs; the target is deg − 2t/deg with t the edges among the neighbours. The paper is
silent on nodes without neighbours (p = 0.008 has some): theirs is 0. Each graph is split 60/20/20 on its own, ten
times. Nodes have no features but their degree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset, class_indices
from wlhn.data.splits import PARTS, Split, random_splits
from wlhn.graphs import as_graphs


def karate_club(*, seed: int = 0) -> Dataset:
    """Zachary's karate club: the two clubs its members joined.

    >>> karate_club().classes
    ('Mr. Hi', 'Officer')
    """
    graph = nx.karate_club_graph()
    y, classes = class_indices([club for _, club in graph.nodes(data="club")])
    target = Column("club", "target", "categories", "2 classes")
    return Dataset("karate", as_graphs(graph), y, "node", "classification", classes, columns=(target,))


def graph_atlas(*, seed: int = 0) -> Dataset:
    """All 1,252 graphs of one to seven nodes; the class is whether they are connected, which WL cannot always tell.

    >>> len(graph_atlas()), graph_atlas().classes
    (1252, (False, True))
    """
    graphs = nx.graph_atlas_g()[1:]  # the first has no nodes
    y, classes = class_indices([nx.is_connected(graph) for graph in graphs])
    target = Column("connected", "target", "categories", "2 classes")
    ids = [graph.name for graph in graphs]
    return Dataset("atlas", as_graphs(graphs), y, "graph", "classification", classes, graph_ids=ids, columns=(target,))


GRAPHS, NODES, REPEATS = 10, 1000, 10


def ego_density(adjacency: sp.csr_array) -> NDArray[np.float64]:
    """m/n of every node's ego network of radius 2.

    With B the 0/1 matrix of nodes at distance at most 2, B's row sums count nodes and those of (B A) ∘ B edges twice.

    >>> ego_density(sp.csr_array(nx.to_scipy_sparse_array(nx.path_graph(4), dtype=np.int64))).tolist()
    [0.6666666666666666, 0.75, 0.75, 0.6666666666666666]
    """
    near = (sp.eye_array(adjacency.shape[0], dtype=np.int64) + adjacency + adjacency @ adjacency).astype(bool)
    near = sp.csr_array(near.astype(np.int64))
    return (near @ adjacency).multiply(near).sum(axis=1) / (2 * near.sum(axis=1))


def effective_size(adjacency: sp.csr_array) -> NDArray[np.float64]:
    """deg − 2t/deg of every node, 0 for one without neighbours.

    >>> effective_size(sp.csr_array(nx.to_scipy_sparse_array(nx.complete_graph(4), dtype=np.int64))).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    degree = adjacency.sum(axis=1)
    twice_edges = (adjacency @ adjacency).multiply(adjacency).sum(axis=1)
    return degree - twice_edges / np.maximum(degree, 1)


def barabasi_albert_density(m: int, *, seed: int = 0) -> Dataset:
    """Table 1, left: density of ego networks in Barabási–Albert graphs.

    >>> barabasi_albert_density(5)
    Dataset(BA-density-5, node regression, Graphs(10 graphs, 10,000 nodes, 99,500 directed edges))
    """
    graphs = [nx.barabasi_albert_graph(NODES, m, seed=_seed(seed, k)) for k in range(GRAPHS)]
    return _dataset(f"BA-density-{m}", graphs, "density", ego_density, seed)


def erdos_renyi_effective_size(p: float, *, seed: int = 0) -> Dataset:
    """Table 1, right: effective size in Erdős–Rényi graphs."""
    graphs = [nx.fast_gnp_random_graph(NODES, p, seed=_seed(seed, k)) for k in range(GRAPHS)]
    return _dataset(f"ER-effective-size-{p}", graphs, "effective size", effective_size, seed)


def splits_within(sizes: list[int], *, seed: int) -> tuple[Split, ...]:
    """Random 60/20/20 splits of the nodes of each graph on its own."""
    starts = np.cumsum([0, *sizes])
    drawn = [random_splits(size, repeats=REPEATS, seed=_seed(seed, k)) for k, size in enumerate(sizes)]
    return tuple(
        Split(
            *(np.concatenate([getattr(d[r], part) + s for d, s in zip(drawn, starts, strict=False)]) for part in PARTS)
        )
        for r in range(REPEATS)
    )


def _dataset(
    name: str, graphs: list[nx.Graph], target: str, measure: Callable[[Any], NDArray[np.float64]], seed: int
) -> Dataset:
    y = np.concatenate([measure(sp.csr_array(nx.to_scipy_sparse_array(g, dtype=np.int64))) for g in graphs])
    return Dataset(
        name=name,
        graphs=as_graphs(graphs),
        y=y.astype(np.float32),
        level="node",
        task="regression",
        targets=(target,),
        columns=(Column(target, "target", "numeric"),),
        splits=splits_within([len(g) for g in graphs], seed=seed),
        notes=(f"generated with seed {seed}",),
    )


def _seed(seed: int, k: int) -> int:
    """Independent seeds from one."""
    return int(np.random.SeedSequence([seed, k]).generate_state(1)[0])
