"""One in-memory form for any collection of graphs: flat arrays, edges grouped by their target.

Conventions, the same everywhere in the package:

- An edge u → v carries a message from u to v (as in PyG), so the neighbours of v are the *sources* of the edges
  that enter it. An undirected edge is stored in both directions.
- Multi-edges count as often as they stand there (neighbourhoods are multisets); a self-loop makes a node its own
  neighbour, once; isolated nodes have an empty neighbourhood; a graph without nodes is a valid graph.
- Nodes of all graphs are numbered through: graph g has the nodes node_ptr[g] … node_ptr[g + 1] − 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.loops.grouping import group_by_target
from wlhn.words import counted

IntArray = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Graphs:
    """A collection of graphs. Build it with `from_edges` or `wlhn.as_graphs`; the fields hold what they say.

    >>> path = Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3)
    >>> path
    Graphs(1 graph, 3 nodes, 4 directed edges)
    >>> path.degree.tolist(), path.neighbours(1).tolist()
    ([1, 2, 1], [0, 2])
    """

    node_ptr: IntArray  # (graphs + 1,)
    row_ptr: IntArray  # (nodes + 1,)
    neighbour: IntArray  # (edges,) sources, grouped by target
    x: NDArray[Any] | None = None  # (nodes, features); integers are categories, floats numbers (NaN: missing)
    node_label: IntArray | None = None  # (nodes,)
    edge_label: IntArray | None = None  # (edges,) in the order of `neighbour`
    edge_attr: NDArray[Any] | None = None  # (edges, features), likewise
    node_ids: Sequence[Any] | None = None  # (nodes,) the user's own names; None: 0, 1, … within each graph

    @staticmethod
    def from_edges(
        edge_index: ArrayLike,
        num_nodes: int | None = None,
        *,
        node_ptr: ArrayLike | None = None,
        x: ArrayLike | None = None,
        node_label: ArrayLike | None = None,
        edge_label: ArrayLike | None = None,
        edge_attr: ArrayLike | None = None,
        node_ids: Sequence[Any] | None = None,
    ) -> Graphs:
        """Graphs from an array of edges (2, m), sources over targets, with nodes numbered through all graphs.

        Give `num_nodes` for one graph or `node_ptr` for many; without either, the last node is the largest index.
        """
        edges = _integers("edge_index", edge_index) if np.size(edge_index) else np.empty((2, 0), int)
        if edges.ndim != 2 or len(edges) != 2:
            raise InputError(f"edge_index: expected shape (2, m), sources over targets, found {edges.shape}")
        if node_ptr is None:
            n = int(edges.max(initial=-1)) + 1 if num_nodes is None else int(num_nodes)
            ptr = np.array([0, n], dtype=np.int64)
        else:
            ptr = _integers("node_ptr", node_ptr).astype(np.int64, copy=False)
        if ptr[0] != 0 or (np.diff(ptr) < 0).any():
            raise InputError("node_ptr: offsets must start at 0 and never fall")
        n = int(ptr[-1])
        if edges.size and (edges.min() < 0 or edges.max() >= n):
            k = int(np.flatnonzero(((edges < 0) | (edges >= n)).any(axis=0))[0])
            raise InputError(f"edge {k} ({edges[0, k]} → {edges[1, k]}): no such node; indices go from 0 to {n - 1}")
        if node_ids is not None and len(node_ids) != n:
            raise InputError(f"node_ids: expected {n} names, one for each node, found {len(node_ids)}")
        row_ptr, neighbour, order = group_by_target(
            edges[0], edges[1], n, edge_label is not None or edge_attr is not None
        )
        graphs = Graphs(
            node_ptr=ptr,
            row_ptr=row_ptr,
            neighbour=neighbour,
            x=_features("x", x, n),
            node_label=_labels("node_label", node_label, n),
            edge_label=_reorder(_labels("edge_label", edge_label, edges.shape[1]), order),
            edge_attr=_reorder(_features("edge_attr", edge_attr, edges.shape[1]), order),
            node_ids=node_ids,
        )
        graphs._check_within_graphs()
        return graphs

    def _check_within_graphs(self) -> None:
        if len(self) == 1:
            return
        graph_of = self.graph_of_node
        crossing = graph_of[self.neighbour] != np.repeat(graph_of, self.degree)
        if crossing.any():
            k = int(np.flatnonzero(crossing)[0])
            target = int(np.searchsorted(self.row_ptr, k, side="right")) - 1
            raise InputError(
                f"edge {self.neighbour[k]} → {target} joins graph {graph_of[self.neighbour[k]]} and graph "
                f"{graph_of[target]}; both ends must lie in one graph"
            )

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def __repr__(self) -> str:
        numbers = ((len(self), "graph"), (self.num_nodes, "node"), (self.num_edges, "directed edge"))
        return f"Graphs({', '.join(counted(*each) for each in numbers)})"

    @property
    def num_nodes(self) -> int:
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        return len(self.neighbour)

    @property
    def degree(self) -> IntArray:
        """Number of neighbours of each node (edges that enter it)."""
        return np.diff(self.row_ptr)

    @property
    def graph_of_node(self) -> IntArray:
        return np.repeat(np.arange(len(self)), np.diff(self.node_ptr))

    @property
    def edge_index(self) -> IntArray:
        """(2, edges): sources over targets, ordered by target."""
        return np.stack([self.neighbour, np.repeat(np.arange(self.num_nodes), self.degree)])

    @property
    def has_directions(self) -> bool:
        """Whether some edge has no counterpart the other way round.

        >>> Graphs.from_edges([[0, 1], [1, 0]]).has_directions, Graphs.from_edges([[0, 0], [1, 2]]).has_directions
        (False, True)
        """
        source, target = (ends.astype(np.int64) for ends in self.edge_index)
        n = self.num_nodes
        return not np.array_equal(np.sort(source * n + target), np.sort(target * n + source))

    def in_both_directions(self, edge_code: IntArray) -> tuple[Graphs, IntArray]:
        """The graphs with every edge a second time the other way round, without edge labels, and the codes of all
        edges: c of `edge_code` (edges,), or 0 where that is empty, becomes 2c, and 2c + 1 the other way round.

        >>> graphs, code = Graphs.from_edges([[0, 0], [1, 2]]).in_both_directions(np.empty(0, np.int32))
        >>> graphs.neighbours(0).tolist(), code[graphs.row_ptr[0] : graphs.row_ptr[1]].tolist()
        ([1, 2], [1, 1])
        """
        source, target = self.edge_index
        code = 2 * (edge_code if len(edge_code) else np.zeros(self.num_edges, np.int32))
        ends = np.concatenate([source, target]), np.concatenate([target, source])
        row_ptr, neighbour, order = group_by_target(*ends, self.num_nodes)
        doubled = replace(self, row_ptr=row_ptr, neighbour=neighbour, edge_label=None, edge_attr=None)
        return doubled, np.concatenate([code, code + 1])[order].astype(np.int32)

    def neighbours(self, node: int) -> IntArray:
        return self.neighbour[self.row_ptr[node] : self.row_ptr[node + 1]]

    def ids(self, graph: int) -> list[Any]:
        """The user's names of the nodes of one graph."""
        start, stop = int(self.node_ptr[graph]), int(self.node_ptr[graph + 1])
        return list(range(stop - start)) if self.node_ids is None else list(self.node_ids[start:stop])

    def select(self, index: ArrayLike) -> Graphs:
        """The graphs at these positions, in this order (repeats allowed).

        >>> two = Graphs.from_edges([[0, 1, 2, 3], [1, 0, 3, 2]], node_ptr=[0, 2, 4])
        >>> two.select([1]).edge_index.tolist()
        [[1, 0], [0, 1]]
        """
        index = np.atleast_1d(np.asarray(index))
        if index.dtype == bool:
            index = np.flatnonzero(index)
        index = index.astype(np.int64)
        if index.size and (index.min() < -len(self) or index.max() >= len(self)):
            wrong = index[(index < -len(self)) | (index >= len(self))][0]
            raise InputError(f"graph {wrong}: no such graph; they go from 0 to {len(self) - 1}")
        index = index % max(len(self), 1)
        nodes, node_ptr = _ranges(self.node_ptr, index)
        edges, row_ptr = _ranges(self.row_ptr, nodes)
        shift = np.repeat(node_ptr[:-1] - self.node_ptr[index], np.diff(self.row_ptr[self.node_ptr])[index])
        neighbour = (self.neighbour[edges] + shift).astype(self.neighbour.dtype)
        return self._taken(nodes, edges, node_ptr=node_ptr, row_ptr=row_ptr, neighbour=neighbour)

    def permute(self, order: ArrayLike) -> Graphs:
        """The same collection with its nodes renumbered, new node i being old node order[i], within each graph.

        >>> star = Graphs.from_edges([[0, 0, 1, 2], [1, 2, 0, 0]])
        >>> star.permute([2, 1, 0]).degree.tolist()
        [1, 1, 2]
        """
        order = np.asarray(order, dtype=np.int64)
        if not np.array_equal(np.sort(order), np.arange(self.num_nodes)) or not np.array_equal(
            self.graph_of_node[order], self.graph_of_node
        ):
            raise InputError("order: must be a permutation that keeps each node in its graph")
        rank = np.argsort(order)
        edges, row_ptr = _ranges(self.row_ptr, order)
        neighbour = rank[self.neighbour[edges]].astype(self.neighbour.dtype)
        return self._taken(order, edges, row_ptr=row_ptr, neighbour=neighbour)

    def _taken(self, nodes: IntArray, edges: IntArray, **structure: IntArray) -> Graphs:
        """Graphs of this structure with what these nodes and edges carry."""
        return replace(
            self,
            **structure,
            x=_reorder(self.x, nodes),
            node_label=_reorder(self.node_label, nodes),
            edge_label=_reorder(self.edge_label, edges),
            edge_attr=_reorder(self.edge_attr, edges),
            node_ids=None if self.node_ids is None else [self.node_ids[i] for i in nodes],
        )


