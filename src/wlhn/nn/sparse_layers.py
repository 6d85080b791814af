"""PyG's convolutions, with the sum over neighbours as one product with a sparse matrix.

PyG gathers a row for each edge, weighs it and scatters it; the compiled product has no rows of edges, and is 7 to 24
times as fast (forth and back, 64 channels, batches of ENZYMES and IMDB-BINARY; attention, which has a number for each
edge, and messages by kinds of edges gain less there, and most where edges are many). Parameters and values are PyG's.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric.nn import GATConv, GCNConv, GINConv, GINEConv, MixHopConv, SAGEConv

from wlhn.batching.colour_batch import Counts
from wlhn.batching.matrices import EdgeKinds, Entries
from wlhn.ops.attention import attend
from wlhn.ops.sums import product


class SparseGCNConv(GCNConv):
    """GCNConv of a `gcn_matrix`."""

    def forward(self, h: Tensor, sums: Counts) -> Tensor:
        return product(sums, self.lin(h))


class SparseGATConv(GATConv):
    """GATConv of `entries_with_loops`, without features of edges."""

    def forward(self, h: Tensor, entries: Entries) -> Tensor:
        x = self.lin(h).view(-1, self.heads, self.out_channels)
        heard, hearing = (x * self.att_src).sum(-1), (x * self.att_dst).sum(-1)
        scores = heard.index_select(0, entries.column) + hearing.index_select(0, entries.row)
        return attend(entries, F.leaky_relu(scores, self.negative_slope), x).flatten(1)


class SparseGINConv(GINConv):
    """GINConv of a `sum_matrix`."""

    def forward(self, h: Tensor, sums: Counts) -> Tensor:
        return self.nn((1 + self.eps) * h + product(sums, h))


class SparseGINEConv(GINEConv):
    """GINEConv of `edge_kinds`, of whose features `edges` are the encoded ones."""

    def forward(self, h: Tensor, edges: Tensor, kinds: EdgeKinds) -> Tensor:
        messages = torch.relu(h.index_select(0, kinds.node) + edges.index_select(0, kinds.kind))
        return self.nn((1 + self.eps) * h + product(kinds.sums, messages))


class SparseSAGEConv(SAGEConv):
    """SAGEConv of a `mean_matrix`, or of a `sum_matrix`."""

    def forward(self, h: Tensor, means: Counts) -> Tensor:
        return self.lin_l(product(means, h)) + self.lin_r(h)


class SparseMixHopConv(MixHopConv):
    """MixHopConv of a `gcn_matrix`."""

    def forward(self, h: Tensor, sums: Counts) -> Tensor:
        outputs = [self.lins[0](h)]
        for linear in self.lins[1:]:
            h = product(sums, h)
            outputs.append(linear(h))
        return torch.cat(outputs, dim=-1)
