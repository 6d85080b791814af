"""From a representation to the output: the paper's two-layer perceptron, its hyperbolic counterpart, or neither."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from wlhn.hyperbolic.mlr import HyperbolicMLR, MobiusLinear
from wlhn.options.checks import check_choice
from wlhn.options.network import HeadKind


def make_head(kind: HeadKind, in_channels: int, out_channels: int, dropout: float) -> nn.Module:
    """The head of this kind."""
    heads = {"euclidean": EuclideanHead, "hyperbolic": HyperbolicHead, "linear": LinearHead}
    check_choice("head", kind, *heads)
    return heads[kind](in_channels, out_channels, dropout)


class EuclideanHead(nn.Sequential):
    """Hidden layers of 128 and 64, ReLU, dropout (appendix E of the paper)."""

    def __init__(self, in_channels: int, out_channels: int, dropout: float = 0.0) -> None:
        super().__init__(
            nn.Linear(in_channels, 128),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(64, out_channels),
        )


class LinearHead(nn.Sequential):
    """Dropout and a Linear: with few items to train on, hidden layers between them have little to learn from."""

    def __init__(self, in_channels: int, out_channels: int, dropout: float = 0.0) -> None:
        super().__init__(nn.Dropout(dropout), nn.Linear(in_channels, out_channels))


class HyperbolicHead(nn.Module):
    """exp_0, Möbius linear layers of the same widths with ReLU in the tangent space, hyperbolic logistic regression.

    The sum over a graph's nodes is a long vector: layers take tangent vectors, as the ball would lose digits.
    """

    def __init__(self, in_channels: int, out_channels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.lin1 = MobiusLinear(in_channels, 128)
        self.lin2 = MobiusLinear(128, 64)
        self.out = HyperbolicMLR(64, out_channels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, h: Tensor) -> Tensor:
        for layer in (self.lin1, self.lin2):
            h = self.dropout(torch.relu(layer.tangent(h)))
        return self.out.tangent(h)
