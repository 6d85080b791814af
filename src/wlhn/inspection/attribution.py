"""What the parts of an answer add to it, exactly, by integrated gradients.

Of a graph: the readout is a sum, h_G = Σ_i n_i x_i over the colours i of a graph, so along the ray from the zero
representation to h_G

    output(h_G) − output(0) = Σ_i n_i x_i · g,        g = ∫₀¹ ∇output(α h_G) dα.

For a linear head g is its weights. For any other, g is integrated piece by piece (Gauss-Legendre): the two ends of a
piece say exactly what it must add up to, so a piece that misses it is halved until it doesn't. A ReLU network is linear
between kinks, so only the pieces around kinks shrink, and the division is exact up to rounding. What the model's own
rounding leaves (it computes in float32) is made good by the smallest change of g that does.

Of a node, which is compared with the average: let ā_t be the mean over all nodes of the graph of what they tell their
neighbours at depth t, and let f(α) be the output for node v where node u tells ā_t + α_u (h_u − ā_t), α_u ∈ [0, 1].
With f(0) everybody but v tells what the average node would; nobody is taken away, so how many neighbours a node has
stays as it is (a node without its neighbours is unlike any that the model has seen: what it says of such a one explains
nothing). The others then speak for themselves hop by hop, nearer ones first. With ring k the nodes k hops away, and
along the diagonal of its α (the Aumann-Shapley value of the game that the ring plays)

    output − mean output = [f(0) − mean output] + Σ_k Σ_{u in ring k} ∫₀¹ ∂f/∂α_u (nearer: 1, ring k: s, farther: 0) ds,

the first part v's own. So a neighbour that only passes on what others say gets nothing for it: until they speak, it has
passed on averages. What remains after the last halving is shared in proportion to the parts.
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
from torch import Tensor, nn

from wlhn.batching.quotient import Quotient
from wlhn.graphs import Graphs
from wlhn.nn.capabilities import AnswersDepthByDepth
from wlhn.nn.soft_edges import SoftEdges
from wlhn.runs.layerwise import depths, points

TOLERANCE, ROUNDS = 1e-7, 40  # what a piece may miss, relative to the outputs and its length; no piece is below 2⁻⁴⁰
NODE_TOLERANCE, NODE_ROUNDS = 1e-4, 4  # the same for nodes, where an output takes a pass through the network
SHORTEST = 1e-3  # shorter pieces, at kinks, are few and may miss as much as one of this length
PIECES = 1024  # more pieces than this mean noise, not kinks
NODES, WEIGHTS = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(5))


def integrated(
    output: Callable[[Tensor], Tensor],
    gradient: Callable[[Tensor], Tensor],
    direction: Tensor,
    tolerance: float,
    rounds: int,
) -> tuple[Tensor, Tensor]:
    """(∫₀¹ gradient(s) ds (outputs, width), the outputs at 0 and at 1), in float64.

    Args:
        output: from places s (k,) on a straight way to outputs (k, outputs).
        gradient: from the same to the gradients there (k, outputs, width).
        direction: (width,) where the way leads from 0 to 1.
        tolerance, rounds: what a piece may miss, and how often it is halved.
    """
    ends = output(torch.tensor([0.0, 1.0], dtype=torch.float64))
    scale = 1 + ends.abs().max()
    total = torch.zeros(ends.shape[1], len(direction), dtype=torch.float64)
    start, width = torch.zeros(1, dtype=torch.float64), 1.0
    for round_ in range(rounds + 1):
        at = start[:, None] + width * (1 + NODES) / 2  # (pieces, nodes)
        there = gradient(at.flatten()).reshape(*at.shape, *total.shape)
        mean = (WEIGHTS[:, None, None] / 2 * there).sum(dim=1)  # (pieces, outputs, width)
        missed = (output(start + width) - output(start) - width * mean @ direction).abs()
        done = (missed <= tolerance * scale * max(width, SHORTEST)).all(dim=1)
        if round_ == rounds or 2 * int((~done).sum()) > PIECES:
            done[:] = True
        total += width * mean[done].sum(dim=0)
        start, width = start[~done], width / 2
        start = torch.cat([start, start + width])
        if not len(start):
            break
    return total, ends


def mean_gradient(head: nn.Module, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(∫₀¹ ∇output(α h) dα (outputs, width), output(h), output(0)), in float64, for a single representation h (width,).

    >>> linear = nn.Linear(3, 2)
    >>> gradient, there, base = mean_gradient(linear, torch.tensor([1.0, 2.0, 3.0]))
    >>> torch.allclose(gradient, linear.weight.double(), atol=1e-6)
    True
    """
    with torch.no_grad():
        own = h.to(next(head.parameters()).dtype)[None]  # alone, as rounding can depend on the company
        there, base = (head.eval()(row)[0].double() for row in (own, torch.zeros_like(own)))
    head = copy.deepcopy(head).double().requires_grad_(False)
    h = h.detach().double()

    def gradient(alpha: Tensor) -> Tensor:
        at = (alpha[:, None] * h).requires_grad_(True)
        outputs = head(at)
        columns = [torch.autograd.grad(outputs[:, k].sum(), at, retain_graph=True)[0] for k in range(outputs.shape[1])]
        return torch.stack(columns, dim=1)

    total, _ = integrated(lambda alpha: head(alpha[:, None] * h), gradient, h, TOLERANCE, ROUNDS)
    return total, there, base


def contributions(
    head: nn.Module, rows: Tensor, count: Tensor, h: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """(what each colour adds to each output (colours, outputs), output(h_G), output(0)); n_i = count, x_i = rows.

    `h` is h_G as the model itself has summed it, where its rounding shall be kept.

    >>> head = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> each, there, base = contributions(head, torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([2, 1]))
    >>> bool((each.sum(0) + base - there).abs().max() < 1e-6)
    True
    """
    weighted = rows.detach().double() * count.double()[:, None]
    total = weighted.sum(dim=0)
    gradient, there, base = mean_gradient(head, total if h is None else h)
    missing = there - base - gradient @ total
    gradient = gradient + missing[:, None] * total / total.square().sum().clamp_min(1e-300)
    return weighted @ gradient.T, there, base


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

    def gradient(s: float) -> Tensor:
        presence = (start + s * ring).requires_grad_(True)
        said = output(presence)
        return torch.stack([torch.autograd.grad(o, presence, retain_graph=True)[0] for o in said])

    total, ends = integrated(
        lambda places: torch.stack([output(start + s * ring) for s in places.tolist()]),
        lambda places: torch.stack([gradient(s) for s in places.tolist()]),
        ring,
        NODE_TOLERANCE,
        NODE_ROUNDS,
    )
    each = total.T * ring[:, None]
    missing, size = ends[1] - ends[0] - each.sum(0), each.abs().sum(0)
    return each + missing * torch.where(size > 0, each.abs() / size.clamp_min(1e-300), (ring / ring.sum())[:, None])
