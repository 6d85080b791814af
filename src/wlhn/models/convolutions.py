"""Baselines from PyG's layers: GCN, GAT, GraphSAGE and MixHop.

References: Kipf & Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017; Veličković et
al., "Graph attention networks", ICLR 2018; Hamilton et al., "Inductive representation learning on large graphs",
NeurIPS 2017; Abu-El-Haija et al., "MixHop", ICML 2019.
"""

from __future__ import annotations

from typing import Literal, Unpack

from torch import Tensor, nn
from torch_geometric.nn import GATConv, SAGEConv

from wlhn.batching.matrices import gcn_matrix, mean_matrix, sum_matrix
from wlhn.errors import InputError
from wlhn.nn.encoders import Channels, input_encoder
from wlhn.nn.network import Common, ConvolutionalNetwork, Edges
from wlhn.nn.sparse_layers import SparseGCNConv, SparseMixHopConv, SparseSAGEConv


class GCN(ConvolutionalNetwork):
    """h_v ← relu(norm(W Σ h_u / √(d_u d_v))), over the neighbours u of v and v itself.

    >>> import torch
    >>> model = GCN(in_channels=3, hidden_channels=8, num_layers=2, out_channels=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
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
        d = hidden_channels
        self.stack([SparseGCNConv(d, d, bias=False) for _ in range(num_layers)], d)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        return (gcn_matrix(edge_index, h),)


class GAT(ConvolutionalNetwork):
    """h_v ← relu(norm(Σ α_vu W h_u)) with α a softmax over the neighbours of v and v itself, by several heads.

    Edge features enter the attention.

    >>> GAT(in_channels=3, hidden_channels=8, num_layers=2, out_channels=2, attention_heads=2).layers[0]
    GATConv(8, 4, heads=2)
    """

    sees_edges = True

    def __init__(
        self,
        in_channels: Channels,
        hidden_channels: int,
        num_layers: int,
        out_channels: int,
        *,
        attention_heads: int = 4,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, **common)
        d, k, edge_channels = hidden_channels, attention_heads, common.get("edge_channels", 0)
        if d % k:
            raise InputError(f"hidden_channels: expected a multiple of the {k} attention heads, found {d}")
        width = d if edge_channels else None
        self.stack([GATConv(d, d // k, k, edge_dim=width, bias=False) for _ in range(num_layers)], d)
        self.edge_encoder = input_encoder(edge_channels, d) if edge_channels else None

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        return edge_index, None if self.edge_encoder is None else self.edge_encoder(edge_attr)


class GraphSAGE(ConvolutionalNetwork):
    """h_v ← relu(norm(W h_v + U aggregate(h_u))), over all neighbours: graphs here are small enough not to sample.

    >>> GraphSAGE(in_channels=3, hidden_channels=8, num_layers=2, out_channels=2, aggregation="max").layers[0]
    SAGEConv(8, 8, aggr=max)
    """

    def __init__(
        self,
        in_channels: Channels,
        hidden_channels: int,
        num_layers: int,
        out_channels: int,
        *,
        aggregation: Literal["mean", "max", "sum"] = "mean",
        **common: Unpack[Common],
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, **common)
        d = hidden_channels
        self.aggregation = aggregation
        layer = SAGEConv if aggregation == "max" else SparseSAGEConv
        self.stack([layer(d, d, aggr=aggregation, bias=False) for _ in range(num_layers)], d)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        match self.aggregation:
            case "mean":
                return (mean_matrix(edge_index, h),)
            case "sum":
                return (sum_matrix(edge_index, h),)
            case _:
                return (edge_index,)


class MixHop(ConvolutionalNetwork):
    """h_v ← relu(norm(concatenation over p = 0 … hops of W_p (Âᵖ h)_v)), Â the normalised adjacency of GCN.

    >>> MixHop(in_channels=3, hidden_channels=8, num_layers=2, out_channels=2).layers[1]
    SparseMixHopConv(24, 8, powers=[0, 1, 2])
    """

    def __init__(
        self,
        in_channels: Channels,
        hidden_channels: int,
        num_layers: int,
        out_channels: int,
        *,
        hops: int = 2,
        **common: Unpack[Common],
    ) -> None:
        powers, d = list(range(hops + 1)), hidden_channels
        width = len(powers) * d if num_layers else d
        super().__init__(in_channels, hidden_channels, out_channels, width=width, **common)
        layers: list[nn.Module] = [
            SparseMixHopConv(width if t else d, d, powers=powers, bias=False) for t in range(num_layers)
        ]
        self.stack(layers, width)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        return (gcn_matrix(edge_index, h),)
