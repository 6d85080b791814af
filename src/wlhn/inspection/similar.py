"""Nearest nodes and graphs, by the learned hyperbolic distance of a WLHN or by a kernel, beside the WL distance.

Nodes: the distance of their points at the last depth; nodes of one colour share a point.

Graphs: the distance of the points exp_0(h_G / s). h_G is the paper's readout, the sum of log_0 over the nodes of G, and
s the mean number of nodes of the training graphs, a constant of the run: a graph of that size lies where the tangent
mean of its nodes does, a larger one further out in proportion. Without s the points of such sums lie so far out that
any two directions are as good as opposite, d ≈ r_G + r_H, and the smallest graph is nearest to all others; as s grows,
s times the distance tends to the Euclidean 2‖h_G − h_H‖. Dividing by s is a choice of curvature: it is 1/s of the
distance of exp_0(h_G) and exp_0(h_H) in the space of curvature −1/s². And unlike a mean over each graph's own nodes,
h_G / s tells a graph from two copies of it, as the WL distance does.

The WL distance of nodes is the path between their colours in the tree; that of graphs is Σ over depths and colours of
the difference in counts, which is the cheapest way to move one graph's nodes along the tree to the other's, nodes that
are left over going to the root (both counted in steps of the tree).

By kernel: graphs by what they have in common, optimal assignment in the tree of colours, without any learning.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.data.dataset import Dataset
from wlhn.data.features import encoding
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, refine
from wlhn.hyperbolic.polar import from_tangent, half_angle_distance
from wlhn.kernels import ColourCounts, compare_graphs
from wlhn.nn.capabilities import needs_points
from wlhn.ops.sums import tangent_sum
from wlhn.runs.trained import Trained

ROUNDS = 3  # of the tree, where no run says how deep to look
ROWS_AT_ONCE = 1 << 13  # distances of points that are computed together


@dataclass(frozen=True, eq=False)
class Similar:
    """The nearest items, nearest first; the item itself is left out."""

    index: NDArray[Any]  # positions
    wl_distance: NDArray[Any]  # steps in the tree
    distance: NDArray[Any] | None = None  # learned
    similarity: NDArray[Any] | None = None  # by a kernel, 0 to 1


class LearnedSpace:
    """All nodes and graphs of some data as a trained WLHN places them."""

    def __init__(self, trained: Trained, graphs: Graphs) -> None:
        quotient = trained.quotient(graphs)
        self.graphs, self.hierarchy = graphs, quotient.hierarchy
        self.edge_rows = None if quotient.edge_x is None else quotient.edge_x.numpy()  # for each edge code
        # In float64: seen from the root, near points that lie far out differ in the last digits of their directions.
        model, batch = copy.deepcopy(trained.model).double().eval(), quotient.batch(np.arange(len(graphs)))
        batch = replace(batch, x=_double(batch.x), edge_x=None if batch.edge_x is None else _double(batch.edge_x))
        with torch.no_grad():
            self.levels = [(z.r, z.e) for z, _ in needs_points(model, trained.settings.model).levels(batch)]
        self.r, self.e = self.levels[-1]  # a row for each colour of the last depth
        usual_size = trained.colours.num_nodes / trained.colours.num_graphs
        self.graph_r, self.graph_e = from_tangent(tangent_sum(batch.graph_counts, self.r, self.e) / usual_size)

    def tree_directions(self) -> tuple[Tensor, Tensor]:
        """(r, e) of every node of the hierarchy's tree; a root above the first colours lies at the origin."""
        above = self.hierarchy.offsets[0]
        r = torch.cat([torch.zeros(above, dtype=self.r.dtype), *(r for r, _ in self.levels)])
        return r, torch.cat([torch.zeros(above, self.e.shape[1], dtype=self.e.dtype), *(e for _, e in self.levels)])

    def similar_nodes(self, node: int, count: int) -> Similar:
        """The nodes nearest to a node. Distances are computed once for each colour."""
        colour = self.hierarchy.colours[-1]
        own = int(colour[node])
        per_colour = distances_to(self.r, self.e, self.r[own], self.e[own])
        distance = per_colour[torch.from_numpy(colour.astype(np.int64))]
        chosen = nearest(distance, count, node).numpy()
        return Similar(chosen, self.hierarchy.distance(node, chosen), distance[chosen].numpy())

    def similar_graphs(self, graph: int, count: int) -> Similar:
        """The graphs nearest to a graph."""
        r, e = self.graph_r, self.graph_e
        distance = distances_to(r, e, r[graph], e[graph])
        chosen = nearest(distance, count, graph).numpy()
        return Similar(chosen, graph_wl_distances(self.hierarchy, graph, chosen), distance[chosen].numpy())