def _ranges(ptr: IntArray, index: IntArray) -> tuple[IntArray, IntArray]:
    """Positions ptr[i] … ptr[i + 1] − 1 for each i of the index, in a row, and the new offsets."""
    length = ptr[index + 1] - ptr[index]
    new_ptr = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    return np.arange(new_ptr[-1]) + np.repeat(ptr[index] - new_ptr[:-1], length), new_ptr


def _reorder(array: NDArray[Any] | None, order: IntArray) -> NDArray[Any] | None:
    return None if array is None else array[order]


def _integers(name: str, values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name}: expected integers, found {array.dtype}")
    return array


def _labels(name: str, values: ArrayLike | None, length: int) -> IntArray | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype == bool:
        array = array.astype(np.int64)
    array = _integers(name, array).astype(np.int64, copy=False)
    if array.shape != (length,):
        raise InputError(f"{name}: expected {length} labels in one dimension, found shape {array.shape}")
    return array


def _features(name: str, values: ArrayLike | None, length: int) -> NDArray[Any] | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype == bool:
        array = array.astype(np.int64)
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise InputError(f"{name}: expected numbers, found {array.dtype}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or len(array) != length:
        raise InputError(f"{name}: expected {length} rows of features, found shape {array.shape}")
    if np.issubdtype(array.dtype, np.floating) and np.isinf(array).any():  # NaN is a number that is missing
        row, column = np.argwhere(np.isinf(array))[0]
        raise InputError(f"{name}, row {row}, column {column}: expected a finite number, found {array[row, column]}")
    return array
