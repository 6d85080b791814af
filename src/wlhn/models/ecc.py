"""ECC: edge-conditioned convolutions (Simonovsky & Komodakis, "Dynamic edge-conditioned filters", CVPR 2017).

    h_v ← relu(norm(W h_v + mean over neighbours u of Θ(e_uv) h_u)),   Θ(e) = Σ_k g_k(e) B_k

g is a perceptron's hidden layer and Θ its linear output, a matrix for each edge. Those matrices are never made:
Σ_u Θ(e_uv) h_u = Σ_k B_k Σ_u g_k(e_uv) h_u needs only the sums of g_k h_u, `EDGE_FILTERS` numbers for each feature
instead of d. Without edge features Θ is one matrix. The paper's pooling pyramid is left out: nodes are summed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from wlhn.nn.encoders import Channels, input_encoder
from wlhn.nn.network import ConvolutionalNetwork, Edges

EDGE_FILTERS = 16


class EdgeConditioned(nn.Module):
    """mean over neighbours u of Θ(e_uv) h_u, plus W h_v.

    >>> layer = EdgeConditioned(channels=3, edge_channels=2)
    >>> layer(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), torch.rand(3, 2)).shape
    torch.Size([4, 3])
    """

    def __init__(self, channels: int, edge_channels: Channels) -> None:
        super().__init__()
        self.filters = input_encoder(edge_channels, EDGE_FILTERS) if edge_channels else None
        count = EDGE_FILTERS + 1 if edge_channels else 1  # one filter more, always 1: the bias of Θ
        self.theta = nn.Linear(count * channels, channels, bias=False)
        self.root = nn.Linear(channels, channels, bias=False)

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None) -> Tensor:
        source, target = edge_index
        messages = h[source]
        if self.filters is not None:
            g = torch.relu(self.filters(edge_attr))
            g = torch.cat([g, g.new_ones(len(g), 1)], dim=1)
            messages = (g[:, :, None] * messages[:, None, :]).flatten(1)
        total = h.new_zeros(len(h), messages.shape[1]).index_add(0, target, messages)
        degree = target.bincount(minlength=len(h)).clamp_min(1)
        return self.theta(total / degree[:, None]) + self.root(h)


class ECC(ConvolutionalNetwork):
    """Edge-conditioned convolutions (Simonovsky & Komodakis 2017), summed over the nodes of a graph.

    >>> model = ECC(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2, edge_channels=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), edge_attr=torch.rand(3, 2)).shape
    torch.Size([1, 2])
    """

    sees_edges = True

    def layer(self, t: int) -> nn.Module:
        return EdgeConditioned(self.width, self.edge_channels)

    def edges(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Edges:
        return edge_index, edge_attr
