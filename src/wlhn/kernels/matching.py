"""Two hierarchies side by side: which colours of one are colours of the other, from what they stand for.

A colour is its parent and its counted neighbours, so colours are compared depth by depth, without any nodes. A fitted
tree therefore needs none: it may be cut down to the colours that somebody still asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy
from wlhn.hierarchy.assignment import ascending_keys, colours_of_round, look_up
from wlhn.hierarchy.hierarchy import Signature, tree_of_colours

Array = NDArray[Any]


def match(fitted: Hierarchy, new: Hierarchy) -> list[Array]:
    """Depth by depth, the number that each colour of `new` has in `fitted`; −1 where it is not there.

    >>> import networkx as nx, wlhn
    >>> fitted, star = wlhn.refine(nx.path_graph(4), 1), wlhn.refine(nx.star_graph(3), 1)
    >>> [colours.tolist() for colours in match(fitted, star)]
    [[0], [-1, 0]]
    """
    found = [look_up("initial", new.initial_values, fitted.initial_values, len(new.initial_values))]
    edge_code: Array = np.empty(0, np.int32)
    if fitted.edge_values is not None and new.edge_values is not None:
        edge_code = look_up("edge_labels", new.edge_values, fitted.edge_values, len(new.edge_values))
    if fitted.directed:  # a code for each direction, as signatures have them
        code = 2 * (edge_code if len(edge_code) else np.zeros(1, np.int32))
        edge_code = np.stack([code, code + 1], axis=1).ravel()
    for t in range(1, fitted.depth + 1):
        sign = new.signature(t)
        # As nodes of a graph: colours of depth t first, then those of the depth before, which are their neighbours.
        here, before = len(new.parents[t]), found[-1]
        colour = np.concatenate([before[new.parents[t]], before])
        length = np.add.reduceat(np.append(sign.times, 0), sign.ptr[:-1]) * (np.diff(sign.ptr) > 0)
        row_ptr = np.concatenate([[0], np.cumsum(length), np.full(len(before), length.sum())]).astype(np.int64)
        neighbour = np.repeat(sign.colour, sign.times).astype(np.int32) + np.int32(here)
        edge = edge_code[np.repeat(sign.edge, sign.times)] if len(edge_code) else edge_code
        found.append(colours_of_round(fitted, t, row_ptr, neighbour, edge, colour)[:here])
    return found


def prune(hierarchy: Hierarchy, keep: Sequence[Array]) -> tuple[Hierarchy, list[Array]]:
    """(the tree of some colours, without nodes; depth by depth, the old number of each colour that is left).

    Args:
        hierarchy: a fitted tree.
        keep: T + 1 arrays of bool, (colours,); with a colour its parent and its neighbours must be kept.

    >>> import networkx as nx, wlhn
    >>> fitted = wlhn.refine([nx.path_graph(3), nx.star_graph(3)], 1)
    >>> tree, old = prune(fitted, [np.array([True]), np.array([True, True, False])])
    >>> tree, [colours.tolist() for colours in old]
    (Hierarchy(0 nodes, colours per depth [1, 2]), [[0], [0, 1]])
    """
    old = [np.flatnonzero(keep[0])]
    parents, signs = [np.zeros(len(old[0]), np.int32)], {}
    for t in range(1, hierarchy.depth + 1):
        number = np.full(hierarchy.num_colours[t - 1], -1, np.int32)
        number[old[-1]] = np.arange(len(old[-1]), dtype=np.int32)
        rows, width = np.flatnonzero(keep[t]), max(len(old[-1]), 1)
        parent, sign = number[hierarchy.parents[t][rows]], _rows(hierarchy.signature(t), rows, number, width)
        order = np.argsort(ascending_keys(parent, sign, width, hierarchy.num_edge_codes > 0), kind="stable")
        old.append(rows[order])
        parents.append(parent[order])
        signs[t] = _rows(hierarchy.signature(t), rows[order], number, width)
    tree = tree_of_colours(parents, hierarchy.initial_values[old[0]], hierarchy.edge_values, signs)
    return replace(tree, directed=hierarchy.directed), old


def cut(hierarchy: Hierarchy, depth: int) -> Hierarchy:
    """The first depths of a hierarchy.

    >>> import networkx as nx, wlhn
    >>> cut(wlhn.refine(nx.path_graph(4), 2), 1)
    Hierarchy(4 nodes, colours per depth [1, 2])
    """
    if depth == hierarchy.depth:
        return hierarchy
    return replace(
        hierarchy,
        colours=hierarchy.colours[: depth + 1],
        parents=hierarchy.parents[: depth + 1],
        representatives=hierarchy.representatives[: depth + 1],
        _signatures={t: hierarchy.signature(t) for t in range(1, depth + 1)},
    )


def _rows(sign: Signature, rows: Array, number: Array, width: int) -> Signature:
    """These rows, with new numbers for the colours in them, ascending in each row."""
    length = np.diff(sign.ptr)[rows]
    ptr = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    entry = np.arange(ptr[-1]) + np.repeat(sign.ptr[rows] - ptr[:-1], length)
    colour, edge, times = number[sign.colour[entry]], sign.edge[entry], sign.times[entry]
    order = np.lexsort((edge.astype(np.int64) * width + colour, np.repeat(np.arange(len(rows)), length)))
    return Signature(ptr, colour[order], edge[order], times[order])
