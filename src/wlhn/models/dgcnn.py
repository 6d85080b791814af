"""DGCNN: nodes sorted by their last feature, then ordinary convolutions along that order (Zhang et al., "An end-to-end
deep learning architecture for graph classification", AAAI 2018).

Graph convolutions h ← tanh(D̃⁻¹ Ã h W) are laid side by side, the last of them one channel wide, which the sorting
looks at. Of each graph the first `sort_nodes` nodes count; the paper chooses their number so that 60 % of the graphs
have as many. WLHN's head stands in place of the paper's dense layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from wlhn.batching.matrices import mean_matrix_with_loops
from wlhn.nn.encoders import Channels
from wlhn.nn.network import Network
from wlhn.nn.pooling import sort_pool
from wlhn.ops.sums import product
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class DGCNNOptions(NetworkOptions):
    sort_nodes: int = option(
        30, "Nodes of a graph that are kept, in their order; the convolutions need 10.", at_least=10
    )


class DGCNN(Network):
    """Sort pooling (DGCNN, Zhang et al. 2018), for graphs.

    >>> model = DGCNN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    Options = DGCNNOptions
    target_levels = ("graph",)

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        d = self.options.hidden_channels
        widths = [d] * self.options.num_layers + [1]
        inputs = [d, *widths[:-1]]
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(inputs, widths, strict=True))
        self.each_node = nn.Linear(sum(widths), 16)  # the paper's first convolution, one node wide
        self.over_sorted_nodes = nn.Sequential(
            nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(16, 32, kernel_size=5), nn.ReLU(), nn.Flatten()
        )

    @property
    def width(self) -> int:
        return 32 * (self.options.sort_nodes // 2 - 4)  # after pooling by 2 and a convolution over 5

    def represent(self, h: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Tensor:
        means = mean_matrix_with_loops(edge_index, h)
        outputs = []
        for layer in self.layers:
            h = torch.tanh(product(means, layer(h)))
            outputs.append(h)
        return torch.cat(outputs, dim=1)

    def pool(self, h: Tensor, batch: Tensor | None) -> Tensor:
        return self.over_sorted_nodes(self.each_node(sort_pool(h, batch, self.options.sort_nodes)).mT)
