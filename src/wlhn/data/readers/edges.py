"""Edges as a file lists them → graphs in which every edge stands once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.graphs import Graphs
from wlhn.loops.edges import once_each
from wlhn.loops.grouping import group_by_target
from wlhn.words import counted


def simple_graphs(
    ends: NDArray[Any] | tuple[NDArray[Any], NDArray[Any]],
    node_ptr: NDArray[Any],
    *,
    self_loops: bool,
    undirected: NDArray[np.bool_] | bool = False,
    edge_label: NDArray[Any] | None = None,
    edge_attr: NDArray[Any] | None = None,
    **nodes: Any,
) -> tuple[Graphs, tuple[str, ...]]:
    """Graphs without duplicate edges (the first one stands) and, unless wanted, without self-loops; with notes on both.

    Edges that are `undirected`, all or some, stand in both directions then.

    >>> import numpy as np
    >>> simple_graphs(np.array([[0, 0, 1], [1, 1, 1]]), np.array([0, 2]), self_loops=False)
    (Graphs(1 graph, 2 nodes, 1 directed edge), ('1 duplicate edge dropped', '1 self-loop dropped'))
    """
    source, target = ends if undirected is False else both_ways(np.asarray(ends), undirected)
    row_ptr, neighbour, order = group_by_target(source, target, int(node_ptr[-1]))
    keep, doubled, loops = once_each(row_ptr, neighbour, self_loops)
    if doubled or loops:
        row_ptr = np.concatenate([[0], np.cumsum(keep)])[row_ptr]
        neighbour, order = neighbour[keep], order[keep]
    if undirected is not False and (doubled or edge_label is not None or edge_attr is not None):
        order = origin(np.asarray(ends), undirected)[order]
        if doubled:
            order = _first_of_both(order, np.asarray(ends), undirected)
            doubled = len(ends[0]) - len(np.unique(order)) - loops  # edges as they are listed
    dropped = ((int(doubled), "duplicate edge"), (int(loops), "self-loop"))
    notes = tuple(f"{counted(number, what)} dropped" for number, what in dropped if number)
    differing = _differing(np.asarray(ends), undirected, edge_label, edge_attr) if doubled else 0
    if differing:
        kept = "had other values than the first, which was kept (`--directed` tells directions apart)"
        notes += (f"{counted(differing, 'dropped edge')} {kept}",)
    graphs = Graphs(
        node_ptr=np.asarray(node_ptr, dtype=np.int64),
        row_ptr=row_ptr,
        neighbour=neighbour,
        edge_label=None if edge_label is None else edge_label[order],
        edge_attr=None if edge_attr is None else edge_attr[order],
        **nodes,
    )
    return graphs, notes


def both_ways(ends: NDArray[Any], undirected: NDArray[np.bool_] | bool) -> NDArray[Any]:
    """(2, edges) with those that are undirected in both directions, self-loops once.

    >>> both_ways(np.array([[0, 1], [1, 1]]), True).tolist()
    [[0, 1, 1], [1, 1, 0]]
    """
    return np.concatenate([ends, ends[::-1, undirected & (ends[0] != ends[1])]], axis=1)


def origin(ends: NDArray[Any], undirected: NDArray[np.bool_] | bool) -> NDArray[np.int64]:
    """The edge that each edge of `both_ways` comes from."""
    return np.concatenate([np.arange(ends.shape[1]), np.flatnonzero(undirected & (ends[0] != ends[1]))])


def _first_of_both(edge: NDArray[Any], ends: NDArray[Any], undirected: NDArray[np.bool_] | bool) -> NDArray[Any]:
    """Of listed edges, that which stands for each: the first with its two ends, in whatever order, if undirected."""
    low, high = np.sort(ends[:, edge], axis=0).astype(np.int64)
    _, pair = np.unique(low * (high.max(initial=0) + 1) + high, return_inverse=True)
    first = np.full(pair.max(initial=-1) + 1, ends.shape[1])
    np.minimum.at(first, pair, edge)
    return np.where(np.broadcast_to(undirected, ends.shape[1])[edge], first[pair], edge)


def _differing(ends: NDArray[Any], undirected: NDArray[np.bool_] | bool, *values: NDArray[Any] | None) -> int:
    """How many undirected edges have other values than the first one between their ends."""
    if undirected is False:
        return 0
    first = _first_of_both(np.arange(ends.shape[1]), ends, undirected)
    again = np.flatnonzero((first != np.arange(ends.shape[1])) & (ends[0] != ends[1]))
    other = np.zeros(len(again), bool)
    for given in (value.reshape(len(value), -1) for value in values if value is not None):
        one, two = given[again], given[first[again]]
        other |= ((one != two) & ((one == one) | (two == two))).any(axis=1)  # gaps are alike
    return int(other.sum())
