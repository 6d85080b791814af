"""From nodes to graphs."""

from __future__ import annotations

from torch import Tensor


def sum_pool(h: Tensor, batch: Tensor | None) -> Tensor:
    """Σ over the nodes of each graph; without `batch` they are one graph.

    >>> import torch
    >>> sum_pool(torch.ones(3, 1), torch.tensor([0, 0, 1])).tolist()
    [[2.0], [1.0]]
    """
    if batch is None:
        return h.sum(0, keepdim=True)
    return h.new_zeros(int(batch.max()) + 1, h.shape[1]).index_add(0, batch, h)
