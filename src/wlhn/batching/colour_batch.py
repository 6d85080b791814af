"""What a network computes on: rows of colours, depth by depth, with counted neighbours.

What a message passing network computes for a node at depth t depends on nothing but its colour at depth t. So a batch
of graphs is the union of its colours: one row each, with the number of nodes that have it. Rows are ordered by colour,
so children of one parent lie side by side, and a row's neighbours are counted rows of the depth before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.errors import InputError
from wlhn.hierarchy.hierarchy import Hierarchy
from wlhn.loops.collation import transpose
from wlhn.loops.grouping import group_by_target


@dataclass(frozen=True, eq=False)
class Counts:
    """A sparse matrix of counts or weights by rows, and its transpose: neither way of a product has to search."""

    ptr: Tensor
    index: Tensor
    value: Tensor
    t_ptr: Tensor
    t_index: Tensor
    t_value: Tensor

    @staticmethod
    def from_rows(ptr: NDArray[Any], index: NDArray[Any], value: NDArray[Any], num_columns: int) -> Counts:
        arrays = ptr, index, value, *transpose(ptr, index, value, num_columns)
        return Counts(*map(torch.from_numpy, arrays))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.ptr) - 1, len(self.t_ptr) - 1

    def to(self, device: Any) -> Counts:
        return Counts(*(tensor.to(device) for tensor in vars(self).values()))


@dataclass(frozen=True, eq=False)
class ColourLevel:
    """One depth of a batch: its rows, their parents and counted neighbours among the rows of the depth before.

    With edge labels, neighbours are counted by pairs (colour, edge label): column p of `neighbours` stands for the row
    pair_row[p], reached by an edge of label pair_edge[p].
    """

    parent: Tensor  # (rows,)
    child_ptr: Tensor  # (rows before + 1,)
    neighbours: Counts
    weight: Tensor | None  # (rows,) nodes of each colour; None: one each
    pair_row: Tensor | None = None
    pair_edge: Tensor | None = None


@dataclass(frozen=True, eq=False)
class ColourBatch:
    """A batch of graphs as the union of their colours."""

    x: Tensor  # (rows of depth 0, …) input features
    weight: Tensor | None  # of depth 0
    levels: tuple[ColourLevel, ...]  # depths 1 … T
    graph_counts: Counts  # graphs × rows of depth T
    node_row: Tensor | None  # (nodes,) the row of depth T of each node; for node tasks
    edge_x: Tensor | None  # (edge labels, …) features of the edge labels
    num_graphs: int
    num_nodes: int
    taken_from: tuple[Hierarchy, NDArray[Any], Tensor] | None = None  # a hierarchy, which of its graphs, its features

    @property
    def num_rows(self) -> list[int]:
        return [len(self.x), *(len(level.parent) for level in self.levels)]

    def shares_tree_with(self, other: ColourBatch) -> bool:
        """Whether both are taken from one hierarchy, and its colours stand for the same features, those of edges too.
        Other features that are equal at the same nodes give the same hierarchy."""
        if self.taken_from is None or other.taken_from is None or self.taken_from[0] is not other.taken_from[0]:
            return False
        features = ((self.taken_from[2], other.taken_from[2]), (self.edge_x, other.edge_x))
        return all(
            one is two or (one is not None and two is not None and torch.equal(one, two)) for one, two in features
        )

    def to(self, device: Any) -> ColourBatch:
        """The same batch on another device."""

        def move(value: Any) -> Any:
            match value:
                case Tensor() | Counts():
                    return value.to(device)
                case ColourLevel():
                    return ColourLevel(**{k: move(v) for k, v in vars(value).items()})
                case tuple():
                    return tuple(move(v) for v in value)
            return value

        return ColourBatch(**{k: move(v) for k, v in vars(self).items()})


def node_batch(
    x: Tensor,
    edge_index: Tensor,
    batch: Tensor | None,
    edge_attr: Tensor | None,
    num_layers: int,
    num_graphs: int | None = None,
) -> ColourBatch:
    """A PyG batch with every node as its own colour: the same computation, row by node.

    >>> b = node_batch(torch.ones(3, 1), torch.tensor([[0, 1], [1, 0]]), None, None, num_layers=2)
    >>> b.num_rows, b.graph_counts.shape
    ([3, 3, 3], (1, 3))
    """
    n, device = len(x), x.device
    if batch is None:
        batch = torch.zeros(n, dtype=torch.int64, device=device)
    graphs = num_graphs if num_graphs is not None else int(batch.max()) + 1 if n else 0
    _check_nodes(x, edge_index, batch, edge_attr, graphs)
    source, target = edge_index.detach().cpu().numpy()
    row_ptr, neighbour, order = group_by_target(source, target, n, edge_attr is not None)
    columns, pair_row, pair_edge, edge_x = neighbour, None, None, None
    if edge_attr is not None:  # every edge is a pair of its own
        columns = np.arange(len(neighbour), dtype=np.int32)
        pair_row = torch.from_numpy(neighbour.astype(np.int64))
        pair_edge, edge_x = torch.arange(len(neighbour)), edge_attr[torch.from_numpy(order).to(device)]
    level = ColourLevel(
        parent=torch.arange(n),
        child_ptr=torch.arange(n + 1),
        neighbours=Counts.from_rows(
            row_ptr, columns, np.ones(len(columns), np.float32), n if edge_attr is None else len(columns)
        ),
        weight=None,
        pair_row=pair_row,
        pair_edge=pair_edge,
    )
    g_ptr, g_index, _ = group_by_target(np.arange(n), batch.detach().cpu().numpy(), graphs, False)
    graph_counts = Counts.from_rows(g_ptr, g_index, np.ones(n, np.float32), n)
    every = ColourBatch(
        x=x.detach().cpu(),
        weight=None,
        levels=(level,) * num_layers,
        graph_counts=graph_counts,
        node_row=torch.arange(n),
        edge_x=None,
        num_graphs=graphs,
        num_nodes=n,
    ).to(device)
    return ColourBatch(**(vars(every) | {"x": x, "edge_x": edge_x}))


def check_edges(edge_index: Tensor, num_nodes: int) -> None:
    """Compiled loops don't look whether a node exists.

    >>> check_edges(torch.tensor([[0], [7]]), num_nodes=3)
    Traceback (most recent call last):
    wlhn.errors.InputError: edge_index: expected nodes 0 to 2, found 0 to 7
    """
    if edge_index.numel() and (edge_index.min() < 0 or edge_index.max() >= num_nodes):
        found = f"{edge_index.min()} to {edge_index.max()}"
        raise InputError(f"edge_index: expected nodes 0 to {num_nodes - 1}, found {found}")


def _check_nodes(x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor | None, num_graphs: int) -> None:
    n = len(x)
    if n == 0 or num_graphs == 0:
        raise InputError("batch: has no graph with nodes; give at least one")
    for name, given in (("x", x), ("edge_attr", edge_attr)):
        if given is not None and given.is_floating_point() and not torch.isfinite(given).all():
            raise InputError(f"{name}: features must be finite, found NaN or infinity")
    check_edges(edge_index, n)
    if edge_attr is not None and len(edge_attr) != edge_index.shape[1]:
        raise InputError(f"edge_attr: expected {edge_index.shape[1]} rows, one for each edge, found {len(edge_attr)}")
    if len(batch) != n:
        raise InputError(f"batch: expected {n} entries, one for each node, found {len(batch)}")
    size = torch.bincount(batch, minlength=num_graphs)
    if len(size) > num_graphs or (size == 0).any():
        raise InputError(f"batch: graph {int((size == 0).int().argmax())} has no nodes; leave it out")
