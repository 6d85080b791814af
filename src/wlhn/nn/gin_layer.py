"""GIN layers on rows of colours: counted sum of neighbours, then Linear-ReLU-BatchNorm-Linear-ReLU.

BatchNorm weighs each row by its number of nodes, so its statistics are those of the nodes (`wlhn.ops.gin`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from wlhn.batching.colour_batch import ColourLevel
from wlhn.nn.encoders import input_encoder
from wlhn.ops.gin import Moments, Weights, gin, gin_of_sums
from wlhn.ops.layer import Below, layer
from wlhn.ops.level import Points
from wlhn.ops.sums import Everyone, alone, product


class GINLayer(nn.Module):
    """h_v ← MLP((1 + ε) h_v + Σ_{u ∈ N(v)} h_u), on colours.

    With edge features the messages are relu(h_u + f(edge)), f a linear map or, for categories, embeddings (as in GINE).
    """

    def __init__(self, channels: int, learn_epsilon: bool = False, edge_channels: int | tuple[int, ...] = 0) -> None:
        super().__init__()
        self.lin1 = nn.Linear(channels, channels)
        self.norm = Norm(channels)
        self.lin2 = nn.Linear(channels, channels)
        self.epsilon: Tensor
        if learn_epsilon:
            self.epsilon = nn.Parameter(torch.zeros(()))
        else:
            self.register_buffer("epsilon", torch.zeros(()))
        self.edge_encoder = input_encoder(edge_channels, channels) if edge_channels else None

    def forward(
        self, x: Tensor, level: ColourLevel, edge_x: Tensor | None, below: Below | None = None
    ) -> Tensor | tuple[Tensor, Points]:
        """Features (rows, channels); if it is said where (and there are no edge features), points as well."""
        if below is None:
            edges = None if self.edge_encoder is None else self.edge_encoder(edge_x)
            return gin_on_colours(self._mlp, self.epsilon, x, level, edges)
        mlp = self._mlp
        h, points, moments = layer(x, mlp.weights, level, below, self.epsilon, *mlp.normalising)
        mlp.track(moments)
        return h, points

    def of_sums(self, total: Tensor) -> Tensor:
        """What becomes of (1 + ε) h_v + Σ h_u in evaluation mode, row by row."""
        return gin_of_sums(total, self._mlp.weights, None, *self._mlp.normalising)[0]

    @property
    def _mlp(self) -> MLP:
        return MLP(self.lin1, self.norm, self.lin2)


class MLP(NamedTuple):
    """Linear, ReLU, BatchNorm (this module's, or torch's), Linear, ReLU."""

    lin1: Any
    norm: Any
    lin2: Any

    @property
    def weights(self) -> Weights:
        return Weights(*(part for each in self for part in (each.weight, each.bias)))

    @property
    def normalising(self) -> tuple[float, Moments | None, Everyone]:
        """What is added to a variance, the moments that are used instead of a batch's own, whose rows count."""
        norm = self.norm
        if norm.training:
            return norm.eps, None, getattr(norm, "everyone", alone)
        return norm.eps, Moments(norm.running_mean, norm.running_var, 0.0), alone

    def track(self, moments: Moments) -> None:
        """In training, running statistics as torch keeps them: the variance unbiased, which a single node has not."""
        norm, (mean, var, nodes) = self.norm, moments
        if norm.training:
            norm.num_batches_tracked.add_(1)
            norm.running_mean.lerp_(mean, norm.momentum)
            if nodes > 1:
                norm.running_var.lerp_(var * (nodes / (nodes - 1)), norm.momentum)


def gin_on_colours(mlp: MLP, epsilon: Tensor, x: Tensor, level: ColourLevel, edges: Tensor | None) -> Tensor:
    """Features (rows, channels) from those of the depth before; `edges` are encoded edge labels, if there are any."""
    if edges is None:
        h, moments = gin(x, mlp.weights, level, epsilon, *mlp.normalising)
    else:
        messages = torch.relu(x[level.pair_row] + edges[level.pair_edge])
        total = (1 + epsilon) * x[level.parent] + product(level.neighbours, messages)
        h, moments = gin_of_sums(total, mlp.weights, level.weight, *mlp.normalising)
    mlp.track(moments)
    return h


class Norm(nn.Module):
    """What `nn.BatchNorm1d` keeps, under the same names, so that weights move between the two."""

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    momentum = 0.1
    eps = 1e-5
    everyone: Everyone = staticmethod(alone)  # whose rows count

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.register_buffer("num_batches_tracked", torch.tensor(0))
