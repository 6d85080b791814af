"""Geom-GCN: neighbours in the graph and in a latent plane, told apart by the direction in which they lie (Pei et al.,
"Geom-GCN: geometric graph convolutional networks", ICLR 2020).

Nodes have places in a plane (`wlhn.nn.latent_space`). A node v has two neighbourhoods: N_g, those in the graph, and
N_s, those closer than ρ in the plane, where ρ grows until N_s is as large as N_g on average. In each, a neighbour is in
one of four relations to v, the quadrants of its place as seen from v. Bi-level aggregation:

    e_{i,r} = Σ over u in N_i(v) with relation r of h_u/√(d_u d_v)          eight virtual nodes
    h_v ← relu(norm(W [e_{g,0}, …, e_{s,3}]))

A node belongs to both its neighbourhoods, as in GCN, and lies in its own first quadrant; d counts neighbours in the
neighbourhood at hand. The paper is silent on both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from wlhn.batching.colour_batch import Counts
from wlhn.batching.matrices import while_edges_last
from wlhn.loops.grouping import group_by_target
from wlhn.nn.latent_space import LatentSpace, hop_distances, latent_distance, place_nodes
from wlhn.nn.network import ConvolutionalNetwork, Edges
from wlhn.nn.per_graph import each_graph, edges_of
from wlhn.ops.sums import product
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option

RELATIONS = 8  # two neighbourhoods of four quadrants


def quadrant(places: NDArray[Any], source: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    """In which quadrant sources lie as seen from targets: 0 right above, 1 left above, 2 right below, 3 left below.

    >>> quadrant(np.array([[0.0, 0.0], [1.0, -1.0]]), source=np.array([1, 0]), target=np.array([0, 1])).tolist()
    [2, 1]
    """
    x, y = (places[source] - places[target]).T
    return (x < 0) + 2 * (y < 0)


def near_pairs(distance: NDArray[Any], count: int) -> NDArray[Any]:
    """(2, pairs): the ordered pairs of nodes closer than ρ, the largest with at most `count` of them.

    Where more than that share their places, as leaves of one node do, all of those: no ρ above 0 has less.

    >>> near_pairs(np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]]), count=3).tolist()
    [[0, 1], [1, 0]]
    """
    others = ~np.eye(len(distance), dtype=bool)
    values = distance[others]
    if count >= len(values):
        return np.stack(np.nonzero(others))
    bound = np.partition(values, count)[count]
    return np.stack(np.nonzero(others & ((distance < bound) if bound > 0 else (distance == 0))))


@lru_cache(maxsize=256)
def neighbourhoods(num_nodes: int, edges: bytes, space: LatentSpace) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(edges (2, m), virtual node of each, weight of each) of a graph's two neighbourhoods.

    >>> pairs, virtual, weight = neighbourhoods(2, np.array([[0], [1]]).tobytes(), "isomap")
    >>> pairs.tolist(), virtual.tolist(), weight.round(2).tolist()
    ([[0, 0, 1, 0, 1], [1, 0, 1, 0, 1]], [1, 0, 0, 4, 4], [0.71, 1.0, 0.5, 1.0, 1.0])
    """
    in_graph = edges_of(edges)
    places = place_nodes(hop_distances(num_nodes, in_graph), space)
    in_plane = near_pairs(latent_distance(places, space), in_graph.shape[1])
    loops = np.arange(num_nodes)[None].repeat(2, axis=0)
    pairs, virtual, weight = [], [], []
    for k, part in enumerate((in_graph[:, in_graph[0] != in_graph[1]], in_plane)):
        source, target = part = np.concatenate([part, loops], axis=1)
        degree = np.bincount(target, minlength=num_nodes)
        pairs.append(part)
        virtual.append(4 * k + quadrant(places, source, target))
        weight.append(1 / np.sqrt(degree[source] * degree[target]))
    return np.concatenate(pairs, axis=1), np.concatenate(virtual), np.concatenate(weight)


def virtual_matrix(pairs: NDArray[Any], virtual: NDArray[Any], weight: NDArray[Any], num_nodes: int) -> Counts:
    """(RELATIONS · nodes, nodes): sums the neighbours of each virtual node of each node, weighed."""
    source, target = pairs
    row_ptr, neighbour, order = group_by_target(source, target * RELATIONS + virtual, num_nodes * RELATIONS)
    return Counts.from_rows(row_ptr, neighbour, weight[order], num_nodes)


class BiLevel(nn.Module):
    """Sums over the eight virtual nodes of each node, side by side, through a Linear.

    >>> import torch
    >>> loops = virtual_matrix(np.arange(3)[None].repeat(2, axis=0), np.zeros(3, np.int64), np.ones(3), num_nodes=3)
    >>> BiLevel(channels=4)(torch.rand(3, 4), loops).shape
    torch.Size([3, 4])
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(RELATIONS * channels, channels, bias=False)

    def forward(self, h: Tensor, sums: Counts) -> Tensor:
        return self.linear(product(sums, h).reshape(len(h), -1))


@dataclass(frozen=True)
class GeomGCNOptions(NetworkOptions):
    latent: LatentSpace = option("isomap", "How the plane in which nodes lie is made.")


class GeomGCN(ConvolutionalNetwork):
    """Neighbours by direction in a latent plane (Geom-GCN, Pei et al. 2020), for nodes.

    >>> import torch
    >>> model = GeomGCN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, level="node")
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
    torch.Size([4, 2])
    """

    Options = GeomGCNOptions
    target_levels = ("node",)

    def layer(self, t: int) -> nn.Module:
        return BiLevel(self.width)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        latent = self.options.latent

        def sums() -> Counts:
            parts = []
            for graph in each_graph(h, edge_index, batch):
                pairs, virtual, weight = neighbourhoods(graph.size, graph.edges, latent)
                parts.append((pairs + graph.first, virtual, weight))
            pairs, virtual, weight = (np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
            return virtual_matrix(pairs, virtual, weight, len(h)).to(h.device)

        return (while_edges_last(edge_index, (virtual_matrix, latent, len(h)), sums, batch),)
