"""A batch taken apart into its graphs, for what a model computes once of each graph and remembers.

Such a computation is a function of the number of nodes and the edges' bytes under `lru_cache`: a pure function that
remembers, so the same graph costs nothing the second time, in whatever batch or model it comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.nn.pooling import graph_of_node


@dataclass(frozen=True)
class OneGraph:
    """A graph of a batch: where its nodes begin, how many they are, its edges (2, m) in its own numbering."""

    first: int
    size: int
    edges: bytes


def each_graph(h: Tensor, edge_index: Tensor, batch: Tensor | None) -> Iterator[OneGraph]:
    """The graphs of a batch, one by one.

    >>> batch = torch.tensor([0, 0, 1, 1])
    >>> for graph in each_graph(torch.rand(4, 1), torch.tensor([[2, 0], [3, 1]]), batch):
    ...     print(graph.first, graph.size, edges_of(graph.edges).tolist())
    0 2 [[0], [1]]
    2 2 [[0], [1]]
    """
    graph = graph_of_node(h, batch)
    size = graph.bincount()
    first = size.cumsum(0) - size
    of_edge = graph[edge_index[1]]
    order = of_edge.argsort(stable=True)
    local = (edge_index - first[of_edge])[:, order]
    counts = of_edge.bincount(minlength=len(size))
    for start, count, part in zip(first.tolist(), size.tolist(), local.split(counts.tolist(), dim=1), strict=True):
        yield OneGraph(start, count, part.contiguous().numpy(force=True).tobytes())


def edges_of(edges: bytes) -> NDArray[Any]:
    """The edges (2, m) that `OneGraph.edges` holds."""
    return np.frombuffer(edges, dtype=np.int64).reshape(2, -1)


def both_ways(edges: NDArray[Any]) -> NDArray[Any]:
    """Edges and their reverses, each once, without loops.

    >>> both_ways(np.array([[0, 1, 2], [1, 0, 2]])).tolist()
    [[0, 1], [1, 0]]
    """
    ends = np.concatenate([edges, edges[::-1]], axis=1)
    return np.unique(ends[:, ends[0] != ends[1]], axis=1)


def device_like(h: Tensor, *arrays: NDArray[Any]) -> tuple[Tensor, ...]:
    """Arrays as tensors where h is, numbers in its precision."""
    tensors = (torch.from_numpy(array).to(h.device) for array in arrays)
    return tuple(t.to(h.dtype) if t.is_floating_point() else t for t in tensors)
