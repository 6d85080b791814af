"""GIN (Xu et al. 2019) from PyG's layers, in WLHN's widths and with its head: WLHN less the hyperbolic part.

Graphs are learned on colours, as WLHN learns them: the same sums and statistics from fewer rows. Node tasks are not:
there nearly every node is a colour of its own, and nodes of one colour would share their dropout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from wlhn.batching.colour_batch import ColourBatch
from wlhn.batching.matrices import edge_kinds, sum_matrix
from wlhn.nn.encoders import Channels, input_encoder
from wlhn.nn.gin_layer import MLP, gin_on_colours
from wlhn.nn.heads import make_head
from wlhn.nn.model import Model
from wlhn.nn.network import norm
from wlhn.nn.sparse_layers import SparseGINConv, SparseGINEConv
from wlhn.ops.sums import product
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class GINOptions(NetworkOptions):
    learn_epsilon: bool = option(False, "Whether ε, the weight of a node beside its neighbours, is learned; else 0.")


class GIN(Model):
    """Graph Isomorphism Network (Xu et al. 2019).

    Layers h_v ← MLP((1 + ε) h_v + Σ h_u), summed over the nodes of a graph.

    With edge features the messages are relu(h_u + f(edge)), as in GINE.

    >>> model = GIN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    Options = GINOptions
    sees_edges = True
    colour_levels = ("graph",)

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        options, edge_channels, d = self.options, self.edge_channels, self.options.hidden_channels
        num_layers = options.num_layers
        self.encoder = input_encoder(in_channels, d, options.input_dropout)
        conv = SparseGINEConv if edge_channels else SparseGINConv
        self.layers = nn.ModuleList(conv(_mlp(d), train_eps=options.learn_epsilon) for _ in range(num_layers))
        encoders = (input_encoder(edge_channels, d) for _ in range(num_layers))
        self.edge_encoders = nn.ModuleList(encoders) if edge_channels else None
        self.head = make_head(options.head, d, out_channels, options.dropout)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels)."""
        self.check_inputs(x, edge_attr)
        h = self.represent(torch.relu(self.encoder(x)), edge_index, edge_attr)
        return self.head(global_add_pool(h, batch) if self.level == "graph" else h)

    def represent(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None) -> Tensor:
        """Nodes that have heard of each other."""
        if self.edge_encoders is None:
            sums = sum_matrix(edge_index, h)
            for layer in self.layers:
                h = torch.relu(layer(h, sums))
        else:
            assert edge_attr is not None  # see `check_inputs`
            kinds = edge_kinds(edge_index, edge_attr, len(h))
            edges = edge_attr[kinds.first]
            for layer, encode in zip(self.layers, self.edge_encoders, strict=True):
                h = torch.relu(layer(h, encode(edges), kinds))
        return h

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs, out_channels) from a batch of colours."""
        h = torch.relu(self.encoder(batch.x))
        convolutions: Any = self.layers
        for t, (layer, level) in enumerate(zip(convolutions, batch.levels, strict=True)):
            lin1, _, batch_norm, lin2 = layer.nn
            edges = None if self.edge_encoders is None else self.edge_encoders[t](batch.edge_x)
            h = gin_on_colours(MLP(lin1, batch_norm.module, lin2), layer.eps[0], h, level, edges)
        return self.head(product(batch.graph_counts, h))


def _mlp(channels: int) -> nn.Module:
    return nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), norm(channels), nn.Linear(channels, channels))
