"""GCN: Kipf & Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017."""

from __future__ import annotations

from torch import Tensor, nn

from wlhn.batching.matrices import gcn_matrix
from wlhn.nn.network import ConvolutionalNetwork, Edges
from wlhn.nn.sparse_layers import SparseGCNConv


class GCN(ConvolutionalNetwork):
    """Graph convolutions (Kipf & Welling 2017).

    h_v ← relu(norm(W Σ h_u / √(d_u d_v))), over the neighbours u of v and v itself.

    >>> import torch
    >>> model = GCN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    def layer(self, t: int) -> nn.Module:
        return SparseGCNConv(self.width, self.width, bias=False)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        return (gcn_matrix(edge_index, h),)
