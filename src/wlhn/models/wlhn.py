"""The Weisfeiler-Leman Hyperbolic Network (the paper's Algorithm 2 and section 4.2).

GIN layers say where a colour points and, unlike in the paper, how far it lies from its parent (`lengths="fixed"` is the
paper's form); DiffHypCon places it there, and the readout sums log_0 of the last depth's points over the nodes of a
graph. Everything runs on colours (`ColourBatch`); `forward` takes PyG tensors and treats every node as a colour of its
own, with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wlhn.batching.colour_batch import ColourBatch, node_batch
from wlhn.errors import InputError
from wlhn.hyperbolic.lengths import LengthLaw, beside_parent, edge_lengths
from wlhn.nn.encoders import Channels, check_width, input_encoder
from wlhn.nn.gin_layer import GINLayer
from wlhn.nn.heads import make_head
from wlhn.nn.model import Model
from wlhn.nn.readout import READOUTS, Path
from wlhn.nn.whitening import Whitening
from wlhn.ops.layer import Below
from wlhn.ops.level import Points, next_level, norms, root_level, unit
from wlhn.options.network import NetworkOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class WLHNOptions(NetworkOptions):
    tau: float = option(
        1.0,
        "Length of the tree's edges. From 2 arsinh 1 ≈ 1.763 on, distance from the root grows at every depth whatever "
        "the features; the paper uses 1.",
        above=0,
    )
    learn_tau: bool = option(False, "Whether τ is learned (kept positive).")
    tau_per_depth: bool = option(False, "Whether each depth learns a τ of its own; with learn_tau.")
    lengths: Literal["fixed", "tanh", "log", "clipped", "first-release"] = option(
        "log",
        "Lengths of edges: τ for all (fixed), as in the paper's algorithm, or more of it the larger the features are "
        "(`wlhn.hyperbolic.lengths`); first-release is clipped with the parent direction of the authors' first code.",
    )
    length_floor: float = option(
        0.0, "What is added to every length; from 1.763 on, distance from the root grows at every depth.", at_least=0
    )
    learn_epsilon: bool = option(False, "Whether GIN's ε is learned; else 0.")
    directions: Literal["relu", "whitened"] = option(
        "relu", "Where colours point: along their GIN features, as in the paper, or along whitened ones."
    )
    readout: Literal["hyperbolic", "all", "steps"] = option(
        "hyperbolic",
        "What the head sees: the last points (the paper), points of all depths, or all steps, each seen from where it "
        "starts, so that late ones count as much as early ones.",
    )
    frozen_encoder: bool = option(False, "Train the head alone, as the authors' released code does.")


class WLHN(Model):
    """Weisfeiler-Leman Hyperbolic Network (Nikolentzos et al. 2023) for graphs or nodes.

    >>> model = WLHN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), batch=torch.tensor([0, 0, 1, 1])).shape
    torch.Size([2, 2])

    `level="node"` gives an output of each node, and with `edge_channels` the network sees features of edges:

    >>> model = WLHN(3, 2, level="node", edge_channels=1, hidden_channels=8)
    >>> model(torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 0, 3]]), edge_attr=torch.rand(3, 1)).shape
    torch.Size([4, 2])
    """

    Options = WLHNOptions
    sees_edges = True

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        options, d, depth = self.options, self.options.hidden_channels, self.options.num_layers
        if options.tau_per_depth and not options.learn_tau:
            raise InputError("tau_per_depth has no effect without learn_tau; leave it out, or learn τ")
        if options.readout == "steps" and options.directions == "whitened":
            raise InputError("readout=steps sees features before they are whitened; choose other directions or readout")
        self.readout = READOUTS[options.readout](self.step)
        self.encoder = input_encoder(in_channels, d, options.input_dropout)
        self.layers = nn.ModuleList(GINLayer(d, options.learn_epsilon, self.edge_channels) for _ in range(depth))
        whitened = options.directions == "whitened"
        self.whitening = nn.ModuleList(Whitening(d) for _ in range(depth + 1)) if whitened else None
        raw = math.log(math.expm1(options.tau)) if options.tau < 30 else options.tau
        raw_tau = torch.full((depth + 1,) if options.tau_per_depth else (), raw, dtype=torch.get_default_dtype())
        self.raw_tau: Tensor
        if options.learn_tau:
            self.raw_tau = nn.Parameter(raw_tau)
        else:
            self.register_buffer("raw_tau", raw_tau)
        self.head = make_head(options.head, self.readout.width(d, depth), out_channels, options.dropout)
        if options.frozen_encoder:
            for name, parameter in self.named_parameters():
                parameter.requires_grad_(name.startswith("head."))

    @property
    def tau(self) -> Tensor:
        """τ, or that of each depth, (depths,)."""
        return F.softplus(self.raw_tau)

    def step_length(self, t: int, h: Tensor) -> Tensor:
        """How long the edges above colours of depth t are: one length for all of them, or one for each row."""
        tau = self._tau(t)
        if self.options.lengths == "fixed":
            return tau + self.options.length_floor if self.options.length_floor else tau
        return self._lengths(norms(h), tau)

    def _tau(self, t: int) -> Tensor:
        return self.tau[t] if self.options.tau_per_depth else self.tau

    def _lengths(self, norm: Tensor, tau: Tensor) -> Tensor:
        law: LengthLaw = "clipped" if self.options.lengths == "first-release" else self.options.lengths
        return edge_lengths(norm, tau, law, self.options.length_floor)

    def step(self, t: int, h: Tensor) -> Tensor:
        """log of the steps to colours of depth t, each in the frame of its parent, (rows, d)."""
        pointing = self.pointing(t, h, None)
        half = self.step_length(t, pointing) / 2
        return half[..., None] * unit(pointing)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels) from PyG tensors."""
        self.check_inputs(x, edge_attr)
        return self.run_on_colours(node_batch(x, edge_index, batch, edge_attr, len(self.layers)))

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs or nodes, out_channels) from a batch of colours."""
        if self.level == "node":
            # Nodes of one colour share their output, and in training their dropout.
            return self.head(self.rows(batch))[batch.node_row]
        return self.head(self.graph_representation(batch))

    def graph_representation(self, batch: ColourBatch) -> Tensor:
        """h_G, what the head sees of each graph, (graphs, width)."""
        return self.readout.sums(batch.graph_counts, self.path(batch))

    def rows(self, batch: ColourBatch) -> Tensor:
        """What the readout sees of each colour of depth T, (rows, width)."""
        return self.readout.rows(self.path(batch))

    def path(self, batch: ColourBatch) -> Path:
        """(r, e, h) on the path to each colour of depth T: at its end, or at every depth if the readout wants that."""
        if not self.readout.every_depth:
            *_, (z, h) = self.levels(batch)
            return [(z.r, z.e, h)]
        path: list[tuple[Tensor, Tensor, Tensor]] = []
        for t, (z, h) in enumerate(self.levels(batch)):
            if t:
                parent = batch.levels[t - 1].parent
                path = [(r[parent], e[parent], below[parent]) for r, e, below in path]
            path.append((z.r, z.e, h))
        return path

    def levels(self, batch: ColourBatch) -> Iterator[tuple[Points, Tensor]]:
        """Depth by depth, the points of the colours and their GIN features."""
        check_width(batch.x, self.in_channels)
        if len(batch.levels) != len(self.layers):
            raise InputError(
                f"batch: refined {len(batch.levels)} rounds deep, but the model has {len(self.layers)} layers"
            )
        z, h = self.root(batch.x, batch.weight)
        yield z, h
        # Colours point along their features, and no subclass says otherwise: a layer and its points are one operation.
        overridden = any(
            getattr(type(self), name) is not getattr(WLHN, name) for name in ("place", "pointing", "step_length")
        )
        fused = not (overridden or self.whitening or self.options.lengths == "first-release" or self.edge_channels)
        lengths = None if self.options.lengths == "fixed" else self._lengths
        for t, (layer, level) in enumerate(zip(self.layers, batch.levels, strict=True), start=1):
            if fused:
                tau = self.step_length(t, h) if lengths is None else self._tau(t)
                h, z = layer(h, level, None, Below(z, tau, t < len(self.layers), lengths))
            else:
                h = layer(h, level, batch.edge_x)
                z = self.place(t, h, z, level.parent, level.child_ptr, level.weight)
            yield z, h

    def root(self, x: Tensor, weight: Tensor | None) -> tuple[Points, Tensor]:
        """Points and features of the colours of depth 0; `weight` is how many nodes each has, None for one."""
        h = torch.relu(self.encoder(x))
        pointing = self.pointing(0, h, weight)
        return root_level(pointing, self.step_length(0, pointing)), h

    def place(
        self, t: int, h: Tensor, above: Points, parent: Tensor, child_ptr: Tensor | None, weight: Tensor | None
    ) -> Points:
        """Points of colours of depth t from their features and their parents' points."""
        look_back, pointing = t < len(self.layers), self.pointing(t, h, weight)
        return next_level(pointing, above, parent, self.step_length(t, pointing), child_ptr, look_back=look_back)

    def pointing(self, t: int, h: Tensor, weight: Tensor | None) -> Tensor:
        """What gives the colours of depth t their directions, from their GIN features."""
        if self.options.lengths == "first-release":
            h = beside_parent(h)
        return h if self.whitening is None else self.whitening[t](h, weight)
