"""MixHop: Abu-El-Haija et al., "MixHop: higher-order graph convolutional architectures", ICML 2019."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from wlhn.batching.matrices import gcn_matrix
from wlhn.nn.network import ConvolutionalNetwork, Edges
from wlhn.nn.sparse_layers import SparseMixHopConv
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class MixHopOptions(NetworkOptions):
    hops: int = option(2, "Highest power of the adjacency that a layer mixes in.", at_least=0)


class MixHop(ConvolutionalNetwork):
    """Mixed powers of the adjacency (Abu-El-Haija et al. 2019).

    h_v ← relu(norm(concatenation over p = 0 … hops of W_p (Âᵖ h)_v)), Â the normalised adjacency of GCN.

    >>> MixHop(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2).layers[1]
    SparseMixHopConv(24, 8, powers=[0, 1, 2])
    """

    Options = MixHopOptions

    def layer(self, t: int) -> nn.Module:
        powers, d = list(range(self.options.hops + 1)), self.options.hidden_channels
        return SparseMixHopConv(self.width if t else d, d, powers=powers, bias=False)

    @property
    def width(self) -> int:
        options = self.options
        return options.hidden_channels * (options.hops + 1 if options.num_layers else 1)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        return (gcn_matrix(edge_index, h),)
