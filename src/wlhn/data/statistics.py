"""What a data set holds, in numbers, against the figures that were published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wlhn.data.dataset import Dataset
from wlhn.data.registry import KNOWN
from wlhn.loops.edges import undirected_edges
from wlhn.loops.grouping import group_by_target


@dataclass(frozen=True)
class Statistics:
    """Edges are undirected here: pairs of different nodes that an edge joins in either direction."""

    graphs: int
    nodes: int
    max_nodes: int
    min_nodes: int
    mean_nodes: float
    edges: int
    max_edges: int
    min_edges: int
    mean_edges: float
    directed_edges: int  # as stored: both directions, self-loops
    self_loops: int
    isolated_nodes: int  # no edge in either direction
    node_labels: int
    node_features: int
    edge_labels: int
    classes: int
    targets: int
    class_counts: tuple[int, ...]
    labelled: int  # items with a target


def statistics(dataset: Dataset) -> Statistics:
    """Count.

    >>> from wlhn.data import load
    >>> numbers = statistics(load("MUTAG"))
    >>> numbers.graphs, numbers.max_nodes, round(numbers.mean_edges, 2), numbers.class_counts
    (188, 28, 19.79, (63, 125))
    """
    graphs = dataset.graphs
    sources, targets = graphs.edge_index
    out_ptr, successors, _ = group_by_target(targets, sources, graphs.num_nodes)
    pairs, loops = undirected_edges(graphs.row_ptr, graphs.neighbour, out_ptr, successors, graphs.node_ptr)
    sizes = np.diff(graphs.node_ptr)
    classified, labelled = dataset.task == "classification", dataset.labelled
    known = dataset.y[labelled]
    return Statistics(
        graphs=len(graphs),
        nodes=graphs.num_nodes,
        max_nodes=int(sizes.max(initial=0)),
        min_nodes=int(sizes.min()) if len(sizes) else 0,
        mean_nodes=float(sizes.mean()) if len(sizes) else 0.0,
        edges=int(pairs.sum()),
        max_edges=int(pairs.max(initial=0)),
        min_edges=int(pairs.min()) if len(pairs) else 0,
        mean_edges=float(pairs.mean()) if len(pairs) else 0.0,
        directed_edges=graphs.num_edges,
        self_loops=int(loops),
        isolated_nodes=int(((graphs.degree == 0) & (np.diff(out_ptr) == 0)).sum()),
        node_labels=0 if graphs.node_label is None else len(np.unique(graphs.node_label)),
        node_features=0 if graphs.x is None else graphs.x.shape[1],
        edge_labels=0 if graphs.edge_label is None else len(np.unique(graphs.edge_label)),
        classes=len(dataset.classes),
        targets=int(np.prod(dataset.y.shape[1:], dtype=int)),
        class_counts=tuple(np.bincount(known, minlength=len(dataset.classes)).tolist()) if classified else (),
        labelled=int(labelled.sum()),
    )


Figure = int | str


@dataclass(frozen=True)
class Check:
    """One figure: as published, as it is, and what to say about it."""

    figure: str
    published: Figure
    actual: Figure
    verdict: Literal["equal", "explained", "differs"]
    why: str = ""


def published(name: str) -> dict[str, Figure]:
    """The paper's figures for a registered set, by the name of the statistic; empty if it has none.

    >>> published("Cornell")
    {'nodes': 183, 'directed_edges': 295, 'node_features': 1703}
    """
    return dict(KNOWN[name].figures) if name in KNOWN else {}


def check(name: str, found: Statistics) -> list[Check]:
    """Every published figure against the files.

    >>> from wlhn.data import load, statistics
    >>> {figure.verdict for figure in check("MUTAG", statistics(load("MUTAG")))}
    {'equal'}
    """
    return [_check(name, figure, value, getattr(found, figure)) for figure, value in published(name).items()]


def _check(name: str, figure: str, given: Figure, value: Any) -> Check:
    actual: Figure = f"{value:.{len(given.partition('.')[2])}f}" if isinstance(given, str) else int(value)
    if actual == given:
        return Check(figure, given, actual, "equal")
    expected, why = KNOWN[name].explained.get(figure, (None, ""))
    if actual == expected:
        return Check(figure, given, actual, "explained", why)
    return Check(figure, given, actual, "differs")
