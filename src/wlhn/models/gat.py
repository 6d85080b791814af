"""GAT: Veličković et al., "Graph attention networks", ICLR 2018."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import GATConv

from wlhn.batching.matrices import entries_with_loops
from wlhn.errors import InputError
from wlhn.nn.encoders import Channels, input_encoder
from wlhn.nn.network import ConvolutionalNetwork, Edges
from wlhn.nn.sparse_layers import SparseGATConv
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class GATOptions(NetworkOptions):
    attention_heads: int = option(4, "Attention heads of a layer; the width is a multiple of it.", at_least=1)


class GAT(ConvolutionalNetwork):
    """Graph attention (Veličković et al. 2018).

    h_v ← relu(norm(Σ α_vu W h_u)) with α a softmax over the neighbours of v and v itself, by several heads.

    Edge features enter the attention.

    >>> GAT(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, attention_heads=2).layers[0]
    SparseGATConv(8, 4, heads=2)
    """

    Options = GATOptions
    sees_edges = True

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.edge_encoder = input_encoder(self.edge_channels, self.width) if self.edge_channels else None

    def layer(self, t: int) -> nn.Module:
        d, k = self.width, self.options.attention_heads
        if d % k:
            raise InputError(f"hidden_channels: must be a multiple of the {k} attention heads, found {d}")
        if self.edge_channels:
            return GATConv(d, d // k, k, edge_dim=d, bias=False)
        return SparseGATConv(d, d // k, k, bias=False)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        if self.edge_encoder is None:
            return (entries_with_loops(edge_index, h),)
        return edge_index, self.edge_encoder(edge_attr)
