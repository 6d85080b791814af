"""Sparse matrices over the nodes of a batch: their product with rows of nodes sums or averages those of neighbours.

To make one takes about as long as a layer. Edges that a `Feed` made stay as they are, so matrices of them are kept
while they live: batches that come again in each epoch, a single graph's above all, make theirs once (on the CPU; to
another device a batch is copied anew). PyG is imported where it is needed: `Feed` serves models that do without it.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from functools import wraps
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from wlhn.batching.colour_batch import Counts, check_edges
from wlhn.loops.grouping import group_by_target

Matrix = Callable[[Tensor, Tensor], Counts]  # (edges, rows of nodes) → matrix for such rows

_kept: MutableMapping[Tensor, dict[Any, Counts]] = WeakTensorKeyDictionary()


def lasting(edge_index: Tensor) -> Tensor:
    """The edges themselves, which nobody is going to change: matrices of them are kept while they live.

    >>> import torch
    >>> edges, h = lasting(torch.tensor([[0, 1], [1, 0]])), torch.zeros(2, 1)
    >>> sum_matrix(edges, h) is sum_matrix(edges, h)
    True
    """
    _kept.setdefault(edge_index, {})
    return edge_index


def _kept_while_edges_last(make: Matrix) -> Matrix:
    @wraps(make)
    def matrix(edge_index: Tensor, h: Tensor) -> Counts:
        known, key = _kept.get(edge_index, {}), (make, len(h), h.dtype)
        if key not in known:
            known[key] = make(edge_index, h)
        return known[key]

    return matrix


@_kept_while_edges_last
def sum_matrix(edge_index: Tensor, h: Tensor) -> Counts:
    """Sums the sources of each target, for rows like those of h.

    >>> import torch
    >>> from wlhn.ops.sums import product
    >>> h = torch.tensor([[1.0], [10.0], [0.0]])
    >>> product(sum_matrix(torch.tensor([[0, 1, 0], [2, 2, 1]]), h), h)
    tensor([[ 0.], [ 1.], [11.]])
    """
    return _matrix(edge_index, len(h))


@_kept_while_edges_last
def mean_matrix(edge_index: Tensor, h: Tensor) -> Counts:
    """Takes the mean over the sources of each target.

    >>> import torch
    >>> mean_matrix(torch.tensor([[0, 1, 0], [2, 2, 1]]), torch.zeros(3, 1)).value
    tensor([1.0000, 0.5000, 0.5000])
    """
    target = edge_index[1]
    return _matrix(edge_index, len(h), 1 / target.bincount(minlength=len(h)).to(h.dtype)[target])


@_kept_while_edges_last
def mean_matrix_with_loops(edge_index: Tensor, h: Tensor) -> Counts:
    """Takes the mean over the sources of each target and the target itself.

    >>> import torch
    >>> mean_matrix_with_loops(torch.tensor([[0, 1, 0], [2, 2, 1]]), torch.zeros(3, 1)).value
    tensor([1.0000, 0.5000, 0.5000, 0.3333, 0.3333, 0.3333])
    """
    from torch_geometric.utils import add_remaining_self_loops

    return mean_matrix(add_remaining_self_loops(edge_index, num_nodes=len(h))[0], h)


@_kept_while_edges_last
def gcn_matrix(edge_index: Tensor, h: Tensor) -> Counts:
    """GCN's: 1/√(d_u d_v) for the neighbours u of v and v itself.

    >>> import torch
    >>> gcn_matrix(torch.tensor([[0, 1], [1, 0]]), torch.zeros(2, 1)).value
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    edge_index, weight = gcn_norm(edge_index, num_nodes=len(h), dtype=h.dtype)
    return _matrix(edge_index, len(h), weight)


def _matrix(edge_index: Tensor, num_nodes: int, weight: Tensor | None = None) -> Counts:
    """With a row for each target; edges weigh 1 by default."""
    check_edges(edge_index, num_nodes)
    source, target = edge_index.detach().cpu().numpy()
    row_ptr, neighbour, order = group_by_target(source, target, num_nodes, weight is not None)
    value = np.ones(len(neighbour), np.float32) if weight is None else weight.detach().cpu().numpy()[order]
    return Counts.from_rows(row_ptr, neighbour, value, num_nodes).to(edge_index.device)
