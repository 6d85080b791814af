"""Nearest nodes and graphs of a trained WLHN, in its learned distance, beside the WL distance.

Nodes: the hyperbolic distance of their points at the last depth; nodes of one colour share a point. Graphs: that of
exp_0(h_G), h_G being what the head sees. The WL distance of nodes is the path between their colours in the tree; that
of graphs is Σ over depths and colours of the difference in counts, which is the cheapest way to move one graph's nodes
along the tree to the other's, nodes that are left over going to the root (both counted in steps of the tree).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.embeddings.nearest import distances_to, nearest
from wlhn.errors import InputError
from wlhn.evaluation.trained import Trained
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy
from wlhn.models.loading import make_quotient
from wlhn.models.wlhn import WLHN


@dataclass(frozen=True, eq=False)
class Similar:
    """The nearest items, nearest first; the item itself is left out."""

    index: NDArray[Any]  # positions
    distance: NDArray[Any]  # learned, hyperbolic
    wl_distance: NDArray[Any]  # steps in the tree


class Space:
    """All nodes and graphs of some data as a trained WLHN places them."""

    def __init__(self, trained: Trained, graphs: Graphs) -> None:
        model = trained.model
        if not isinstance(model, WLHN):
            raise InputError(f"model {trained.settings.model}: has no points in hyperbolic space, expected wlhn")
        encoded = trained.vocabulary.encode(graphs)
        edges = encoded.graphs.edge_attr is not None
        quotient = make_quotient(encoded.graphs, encoded.x, trained.settings.num_layers, edges)
        self.graphs, self.hierarchy = graphs, quotient.hierarchy
        model.eval()
        batch = quotient.batch(np.arange(len(graphs)))
        with torch.no_grad():
            *_, (points, _) = model.levels(batch)
            self.graph_vector = model.graph_representation(batch)
        self.r, self.e = points.r, points.e  # a row for each colour of the last depth

    def similar_nodes(self, node: int, count: int) -> Similar:
        """The nodes nearest to a node. Distances are computed once for each colour."""
        colour = self.hierarchy.colours[-1]
        own = int(colour[node])
        distance = distances_to(self.r, self.e, self.r[own], self.e[own]).numpy()
        distance[own] = 0
        others = np.delete(np.arange(len(colour)), node)
        order = _smallest(distance[colour[others]], count)
        chosen = others[order]
        wl = self.hierarchy.distance(np.full(len(chosen), node), chosen)
        return Similar(chosen, distance[colour[chosen]], wl)

    def similar_graphs(self, graph: int, count: int) -> Similar:
        """The graphs nearest to a graph."""
        length = self.graph_vector.norm(dim=1)
        e = self.graph_vector / length.clamp_min(torch.finfo(length.dtype).tiny)[:, None]
        index, distance = nearest(2 * length, e, 2 * length[graph], e[graph], count + 1)
        others = index != graph
        chosen = index[others][:count].numpy()
        return Similar(chosen, distance[others][:count].numpy(), graph_wl_distances(self.hierarchy, graph, chosen))


def graph_wl_distances(hierarchy: Hierarchy, graph: int, others: NDArray[Any]) -> NDArray[np.int64]:
    """The WL distance of one graph to others.

    >>> import networkx as nx, wlhn
    >>> triples = wlhn.refine([nx.path_graph(3), nx.path_graph(3), nx.complete_graph(3)], iterations=1)
    >>> graph_wl_distances(triples, 0, np.array([1, 2])).tolist()
    [0, 4]
    """
    total = np.zeros(len(others), np.int64)
    for t in range(hierarchy.depth + 1):
        ptr, colour, count = hierarchy.count_per_graph(t)
        own = np.zeros(hierarchy.num_colours[t], np.int64)
        own[colour[ptr[graph] : ptr[graph + 1]]] = count[ptr[graph] : ptr[graph + 1]]
        size = own.sum()
        for k, other in enumerate(others):
            here = slice(ptr[other], ptr[other + 1])
            shared = np.minimum(own[colour[here]], count[here]).sum()
            total[k] += size + count[here].sum() - 2 * shared
    return total


def _smallest(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Positions of the smallest values, smallest first, ties in order."""
    if not len(values):
        return np.empty(0, np.int64)
    reach = np.partition(values, min(count, len(values)) - 1)[min(count, len(values)) - 1]
    within = np.flatnonzero(values <= reach)
    return within[np.argsort(values[within], kind="stable")[:count]]
