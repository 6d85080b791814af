"""HGCN: graph convolutions in hyperbolic space with a curvature of their own (Chami et al., "Hyperbolic graph
convolutional neural networks", NeurIPS 2019).

A layer of curvature −c takes a node's tangent vector t at the origin:

    x = exp_0(W t) ⊕ exp_0(b)                      feature transform
    y = exp_o(Σ_j w_ij log_o(x_j))                 aggregation over neighbours and the node itself
    t' = relu(norm(log_0(y)))                      activation; the next layer's exp_0 changes the curvature

with o the origin, as in the authors' code, or the node x_i itself, as in their equation 9 (`local_aggregation`).
Weights w are 1/degree, or with attention a softmax of leaky_relu(a·[log_0 x_i, log_0 x_j]): the paper's perceptron is
not further described, and a linear one would lose x_i in the softmax. Layers work at curvature −1 on √c t, which is
the same space. Biases are vectors at the origin, so that any optimizer can move them. BatchNorm in the tangent space is
the WLHN paper's (appendix E), not Chami et al.'s; its gain starts at 1/√d, so that points start near the origin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import add_remaining_self_loops, softmax

from wlhn.batching.colour_batch import Counts
from wlhn.batching.matrices import mean_matrix_with_loops
from wlhn.nn.network import ConvolutionalNetwork, Edges
from wlhn.nn.spaces import HYPERBOLOID, POINCARE, Space
from wlhn.ops.sums import product
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


class HyperbolicConvolution(nn.Module):
    """One HGCN layer, from tangent vectors at the origin to tangent vectors at the origin.

    >>> layer = HyperbolicConvolution(POINCARE, channels=3, curvature=2.0)
    >>> t, loops = torch.rand(4, 3), torch.arange(4).repeat(2, 1)
    >>> layer(t, loops, mean_matrix_with_loops(loops, t)).shape, layer.curvature.item()
    (torch.Size([4, 3]), 2.0)
    """

    def __init__(
        self,
        space: Space,
        channels: int,
        curvature: float = 1.0,
        learn_curvature: bool = True,
        attention: bool = False,
        local_aggregation: bool = False,
    ) -> None:
        super().__init__()
        self.space, self.local_aggregation = space, local_aggregation
        self.linear = nn.Linear(channels, channels)
        self.attention = nn.Parameter(torch.empty(2, channels).normal_(std=channels**-0.5)) if attention else None
        raw = torch.tensor(math.log(math.expm1(curvature)) if curvature < 30 else curvature)
        self.raw_curvature = nn.Parameter(raw, requires_grad=learn_curvature)

    @property
    def curvature(self) -> Tensor:
        """c, where the curvature is −c."""
        return F.softplus(self.raw_curvature)

    def forward(self, t: Tensor, edge_index: Tensor, means: Counts | None = None) -> Tensor:
        """New vectors (nodes, channels).

        Where neighbours weigh alike and are averaged at the origin, `means`, a `mean_matrix_with_loops`, does it;
        else the edges say who they are, with a loop at each node.
        """
        space, scale = self.space, self.curvature.sqrt()
        u = space.translate(F.linear(t, self.linear.weight), self.linear.bias, scale)
        if self.attention is None and not self.local_aggregation:
            assert means is not None
            return product(means, u)
        source, target = edge_index
        weight = self._weight(scale * u, source, target)[:, None]
        if not self.local_aggregation:
            return torch.zeros_like(u).index_add(0, target, weight * u[source])
        x = space.exp0(space.bounded(scale * u))
        toward = space.log_at(x[target], x[source])
        return space.log0(space.exp_at(x, torch.zeros_like(x).index_add(0, target, weight * toward))) / scale

    def _weight(self, u: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """Of each edge: all alike, or by attention."""
        score = u.new_zeros(len(target))
        if self.attention is not None:
            from_target, from_source = (u @ self.attention.mT).unbind(1)
            score = F.leaky_relu(from_target[target] + from_source[source], 0.2)
        return softmax(score, target, num_nodes=len(u))


@dataclass(frozen=True)
class HGCNOptions(NetworkOptions):
    curvature: float = option(1.0, "c at the start, where the curvature is −c.", above=0)
    learn_curvature: bool = option(True, "Whether each layer learns its c.")
    attention: bool = option(False, "Whether neighbours are weighted by attention, not equally.")
    local_aggregation: bool = option(
        False, "Whether neighbours are averaged in the tangent space of the node, not of the origin."
    )


class HGCN(ConvolutionalNetwork):
    """HGCN in one of the two spaces; its readout is log_0 of the last layer's points."""

    Options = HGCNOptions
    space: ClassVar[Space]

    @property
    def gain(self) -> float:
        return float(self.width**-0.5)

    def layer(self, t: int) -> nn.Module:
        o = self.options
        each = o.curvature, o.learn_curvature, o.attention, o.local_aggregation
        return HyperbolicConvolution(self.space, self.width, *each)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        if not (self.options.attention or self.options.local_aggregation):
            return edge_index, mean_matrix_with_loops(edge_index, h)
        with_loops, _ = add_remaining_self_loops(edge_index, num_nodes=len(h))
        return with_loops, None


class PoincareHGCN(HGCN):
    """Hyperbolic graph convolutions (Chami et al. 2019) in the Poincaré ball.

    >>> model = PoincareHGCN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    space = POINCARE


class HyperboloidHGCN(HGCN):
    """Hyperbolic graph convolutions (Chami et al. 2019) on the hyperboloid.

    >>> model = HyperboloidHGCN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, level="node")
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]])).shape
    torch.Size([4, 2])
    """

    space = HYPERBOLOID
