"""From nodes to graphs."""

from __future__ import annotations

import torch
from torch import Tensor

from wlhn.errors import InputError


def sort_pool(h: Tensor, batch: Tensor | None, k: int) -> Tensor:
    """(graphs, k, width): the k nodes of each graph with the largest last feature, falling; zeros where there are less.

    Of nodes with equal last features, which the paper orders by the features before it, the first comes first: in a
    network such nodes are alike in all features, unless by accident.

    >>> sort_pool(torch.tensor([[1.0, 5.0], [2.0, 7.0], [3.0, 6.0]]), torch.tensor([0, 0, 1]), k=2).tolist()
    [[[2.0, 7.0], [1.0, 5.0]], [[3.0, 6.0], [0.0, 0.0]]]
    """
    graph = graph_of_node(h, batch)
    order = h[:, -1].argsort(descending=True, stable=True)
    order = order[graph[order].argsort(stable=True)]
    size = graph.bincount()
    graph = graph[order]
    rank = torch.arange(len(h), device=h.device) - (size.cumsum(0) - size)[graph]
    kept = rank < k
    rows = h.new_zeros(len(size) * k, h.shape[1]).index_copy(0, (graph * k + rank)[kept], h[order[kept]])
    return rows.reshape(len(size), k, h.shape[1])


def graph_of_node(h: Tensor, batch: Tensor | None) -> Tensor:
    """`batch`, or zeros where all nodes are one graph; an `InputError` unless graphs follow each other.

    >>> graph_of_node(torch.rand(2, 1), None)
    tensor([0, 0])
    """
    if batch is None:
        return torch.zeros(len(h), dtype=torch.long, device=h.device)
    if bool((batch[1:] < batch[:-1]).any()):
        raise InputError("batch: the nodes of a graph must stand side by side, graph after graph")
    return batch
