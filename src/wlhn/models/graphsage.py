"""GraphSAGE: Hamilton et al., "Inductive representation learning on large graphs", NeurIPS 2017."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor
from torch_geometric.nn import SAGEConv

from wlhn.batching.matrices import mean_matrix, sum_matrix
from wlhn.nn.encoders import Channels
from wlhn.nn.network import ConvolutionalNetwork, Edges
from wlhn.nn.sparse_layers import SparseSAGEConv
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class GraphSAGEOptions(NetworkOptions):
    aggregation: Literal["mean", "max", "sum"] = option("mean", "How the features of neighbours become one vector.")


class GraphSAGE(ConvolutionalNetwork):
    """GraphSAGE (Hamilton et al. 2017).

    h_v ← relu(norm(W h_v + U aggregate(h_u))), over all neighbours: graphs here are small enough not to sample.

    >>> GraphSAGE(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, aggregation="max").layers[0]
    SAGEConv(8, 8, aggr=max)
    """

    Options = GraphSAGEOptions

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        d, aggregation = self.options.hidden_channels, self.options.aggregation
        layer = SAGEConv if aggregation == "max" else SparseSAGEConv
        self.stack([layer(d, d, aggr=aggregation, bias=False) for _ in range(self.options.num_layers)], d)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        match self.options.aggregation:
            case "mean":
                return (mean_matrix(edge_index, h),)
            case "sum":
                return (sum_matrix(edge_index, h),)
            case _:
                return (edge_index,)
