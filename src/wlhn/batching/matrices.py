"""Sparse matrices over the nodes of a batch: their product with rows of nodes sums or averages those of neighbours.

To make one takes about as long as a layer. Edges that a `Feed` made stay as they are, so matrices of them are kept
while they live: batches that come again in each epoch, a single graph's above all, make theirs once (on the CPU; to
another device a batch is copied anew). PyG is imported where it is needed: `Feed` serves models that do without it.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar
from weakref import ref

import numpy as np
import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from wlhn.batching.colour_batch import Counts, check_edges
from wlhn.errors import InputError
from wlhn.hierarchy.refinement import encode
from wlhn.loops.grouping import group_by_target
from wlhn.words import counted

Made = TypeVar("Made")
OfEdges = Callable[[Tensor, Tensor], Made]  # (edges, rows of nodes) → a matrix for such rows

_kept: MutableMapping[Tensor, dict[Any, Any]] = WeakTensorKeyDictionary()


def lasting(edge_index: Tensor) -> Tensor:
    """The edges themselves, which nobody is going to change: matrices of them are kept while they live.

    >>> import torch
    >>> edges, h = lasting(torch.tensor([[0, 1], [1, 0]])), torch.zeros(2, 1)
    >>> sum_matrix(edges, h) is sum_matrix(edges, h)
    True
    """
    _kept.setdefault(edge_index, {})
    return edge_index


def while_edges_last(edge_index: Tensor, key: Any, make: Callable[[], Made], *beside: Tensor | None) -> Made:
    """What `make` gives; of lasting edges it is made once and kept under its key.

    What is made from further tensors `beside` the edges is made again with others, or when these have changed.
    """
    known = _kept.get(edge_index)
    if known is None:
        return make()
    if key not in known or not all(map(_is_still, known[key][0], beside)):
        stamps = [None if each is None else (ref(each), each._version) for each in beside]
        known[key] = stamps, make()
    made: Made = known[key][1]
    return made


def _is_still(stamp: Any, now: Tensor | None) -> bool:
    """Whether a tensor is the one that was stamped, and unchanged."""
    return now is None if stamp is None else now is not None and stamp[0]() is now and stamp[1] == now._version


def _kept_while_edges_last(make: OfEdges[Made]) -> OfEdges[Made]:
    @wraps(make)
    def made(edge_index: Tensor, h: Tensor) -> Made:
        return while_edges_last(edge_index, (make, len(h), h.dtype), lambda: make(edge_index, h))

    return made


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


@dataclass(frozen=True, eq=False)
class Entries:
    """Where a sparse matrix has entries."""

    pattern: Counts  # its values number the entries, so that those of its transpose say which entry stands there
    row: Tensor  # (entries,)

    @property
    def column(self) -> Tensor:
        """(entries,)"""
        return self.pattern.index


@_kept_while_edges_last
def entries_with_loops(edge_index: Tensor, h: Tensor) -> Entries:
    """An entry for each target and source of an edge, and one for each node and itself.

    >>> import torch
    >>> entries = entries_with_loops(torch.tensor([[0, 1, 1], [1, 0, 1]]), torch.zeros(2, 1))
    >>> entries.row.tolist(), entries.column.tolist()
    ([0, 0, 1, 1], [1, 0, 0, 1])
    """
    others = edge_index[:, edge_index[0] != edge_index[1]]
    with_loops = torch.cat([others, torch.arange(len(h), device=others.device).expand(2, -1)], dim=1)
    check_edges(edge_index, len(h))
    source, target = with_loops.numpy(force=True)
    row_ptr, neighbour, _ = group_by_target(source, target, len(h), with_order=False)
    pattern = Counts.from_rows(row_ptr, neighbour, np.arange(len(neighbour)), len(h)).to(others.device)
    return Entries(pattern, torch.repeat_interleave(pattern.ptr.diff()))


@dataclass(frozen=True, eq=False)
class EdgeKinds:
    """Edges by their categories: a node sends the same along all its edges of one kind, so pairs of node and kind do.

    Numbers are as good as always different: then each edge is a kind of its own.
    """

    first: Tensor  # (kinds,) an edge of each
    node: Tensor  # (pairs,) the source of each pair
    kind: Tensor  # (pairs,)
    sums: Counts  # (nodes, pairs): sums over the edges that lead to each node


def edge_kinds(edge_index: Tensor, edge_attr: Tensor, num_nodes: int) -> EdgeKinds:
    """Edges by their features; of lasting edges made once.

    >>> import torch
    >>> edges = torch.tensor([[0, 0, 0], [1, 2, 2]])
    >>> kinds = edge_kinds(edges, torch.tensor([[5], [5], [7]]), num_nodes=3)
    >>> kinds.node.tolist(), kinds.kind.tolist(), kinds.first.tolist()
    ([0, 0], [0, 1], [0, 2])
    >>> edge_kinds(edges, torch.tensor([[0.5], [0.5], [0.7]]), num_nodes=3).node.tolist()
    [0, 0, 0]
    """
    check_edges(edge_index, num_nodes)
    if len(edge_attr) != edge_index.shape[1]:
        rows, edges = counted(len(edge_attr), "row"), counted(edge_index.shape[1], "edge")
        raise InputError(f"edge_attr: has {rows} for {edges}; give one for each")

    def made() -> EdgeKinds:
        source, target = edge_index.numpy(force=True)
        first = kind = pair_of_edge = np.arange(len(source))
        node = source
        if not edge_attr.is_floating_point():
            kind_of_edge, _ = encode("edge_attr", edge_attr.numpy(force=True), len(source))
            first = np.unique(kind_of_edge, return_index=True)[1]
            kinds = max(len(first), 1)
            pair_of_edge, pair = encode("pairs", source.astype(np.int64) * kinds + kind_of_edge, len(source))
            node, kind = np.divmod(pair.astype(np.int64), kinds)
        row_ptr, index, _ = group_by_target(pair_of_edge, target, num_nodes, with_order=False)
        sums = Counts.from_rows(row_ptr, index, np.ones(len(index), np.float32), len(node)).to(edge_index.device)
        of_kinds, of_pairs, kinds_of_pairs = (
            torch.from_numpy(part).to(edge_index.device) for part in (first, node, kind)
        )
        return EdgeKinds(of_kinds, of_pairs, kinds_of_pairs, sums)

    return while_edges_last(edge_index, (EdgeKinds, num_nodes), made, edge_attr)


def _matrix(edge_index: Tensor, num_nodes: int, weight: Tensor | None = None) -> Counts:
    """With a row for each target; edges weigh 1 by default."""
    check_edges(edge_index, num_nodes)
    source, target = edge_index.detach().cpu().numpy()
    row_ptr, neighbour, order = group_by_target(source, target, num_nodes, weight is not None)
    value = np.ones(len(neighbour), np.float32) if weight is None else weight.detach().cpu().numpy()[order]
    return Counts.from_rows(row_ptr, neighbour, value, num_nodes).to(edge_index.device)
