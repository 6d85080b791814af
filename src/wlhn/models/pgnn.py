"""P-GNN: a node is described by its distances to random sets of anchor nodes (You et al., "Position-aware graph neural
networks", ICML 2019).

Bourgain's theorem: with about log² n sets, of n/2, n/4, … nodes, distances to sets keep distances between nodes. With
u_i the member of set i that is nearest to v, d hops away, and s = 1/(1 + d), a layer is

    m_i = relu(W [s h_{u_i}, h_v])        h_v ← mean_i m_i        z_v = (w·m_1, …, w·m_k)

Here, and in the authors' code, only the nearest member speaks for its set, and s weighs its features, not v's own; in
the paper's formula all members speak and s weighs both. The head sees h_v and z_v of the last layer: the paper, for
pairs of nodes, uses z_v. Distances ignore the direction of edges. Beyond `anchor_hops`, in the fast variant, and
where there is no path, s = 0.

Anchors of a graph with n nodes are drawn from n alone and stay the same in training and evaluation, as in the authors'
code; so they depend on the numbering of nodes. Given `anchors` that are renumbered with the nodes, the model is
equivariant: of members equally near, the first of the set counts, whatever its number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.utils import scatter

from wlhn.nn.encoders import Channels
from wlhn.nn.network import Network
from wlhn.nn.per_graph import both_ways, device_like, each_graph, edges_of
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


def draw_anchors(num_nodes: int, sets: int) -> NDArray[np.int64]:
    """Anchor sets of a graph (nodes, sets): a member's place in the set, −1 for others. Sizes run n/2, n/4, …, 1.

    >>> (draw_anchors(8, sets=4) >= 0).sum(axis=0).tolist()
    [4, 2, 1, 4]
    """
    random = np.random.default_rng(num_nodes)
    place = np.full((num_nodes, sets), -1)
    halvings = max(int(num_nodes).bit_length() - 1, 1)
    for i in range(sets):
        members = random.permutation(num_nodes)[: max(num_nodes >> (1 + i % halvings), 1)]
        place[members, i] = np.arange(len(members))
    return place


def nearest_anchors(
    edges: NDArray[Any], anchors: NDArray[Any], hops: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(s, nearest member) of each node and set, (nodes, sets) both; `hops` > 0 looks no further.

    >>> s, nearest = nearest_anchors(np.array([[0, 1], [1, 2]]), np.array([[0], [-1], [-1]]))
    >>> s.ravel(), nearest.ravel()
    (array([1.        , 0.5       , 0.33333334], dtype=float32), array([0, 0, 0]))
    """
    n = len(anchors)
    node = torch.arange(n)
    source, target = torch.cat([torch.from_numpy(both_ways(edges)), node.expand(2, -1)], dim=1)
    # Breadth first from all sets at once. The smaller key, place in the set before number of the node, wins a tie.
    far = torch.iinfo(torch.long).max
    place = torch.from_numpy(anchors)
    key = torch.where(place >= 0, place * n + node[:, None], far)
    s = (place >= 0).float()
    for distance in count(1):
        if hops and distance > hops:
            break
        heard = scatter(key[source], target, dim_size=n, reduce="min")
        new = (key == far) & (heard < far)
        if not new.any():
            break
        key = torch.where(new, heard, key)
        s[new] = 1 / (1 + distance)
    return s.numpy(), torch.where(key < far, key % max(n, 1), node[:, None]).numpy()


@lru_cache(maxsize=1024)
def _own_anchors(num_nodes: int, edges: bytes, sets: int, hops: int) -> tuple[NDArray[Any], NDArray[Any]]:
    return nearest_anchors(edges_of(edges), draw_anchors(num_nodes, sets), hops)


class PositionLayer(nn.Module):
    """One P-GNN layer: features and similarities to positions and features.

    >>> s, nearest = torch.ones(4, 5), torch.zeros(4, 5, dtype=torch.long)
    >>> [tuple(out.shape) for out in PositionLayer(channels=3)(torch.rand(4, 3), s, nearest)]
    [(4, 3), (4, 5, 3)]
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.anchor = nn.Linear(channels, channels, bias=False)
        self.own = nn.Linear(channels, channels)

    def forward(self, h: Tensor, s: Tensor, nearest: Tensor) -> tuple[Tensor, Tensor]:
        """(mean of messages (nodes, channels), messages (nodes, sets, channels))."""
        messages = torch.relu(s[..., None] * self.anchor(h)[nearest] + self.own(h)[:, None])
        return messages.mean(1), messages


@dataclass(frozen=True)
class PGNNOptions(NetworkOptions):
    anchor_sets: int = option(32, "Sets of anchors; the paper has log² n.", at_least=1)
    anchor_hops: int = option(
        0, "0 for exact distances, k for the fast variant that looks k hops far (the paper: 2).", at_least=0
    )


class PGNN(Network):
    """Positions from anchor sets (P-GNN, You et al. 2019), for nodes.

    >>> model = PGNN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, level="node", anchor_sets=4)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]])).shape
    torch.Size([4, 2])
    """

    Options = PGNNOptions
    target_levels = ("node",)

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        d = self.options.hidden_channels
        self.layers = nn.ModuleList(PositionLayer(d) for _ in range(self.options.num_layers))
        self.position = nn.Linear(d, 1)

    @property
    def width(self) -> int:
        return self.options.hidden_channels + self.options.anchor_sets

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        s, nearest = self.similarities(h, edge_index, batch)
        messages = h[:, None].expand(-1, self.options.anchor_sets, -1)
        for layer in self.layers:
            h, messages = layer(h, s, nearest)
        return torch.cat([h, self.position(messages).squeeze(2)], dim=1)

    def similarities(self, h: Tensor, edge_index: Tensor, batch: Tensor | None) -> tuple[Tensor, Tensor]:
        """(s, nearest) of all nodes of a batch; computed once for each graph."""
        parts = []
        for graph in each_graph(h, edge_index, batch):
            s, nearest = _own_anchors(graph.size, graph.edges, self.options.anchor_sets, self.options.anchor_hops)
            parts.append((s, nearest + graph.first))
        of_all_s, of_all_nearest = device_like(h, *(np.concatenate(column) for column in zip(*parts, strict=True)))
        return of_all_s, of_all_nearest
