"""DiffPool: nodes are assigned softly to clusters, which are the nodes of a smaller graph (Ying et al., "Hierarchical
graph representation learning with differentiable pooling", NeurIPS 2018).

With S (nodes × clusters) the assignment, a softmax by a network of its own, and Z the nodes' features, the pooled graph
has features SᵀZ and adjacency SᵀAS. The loss gains ‖A − SSᵀ‖² / Σ n_g² (nodes of one cluster should be linked) and the
mean entropy of S's rows (assignments should be clear). The paper's code works on dense n × n matrices; here the first
level stays sparse, since ‖A − SSᵀ‖² = ‖A‖² − 2 Σ_{u→v} S_u·S_v + ‖SᵀS‖².

One level of pooling, to `clusters` clusters (the paper: a tenth to a quarter of the largest graph's nodes); GraphSAGE
layers with BatchNorm, their outputs side by side; the readout takes the maximum over nodes and over clusters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import DenseSAGEConv
from torch_geometric.utils import scatter, to_dense_batch

from wlhn.batching.colour_batch import Counts
from wlhn.batching.matrices import mean_matrix, sum_matrix
from wlhn.nn.encoders import Channels
from wlhn.nn.network import Network, norm
from wlhn.nn.pooling import graph_of_node
from wlhn.nn.sparse_layers import SparseSAGEConv
from wlhn.ops.sums import product
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


class Block(nn.Module):
    """GraphSAGE layers, on sparse graphs or on dense ones of equal size, their outputs side by side."""

    def __init__(self, layers: Iterable[nn.Module], channels: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(norm(channels) for _ in self.layers)

    def forward(self, h: Tensor, edges: Tensor | Counts) -> Tensor:
        outputs = []
        for layer, normalise in zip(self.layers, self.norms, strict=True):
            h = layer(h, edges)
            h = torch.relu(normalise(h.flatten(0, -2))).reshape(h.shape)
            outputs.append(h)
        return torch.cat(outputs, dim=-1)


def diff_pool(z: Tensor, s: Tensor, edge_index: Tensor, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(SᵀZ, SᵀAS, loss) of graphs with features z (nodes, d) and assignments s (nodes, clusters).

    >>> z, s = torch.tensor([[1.0], [2.0]]), torch.eye(2)
    >>> features, adjacency, loss = diff_pool(z, s, torch.tensor([[0, 1], [1, 0]]), torch.tensor([0, 0]))
    >>> features.tolist(), adjacency.tolist(), loss.item()  # a wrong guess at each of the four entries
    ([[[1.0], [2.0]]], [[[0.0, 1.0], [1.0, 0.0]]], 1.0)
    """
    neighbours = product(sum_matrix(edge_index, s), s)  # A S
    clusters = s.shape[1]
    dense, _ = to_dense_batch(torch.cat([s, neighbours, z], dim=1), batch)
    s_dense = dense[..., :clusters]
    gram, links, features = (s_dense.mT @ dense).split([clusters, clusters, z.shape[1]], dim=2)
    linked = edge_index.shape[1] - 2 * (s * neighbours).sum() + gram.square().sum()
    entropy = -(s * s.clamp_min(torch.finfo(s.dtype).tiny).log()).sum(1).mean()
    return features, links, linked / batch.bincount().square().sum() + entropy


class WithLoss(torch.autograd.Function):
    """Outputs as they are; whoever minimises something of them minimises `loss` beside it.

    So a model can have an objective of its own although training sees only its outputs.

    >>> weight = torch.ones(1, requires_grad=True)
    >>> WithLoss.apply(torch.zeros(2, requires_grad=True), 3 * weight).sum().backward()
    >>> weight.grad
    tensor([3.])
    """

    @staticmethod
    def forward(ctx: Any, outputs: Tensor, loss: Tensor) -> Tensor:
        ctx.shape = loss.shape
        return outputs.view_as(outputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor]:
        (grad,) = grad_outputs
        return grad, grad.new_ones(ctx.shape)


@dataclass(frozen=True)
class DiffPoolOptions(NetworkOptions):
    clusters: int = option(10, "Clusters that the nodes of a graph are assigned to.", at_least=1)


class DiffPool(Network):
    """Soft clusters (DiffPool, Ying et al. 2018), for graphs.

    >>> model = DiffPool(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, clusters=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    Options = DiffPoolOptions
    target_levels = ("graph",)

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        d, num_layers = self.options.hidden_channels, self.options.num_layers
        self.embed, self.assign = (
            Block((SparseSAGEConv(d, d, bias=False) for _ in range(num_layers)), d) for _ in range(2)
        )
        self.to_clusters = nn.Linear(num_layers * d, self.options.clusters)
        widths = [num_layers * d] + [d] * (num_layers - 1)
        self.pooled = Block((DenseSAGEConv(width, d, bias=False) for width in widths), d)

    @property
    def width(self) -> int:
        return 2 * self.options.num_layers * self.options.hidden_channels  # nodes and clusters, all layers side by side

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        """Graphs, not nodes: (graphs, width)."""
        batch = graph_of_node(h, batch)
        means = mean_matrix(edge_index, h)
        z = self.embed(h, means)
        s = torch.softmax(self.to_clusters(self.assign(h, means)), dim=1)
        features, links, loss = diff_pool(z, s, edge_index, batch)
        of_nodes = scatter(z, batch, reduce="max")
        of_clusters = self.pooled(features, links).amax(1)
        return WithLoss.apply(torch.cat([of_nodes, of_clusters], dim=1), loss)

    def pool(self, h: Tensor, batch: Tensor | None) -> Tensor:
        return h