def tree_of(dataset: Dataset, trained: Trained | None = None, rounds: int = ROUNDS) -> Hierarchy:
    """The tree to compare graphs in: of what a run sees and as deep; else from labels, features or degrees."""
    if trained is not None:
        return trained.quotient(dataset.graphs, trained.colours.depth or ROUNDS).hierarchy
    return refine(dataset.graphs, rounds, encoding(dataset).encode(dataset.graphs) if dataset.inputs else "degree")


def alike(hierarchy: Hierarchy, graph: int, count: int) -> Similar:
    """The graphs most like one of a hierarchy.

    >>> import networkx as nx, wlhn
    >>> found = alike(wlhn.refine([nx.path_graph(3), nx.path_graph(4), nx.complete_graph(3)], 2), 0, 2)
    >>> found.index.tolist(), found.wl_distance.tolist()
    ([1, 2], [5, 10])
    """
    counts = ColourCounts.of(hierarchy)
    similarity = compare_graphs("oa", counts.select([graph]), counts)[0]
    chosen = nearest(torch.from_numpy(-similarity), count, graph).numpy()
    return Similar(chosen, graph_wl_distances(hierarchy, graph, chosen), similarity=similarity[chosen])


def _double(features: Tensor) -> Tensor:
    """Numbers in float64; categories stay what they are."""
    return features.double() if features.is_floating_point() else features


def nearest(distance: Tensor, count: int, own: int = -1) -> Tensor:
    """Positions of the smallest distances, smallest first, ties in the order of positions; without one's own.

    >>> nearest(torch.tensor([3.0, 1.0, 2.0, 1.0]), count=3), nearest(torch.tensor([0.0, 1.0]), count=3, own=0)
    (tensor([1, 3, 2]), tensor([1]))
    """
    order = torch.sort(distance, stable=True).indices
    return order[order != own][: max(count, 0)]


def graph_wl_distances(hierarchy: Hierarchy, graph: int, others: NDArray[Any]) -> NDArray[np.int64]:
    """The WL distance of one graph to others.

    >>> import networkx as nx, wlhn
    >>> triples = wlhn.refine([nx.path_graph(3), nx.path_graph(3), nx.complete_graph(3)], rounds=1)
    >>> graph_wl_distances(triples, 0, np.array([1, 2])).tolist()
    [0, 4]
    """
    counts = ColourCounts.of(hierarchy)
    distance = compare_graphs("wasserstein", counts.select([graph]), counts.select(others), normalised=False)
    return distance[0].astype(np.int64)


def distances_to(r: Tensor, e: Tensor, query_r: Tensor, query_e: Tensor) -> Tensor:
    """Distances (n,) of points (r (n,), e (n, d)) to one point (r (), e (d,)).

    >>> r, e = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    >>> distances_to(r, e, r[0], e[0]).round(decimals=4)
    tensor([0., 3.])
    """
    if len(r) != len(e):
        raise InputError(f"distances: expected a direction for each of {len(r)} points, found {len(e)}")
    parts = zip(r.split(ROWS_AT_ONCE), e.split(ROWS_AT_ONCE), strict=True)
    return torch.cat([half_angle_distance(a, query_r, (b - query_e).norm(dim=1) / 2) for a, b in parts])
