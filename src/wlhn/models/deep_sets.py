"""Floors that see nodes but not edges: what a graph model has to beat before its structure counts for anything."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from wlhn.nn.encoders import Channels
from wlhn.nn.network import Common, Network, norm


class MLP(Network):
    """A perceptron on the features of each node; for graphs its sum over nodes, which makes it deep sets.

    >>> MLP(in_channels=3, hidden_channels=8, num_layers=2, out_channels=2)(torch.rand(4, 3), torch.empty(2, 0)).shape
    torch.Size([1, 2])
    """

    def __init__(
        self,
        in_channels: Channels,
        hidden_channels: int,
        num_layers: int,
        out_channels: int,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, **common)
        self.layers = _layers(hidden_channels, num_layers)

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        return self.layers(h)


class StructureAgnostic(Network):
    """The baseline of Errica et al., "A fair comparison of graph neural networks for graph classification", ICLR 2020.

    For chemical sets features are summed first, so that a graph is its counts of atoms, and a perceptron follows
    (`sum_first`). For others a perceptron sees each node, then they are summed.

    >>> model = StructureAgnostic(in_channels=3, hidden_channels=8, num_layers=1, out_channels=2, sum_first=True)
    >>> model(torch.rand(4, 3), torch.empty(2, 0), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        in_channels: Channels,
        hidden_channels: int,
        num_layers: int,
        out_channels: int,
        *,
        sum_first: bool = False,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, **common)
        self.sum_first = sum_first
        self.layers = _layers(hidden_channels, num_layers - 1)

    def encode(self, x: Tensor) -> Tensor:
        # Linear before or after a sum is the same but for the bias, which after it knows the number of nodes.
        return self.encoder(x) if self.sum_first else super().encode(x)

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        return h if self.sum_first else self.layers(h)

    def pool(self, h: Tensor, batch: Tensor | None) -> Tensor:
        total = super().pool(h, batch)
        return self.layers(torch.relu(total)) if self.sum_first else total


def _layers(channels: int, count: int) -> nn.Sequential:
    blocks = ((nn.Linear(channels, channels, bias=False), norm(channels), nn.ReLU()) for _ in range(count))
    return nn.Sequential(*(module for block in blocks for module in block))
