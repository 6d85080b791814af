"""A hierarchy that gives the batch of any of its graphs or nodes, as rows of colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from wlhn.batching.colour_batch import ColourBatch, ColourLevel, Counts
from wlhn.errors import InputError
from wlhn.hierarchy.hierarchy import Hierarchy
from wlhn.loops.collation import enter_rows, mark_new, take_rows


class Quotient:
    """A hierarchy made ready for batches: colours of every graph at every depth, features of the first and of edges.

    >>> import networkx as nx, wlhn
    >>> hierarchy = wlhn.refine([nx.path_graph(4), nx.cycle_graph(5)], rounds=2)
    >>> Quotient(hierarchy, x=torch.ones(1, 1)).batch([0, 1]).num_rows
    [1, 2, 3]
    """

    def __init__(self, hierarchy: Hierarchy, x: Tensor, edge_x: Tensor | None = None, nodes: bool = False) -> None:
        """`x` has a row for each colour of depth 0, `edge_x` for each edge label; `nodes` asks for single nodes."""
        if hierarchy.directed:  # its signatures would be summed over both directions, and nobody told
            raise InputError(
                "hierarchy: its colours tell in- from out-neighbours, which mini-batches do not; refine without"
            )
        if len(x) != hierarchy.num_colours[0]:
            raise InputError(f"x: expected {hierarchy.num_colours[0]} rows, one for each first colour, found {len(x)}")
        if x.is_floating_point() and not torch.isfinite(x).all():
            raise InputError("x: features must be finite, found NaN or infinity")
        self.hierarchy, self.x, self.edge_x, self.nodes = hierarchy, x, edge_x, nodes
        self.graph_colours = [hierarchy.count_per_graph(t) for t in range(hierarchy.depth + 1)]
        self.signatures = [hierarchy.signature(t) for t in range(1, hierarchy.depth + 1)]

    def __len__(self) -> int:
        return self.hierarchy.num_graphs

    def batch(self, graphs: ArrayLike) -> ColourBatch:
        """The graphs at these positions as one batch."""
        hierarchy, graphs = self.hierarchy, np.asarray(graphs, dtype=np.int64)
        if not len(graphs):
            raise InputError("batch: has no graphs; give at least one")
        sizes = np.diff(hierarchy.node_ptr)[graphs]
        if not sizes.all():
            raise InputError(f"graph {graphs[sizes == 0][0]}: has no nodes; leave it out")
        levels: list[ColourLevel] = []
        before = first = slot = np.empty(0, np.int32)
        first_weight = None
        for t, (ptr, colour, count) in enumerate(self.graph_colours):
            slot = np.full(hierarchy.num_colours[t], -1, np.int32)
            rows = np.sort(mark_new(ptr, colour, graphs, slot))
            last = t == hierarchy.depth
            weight, *per_graph = enter_rows(rows, ptr, colour, count, graphs, slot, last)
            weights = None if len(rows) == weight.sum() else torch.from_numpy(weight)
            if t == 0:
                first, first_weight = rows, weights
            else:
                levels.append(self._level(t, rows, before, weights))
            before = slot
        return ColourBatch(
            x=self.x.index_select(0, torch.from_numpy(first)),
            weight=first_weight,
            levels=tuple(levels),
            graph_counts=Counts.from_rows(per_graph[0], per_graph[1], per_graph[2], len(rows)),
            node_row=torch.from_numpy(slot[self._nodes_of(graphs)].astype(np.int64)) if self.nodes else None,
            edge_x=self.edge_x,
            num_graphs=len(graphs),
            num_nodes=int(sizes.sum()),
            taken_from=(hierarchy, graphs, self.x),
        )

    def batch_of_nodes(self, nodes: ArrayLike) -> ColourBatch:
        """These nodes, wherever they lie, with all the colours they depend on: whatever the size of their graph.

        Statistics (BatchNorm) are those of the nodes at every depth: a sample of all, if the nodes are one. Rows that
        only stand there as neighbours weigh nothing.

        >>> import networkx as nx, wlhn
        >>> hierarchy = wlhn.refine(nx.path_graph(100), rounds=2)
        >>> batch = Quotient(hierarchy, x=torch.ones(1, 1)).batch_of_nodes([0, 99])
        >>> batch.num_rows, batch.node_row.tolist()
        ([1, 2, 1], [0, 0])
        """
        hierarchy, nodes = self.hierarchy, np.asarray(nodes, dtype=np.int64)
        if not len(nodes):
            raise InputError("batch: has no nodes; give at least one")
        rows = [np.unique(hierarchy.colours[-1][nodes])]
        for t in range(hierarchy.depth, 0, -1):
            rows.insert(0, self._needed(t, rows[0]))
        weights: list[Tensor | None] = []
        levels: list[ColourLevel] = []
        slot = np.empty(0, np.int32)
        for t, here in enumerate(rows):
            before, slot = slot, np.full(hierarchy.num_colours[t], -1, np.int32)
            slot[here] = np.arange(len(here), dtype=np.int32)
            weight = np.bincount(slot[hierarchy.colours[t][nodes]], minlength=len(here)).astype(np.float32)
            weights.append(None if (weight == 1).all() else torch.from_numpy(weight))
            if t:
                levels.append(self._level(t, here, before, weights[t]))
        return ColourBatch(
            x=self.x[torch.from_numpy(rows[0].astype(np.int64))],
            weight=weights[0],
            levels=tuple(levels),
            graph_counts=Counts.from_rows(
                np.array([0, len(here)]), np.arange(len(here), dtype=np.int32), weight, len(here)
            ),
            node_row=torch.from_numpy(slot[hierarchy.colours[-1][nodes]].astype(np.int64)),
            edge_x=self.edge_x,
            num_graphs=1,
            num_nodes=len(nodes),
        )

    def _needed(self, t: int, rows: NDArray[Any]) -> NDArray[Any]:
        """Parents and neighbours of colours of depth t, ascending."""
        ptr, colour, *_ = self.signatures[t - 1]
        needed = np.zeros(self.hierarchy.num_colours[t - 1], bool)
        needed[self.hierarchy.parents[t][rows]] = True
        needed[colour[_ranges(ptr, rows)]] = True
        return np.flatnonzero(needed).astype(np.int32)

    def work(self) -> NDArray[Any]:
        """The rows of each graph, with their entries, over all depths: what it costs where no other graph shares them.

        >>> import networkx as nx, wlhn
        >>> hierarchy = wlhn.refine([nx.path_graph(4), nx.cycle_graph(5)], rounds=1)
        >>> Quotient(hierarchy, x=torch.ones(1, 1)).work().tolist()  # an end and a middle node; a node of the cycle
        [5, 3]
        """
        total = np.diff(self.graph_colours[0][0])
        for (ptr, colour, _), (row_ptr, *_) in zip(self.graph_colours[1:], self.signatures, strict=True):
            sums = np.concatenate([[0], np.cumsum(1 + np.diff(row_ptr)[colour])])
            total = total + sums[ptr[1:]] - sums[ptr[:-1]]
        return total

    def _level(self, t: int, rows: NDArray[Any], before: NDArray[Any], weight: Tensor | None) -> ColourLevel:
        ptr, colour, edge, times = self.signatures[t - 1]
        num_before = int(before.max(initial=-1)) + 1
        parent, child_ptr, new_ptr, column, value = take_rows(
            rows, self.hierarchy.parents[t], ptr, colour, times, before, num_before
        )
        pair_row = pair_edge = None
        num_columns = num_before
        if self.edge_x is not None:
            code = edge[_ranges(ptr, rows)].astype(np.int64) * num_before + column
            pairs, column = np.unique(code, return_inverse=True)
            pair_edge, pair_row = (torch.from_numpy(part) for part in np.divmod(pairs, max(num_before, 1)))
            column, num_columns = column.astype(np.int32), len(pairs)
        return ColourLevel(
            parent=torch.from_numpy(parent),
            child_ptr=torch.from_numpy(child_ptr),
            neighbours=Counts.from_rows(new_ptr, column, value, num_columns),
            weight=weight,
            pair_row=pair_row,
            pair_edge=pair_edge,
        )

    def _nodes_of(self, graphs: NDArray[Any]) -> NDArray[Any]:
        return self.hierarchy.colours[-1][_ranges(self.hierarchy.node_ptr, graphs)]


def _ranges(ptr: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    """Positions ptr[i] … ptr[i + 1] − 1 for each i of the index, in a row."""
    length = ptr[index + 1] - ptr[index]
    return np.arange(length.sum()) + np.repeat(ptr[index] - np.cumsum(length) + length, length)
