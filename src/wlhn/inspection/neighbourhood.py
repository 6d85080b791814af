"""Why a model said what it said of a node: its answer divided among the nodes it depends on.

Let f(α) be the model's output for node v where whatever node u tells others counts α_u ∈ [0, 1] times. With f(0) nobody
tells anything: v alone. With f(1) it is the model's answer. So by integrated gradients along the diagonal (which here
is the Aumann-Shapley value of the game that nodes play by taking part)

    output − output(nothing) = [f(0) − output(nothing)] + Σ_{u ≠ v} ∫₀¹ ∂f/∂α_u (s, …, s) ds,

the first part v's own, those of the sum the other nodes'. Output(nothing) is what the head says of the zero vector. The
integral is taken piece by piece (Gauss-Legendre); a piece whose parts do not add up to what its ends say is halved.
What remains after the last halving (where h leaves 0, its direction jumps) is shared in proportion to the parts.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.graphs import Graphs
from wlhn.inspection.attribution import NODES, WEIGHTS
from wlhn.nn.soft_edges import SoftEdges

TOLERANCE = 1e-6  # what a piece may miss, relative to the outputs and its length
ROUNDS = 6  # a piece is never shorter than 2⁻⁶


def reached(graphs: Graphs, node: int, hops: int) -> NDArray[np.int64]:
    """The nodes that a node depends on, so many hops against the edges; itself first, then hop by hop.

    >>> path = Graphs.from_edges([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> reached(path, 0, hops=2).tolist()
    [0, 1, 2]
    """
    found = [np.array([node])]
    for _ in range(hops):
        around = [graphs.neighbours(int(u)) for u in found[-1]]
        found.append(np.setdiff1d(np.concatenate(around) if around else [], np.concatenate(found)).astype(np.int64))
    return np.concatenate(found)


def neighbourhood(graphs: Graphs, x: NDArray[Any], nodes: NDArray[Any]) -> tuple[Graphs, NDArray[Any]]:
    """(the graph on these nodes alone, their rows of x)."""
    place = np.full(graphs.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[graphs.edge_index]
    kept = (edges >= 0).all(axis=0)
    label, attr = (None if a is None else a[kept] for a in (graphs.edge_label, graphs.edge_attr))
    return Graphs.from_edges(edges[:, kept], len(nodes), edge_label=label, edge_attr=attr), x[nodes]


def divide(
    model: Any, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, node: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """(what each node adds to a node's outputs (nodes, outputs), its output, the output of nothing), in float64.

    >>> from wlhn.models import WLHN
    >>> model = WLHN(in_channels=2, out_channels=3, hidden_channels=8, num_layers=2, level="node")
    >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> each, there, base = divide(model, torch.rand(3, 2), edges, None)
    >>> torch.allclose(base + each.sum(0), there)
    True
    """
    soft = SoftEdges(copy.deepcopy(model).double().requires_grad_(False))
    x = x.double() if x.is_floating_point() else x
    edge_attr = edge_attr.double() if edge_attr is not None and edge_attr.is_floating_point() else edge_attr
    others = torch.arange(len(x)) != node

    def output(s: Tensor | float, presence: Tensor | None = None) -> Tensor:
        alpha = torch.where(others, torch.as_tensor(s, dtype=torch.float64), 1.0) if presence is None else presence
        row = soft.rows(x, edge_index, edge_attr, alpha[edge_index[0]])[node]
        return soft.model.head(row[None])[0]

    def gradients(s: float) -> Tensor:
        alpha = torch.where(others, torch.tensor(s, dtype=torch.float64), 1.0).requires_grad_(True)
        said = output(s, alpha)
        each = [torch.autograd.grad(said[k], alpha, retain_graph=True)[0] for k in range(len(said))]
        return torch.stack(each, dim=1)  # (nodes, outputs)

    width = len(soft.rows(x, edge_index, edge_attr)[node])
    there, alone = output(1.0), output(0.0)
    base = soft.model.head(x.new_zeros(1, width, dtype=torch.float64))[0]
    scale = 1 + torch.stack([there, alone, base]).abs().max()
    each = torch.zeros(len(x), len(there), dtype=torch.float64)
    pieces = [(0.0, 1.0)] if bool(others.any()) else []
    for round_ in range(ROUNDS + 1):
        halved = []
        for start, length in pieces:
            at = (start + length * (1 + NODES) / 2).tolist()
            part = length * torch.stack([w / 2 * gradients(s) for s, w in zip(at, WEIGHTS, strict=True)]).sum(0)
            part[node] = 0
            missed = (output(start + length) - output(start) - part.sum(0)).abs().max()
            if round_ == ROUNDS or missed <= TOLERANCE * scale * length:
                each += part
            else:
                halved += [(start, length / 2), (start + length / 2, length / 2)]
        pieces = halved
    missing = there - alone - each.sum(0)
    share = each.abs() / each.abs().sum(0).clamp_min(1e-300)
    share = torch.where(each.abs().sum(0) > 0, share, others[:, None] / max(int(others.sum()), 1))
    each = each + missing * share
    each[node] = alone - base
    return each.detach(), there.detach(), base.detach()
