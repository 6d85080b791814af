"""What baselines share: an input layer, a representation of nodes, the sum over a graph's nodes, and WLHN's head.

So models differ in how nodes hear of each other and in nothing else. A baseline says how in `represent`; one that
stacks convolutions only names them (`ConvolutionalNetwork`). Further keywords of its class are its options.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal, TypedDict

import torch
from torch import Tensor, nn
from torch_geometric.nn import BatchNorm, global_add_pool

from wlhn.batching.colour_batch import Counts
from wlhn.errors import InputError
from wlhn.nn.dropout import Dropout
from wlhn.nn.encoders import Channels, check_width, input_encoder
from wlhn.nn.heads import HeadKind, make_head

Edges = tuple[Tensor | Counts | None, ...]  # what a layer is told of them


class Common(TypedDict, total=False):
    """The keywords that every model takes; `Network` has their defaults."""

    level: Literal["graph", "node"]
    head: HeadKind
    dropout: float
    edge_channels: Channels


class Network(nn.Module, ABC):
    """x → relu(encoder) → `represent` → sum over the nodes of each graph → head."""

    sees_edges: ClassVar[bool] = False  # whether `represent` uses edge features

    def __init__(
        self,
        in_channels: Channels,
        hidden_channels: int,
        out_channels: int,
        *,
        width: int | None = None,  # of what `represent` gives, where it is not hidden_channels
        level: Literal["graph", "node"] = "graph",
        head: HeadKind = "euclidean",
        dropout: float = 0.0,
        edge_channels: Channels = 0,
    ) -> None:
        super().__init__()
        if edge_channels and not self.sees_edges:
            raise InputError(f"edge_features: {type(self).__name__} does not see features of edges")
        self.in_channels, self.level = in_channels, level
        self.encoder = input_encoder(in_channels, hidden_channels)
        self.dropout = Dropout(dropout)
        self.head = make_head(head, width or hidden_channels, out_channels, dropout)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels)."""
        check_width(x, self.in_channels)
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

    layers: nn.ModuleList
    norms: nn.ModuleList

    def stack(self, layers: Sequence[nn.Module], width: int, gain: float = 1.0) -> None:
        """Take these convolutions, all of them with outputs of this width; `gain` is BatchNorm's at the start."""
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(norm(width, gain) for _ in layers)

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
