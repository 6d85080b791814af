"""GraphSAGE: Hamilton et al., "Inductive representation learning on large graphs", NeurIPS 2017."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from wlhn.batching.matrices import mean_matrix, sum_matrix
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

    def layer(self, t: int) -> nn.Module:
        kind = SAGEConv if self.options.aggregation == "max" else SparseSAGEConv
        return kind(self.width, self.width, aggr=self.options.aggregation, bias=False)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        matrices = {"mean": mean_matrix, "sum": sum_matrix}
        make = matrices.get(self.options.aggregation)
        return (edge_index if make is None else make(edge_index, h),)
