"""One GIN layer on rows of colours: counted sum of neighbours, then Linear-ReLU-BatchNorm-Linear-ReLU.

BatchNorm weighs each row by its number of nodes, so its statistics are those of the nodes (`wlhn.ops.gin`).
"""

from __future__ import annotations

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
        norm = self.norm
        running = None if self.training else self._running
        everyone = norm.everyone if self.training else alone
        points = None
        if below is not None:
            h, points, moments = layer(x, self._weights, level, below, self.epsilon, norm.eps, running, everyone)
        elif self.edge_encoder is None:
            h, moments = gin(x, self._weights, level, self.epsilon, norm.eps, running, everyone)
        else:
            messages = torch.relu(x[level.pair_row] + self.edge_encoder(edge_x)[level.pair_edge])
            total = (1 + self.epsilon) * x[level.parent] + product(level.neighbours, messages)
            h, moments = gin_of_sums(total, self._weights, level.weight, norm.eps, running, everyone)
        if self.training:
            norm.track(moments)
        return h if points is None else (h, points)

    def of_sums(self, total: Tensor) -> Tensor:
        """What becomes of (1 + ε) h_v + Σ h_u in evaluation mode, row by row."""
        return gin_of_sums(total, self._weights, None, self.norm.eps, self._running)[0]

    @property
    def _weights(self) -> Weights:
        lin1, norm, lin2 = self.lin1, self.norm, self.lin2
        return Weights(lin1.weight, lin1.bias, norm.weight, norm.bias, lin2.weight, lin2.bias)

    @property
    def _running(self) -> Moments:
        return Moments(self.norm.running_mean, self.norm.running_var, 0.0)


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

    def track(self, moments: Moments) -> None:
        """Running statistics as torch keeps them: the variance unbiased (a single node has none to add)."""
        mean, var, nodes = moments
        self.num_batches_tracked.add_(1)
        self.running_mean.lerp_(mean, self.momentum)
        if nodes > 1:
            self.running_var.lerp_(var * (nodes / (nodes - 1)), self.momentum)
