"""A model with an option of its own: the mean of encoded features, to a power, through a linear layer."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_mean_pool

from wlhn.nn.encoders import input_encoder
from wlhn.nn.model import Model
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class MeanFeaturesOptions(NetworkOptions):
    power: float = option(1.0, "Exponent of the encoded features.", above=0)


class MeanFeatures(Model):
    """The mean of a graph's features, to a power."""

    Options = MeanFeaturesOptions
    target_levels = ("graph",)

    def __init__(self, in_channels: Any, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.encoder = input_encoder(in_channels, self.options.hidden_channels)
        self.head = nn.Linear(self.options.hidden_channels, out_channels)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        h = torch.relu(self.encoder(x)) ** self.options.power
        return self.head(global_mean_pool(h, batch))
