"""One GIN layer on rows of colours: counted sum of neighbours, then Linear-ReLU-BatchNorm-Linear-ReLU.

BatchNorm weighs each row by its number of nodes, so its statistics are those of the nodes. A BatchNorm followed by a
Linear is a Linear: with s = γ/√(var + ε), W(s(x − μ) + β) + b = (W s) x + (b + W(β − s μ)). So the normalised rows are
never written down.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wlhn.batching.colour_batch import ColourLevel
from wlhn.nn.encoders import input_encoder
from wlhn.ops.sums import (
    Everyone,
    aggregate_relu_moments,
    alone,
    counted,
    linear_relu,
    product,
    relu_moments,
)


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

    def forward(self, x: Tensor, level: ColourLevel, edge_x: Tensor | None) -> Tensor:
        lin1, norm = self.lin1, self.norm
        everyone = norm.everyone if self.training else alone
        if self.edge_encoder is None:
            # Linear before the sum instead of after it: the same, and there are fewer rows before than after.
            x, mean, var = aggregate_relu_moments(F.linear(x, lin1.weight), self.epsilon, lin1.bias, level, everyone)
        else:
            messages = torch.relu(x[level.pair_row] + self.edge_encoder(edge_x)[level.pair_edge])
            total = (1 + self.epsilon) * x[level.parent] + product(level.neighbours, messages)
            x, mean, var = relu_moments(lin1(total), level.weight, everyone)
        if self.training:
            count = len(x) if level.weight is None else float(level.weight.sum())
            norm.track(mean.detach(), var.detach(), counted(count, everyone))
        else:
            mean, var = norm.running_mean, norm.running_var
        return self._second(x, mean, var)

    def of_sums(self, total: Tensor) -> Tensor:
        """What becomes of (1 + ε) h_v + Σ h_u in evaluation mode, row by row."""
        return self._second(torch.relu(self.lin1(total)), self.norm.running_mean, self.norm.running_var)

    def _second(self, x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
        norm, lin2 = self.norm, self.lin2
        scale = norm.weight * torch.rsqrt(var + norm.eps)
        return linear_relu(x, lin2.weight * scale, lin2.bias + lin2.weight @ (norm.bias - scale * mean))


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

    def track(self, mean: Tensor, var: Tensor, count: float) -> None:
        """Running statistics as torch keeps them: the variance unbiased (a single node has none to add)."""
        self.num_batches_tracked += 1
        self.running_mean.lerp_(mean, self.momentum)
        if count > 1:
            self.running_var.lerp_(var * (count / (count - 1)), self.momentum)
