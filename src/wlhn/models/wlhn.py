"""The Weisfeiler-Leman Hyperbolic Network (the paper's Algorithm 2 and section 4.2).

GIN layers say where a colour points, DiffHypCon places it below its parent, and the readout sums log_0 of the last
depth's points over the nodes of a graph. Everything runs on colours (`ColourBatch`); `forward` takes PyG tensors and
treats every node as a colour of its own, with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wlhn.batching.colour_batch import ColourBatch, node_batch
from wlhn.errors import InputError
from wlhn.hyperbolic.polar import to_tangent
from wlhn.nn.encoders import check_width, input_encoder
from wlhn.nn.gin_layer import GINLayer
from wlhn.nn.heads import HeadKind, make_head
from wlhn.nn.whitening import Whitening
from wlhn.ops.level import Level, next_level, root_level
from wlhn.ops.sums import product, tangent_sum

Readout = Literal["hyperbolic", "both", "all"]


class WLHN(nn.Module):
    """WLHN for graphs or nodes.

    Args:
        in_channels: number of node features, or the sizes of categorical columns (then x holds integers).
        hidden_channels: width d of the layers and dimension of the ball.
        num_layers: T, the number of message passing rounds.
        out_channels: classes, tasks or targets.
        level: "graph" sums the nodes of a graph, "node" gives an output for each node.
        tau: length of the tree's edges. From 2 arsinh 1 ≈ 1.763 on, distance from the root grows at every depth
            whatever the features; the paper uses 1.
        learn_tau: whether τ is learned (kept positive).
        learn_epsilon: whether GIN's ε is learned; else 0.
        directions: "relu" are the paper's, "whitened" spreads siblings.
        readout: "hyperbolic" is the paper's; "both" puts the sum of the GIN features beside it; "all" the points of
            all depths side by side.
        head: "euclidean" or "hyperbolic".
        dropout: between the head's layers.
        edge_channels: number of edge features, or the sizes of categorical columns; 0 for none.
        frozen_encoder: train the head alone, as the authors' released code does.

    >>> model = WLHN(in_channels=3, hidden_channels=8, num_layers=2, out_channels=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, ...],
        hidden_channels: int,
        num_layers: int,
        out_channels: int,
        *,
        level: Literal["graph", "node"] = "graph",
        tau: float = 1.0,
        learn_tau: bool = False,
        learn_epsilon: bool = False,
        directions: Literal["relu", "whitened"] = "relu",
        readout: Readout = "hyperbolic",
        head: HeadKind = "euclidean",
        dropout: float = 0.0,
        edge_channels: int | tuple[int, ...] = 0,
        frozen_encoder: bool = False,
    ) -> None:
        super().__init__()
        _check(tau=tau, hidden_channels=hidden_channels, num_layers=num_layers, out_channels=out_channels)
        if directions not in ("relu", "whitened"):
            raise InputError(f"directions: expected relu or whitened, found {directions!r}")
        if readout not in ("hyperbolic", "both", "all"):
            raise InputError(f"readout: expected hyperbolic, both or all, found {readout!r}")
        self.in_channels, self.out_channels, self.level, self.readout = in_channels, out_channels, level, readout
        d = hidden_channels
        self.encoder = input_encoder(in_channels, d)
        self.layers = nn.ModuleList(GINLayer(d, learn_epsilon, edge_channels) for _ in range(num_layers))
        whitened = directions == "whitened"
        self.whitening = nn.ModuleList(Whitening(d) for _ in range(num_layers + 1)) if whitened else None
        raw_tau = torch.tensor(math.log(math.expm1(tau)) if tau < 30 else tau, dtype=torch.get_default_dtype())
        self.raw_tau: Tensor
        if learn_tau:
            self.raw_tau = nn.Parameter(raw_tau)
        else:
            self.register_buffer("raw_tau", raw_tau)
        width = {"hyperbolic": d, "both": 2 * d, "all": (num_layers + 1) * d}[readout]
        self.head = make_head(head, width, out_channels, dropout)
        if frozen_encoder:
            for name, parameter in self.named_parameters():
                parameter.requires_grad_(name.startswith("head."))

    @property
    def tau(self) -> Tensor:
        return F.softplus(self.raw_tau)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels) from PyG tensors."""
        check_width(x, self.in_channels)
        return self.run(node_batch(x, edge_index, batch, edge_attr, len(self.layers)))

    def run(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs or nodes, out_channels) from a batch of colours."""
        if self.level == "node":
            # Nodes of one colour share their output, and in training their dropout.
            return self.head(self.rows(batch))[batch.node_row]
        return self.head(self.graph_representation(batch))

    def graph_representation(self, batch: ColourBatch) -> Tensor:
        """h_G, what the head sees of each graph, (graphs, width)."""
        if self.readout == "all":
            return product(batch.readout, self.rows(batch))
        *_, (z, h) = self.levels(batch)
        total = tangent_sum(batch.readout, z.r, z.e)
        return torch.cat([total, product(batch.readout, h)], dim=1) if self.readout == "both" else total

    def rows(self, batch: ColourBatch) -> Tensor:
        """What the readout sees of each colour of depth T, (rows, width)."""
        if self.readout == "all":
            path = torch.empty(0)
            for t, (z, _) in enumerate(self.levels(batch)):
                tangent = to_tangent(z.r, z.e)
                path = torch.cat([path[batch.levels[t - 1].parent], tangent], dim=1) if t else tangent
            return path
        *_, (z, h) = self.levels(batch)
        tangent = to_tangent(z.r, z.e)
        return torch.cat([tangent, h], dim=1) if self.readout == "both" else tangent

    def levels(self, batch: ColourBatch) -> Iterator[tuple[Level, Tensor]]:
        """Depth by depth, the points of the colours and their GIN features."""
        check_width(batch.x, self.in_channels)
        if len(batch.levels) != len(self.layers):
            raise InputError(f"batch: expected {len(self.layers)} rounds of refinement, found {len(batch.levels)}")
        tau, last = self.tau, len(self.layers)
        h = torch.relu(self.encoder(batch.x))
        z = root_level(self.pointing(0, h, batch.weight), tau)
        yield z, h
        for t, (layer, level) in enumerate(zip(self.layers, batch.levels, strict=True), start=1):
            h = layer(h, level, batch.edge_x)
            direction = self.pointing(t, h, level.weight)
            z = next_level(direction, z, level.parent, tau, level.child_ptr, look_back=t < last)
            yield z, h

    def pointing(self, t: int, h: Tensor, weight: Tensor | None) -> Tensor:
        """What gives the colours of depth t their directions, from their GIN features."""
        return h if self.whitening is None else self.whitening[t](h, weight)


def _check(tau: float, **sizes: int) -> None:
    if not (math.isfinite(tau) and tau > 0):
        raise InputError(f"tau: expected a positive length, found {tau}")
    for name, value in sizes.items():
        if value < (0 if name == "num_layers" else 1):
            raise InputError(f"{name}: expected a positive number, found {value}")
