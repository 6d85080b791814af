"""Why a model said what it said of a node: its answer divided among the nodes it depends on, hop by hop.

A node is compared with the average: let ā_t be the mean over all nodes of the graph of what they tell their neighbours
at depth t, and let f(α) be the output for node v where node u tells ā_t + α_u (h_u − ā_t), α_u ∈ [0, 1]. With f(0)
everybody but v tells what the average node would; nobody is taken away, so how many neighbours a node has stays as it
is (a node without its neighbours is unlike any that the model has seen: what it says of such a one explains nothing).
The others then speak for themselves hop by hop, nearer ones first. With ring k the nodes k hops away, and by integrated
gradients along the diagonal of its α (the Aumann-Shapley value of the game that the ring plays)

    output − mean output = [f(0) − mean output] + Σ_k Σ_{u in ring k} ∫₀¹ ∂f/∂α_u (nearer: 1, ring k: s, farther: 0) ds,

the first part v's own. So a neighbour that only passes on what others say gets nothing for it: until they speak, it has
passed on averages. The integral is taken piece by piece (Gauss-Legendre); a piece whose parts do not add up to what its
ends say is halved. What remains after the last halving is shared in proportion to the parts.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.batching.quotient import Quotient
from wlhn.graphs import Graphs
from wlhn.inspection.attribution import NODES, WEIGHTS
from wlhn.nn.capabilities import AnswersDepthByDepth
from wlhn.nn.soft_edges import SoftEdges
from wlhn.runs.layerwise import depths, points

TOLERANCE = 1e-4  # what a piece may miss, relative to the outputs and its length
ROUNDS = 4  # a piece is never shorter than 2⁻⁴


@dataclass(frozen=True, eq=False)
class Average:
    """The average node of a graph, in float64."""

    told: list[Tensor]  # depth by depth (d,), what it tells its neighbours
    output: Tensor  # (outputs,)


@torch.no_grad()
def average(model: AnswersDepthByDepth, quotient: Quotient) -> Average:
    """Means over all nodes of a graph: of features, depth by depth, and of outputs. The model is in evaluation mode."""
    tree = quotient.hierarchy
    with tempfile.TemporaryDirectory(prefix="wlhn") as folder:
        layers = depths(model, quotient, Path(folder), every=True)
        told = [np.average(layer.h, axis=0, weights=tree.count(t)) for t, layer in enumerate(layers)]
        one_of_each = np.unique(tree.colours[-1], return_index=True)[1]
        path = points(layers, tree, one_of_each)
        outputs = model.head(model.readout.rows(path if model.readout.every_depth else path[-1:]))
    output = np.average(outputs.double().numpy(), axis=0, weights=tree.count(tree.depth))
    return Average([torch.from_numpy(row).double() for row in told], torch.from_numpy(output))


def reached(graphs: Graphs, node: int, hops: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes that a node depends on, so many hops against the edges, itself first, and how many hops away they are.

    >>> path = Graphs.from_edges([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> [array.tolist() for array in reached(path, 0, hops=2)]
    [[0, 1, 2], [0, 1, 2]]
    """
    found = [np.array([node])]
    for _ in range(hops):
        around = [graphs.neighbours(int(u)) for u in found[-1]]
        found.append(np.setdiff1d(np.concatenate(around) if around else [], np.concatenate(found)).astype(np.int64))
    return np.concatenate(found), np.repeat(np.arange(len(found)), [len(ring) for ring in found])


def neighbourhood(graphs: Graphs, x: NDArray[Any], nodes: NDArray[Any]) -> tuple[Graphs, NDArray[Any]]:
    """(the graph on these nodes alone, their rows of x)."""
    place = np.full(graphs.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[graphs.edge_index]
    kept = (edges >= 0).all(axis=0)
    label, attr = (None if a is None else a[kept] for a in (graphs.edge_label, graphs.edge_attr))
    return Graphs.from_edges(edges[:, kept], len(nodes), edge_label=label, edge_attr=attr), x[nodes]


def divide(
    model: Any, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, hop: Tensor, mean: Average
) -> tuple[Tensor, Tensor]:
    """(what each node adds to the outputs of the one at hop 0 (nodes, outputs), that node's outputs), in float64.

    Parts and the mean output add up to the outputs.

    Args:
        model: one that answers depth by depth.
        x, edge_index, edge_attr: the nodes that the explained one depends on, as the model takes them.
        hop: (nodes,) how far they are from it.
        mean: what they are compared with.

    >>> from wlhn.models import WLHN
    >>> model = WLHN(in_channels=2, out_channels=3, hidden_channels=8, num_layers=1, level="node")
    >>> mean = Average([torch.zeros(8).double()] * 2, torch.zeros(3).double())
    >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> each, there = divide(model, torch.rand(3, 2), edges, None, torch.tensor([1, 0, 1]), mean)
    >>> torch.allclose(each.sum(0), there)
    True
    """
    soft = SoftEdges(copy.deepcopy(model).double().requires_grad_(False))
    x = x.double() if x.is_floating_point() else x
    edge_attr = edge_attr.double() if edge_attr is not None and edge_attr.is_floating_point() else edge_attr
    node = int((hop == 0).nonzero())

    def output(presence: Tensor) -> Tensor:
        row = soft.rows(x, edge_index, edge_attr, told=(mean.told, presence))[node]
        return soft.model.head(row[None])[0]

    presence = (hop == 0).double()
    each = torch.zeros(len(x), len(mean.output), dtype=torch.float64)
    each[node] = output(presence) - mean.output
    for k in range(1, int(hop.max()) + 1):
        ring = (hop == k).double()
        each += _along(output, presence, ring)
        presence = presence + ring
    return each.detach(), output(presence).detach()


def _along(output: Callable[[Tensor], Tensor], start: Tensor, ring: Tensor) -> Tensor:
    """What each node of a ring adds between output(start) and output(start + ring), (nodes, outputs)."""

    def gradients(s: float) -> Tensor:
        presence = (start + s * ring).requires_grad_(True)
        said = output(presence)
        return torch.stack([torch.autograd.grad(o, presence, retain_graph=True)[0] for o in said], dim=1)

    ends = torch.stack([output(start), output(start + ring)])
    scale = 1 + ends.abs().max()
    each = torch.zeros(len(ring), ends.shape[1], dtype=torch.float64)
    pieces = [(0.0, 1.0)]
    for round_ in range(ROUNDS + 1):
        halved = []
        for first, length in pieces:
            at = (first + length * (1 + NODES) / 2).tolist()
            part = length * torch.stack([w / 2 * gradients(s) for s, w in zip(at, WEIGHTS, strict=True)]).sum(0)
            part = part * ring[:, None]
            there, here = output(start + (first + length) * ring), output(start + first * ring)
            if round_ == ROUNDS or (there - here - part.sum(0)).abs().max() <= TOLERANCE * scale * length:
                each += part
            else:
                halved += [(first, length / 2), (first + length / 2, length / 2)]
        pieces = halved
    missing, total = ends[1] - ends[0] - each.sum(0), each.abs().sum(0)
    return each + missing * torch.where(total > 0, each.abs() / total.clamp_min(1e-300), (ring / ring.sum())[:, None])
