"""Floors that see nodes but not edges: what a graph model has to beat before its structure counts for anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from wlhn.nn.encoders import Channels
from wlhn.nn.network import Network, norm
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


class MLP(Network):
    """A perceptron on the features of each node; for graphs its sum over nodes, which makes it deep sets.

    >>> MLP(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2)(torch.rand(4, 3), torch.empty(2, 0)).shape
    torch.Size([1, 2])
    """

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.layers = _layers(self.options.hidden_channels, self.options.num_layers)

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        return self.layers(h)


@dataclass(frozen=True)
class StructureAgnosticOptions(NetworkOptions):
    sum_first: bool = option(False, "Whether features are summed before the perceptron: for chemical sets.")


class StructureAgnostic(Network):
    """The structure-agnostic baseline of Errica et al., "A fair comparison of graph neural networks", ICLR 2020.

    For chemical sets features are summed first, so that a graph is its counts of atoms, and a perceptron follows
    (`sum_first`). For others a perceptron sees each node, then they are summed.

    >>> model = StructureAgnostic(in_channels=3, out_channels=2, hidden_channels=8, num_layers=1, sum_first=True)
    >>> model(torch.rand(4, 3), torch.empty(2, 0), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    Options = StructureAgnosticOptions
    target_levels = ("graph",)

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.layers = _layers(self.options.hidden_channels, self.options.num_layers - 1)

    def encode(self, x: Tensor) -> Tensor:
        # Linear before or after a sum is the same but for the bias, which after it knows the number of nodes.
        return self.encoder(x) if self.options.sum_first else super().encode(x)

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        return h if self.options.sum_first else self.layers(h)

    def pool(self, h: Tensor, batch: Tensor | None) -> Tensor:
        total = super().pool(h, batch)
        return self.layers(torch.relu(total)) if self.options.sum_first else total


def _layers(channels: int, count: int) -> nn.Sequential:
    blocks = ((nn.Linear(channels, channels, bias=False), norm(channels), nn.ReLU()) for _ in range(count))
    return nn.Sequential(*(module for block in blocks for module in block))
