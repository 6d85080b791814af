"""What baselines share: an input layer, a representation of nodes, the sum over a graph's nodes, and WLHN's head.

So models differ in how nodes hear of each other and in nothing else. A baseline says how in `represent`; one that
stacks convolutions only names its `layer` (`ConvolutionalNetwork`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import BatchNorm, global_add_pool

from wlhn.batching.colour_batch import Counts, check_edges
from wlhn.batching.matrices import Entries
from wlhn.nn.dropout import Dropout
from wlhn.nn.encoders import Channels, input_encoder
from wlhn.nn.heads import make_head
from wlhn.nn.model import Model

Edges = tuple[Tensor | Counts | Entries | None, ...]  # what a layer is told of them


class Network(Model, ABC):
    """x → relu(encoder) → `represent` → sum over the nodes of each graph → head."""

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        options = self.options
        self.encoder = input_encoder(in_channels, options.hidden_channels, options.input_dropout)
        self.dropout = Dropout(options.dropout)
        self.head = make_head(options.head, self.width, out_channels, options.dropout)

    @property
    def width(self) -> int:
        """The width of what `represent` gives."""
        width: int = self.options.hidden_channels
        return width

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels)."""
        self.check_inputs(x, edge_attr)
        check_edges(edge_index, len(x))
        h = self.represent(self.encode(x), edge_index, batch, edge_attr)
        return self.head(self.pool(h, batch) if self.level == "graph" else h)

    def encode(self, x: Tensor) -> Tensor:
        return torch.relu(self.encoder(x))

    @abstractmethod
    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        """Nodes (nodes, width) that have heard of each other, from encoded ones (nodes, hidden_channels)."""

    def pool(self, h: Tensor, batch: Tensor | None) -> Tensor:
        return global_add_pool(h, batch)


class ConvolutionalNetwork(Network):
    """Convolutions one after the other, each followed by BatchNorm (appendix E of the paper) and ReLU.

    Dropout is also on what each layer sees, as the authors of GCN, GAT, MixHop and Geom-GCN have it: on Cornell it is
    worth nine points to MixHop. Layers carry no bias of their own: BatchNorm would take it away again.
    """

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.layers = nn.ModuleList(self.layer(t) for t in range(self.options.num_layers))
        self.norms = nn.ModuleList(norm(self.width, self.gain) for _ in self.layers)

    @abstractmethod
    def layer(self, t: int) -> nn.Module:
        """Convolution t = 0, 1, …, with outputs of the network's width."""

    @property
    def gain(self) -> float:
        """BatchNorm's at the start."""
        return 1.0

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        """What each layer is told of the edges, prepared once for all of them."""
        return (edge_index,)

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        edges = self.edges(h, edge_index, batch, edge_attr)
        for layer, normalise in zip(self.layers, self.norms, strict=True):
            h = torch.relu(normalise(layer(self.dropout(h), *edges)))
        return h


def norm(channels: int, gain: float = 1.0) -> nn.Module:
    """BatchNorm that lets a batch of a single node pass."""
    layer = BatchNorm(channels, allow_single_element=True)
    nn.init.constant_(layer.module.weight, gain)
    return layer
