"""Directed colours: refinement in which a node sees where its edges come from and, apart from that, where they lead.

A directed graph is refined as an undirected one with labelled edges: each edge u → v makes u an *in-neighbour* of v and
v an *out-neighbour* of u. With edge labels, the code c of the label becomes 2c for in-neighbours and 2c + 1 for
out-neighbours. So hashing, comparing, storing and looking up are those of labelled edges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.graphs import Graphs
from wlhn.loops.grouping import group_by_target


def has_directions(graphs: Graphs) -> bool:
    """Whether some edge has no counterpart the other way round.

    >>> has_directions(Graphs.from_edges([[0, 1], [1, 0]])), has_directions(Graphs.from_edges([[0, 0], [1, 2]]))
    (False, True)
    """
    source, target = (ends.astype(np.int64) for ends in graphs.edge_index)
    n = graphs.num_nodes
    return not np.array_equal(np.sort(source * n + target), np.sort(target * n + source))


def both_directions(graphs: Graphs, edge_code: NDArray[Any]) -> tuple[Graphs, NDArray[Any]]:
    """The graphs with every edge a second time the other way round, without edge labels, and the codes of all edges.

    Args:
        graphs: any.
        edge_code: (edges,) codes of edge labels, or none at all.

    >>> graphs, code = both_directions(Graphs.from_edges([[0, 0], [1, 2]]), np.empty(0, np.int32))
    >>> graphs.neighbours(0).tolist(), code[graphs.row_ptr[0] : graphs.row_ptr[1]].tolist()
    ([1, 2], [1, 1])
    """
    source, target = graphs.edge_index
    code = 2 * (edge_code if len(edge_code) else np.zeros(graphs.num_edges, np.int32))
    row_ptr, neighbour, order = group_by_target(
        np.concatenate([source, target]), np.concatenate([target, source]), graphs.num_nodes
    )
    doubled = replace(graphs, row_ptr=row_ptr, neighbour=neighbour, edge_label=None, edge_attr=None)
    return doubled, np.concatenate([code, code + 1])[order].astype(np.int32)
